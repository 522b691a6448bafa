# Sweeps of commands other than sim: each point has the results of a single call, for every declared
# measure; an invalid point is refused or is a row with the reason.
. "$SRC/tests/cli/lib.sh"
rm -f ./*.db
examples=$SRC/examples

# point N JQ COMMAND...: measures of point N of out.json, as a line, are those
# that the expression finds in what the command writes.
point() {
	n=$1 expression=$2
	shift 2
	"$HEDDLE" "$@" --json >single.json || [ $? -eq 1 ] ||
		fail "'$*' ended with $?"
	jq -c "[$expression]" single.json >wanted
	jq -c "[.tables.points.rows[$n] | $measures]" out.json >got
	cmp wanted got ||
		fail "point $n: $(cat got) and not $(cat wanted), as '$*' says"
}
swept() {
	status 0 "$HEDDLE" sweep "$@" --wide --json
	cp out out.json
	[ "$(jq '[.tables.points.rows[] | select(.failure)] | length' out)" = 0 ] ||
		fail "a point of '$*' failed: $(jq -c '.remarks' out)"
}

# ---- model: options without a scenario
swept model credit --vary lambda=4,5 --vary downstream=2..6:2 --db credit.db
measures='.L1, .L2, .L, .R, .T, .loss'
i=0
for lambda in 4 5; do
	for m in 2 4 6; do
		point $i ".tables.points.rows[0] | $measures" \
			model credit --lambda $lambda --downstream $m
		i=$((i + 1))
	done
done
[ "$(jq '.tables.points.rows | length' out.json)" -eq 6 ] || fail "not 6 points"
# The closed form needs no simulation: nothing is simulated again.
for kind in ge et ajt; do
	case $kind in
	ge) options= ;;
	et) options='--set threshold=3' ;;
	ajt) options='--set mu=4:6 --set threshold=5' ;;
	esac
	single=$(echo "$options" | sed 's/--set \([a-z]*\)=/--\1 /g; s/4:6/4,6/')
	options=$(echo "$options" | sed 's/4:6/4,6/')
	measures='.L, .U, .blocking, .throughput, .W'
	# shellcheck disable=SC2086 # words
	swept model $kind $options --vary lambda=2,3 --db $kind.db
	# shellcheck disable=SC2086
	point 1 ".tables.points.rows[0] | $measures" model $kind $single --lambda 3
done
measures='.L, .W, .Wq, .U, .blocking, .throughput'
swept model queue mm1n --vary lambda=1,8 --set mu=4 --set capacity=5 --db queue.db
point 1 ".tables.points.rows[0] | $measures" \
	model queue mm1n --lambda 8 --mu 4 --capacity 5

# ---- cc: fields of the scenario and options, side by side
cat >cc.yaml <<'END'
fabric: {topology: {kind: star, hosts: 4, link: 4x SDR}}
traffic:
  - {name: in, kind: saturating, pattern: incast, destination: 0,
     source: "1,2,3", payload: 1KiB}
congestion: {marking: iba, window: 16}
run: {warmup: 100us, measure: 200us}
END
measures='.delivered, .p99, ."busiest link", .fairness, ."marks heard"'
swept cc compare cc.yaml --vary algorithm=fimd,cct --vary traffic.in.payload=512,1KiB \
	--set threshold=15 --db cc.db
i=0
for algorithm in fimd cct; do
	for payload in 512 1KiB; do
		point $i '(.tables.summary.rows[0] | .delivered, ."latency p99",
			."busiest link used"),
			([.tables.traffic.rows[].fairness] | min),
			([.tables.control.rows[]."marks heard"] | add)' \
			cc compare cc.yaml --algorithm $algorithm --threshold 15 \
			--set traffic.in.payload=$payload
		i=$((i + 1))
	done
done

# ---- mcast: the tree next to unicast
measures='.completion, .bound, .mean, .speedup, ."busiest cable", .cycle, .lacking'
swept mcast compare "$examples/multicast.yaml" --vary tree=union,shared \
	--vary size=1KiB,4KiB --db mcast.db
point 3 ".tables.ways.rows[-1] | $measures" \
	mcast compare "$examples/multicast.yaml" --tree shared --size 4KiB
# More trees than one are no point.
status 1 "$HEDDLE" sweep mcast compare "$examples/multicast.yaml" --db trees.db
has out "rows, of which a point selects 2"

# ---- qos: connections drawn by the seed
measures='.established, .attempts, .load, .live, ."most reserved", ."mean reserved"'
swept qos admit "$examples/qos-mesh.yaml" --set random=60 \
	--vary best-effort=10%,40% --seeds 2 --db admit.db
for i in 0 1 2 3; do
	share=10%
	[ $i -lt 2 ] || share=40%
	point $i '(.tables.random.rows[0] | .established, .attempts,
		."load with headers"), (.tables.summary.rows[0] | .live,
		."reserved there", ."mean reserved")' \
		qos admit "$examples/qos-mesh.yaml" --random 60 \
		--best-effort $share --seed $((i % 2 + 1))
done
printf 'h0 h5 DBTS 10Mb/s 2048 5ms\nh1 h6 DB 5Mb/s\n' >flows.txt
measures='.admitted, .deadline, .bound, .buffer'
swept qos bound "$examples/qos-mesh.yaml" flows.txt \
	--vary mode=periodic,bucket --db bound.db
point 1 '([.tables.flows.rows[] | select(.admitted)] | length),
	([.tables.flows.rows[].deadline] | max),
	([.tables.flows.rows[].bound] | max),
	([.tables.hops.rows[].buffer] | max)' \
	qos bound "$examples/qos-mesh.yaml" flows.txt --mode bucket

# ---- bench: a test and its sizes
test=$("$HEDDLE" bench list --json | jq -r '[.tables[].rows[] | .test // .name |
	select(test("lat"))][0]')
measures='.t_min, .t_avg, .t_typical, .p99'
swept bench "$test" --vary size=64,4KiB --set iterations=20 --db bench.db
point 1 ".tables[\"$test\"].rows[0] | .t_min, .t_avg, .t_typical,
	.\"99% percentile\"" bench "$test" --size 4KiB --iterations 20

# ---- a study as a file says the same; merged shards, too
cat >study.yaml <<'END'
command: model credit
set: [mu1=6]
axes:
  - {field: lambda, values: 3..5:1}
  - {field: downstream, values: [2, 4]}
END
status 0 "$HEDDLE" sweep study.yaml --db file.db -o file.csv
status 0 "$HEDDLE" sweep model credit --set mu1=6 --vary lambda=3..5:1 \
	--vary downstream=2,4 --db line.db -o line.csv
cmp file.csv line.csv || fail "a study's file gives another CSV"
for i in 1 2; do
	status 0 "$HEDDLE" sweep study.yaml --shard $i/2 --db part$i.db -o part.csv
done
status 0 "$HEDDLE" sweep merge part2.db part1.db --db joined.db -o joined.csv
cmp file.csv joined.csv || fail "shards give another CSV"
# An option is what it is in a sweep in the joined one, too: sizes in bytes (a
# search needs them in one unit), flags that have a word or none.
for i in 1 2; do
	status 0 "$HEDDLE" sweep mcast compare "$examples/multicast.yaml" \
		--set tree=union --vary per-packet=yes,no --vary size=512,1KiB \
		--find 'smallest size with speedup > 0' \
		--shard $i/2 --db flag$i.db -o part.csv
done
status 0 "$HEDDLE" sweep mcast compare "$examples/multicast.yaml" \
	--set tree=union --vary per-packet=yes,no --vary size=512,1KiB \
	--find 'smallest size with speedup > 0' --db flags.db -o flags.csv
status 0 "$HEDDLE" sweep merge flag2.db flag1.db --db flag.db -o flag.csv
cmp flags.csv flag.csv || fail "joined, the options of a command are others"
for more in '--seeds 2' '--set size=512' '--seed 3' '--keep ways' \
	'--stop size' '--find size' '--skip size>512' '--vary size=512'; do
	# shellcheck disable=SC2086 # two words
	status 2 "$HEDDLE" sweep merge flag2.db flag1.db --db flag.db $more
	has err "databases of shards"
done
# Known points are not computed again; a search uses their measures.
status 0 "$HEDDLE" sweep model credit --db line.db --json \
	--set mu1=6 --set downstream=2 --vary lambda=1..9:1 \
	--find 'largest lambda with loss < 0.1'
jq -e '.tables.found.rows[0].lambda == 4' out >/dev/null || fail "found $(jq -c .tables.found out)"

# ---- rejected options
refused() { # MESSAGE WORDS...
	message=$1
	shift
	status 3 "$HEDDLE" sweep "$@" --db refused.db
	one_line err
	has err "$message"
	[ ! -e refused.db ] || fail "a refused sweep left a database"
}
refused "lamda: 'heddle model credit' has no such option" \
	model credit --vary lamda=1,2
refused "invalid value 'fast'" mcast compare "$examples/multicast.yaml" \
	--vary vls=fast
refused "unknown measure 'p99' (expected L1" \
	model credit --vary lambda=1,2 --find 'largest lambda with p99 < 5us'
refused "congestion.marking: it is varied as 'marking', too" \
	cc compare "$examples/incast.yaml" --vary algorithm=fimd \
	--vary marking=iba,depth --vary congestion.marking=iba,depth
printf 'command: topo show\naxes: []\n' >bad.yaml
refused "bad.yaml:1: 'topo show' is not one of sim, cc compare" bad.yaml
printf 'command: model credit\nscenario: x.yaml\naxes: []\n' >bad.yaml
: >x.yaml
refused "bad.yaml:2: model credit takes no scenario" bad.yaml
printf 'scenario: x.yaml\narguments: --all\n' >bad.yaml
refused "bad.yaml:2: sim takes a scenario and no arguments" bad.yaml
refused "sim takes a scenario and no arguments" \
	sim "$examples/incast.yaml" --vary traffic.0.load=1%,2% more
printf 'command: cc compare\naxes: []\n' >bad.yaml
refused "bad.yaml:1: cc compare needs a scenario" bad.yaml
status 2 "$HEDDLE" sweep cc compare --db refused.db
status 1 "$HEDDLE" sweep model credit --vary lambda=1,2 --set mu1=-1 --db neg.db
has out "2 points failed"
