# Rows of 'live traffic' share links, buffers and congestion control with programs when the clock
# is simulated: bandwidths are those of 'heddle sim' for the same flows.
. "$SRC/tests/cli/lib.sh"
. "$SRC/tests/cli/live_lib.sh"
. "$SRC/tests/cli/verbs_lib.sh"

cat >load.yaml <<'END'
fabric: {topology: {kind: star, hosts: 6}}
traffic:
  - {name: incast, kind: saturating, pattern: incast, source: "2..4", destination: h0,
     payload: 4096B, sl: 1}
run: {warmup: 100us, measure: 12ms}
END
sed 's/^run:/  - {name: write, kind: saturating, pattern: incast, source: h1, destination: h0,\n     payload: 64KiB, transport: rc, sl: 1}\n&/' \
	load.yaml >flows.yaml
# gigabits FILE ROW: Gb/s that a row of results in CSV has received.
gigabits() {
	awk -F, -v row="$2" '$1 == "traffic" || $1 == "# traffic" { for (i = 1; i <= NF; i++)
			if ($i ~ /^delivered/) at = i }
		$1 == row && at { print $at; exit }' "$1"
}
# near VALUE WANTED PERCENT WHAT
near() {
	awk -v a="$1" -v b="$2" -v p="$3" 'BEGIN {
		exit !(a > b * (1 - p / 100) && a < b * (1 + p / 100)) }' ||
		fail "$4: $1, not $2"
}
# requests N: until programs have posted as much.
requests() {
	tries=0
	until "$HEDDLE" live time | awk -v n="$1" '{ exit !($6 >= n) }'; do
		tries=$((tries + 1))
		[ $tries -lt $PATIENCE ] || fail "no requests: $("$HEDDLE" live time)"
		sleep 0.05
	done
}
sl=1
# writes N: ib_write_bw h1 to h0, begun with the clock paused; $writer is its process.
writes() {
	pick_port
	timeout 300 "$HEDDLE" live exec h0 -- $pin0 ib_write_bw -F -n "$1" --sl $sl -p "$port" \
		>server 2>&1 &
	programs="$programs $!"
	wait_for_port
	timeout 300 "$HEDDLE" live exec h1 -- $pin1 ib_write_bw -F -n "$1" --sl $sl -p "$port" \
		127.0.0.1 >client 2>&1 &
	writer=$!
	programs="$programs $writer"
	requests 133
}
# attach: the rows, in $traffic; they wait for the clock to resume.
attach() {
	"$HEDDLE" live traffic load.yaml -- --csv -o incast.csv &
	traffic=$!
	programs="$programs $traffic"
	attached
}
attached() {
	tries=0
	until "$HEDDLE" live time | grep -q 'traffic attached'; do
		tries=$((tries + 1))
		[ $tries -lt $PATIENCE ] || fail "the rows are not attached"
		sleep 0.05
	done
}
# written: Gb/s of the last ib_write_bw.
written() {
	awk '$2 ~ /^[0-9]+$/ && NF == 5 { print $4 * 8 * 1048576 / 1e9 }' client
}
# received: words of data that h0 has received on SL 1, which no MAD has.
received() {
	on h0 perfquery --rcvsl | awk -F'[:.]+' '/^RcvDataSL1:/ { print $2 }'
}

# ---- without programs: the bytes of the free clock, also at the counters
for clock in free simulated; do
	"$HEDDLE" live up load.yaml --sm minhop -q --clock $clock
	"$HEDDLE" live traffic load.yaml -- --csv -o $clock.csv
	received >$clock.words
	[ $clock = simulated ] || "$HEDDLE" live down
done
cmp free.csv simulated.csv || fail "the clocks differ"
cmp free.words simulated.words || fail "the counters differ"

# ---- waits with a timeout last that long on the simulated clock
timeout 300 "$HEDDLE" live exec h5 -- "$WAITS" >waits 2>&1 || fail "waits: $(cat waits)"

