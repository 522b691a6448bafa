# Adaptive routing: random permutations have more throughput than with the best fixed tables, shifts
# lose nothing, no throughput exceeds the capacity of the cables, and choices that could deadlock
# are refused with the cycle.
. "$SRC/tests/cli/lib.sh"

if [ "${HD_LONG:-0}" = 1 ]; then
	radix=36 hosts=648 seeds=20 shifts='18 19 36 324 341 630'
else
	radix=12 hosts=72 seeds=6 shifts='6 7 41'
fi
last=$((hosts - 1))
cat >tree.yaml <<END
fabric:
  topology: {kind: fat-tree, radix: $radix, levels: 2}
  routing: {engine: ftree}
traffic:
  - {name: a, kind: poisson, pattern: permutation, payload: 2KiB, load: 90%}
run: {warmup: 20us, measure: 40us}
END
# delivered COMMAND...: throughput of a run in Gb/s.
delivered() {
	"$HEDDLE" sim "$@" --json -q >run.json || fail "sim $*"
	jq '.tables.summary.rows[0] | .delivered' run.json
}

# ---- permutations
"$HEDDLE" sweep tree.yaml --vary fabric.routing.adaptive=off,load --seeds $seeds \
	--csv -q >sweep.csv || fail "sweep"
awk -F, '$4 == "delivered" { sum[$2] += $6; n[$2]++ }
	END { printf "%.3f\n", sum["load"] / sum["off"]
	      exit !(n["load"] == '$seeds' && n["off"] == '$seeds' &&
		     sum["load"] >= 1.2 * sum["off"]) }' sweep.csv ||
	fail "adaptive routing gains less than 1.2 over $seeds permutations"

# ---- none exceeds the capacity of the cables
for seed in $(seq $seeds); do
	"$HEDDLE" sim tree.yaml --set fabric.routing.adaptive=load --seed $seed --all --json -q \
		>run.json || fail "seed $seed"
	python3 "$SRC/tests/cli/adaptive.py" run.json $radix $((radix / 2)) $((radix / 2)) ||
		fail "seed $seed: more than the cables carry"
done

# ---- shifts, which the fixed tables of a full tree carry without contention
for shift in $shifts; do
	set -- tree.yaml --set traffic.a.pattern=pairs --set "traffic.a.source=h0..h$last" \
		--set "traffic.a.destination=h$shift..h$last,h0..h$((shift - 1))"
	fixed=$(delivered "$@")
	chosen=$(delivered "$@" --set fabric.routing.adaptive=load)
	awk "BEGIN { exit !($chosen >= 0.99 * $fixed && $chosen <= 1.01 * $fixed) }" ||
		fail "a shift by $shift: $chosen, not $fixed"
done

# ---- nor the capacity of a tree with half the uplinks
sed 's/^  topology:.*/  topology: {kind: xgft, down: "4,4", up: "1,2"}/; s/90%/100%/' \
	tree.yaml >half.yaml
"$HEDDLE" sim half.yaml --set fabric.routing.adaptive=load --all --json -q >half.json ||
	fail "half.yaml"
python3 "$SRC/tests/cli/adaptive.py" half.json 4 4 2 || fail "more than the cables carry"

# ---- the same results on any number of threads
for choice in load random turns; do
	for per in packet flow flowlet; do
		set -- sim half.yaml --set fabric.routing.adaptive.choice=$choice \
			--set fabric.routing.adaptive.per=$per --format checksum
		one=$("$HEDDLE" "$@" --threads 1) || fail "$choice per $per"
		[ "$("$HEDDLE" "$@" --threads 3)" = "$one" ] ||
			fail "$choice per $per differs on three threads"
	done
done

# ---- READ responses take two paths, of which one is longer. An adapter that keeps
# packets that arrive early does not request them again; a note names the setting
# if the adapter keeps too few.
cat >two.yaml <<'END'
fabric:
  topology: {kind: xgft, down: '1,2', up: '1,2', link: 4x HDR}
  links: [{ports: s2-1, propagation: 200ns}]
  routing: {engine: ftree, adaptive: turns}
