# What 'cc tune' promises of a site, the goals that it shows as met on the seeds
# that it held out, holds on at least nine of ten more seeds.
. "$SRC/tests/cli/lib.sh"
sites=$SRC/tests/fixtures/sites

# promised SITE OPTION...: tunes, and compares with runs of the answer.
promised() {
	site=$1
	shift
	status 0 "$HEDDLE" cc tune "$sites/$site.yaml" --conf "$site.conf" --json "$@"
	jq -r '.tables.goals.rows[] | select(."met after" == "5 of 5") | "\(.of) \(.goal)"' \
		out >goals
	[ -s goals ] || fail "$site: nothing is promised"
	# A goal that was missed without control is met.
	jq -e '[.tables.goals.rows[] | select(.verdict == "better")] | length > 0' out >jq.out ||
		fail "$site: no goal is better"
	"$HEDDLE" sweep "$sites/$site.yaml" --opensm "$site.conf" --seed 101 --seeds 10 \
		--keep goals --keep 'job goals' --db "$site.db" --json -q >runs ||
		[ $? -eq 1 ] || fail "$site: sweep"
	while read -r of goal; do
		met=$(jq --arg of "$of" --arg goal "$goal" '[.tables.goals.rows,
			.tables."job goals".rows | arrays[] | select((.traffic // .job) == $of and
			.goal == $goal and .met)] | length' runs)
		[ "$met" -ge 9 ] || fail "$site: $goal of $of is met on $met of 10 seeds"
		echo "$site: $goal of $of: $met of 10"
	done <goals
}

if [ "${HD_LONG:-0}" = 1 ]; then
	promised incast
	promised storage-mpi --goal completion --floor 65% --senders 32
	promised all-to-all --goal completion --floor 65% --senders 32
	promised mixed
else
	promised incast --budget 12 --stress 1
fi