# ---- alone, and in a 4:1 incast
rows=$(cat simulated.words)
for nearby in nothing incast; do
	before=$(received)
	"$HEDDLE" live time pause
	writes 150
	if [ $nearby = incast ]; then
		attach
		status 3 "$HEDDLE" live traffic load.yaml
		has err 'a scenario is attached to this fabric already'
		"$HEDDLE" sim flows.yaml --csv -o flows.csv
		wanted=$(gigabits flows.csv write)
	else
		wanted=$(awk 'BEGIN { print 200 * 4096 / 4122 }')
	fi
	"$HEDDLE" live time resume
	wait $writer || fail "$(cat client)"
	[ $nearby = nothing ] || wait $traffic || fail "live traffic"
	near "$(written)" "$wanted" 2 "ib_write_bw with $nearby"
done
near "$(gigabits incast.csv incast)" "$(awk -v a="$(gigabits free.csv incast)" -v w="$wanted" \
	'BEGIN { print a - w * 150 * 65536 * 8 / (w * 1e9) / 12e-3 }')" 2 "the incast itself"
# What arrived is counted once: the rows as measured, and the messages. A packet has 4096 bytes and
# 24 of headers without the VCRC, the first one of a message 16 more.
n=$(sed -n '/^# traffic:/,/^$/s/^incast,\([^,]*,\)\{4\}\([0-9]*\),.*/\2/p' incast.csv)
[ "$(received)" -eq $((before + n * 1030 + 150 * (16 * 1030 + 4))) ] ||
	fail "$(received) words arrived after $before, $n packets of rows"

# ---- the scenario is checked where it is run, and the fabric stays as it is
sed 's/incast, source/incast, sauce/' load.yaml >wrong.yaml
status 3 "$HEDDLE" live traffic wrong.yaml
has err "unknown field 'sauce'"
status 2 "$HEDDLE" live traffic load.yaml --pace 1e-3
has err '--pace'
status 3 "$HEDDLE" sim --live fabric load.yaml
has err "use 'heddle live traffic'"
# A change of the tables while rows run; an end before the time.
sed 's/12ms/90s, horizon: 100s/' load.yaml >long.yaml
"$HEDDLE" live traffic long.yaml >long 2>err &
traffic=$!
attached
manager_log=$XDG_RUNTIME_DIR/heddle-fabric/manager-h0.log
ups=$(grep -c 'SUBNET UP' "$manager_log")
"$HEDDLE" live link h5 down
wait_for $((ups + 1)) 'SUBNET UP' "$manager_log"
kill $traffic
wait $traffic || true
has err 'interrupted at'
has long 'incast'
"$HEDDLE" live traffic long.yaml >long 2>err &
traffic=$!
attached
kill -9 $traffic
wait $traffic 2>/dev/null || true
tries=0
until "$HEDDLE" live traffic load.yaml -- --csv -o again.csv 2>err; do
	tries=$((tries + 1))
	[ $tries -lt $PATIENCE ] || fail "rows of a killed process stay: $(cat err)"
	sleep 0.05
done
"$HEDDLE" live down

# ---- congestion control as OpenSM sets it slows the program down, too
sl=0
sed -i 's/sl: 1/sl: 0/' load.yaml flows.yaml
control_of_sl_0 0:0,0:6,0:12,0:18 >conf
"$HEDDLE" sim flows.yaml --opensm conf --csv -o flows.csv
"$HEDDLE" live up load.yaml --clock simulated -q
on h5 opensm -o -F conf -f "$PWD/log" >opensm.out 2>&1 || fail "OpenSM"
"$HEDDLE" live time pause
writes 500
attach
"$HEDDLE" live time resume
wait $writer || fail "$(cat client)"
wait $traffic || fail "live traffic"
near "$(written)" "$(gigabits flows.csv write)" 2 "ib_write_bw with congestion control"
near "$(gigabits incast.csv incast)" "$(gigabits flows.csv incast)" 2 "its incast"
"$HEDDLE" live down
