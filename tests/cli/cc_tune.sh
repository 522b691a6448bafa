# Parameters found by 'heddle cc tune' also work outside the scenario of the search.
. "$SRC/tests/cli/lib.sh"

# gain SCENARIO SEED [OPTION...]: victims' goodput under
# examples/incast.opensm.conf over that without control, and the use of the
# receiver's link in percent; then both goodputs, in Gb/s.
gain() {
	scenario=$1 seed=$2
	shift 2
	status 0 "$HEDDLE" cc compare "$scenario" --seed "$seed" --json --all \
		--algorithm none --algorithm cct "$@" \
		--opensm "$SRC/examples/incast.opensm.conf"
	jq -r '
		def victims(a): .tables.traffic.rows[] |
			select(.algorithm == a and .traffic == "victims").delivered;
		def hot: [.tables.ports.rows[] | select(.algorithm == "cct" and
			.to == "h0").used][0];
		"\(victims("cct") / victims("none")) \(hot) \(
			victims("none")) \(victims("cct"))"' out
}

# documented FORMAT NUMBER...: the documentation has the formatted line.
documented() {
	has "$SRC/docs/congestion.md" "$(printf "$@")"
}

# at_least VALUE LEAST WHAT
at_least() {
	awk -v v="$1" -v l="$2" 'BEGIN { exit !(v >= l) }' ||
		fail "$3: $1, less than $2"
}

# The scenario of the search: at least three times the goodput, with nine
# tenths of the hot link used.
set -- $(gain "$SRC/examples/incast.yaml" 1)
at_least "$1" 3 "gain"
at_least "$2" 90 "use of the hot link"
found=$1
documented "| no control, and OpenSM's defaults | %.1f | 1 |" "$3"
documented "| tuned | %.1f | %.1f | %.1f %% |" "$4" "$1" "$2"
set -- $(gain "$SRC/examples/incast.yaml" 1 \
	--set 'fabric.links=[{ports: h0, rate: 25Gb/s}]')
documented "| hot link at a quarter: no control | %.1f | 1 |" "$3"
documented "| tuned | %.1f | %.1f | %.1f %% |" "$4" "$1" "$2"

# Four fifths of that gain with another seed and on larger fabrics, which were
# chosen before they were run (docs/congestion.md: which of them blindly).
least=$(awk -v g="$found" 'BEGIN { print 0.8 * g }')
set -- $(gain "$SRC/examples/incast.yaml" 4711)
at_least "$1" "$least" "gain with another seed"
documented "tuned | %.1f, %.1f | %.1f | %.1f %% |" "$3" "$4" "$1" "$2"
# The largest takes minutes of a processor.
held_out=incast-128:20071
[ "${HD_LONG:-0}" = 1 ] && held_out="$held_out incast-432:8128 incast-250:31337"
for held in $held_out; do
	set -- $(gain "$SRC/tests/heldout/${held%:*}.yaml" "${held#*:}")
	at_least "$1" "$least" "gain on ${held%:*}"
	documented "$(echo "$held" | sed "s/.*-//; s/:.*//") hosts: no control, tuned | %.1f, %.0f | %.0f | %.1f %% |" \
		"$3" "$4" "$1" "$2"
done

# The tuner uses no other scenario than its input.
if grep -rn heldout "$SRC/src"; then fail "the program knows of held-out files"; fi

# OpenSM reads the lines and writes them unchanged.
opensm=$(PATH=$PATH:/usr/sbin command -v opensm) || fail "no opensm"
"$opensm" -F "$SRC/examples/incast.opensm.conf" -c read.conf >opensm.out 2>&1 ||
	fail "opensm refuses the file"
grep -E '^(cc_|congestion)' "$SRC/examples/incast.opensm.conf" >ours
while IFS= read -r line; do
	grep -qxF "$line" read.conf || fail "OpenSM reads '$line' otherwise"
done <ours
[ "$(wc -l <ours)" -gt 10 ] || fail "too few lines"

# A short search, twice: the same to the byte. One that cannot keep its floor
# says so by its status.
status 0 "$HEDDLE" cc tune "$SRC/examples/incast.yaml" --budget 3 \
	--warmup 1ms --measure 1ms --floor 20% --json --conf once.conf
cp out once
status 0 "$HEDDLE" cc tune "$SRC/examples/incast.yaml" --budget 3 \
	--warmup 1ms --measure 1ms --floor 20% --json --conf again.conf
cmp once out && cmp once.conf again.conf || fail "not the same twice"
# On any number of processes, and jobs and latencies can be the goal.
status 0 "$HEDDLE" cc tune "$SRC/examples/incast.yaml" --budget 3 --threads 2 \
	--warmup 1ms --measure 1ms --floor 20% --json
