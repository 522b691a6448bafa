# The commands reproduce the published tables, in JSON with exact numbers, in CSV, and as text.
. "$SRC/tests/cli/lib.sh"

# near JQ-FILTER VALUE: a number in ./out is the value to 1e-6.
near() {
	jq -e "($1) as \$x | (\$x - $2) | fabs <= 1e-6" out >/dev/null ||
		fail "$1 is $(jq "$1" out), not $2"
}

# Chapter 4, experiment 1 and 2.
status 0 "$HEDDLE" model credit --lambda 5 --mu1 6 --mu2 8 --upstream 12 \
	--downstream 2..11 --json
jq -e '.command == "model" and (.tables.points.rows | length == 10)' out \
	>/dev/null || fail 'the shape of the JSON'
# keys NAME...: every point has them.
keys() {
	for key in "$@"; do
		jq -e --arg key "$key" '.tables.points.rows | map(has($key)) |
			all' out >/dev/null || fail "a point lacks $key"
	done
}
keys n m L1 L2 L R T loss
near '.tables.points.rows[0].T' 4.421161
near '.tables.points.rows[0].L1' 7.422799
near '.tables.points.rows[9].R' 1.064117
near '.tables.points.rows[9].loss' 0.020840
status 0 "$HEDDLE" model credit --upstream 2..12:2 --downstream 2..12:2 \
	--paired --json
near '.tables.points.rows[5].n' 12
near '.tables.points.rows[5].L2' 1.537904
near '.tables.points.rows[2].R' 0.775807

# A tiny chain, every probability.
status 0 "$HEDDLE" model credit --upstream 1 --downstream 1 --levels --json
near '.tables.levels.rows[] | select(.i == 1 and .j == 0).p' 0.40185471

# Chapter 5.
status 0 "$HEDDLE" model ge --lambda 1..8 --mu 8 --ca2 5 --cs2 7 \
	--capacity 8 --json --coefficients --levels
keys lambda L U blocking throughput W
near '.tables.points.rows[7].L' 3.529412
near '.tables.points.rows[7].blocking' 0.352941
near '.tables.levels.rows[] | select(.lambda == 4 and .n == 8).p' 0.08558578
near '.tables.coefficients.rows[3].y' 3
near '.tables.coefficients.rows[7].x' 1
near '.tables.points.rows[6].W' 0.656699 # 3.166638 / 4.822053
jq -e '[.tables.levels.rows[] | select(.lambda == 4)] | length == 9' out \
	>/dev/null || fail 'levels'
status 0 "$HEDDLE" model et --threshold 4 --json --compare
near '.tables.points.rows[3].L' 1.477847
near '.tables.without.rows[6].blocking' 0.171172
near '.tables.without.rows[7].blocking' 0.060403
status 0 "$HEDDLE" model et --threshold 4 --json --form separate
jq -e '.tables.points.rows[7].L == null' out >/dev/null || fail 'separate regions at load 1'
status 0 "$HEDDLE" model ajt --mu 8,16,12 --threshold 4,12 --json
near '.tables.points.rows[7].blocking' 0.050463
status 0 "$HEDDLE" model ajt --semantics s2 --threshold 4,12 --lambda 4,8 \
	--json
near '.tables.points.rows[0].blocking' 0.034743
near '.tables.points.rows[1].L' 3.280198

# Doubles are exact in JSON: print, read, print.
jq -c .tables out >once
jq -c . once >twice
cmp once twice

# CSV has one line per point and a header; -o picks the format by name.
status 0 "$HEDDLE" model et --lambda 1..8 -o points.csv
[ "$(grep -c '^[0-9]' points.csv)" -eq 8 ] || fail 'lines of the CSV'
has points.csv 'lambda[packets/t],ca2,cs2,L[packets]'
status 0 "$HEDDLE" model et --lambda 1..8 -o points.json
jq -e '.tables.points.rows | length == 8' points.json >/dev/null || fail 'JSON by name'
status 0 "$HEDDLE" model et
has out '3.318170  0.551076         0.049994               5.700036'
has out '# note: t is the unit of time that the rates are per'

# Any number of thresholds.
status 0 "$HEDDLE" model ajt --mu 4,7,9,8,14 --threshold 3,9,15,24 \
	--capacity 30 --lambda 20 --json --levels
jq -e '.tables.levels.rows | length == 31' out >/dev/null || fail 'five regions'

# Reference queues: 4 of 5 places' worth of load, by hand.
status 0 "$HEDDLE" model queue md1 --lambda 4 --mu 5 --json
near '.tables.points.rows[0].Wq' 0.4
status 0 "$HEDDLE" model queue mm1n --lambda 2 --mu 2 --capacity 9 --json
near '.tables.points.rows[0].L' 4.5
status 0 "$HEDDLE" model queue priority --class 1:4:0 --class 2:10 \
	--class 0.3:1:6 --json
near '.tables.points.rows[2].Wq' 8.009090909 # 1.10125 / (0.55 * 0.25)
status 0 "$HEDDLE" model queue sharing --mu 8 --class 10:1 --class 10:2 \
	--class 10:5 --json
near '.tables.points.rows[2].throughput' 5

# Rows are of classes where there are several, and said to be.
jq -e '[.tables.points.rows[].class] == [1, 2, 3]' out >/dev/null || fail 'three classes'
status 0 "$HEDDLE" model queue mm1 --json
jq -e '[.tables.points.rows[].class] == [1]' out >/dev/null || fail 'one class'

# Erlang's tables: one call in a hundred is lost of 4.461 erlangs on 10 lines
# and of 12.03 on 20.
for known in 10:4.461:0.01 20:12.03:0.01 3:1:0.0625; do
	status 0 "$HEDDLE" model loss --places "${known%%:*}" \
		--erlangs "$(echo $known | cut -d: -f2)" --json
	jq -e ".tables.points.rows[0].blocking as \$b |
		(\$b / ${known##*:} - 1 | fabs) < 2e-3" out >/dev/null ||
		fail "Erlang B of $known: $(jq .tables.points.rows[0].blocking out)"
done
# Two kinds on two places: of 1 + a1 + a1^2/2 + a2 states weigh a1 + a1^2/2 + a2
# for the larger one.
status 0 "$HEDDLE" model loss --places 2 --class 1:1 --class 2:1 --json
near '.tables.points.rows[0].blocking' 0.428571429 # (1/2 + 1) / 3.5
near '.tables.points.rows[1].blocking' 0.714285714 # 2.5 / 3.5

# A delay is a sum of phases where it is one of several.
status 0 "$HEDDLE" model credit --credit-delay 1 --phases 3 \
	--upstream 2 --downstream 2
has out 'delay is the sum of 3 exponential phases'
status 0 "$HEDDLE" model credit --credit-delay 1 --upstream 2 --downstream 2
lacks out 'the sum of'

# A large chain, with its residual.
status 0 "$HEDDLE" model credit --lambda 6 --mu1 6 --mu2 6.1 --upstream 150 \
	--downstream 150 --json
jq -e '.tables.points.rows[0] | .method == "sparse LU" and .residual < 1e-9 and
	.states == 22801' out >/dev/null || fail 'the large chain'
