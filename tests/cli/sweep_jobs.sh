# Sweeps of scenarios with jobs: each point has the measures of the jobs and ends
# as the single run does, whether goals are met, missed, or jobs do not finish.
. "$SRC/tests/cli/lib.sh"
rm -f ./*.db ./*.csv ./*.json

# same FILE SETTING...: a run, and a sweep whose only point is that run.
same() {
	file=$1 sets=
	shift
	for set; do sets="$sets --set $set"; done
	code=0
	# shellcheck disable=SC2086 # words
	"$HEDDLE" sim "$file" $sets --json >run.json || code=$?
	# shellcheck disable=SC2086 # words
	status "$code" "$HEDDLE" sweep "$file" $sets --wide --json
	mv out sweep.json
	jq -c '.tables.jobs.rows | [(map(.completion) | if any(. == null) then null
			else max end),
		(map(.slowdown) | if any(. == null) then null else max end),
		(map(select(.completion == null)) | length)]' run.json >want
	jq -c '.tables.points.rows[0] | [.completion, .slowdown,
		."unfinished jobs"]' sweep.json >got
	cmp want got || fail "$file $*: $(cat want got)"
	jq -c '.tables.jobs.rows[] | [.job, .completion, .slowdown]' \
		run.json >want
	jq -c --slurpfile run run.json '.tables.points.rows[0] as $p |
		$run[0].tables.jobs.rows[].job |
		[., $p["completion[" + . + "]"], $p["slowdown[" + . + "]"]]' \
		sweep.json >got
	cmp want got || fail "$file $*: $(cat want got)"
	met=$(jq '.tables.points.rows[0]."goals met"' sweep.json)
	case $code:$met in
	0:true | 0:null | 1:false) ;;
	*) fail "$file $*: status $code, but goals met is $met" ;;
	esac
	codes="$codes$code"
}

codes=
for name in in-network job-errors job-interference jobs rails; do
	same "$SRC/examples/$name.yaml" run.seed=1
	same "$SRC/examples/$name.yaml" run.horizon=20us
done
same "$SRC/examples/jobs.yaml" jobs.train.class=storage
case $codes in
*0*1* | *1*0*) ;;
*) fail "all ended alike: $codes" ;;
esac

# ---- goals that only some points miss
status 1 "$HEDDLE" sweep "$SRC/examples/jobs.yaml" \
	--vary jobs.train.class=mpi,storage
has out 'goals missed or jobs failed at 1 point; the first is point 1'

# ---- searches by a job's time; missed goals on the way are no failure of theirs
find_rate() {
	"$HEDDLE" sweep "$SRC/examples/jobs.yaml" --json \
		--vary fabric.link.rate=50Gb/s..400Gb/s:50Gb/s --find "$@"
}
status 0 find_rate 'smallest fabric.link.rate with completion < 600us'
rate=$(jq '.tables.found.rows[0]."fabric.link.rate"' out)
for r in "$rate" "$((rate - 50))"; do
	code=0
	"$HEDDLE" sim "$SRC/examples/jobs.yaml" --set "fabric.link.rate=${r}Gb/s" \
		--json >run.json || code=$?
	jq '[.tables.jobs.rows[].completion] | max < 600' run.json >"below$r"
done
[ "$(cat "below$rate" "below$((rate - 50))" | tr '\n' ' ')" = "true false " ] ||
	fail "$rate Gb/s is not the least"
status 0 find_rate 'smallest fabric.link.rate with completion[train] < 600us'
status 1 find_rate 'smallest fabric.link.rate with completion[train] < 1us'
status 3 find_rate 'smallest fabric.link.rate with completion[unknown] < 1us'
has err "unknown measure 'completion[unknown]'"
# A scenario without jobs has no completion.
status 3 "$HEDDLE" sweep "$SRC/examples/quickstart.yaml" \
	--vary fabric.link.rate=50Gb/s,100Gb/s \
	--find 'smallest fabric.link.rate with completion < 600us'