cmp once out || fail "not the same on another number of processes"
status 0 "$HEDDLE" cc tune "$SRC/examples/incast.yaml" --budget 2 --goal p99 --held-out 2 \
	--victims victims --warmup 1ms --measure 1ms --json
jq -e '.tables.gain.rows | .[0].p99 / .[2].p99 - .[2].gain | fabs < 1e-9' out >/dev/null ||
	fail "the gain of a p99"
# If no parameters are better than none, congestion control is left off and no file is written.
status 1 "$HEDDLE" cc tune "$SRC/examples/jobs.yaml" --goal completion --budget 1 \
	--stress 1 --held-out 2 --conf off.conf
has out 'Leave congestion control off'
[ ! -e off.conf ] || fail "a file that makes it worse"
jq -e '.tables.trials.rows | length == 3' once >/dev/null || fail "budget"
# Marks hold twice the 256 senders: packets of 2074 bytes at 100 Gb/s, each so
# manieth marked, against a timer that lowers every index.
jq -e 'def holds: 100e9 / 8 / 2074 * .increase * .timer * 1e-6 /
		(."marking rate" + 1);
	([.tables.trials.rows[] | holds >= 512] | all) and
	((.tables.parameters.rows[0] | .holds / holds - 1 | fabs) < 1e-3)' \
	once >/dev/null || fail "marks that do not reach all senders"
status 1 "$HEDDLE" cc tune "$SRC/examples/incast.yaml" --budget 1 \
	--warmup 1ms --measure 300us --floor 100% --stress 1
has out 'No trial kept the hot link at 100 %'
# Windows in which another seed gives another result: the output says so and
# names sufficient windows.
short="--warmup 4ms --measure 500us"
status 0 "$HEDDLE" cc tune "$SRC/examples/incast.yaml" --budget 15 --stress 1 \
	$short --floor 90% --json --conf short.conf
cp out short
jq -e '.tables."held out".rows | length == 2 and .[0].floor == "cannot tell" and
	.[1].floor == "kept" and .[1].measured == 2 * .[0].measured and
	.[0].promised > .[0]."hot link" + .[0]."hot link +-" / 2' short >/dev/null ||
	fail "no message about windows that are too short"
jq -r '.notes[]' short | grep -q -- 'It takes --warmup 8ms --measure 1ms' ||
	fail "the windows that it takes"
# The numbers of other seeds are those of 'heddle cc compare'.
for seed in 2 3 4 5 6; do
	status 0 "$HEDDLE" cc compare "$SRC/examples/incast.yaml" --seed $seed \
		$short --algorithm cct --opensm short.conf --all --json
	jq '[.tables.ports.rows[] | select(.to == "h0").used][0]' out
done >others
jq -e -s --slurpfile tuned short '$tuned[0].tables."held out".rows[0] as $told |
	(add / length - $told."hot link" | fabs) < 1e-9 and
	(min - $told.lowest | fabs) < 1e-9 and
	# Student: five samples, two-sided 95 %.
	(add / length) as $mean | (map(. - $mean | . * .) | add / 4 / 5 | sqrt |
		2.7764451 * . - $told."hot link +-" | fabs) < 1e-5' others >/dev/null ||
	fail "other seeds say something else: $(cat others)"
# Traffic that ends by itself is judged by the given windows only.
got=0
"$HEDDLE" cc tune "$SRC/examples/incast.yaml" --budget 15 --stress 1 $short --floor 90% \
	--set traffic.incast.stop=1s --json >out 2>err || got=$?
[ $got -le 1 ] || fail "ended with $got: $(cat err)"
jq -e '.tables."held out".rows | length == 1' out >/dev/null || fail "longer windows"
# The duration is estimated before most of the runs.
has err 'heddle: about'
status 2 "$HEDDLE" cc tune "$SRC/examples/incast.yaml" --held-out 1
"$HEDDLE" cc tune - --budget 1 --stress 1 --warmup 1ms --measure 100us \
	--floor 1% --held-out 2 <"$SRC/examples/incast.yaml" >out 2>err ||
	fail "a scenario from standard input: $(cat err)"
status 3 "$HEDDLE" cc tune "$SRC/examples/incast.yaml" --victims unknown
one_line err
sed '/name: victims/,/source:/d' "$SRC/examples/incast.yaml" >alone.yaml
status 3 "$HEDDLE" cc tune alone.yaml --warmup 10us --measure 10us
has err 'no victim to protect'

# The whole search finds the parameters in the example's file.
if [ "${HD_LONG:-0}" = 1 ]; then
	status 0 "$HEDDLE" cc tune "$SRC/examples/incast.yaml" --conf long.conf
	cmp long.conf "$SRC/examples/incast.opensm.conf" ||
		fail "the search found something else"
fi
