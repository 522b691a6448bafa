# All commands that simulate, route or check have the same bytes on any number of threads; those
# that simulate report the threads with -v.
. "$SRC/tests/cli/lib.sh"

# same HOW WORDS...: prints the same on 1, 2 and 3 threads, and says of more
# than one HOW it was computed ('': has no -v); 1 is a goal missed.
same() {
	how=$1
	shift
	rm -f db.*
	for n in 1 2 3; do
		# Points of sweeps are known by their content: a database each.
		"$HEDDLE" "$@" -q --json --threads $n --db db.$n ${how:+-v} \
			>out.$n 2>err || [ $? -eq 1 ] || fail "$*: $(cat err)"
		# Time and processes are no results.
		jq 'del(.run)' out.$n >bytes.$n
		cmp bytes.1 bytes.$n >&2 || fail "$*: differs on $n threads"
		[ $n = 1 ] || [ -z "$how" ] || grep -q "^heddle: computed $how" \
			err || fail "$*: on $n threads: $(cat err)"
	done
	[ "$(wc -c <bytes.1)" -gt 100 ] || fail "$*: nothing was printed"
}

tree='fat-tree --radix=6 --levels=3'
cut='in [23] parts on [23] threads$'
same '' route "$tree" --engine ftree --check --load 3
same '' route 'torus --sizes=5x5' --engine minhop --check
same '' topo check "$tree"
same 'by up to [12] jobs\{0,1\} at a time, each on [23] threads$' \
	cc compare "$SRC/examples/two-switch-congestion.yaml" \
	--algorithm none --algorithm cct --warmup 2us --measure 20us
same "$cut" mcast compare --topology 'kind: fat-tree, radix: 8, levels: 2'
same "$cut" qos evaluate --topology mesh --size 4096 --tried 2 --rule quick
same 'on one thread: programs run on its adapters$' bench send-lat --size 8 \
	-n 5
same 'on one thread: programs run on its adapters$' bench send-lat --size 8 \
	-n 5 --fabric "$SRC/examples/two-switch-congestion.yaml"
same 'by up to 2 jobs at a time, each on [23] threads$' \
	sweep "$SRC/examples/fat-tree-70.yaml" --vary traffic.0.load=20%,40% \
	--jobs 2 --set run.warmup=5us --set run.measure=10us
same 'by up to 2 jobs at a time, each on [23] threads$' \
	sweep cc compare "$SRC/examples/two-switch-congestion.yaml" --jobs 2 \
	--vary algorithm=none,cct --vary warmup=2us --vary measure=20us

# Without the option: as many as there are, if it pays.
"$HEDDLE" sim "$SRC/examples/quickstart.yaml" -v >out 2>err
grep -Eqx 'heddle: computed on one thread: (there is one processor|more would not pay on so small a fabric)' \
	err || fail "no reason: $(cat err)"

for words in "sim $SRC/examples/quickstart.yaml" 'route ring' 'qos evaluate' \
	'topo check ring' 'mcast compare' \
	"cc compare $SRC/examples/incast.yaml" \
	"cc tune $SRC/examples/incast.yaml" \
	"sweep $SRC/examples/study.yaml" 'bench send-lat' 'paper list'; do
	for n in 0 -1 1025 many; do
		status 2 "$HEDDLE" $words --threads $n
		one_line err
		empty out
	done
done
