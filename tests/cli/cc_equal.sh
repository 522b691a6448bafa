# The rows of an algorithm in 'heddle cc compare' are those of 'heddle sim' with
# that algorithm, cell by cell: bounded sources, jobs, queue pairs, faults,
# multicast, deadlocks.
. "$SRC/tests/cli/lib.sh"

# equal EXAMPLE TABLE: the comparison of EXAMPLE has TABLE, and all tables of
# each algorithm are those of its own simulation.
equal() {
	file=$SRC/examples/$1.yaml
	status 0 "$HEDDLE" cc compare "$file" --json --all --algorithm none \
		--algorithm fimd --algorithm cct
	mv out compared
	jq -e --arg name "$2" '.tables[$name].rows | length > 0' compared >/dev/null ||
		fail "$1: no table '$2'"
	for algorithm in none fimd cct; do
		"$HEDDLE" sim "$file" --json --all \
			--set congestion.algorithm=$algorithm >simulated 2>err ||
			[ $? -eq 1 ] || fail "$1: $(cat err)"
		# Columns that only other algorithms have are null.
		jq -c --arg a $algorithm 'def is: ."congestion.algorithm" // .algorithm;
			.tables | map_values([.rows[] | select(is == $a) |
			if has("congestion.algorithm") then del(."congestion.algorithm")
			else del(.algorithm) end |
			with_entries(select(.value != null))] | select(length > 0))' \
			compared >from-compare
		jq -c '.tables | map_values([.rows[] |
			with_entries(select(.value != null))] | select(length > 0))' \
			simulated >from-sim
		cmp from-compare from-sim || fail "$1: $algorithm differs"
		[ "$(wc -c <from-sim)" -gt 1000 ] || fail "$1: nothing to compare"
		cells=$((cells + $(jq '[.[][] | length] | add' from-sim)))
	done
}

cells=0
equal quickstart control
equal jobs jobs
equal connections connections
equal one-fabric 'queue pairs'
equal link-failure links-down
equal multicast traffic
equal ring-deadlock deadlock
[ $cells -gt 10000 ] || fail "only $cells cells"
echo "cc_equal: $cells equal cells"

# Rows without acknowledgements are listed, with the reason.
status 0 "$HEDDLE" cc compare "$SRC/examples/multicast.yaml" --json \
	--algorithm none --algorithm cct
jq -e '.tables.uncontrolled.rows | length > 0 and
	all(.algorithm == "cct" and .reason == "multicast packets are not acknowledged")' \
	out >jq.out || fail "multicast: $(jq -c .tables.uncontrolled.rows out)"

# An algorithm that refuses the scenario is a note; all of them are a refusal.
status 0 "$HEDDLE" cc compare "$SRC/examples/entry-threshold.yaml" \
	--algorithm none --algorithm cct
has out '# note: cct: not simulated: '
status 3 "$HEDDLE" cc compare "$SRC/examples/entry-threshold.yaml" --algorithm cct
one_line err
status 3 "$HEDDLE" cc compare "$SRC/examples/study.yaml"
has err 'is a study; a scenario is required'
"$HEDDLE" cc compare - --algorithm none --measure 10us --csv \
	<"$SRC/examples/quickstart.yaml" >out || fail "standard input"
