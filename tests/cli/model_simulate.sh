# --simulate shows the simulated value and interval next to the computed value;
# the exit status says whether the interval contains it.
. "$SRC/tests/cli/lib.sh"

holds() {
	status 0 "$HEDDLE" model "$@" --simulate 200000 --json
	jq -e '[.tables.simulated.rows[].inside |
		. == "yes" or . == "unsure"] | all' out >/dev/null ||
		fail "outside, but exit 0: $*"
	jq -e '[.tables.simulated.rows[].inside == "yes"] | any' out \
		>/dev/null || fail "nothing was compared: $*"
}

holds credit --upstream 12 --downstream 2,5
holds credit --downstream 5 --credit-delay 0.6 --phases 2
holds ge --lambda 4,8
holds et --lambda 4
holds ajt --lambda 6 --threshold 4,12
holds ajt --lambda 6 --threshold 4,12 --semantics s2
holds queue mm1 --lambda 1 --mu 2
holds queue md1 --lambda 1 --mu 2
holds queue mg1 --lambda 1 --mu 2 --cs2 0.5,3
holds queue mm1n --lambda 1,3 --mu 2
holds queue priority --class 1:4:0 --class 2:10
holds queue sharing --mu 10 --class 9:3:2048 --class 9:1:256
holds ge --class 3:1 --class 2:8
said='.tables.simulated.rows[] | select(.point == '
jq -e "$said\"class 2\" and .measure == \"W\").inside == \"yes\"" out >/dev/null ||
	fail 'classes are not compared'

# With thresholds the delay of a class is known from simulation only.
status 0 "$HEDDLE" model ge --class 3:1 --class 2:8 --mu 8,16 --threshold 6 \
	--capacity 12 --simulate 100000 --json
jq -e '.tables.classes.rows[0].W == null' out >/dev/null || fail 'W of a class'
jq -e "$said\"class 1\" and .measure == \"W\") | .simulated > 0 and
	.inside == \"-\"" out >/dev/null || fail 'classes with thresholds'
jq -e "$said\"class 1\" and .measure == \"blocking\").inside == \"yes\"" out \
	>/dev/null || fail 'classes with thresholds'

# A constant delay is simulated only.
status 0 "$HEDDLE" model credit --downstream 5 --credit-delay 0.6 \
	--phases fixed --simulate 100000 --json
jq -e '.tables.points.rows[0].T == null' out >/dev/null || fail 'constant delay'
jq -e '.tables.simulated.rows[] | select(.measure == "T").simulated > 4' out \
	>/dev/null || fail 'constant delay'

# The error measure, per point and on the average: separate regions are worse.
for form in joined separate; do
	status 0 "$HEDDLE" model et --threshold 5 --lambda 1..7 --form "$form" \
		--simulate 100000 --json
	cp out "$form"
done
mean='def mean: [.tables.simulated.rows[] | select(.measure == "L").EM] | add / length;'
jq -e "$mean mean < 3" joined >/dev/null || fail 'mean EM'
jq -e "$mean mean > 8 and mean < 13" separate >/dev/null || fail 'mean EM'
status 0 "$HEDDLE" model et --lambda 4 --simulate 100000
has out '# note: mean EM of L: '

# The same seed gives the same bytes, another one does not.
status 0 "$HEDDLE" model et --lambda 4 --simulate 10000 --seed 7
cp out one
status 0 "$HEDDLE" model et --lambda 4 --simulate 10000 --seed 7
cmp out one
status 0 "$HEDDLE" model et --lambda 4 --simulate 10000 --seed 8
! cmp -s out one || fail 'the seed has no effect'

# A simulated value outside its interval misses a goal: of many short runs some must, and then the
# status is 1 and the table shows which.
status 1 "$HEDDLE" model queue mm1 --lambda 1..99 --mu 100 --simulate 2000
has out ' no '