END
for kept in 0 64 512; do
	"$HEDDLE" bench read-bw --profile ideal --fabric two.yaml --size 64KiB -n 50 \
		--set fabric.host.out_of_order=$kept --json -q >run.json || fail "read-bw"
	grep -q 'queue pairs sent again .*fabric.host.out_of_order' run.json && noted=1 || noted=0
	[ $noted = $((kept < 512)) ] || fail "out_of_order=$kept: wrong note about retries"
	jq '.tables["read-bw"].rows[0]["BW average"]' run.json
done >reads
awk 'NR == 1 { without = $1 } NR > 1 && $1 < 10 * without { bad = 1 }
	END { exit bad || NR != 3 }' reads ||
	fail "keeping early packets speeds READs up less than tenfold: $(cat reads)"

# ---- rejected options
adaptive() {
	"$HEDDLE" route "$@" >out 2>err
}
! adaptive 'torus --sizes 5x5' --set fabric.routing.adaptive=load || fail "a torus that locks up"
has err "choosing among its ports could lock the fabric up: 's"
! adaptive 'mesh --columns 3 --rows 3' -e lash --set fabric.routing.adaptive=load ||
	fail "lash has a choice"
has err 'leaves switches no choice of ports'
status 3 "$HEDDLE" sim half.yaml --set fabric.routing.adaptive=load --set fabric.switch.order=fifo
has err 'cannot choose'
status 3 "$HEDDLE" sim half.yaml --set fabric.routing.adaptive=load \
	--set fabric.routing.adaptive.hysteresis=65
has err 'above the threshold'
# half.yaml lacks adaptive.choice: the other adaptive fields are refused.
for field in per=flow threshold=3 nonminimal=64 failover_delay=2us sls=1; do
	status 3 "$HEDDLE" sim half.yaml --set "fabric.routing.adaptive.$field"
	one_line err
	has err "has no 'choice'"
done
status 0 "$HEDDLE" sim half.yaml --set fabric.routing.adaptive=off \
	--set fabric.routing.adaptive.per=flow
for sls in 16 3-1 1, 0-16 x 0,,2 -1; do
	status 3 "$HEDDLE" sim half.yaml --set fabric.routing.adaptive=load \
		--set "fabric.routing.adaptive.sls=$sls"
done
status 0 "$HEDDLE" route 'fat-tree --radix 8 --levels 3' -e ftree \
	--set fabric.routing.adaptive=load --json
jq -e '.tables.adaptive.rows[0]["most ports"] == 4 and
	.tables.adaptive.rows[0]["most hops"] == 4' out >/dev/null || fail "groups of a tree"

# Out-of-order packets are counted for the rows that send, independent of the settings of a row that
# never sends.
cat >overtaking.yaml <<'END'
fabric: {topology: {kind: xgft, down: "3,3", up: "1,2"}, link: {rate: 100Gb/s}, routing: {engine: updn, adaptive: load}}
traffic:
  - {name: a, kind: poisson, load: 40%, payload: 64, pattern: uniform}
  - {name: b, kind: poisson, load: 40%, payload: 4096, pattern: uniform}
run: {warmup: 0us, measure: 100us}
END
sed '/name: b/a\  - {name: z, kind: cbr, load: 5%, pattern: pairs, source: h8, destination: h3, transport: uc, start: 390ms}' \
	overtaking.yaml >with.yaml
status 0 "$HEDDLE" sim overtaking.yaml --json
jq '.tables.adaptive.rows' out >alone
status 0 "$HEDDLE" sim with.yaml --json
jq '.tables.adaptive.rows' out >nearby
cmp alone nearby || fail "a row that never sends changes what is out of order"
[ "$(jq '.[0]["packets out of order"]' alone)" -gt 0 ] || fail "nothing is out of order"
