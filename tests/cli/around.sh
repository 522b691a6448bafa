# Nonminimal routing on a dragonfly+. If a group sends all its traffic to the next group, minimal
# paths carry the capacity of the cables between the two, and paths by a third group carry nearly
# the maximum flow of all cables. Uniform traffic loses no throughput.
. "$SRC/tests/cli/lib.sh"

# delivered FABRIC ARGUMENT...: throughput of a run, in units of a link's rate.
delivered() {
	groups=$1 leaves=$2 spines=$3 globals=$4 hosts=$5
	shift 5
	cat >dragonfly.yaml <<END
fabric:
  topology: {kind: dragonfly-plus, groups: $groups, leaves: $leaves, spines: $spines,
             globals: $globals, hosts: $hosts}
  link: {rate: 100Gb/s}
  routing: {engine: dragonfly, adaptive: load}
traffic:
  - {name: a, kind: poisson, pattern: pairs, source: h0, destination: h1, payload: 2KiB, load: 100%}
run: {warmup: 50us, measure: 100us}
END
	"$HEDDLE" sim dragonfly.yaml "$@" --json -q >run.json || fail "sim $*"
	jq '.tables.summary.rows[0].delivered / 100' run.json
}
# within WHAT VALUE BOUND: at most the bound, and at least nine tenths of it
# (headers are 1.3 %).
within() {
	awk "BEGIN { exit !($2 <= $3 && $2 >= 0.9 * $3) }" ||
		fail "$1: $2 of $3"
}

# Spines with cables to all other groups, and to some of them.
for fabric in '5 4 2 4 2' '9 4 4 2 2'; do
	set -- $fabric
	n=$(($2 * $5)) all=$(($1 * $2 * $5))
	bounds=$(python3 "$SRC/tests/cli/around.py" "$@") || fail "bounds"
	read -r minimal around shift_minimal shift_around <<END
$bounds
END
	next="--set traffic.a.destination=h$n..h$((2 * n - 1)) --set traffic.a.source=h0..h$((n - 1))"
	by_third='--set fabric.routing.adaptive.nonminimal=128'
	within "minimal, $fabric" "$(delivered "$@" $next)" "$minimal"
	within "around, $fabric" "$(delivered "$@" $next $by_third)" "$around"
	every="--set traffic.a.source=h0..h$((all - 1))
		--set traffic.a.destination=h$n..h$((all - 1)),h0..h$((n - 1))"
	within "all minimal, $fabric" "$(delivered "$@" $every)" "$shift_minimal"
	got=$(delivered "$@" $every $by_third)
	echo "$fabric: $got of $shift_around, and $shift_minimal by minimal ways"
	awk "BEGIN { exit !($got <= $shift_around && $got >= 1.5 * $shift_minimal) }" ||
		fail "all around, $fabric: $got of $shift_around"
	spread="--set traffic.a.pattern=uniform --set traffic.a.source=all
		--set traffic.a.destination=all"
	fixed=$(delivered "$@" $spread) chosen=$(delivered "$@" $spread $by_third)
	echo "uniform: $chosen, by minimal ways $fixed"
	awk "BEGIN { exit !($chosen >= 0.95 * $fixed) }" || fail "uniform, $fabric: $chosen, not $fixed"
done

# ---- the same results on any number of threads, and the tables shown
set -- sim "$SRC/examples/around.yaml" --format checksum --set run.measure=50us
[ "$("$HEDDLE" "$@" --threads 1)" = "$("$HEDDLE" "$@" --threads 3)" ] ||
	fail "differs on three threads"
status 0 "$HEDDLE" route "$SRC/examples/around.yaml" --json
jq -e '.tables.adaptive.rows[0]["most hops"] == 4 and .tables.around.rows[0]["mean ports"] == 3' \
	out >/dev/null || fail "ways around of the example"
status 3 "$HEDDLE" route 'fat-tree --radix 8 --levels 2' --set fabric.routing.adaptive=load \
	--set fabric.routing.adaptive.nonminimal=128
has err 'has no ways around'
status 2 "$HEDDLE" sim "$SRC/examples/around.yaml" --set fabric.routing.adaptive.nonminimal=-1
has err 'is not a whole number'
