# Simulated clock: the results of unmodified programs depend on link rates, arbitration and states
# only, not on the speed of this machine.
. "$SRC/tests/cli/lib.sh"
. "$SRC/tests/cli/live_lib.sh"
. "$SRC/tests/cli/verbs_lib.sh"
cat >conf <<'CONF'
force_log_flush TRUE
qos TRUE
qos_max_vls 8
qos_high_limit 0
qos_vlarb_high 0:0
qos_vlarb_low 0:64,1:192
qos_sl2vl 0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7
CONF
echo 'fabric: {topology: {kind: fat-tree, radix: 4, levels: 2}}' >two.yaml

# ---- what is invalid
status 2 "$HEDDLE" live up two.yaml --clock slow
status 2 "$HEDDLE" live up two.yaml --clock simulated --foreground
status 3 "$HEDDLE" live up two.yaml --clock simulated --profile none
"$HEDDLE" live up two.yaml --name plain -q
status 3 "$HEDDLE" live time --name plain
has err 'the fabric has the free clock'
"$HEDDLE" live down --name plain

"$HEDDLE" live up two.yaml --clock simulated -q
manage h0 log -F conf
settle
status 2 "$HEDDLE" live time fast

# average: MiB/s of the last bandwidth test; latency: us, typical.
average() { awk '$2 ~ /^[0-9]+$/ && NF == 5 { print $4 }' "${1:-client}"; }
latency() { awk '$2 ~ /^[0-9]+$/ && NF > 5 { print $5 }' client; }
# near VALUE WANTED PERCENT WHAT
near() {
	awk -v a="$1" -v b="$2" -v p="$3" 'BEGIN {
		exit !(a > b * (1 - p / 100) && a < b * (1 + p / 100)) }' ||
		fail "$4: $1, not $2"
}

# ---- 4x HDR has 25 GB/s for packets of 4096 bytes and 26 of headers
rate=$(awk 'BEGIN { print 25e9 * 4096 / 4122 / 1048576 }')
between h1 h0 ib_write_bw -F -n 100
near "$(average)" "$rate" 1 "ib_write_bw"
between h1 h4 ib_send_bw -F -n 100
near "$(average)" "$rate" 1 "ib_send_bw"
between h1 h4 ib_read_bw -F -n 100
near "$(average)" "$rate" 1 "ib_read_bw"
# ... each way; the two do not begin at the same moment, which counts for less
# the longer they send
between h1 h0 ib_write_bw -b -F -n 1000
near "$(average)" "$(awk -v r="$rate" 'BEGIN { print 2 * r }')" 1 "both ways"

# ---- the same as programs in the simulation measure
bench() {
	"$HEDDLE" bench "$1" --profile ideal --fabric two.yaml --values "$2" \
		--csv | awk -F, -v size="$2" -v column="$3" '
		{ for (i = 1; i <= NF; i++) if ($i == column) at = i }
		at && $1 == size { print $at }'
}
near "$(average)" "$(bench write-bidir 65536 'BW average[MiB/sec]')" 1 \
	"write-bidir of the bench"
between h1 h0 ib_send_lat -F -n 20
near "$(latency)" "$(bench send-lat 2 't_typical[usec]')" 5 "send-lat"
between h1 h0 ib_read_lat -F -n 20
near "$(latency)" "$(bench read-lat 2 't_typical[usec]')" 5 "read-lat"

# ---- what is set again as it is delays nothing that is on its way
rm -f ended
{
	between h1 h4 ib_send_bw -F -n 1000 -t 500
	: >ended
} &
pair=$!
lid=$(lid_of h4)
while kill -0 $pair 2>/dev/null && [ ! -e ended ]; do
	on h0 ibportstate "$lid" 1 speed 7 >set
done
wait $pair
near "$(average)" "$rate" 1 "ib_send_bw with a manager"

# ---- without acknowledgements; 8 more bytes of header in UD
between h1 h4 ib_write_bw -c UC -F -n 100
near "$(average)" "$rate" 1 "ib_write_bw of UC"
between h1 h4 ib_send_bw -c UC -F -n 100
near "$(average)" "$rate" 1 "ib_send_bw of UC"
near "$(average)" "$(bench uc-bw 65536 'BW average[MiB/sec]')" 1 \
	"uc-bw of the bench"
between h1 h0 ib_send_bw -c UD -F -s 4096 -n 2000
near "$(average)" "$(awk 'BEGIN { print 25e9 * 4096 / 4130 / 1048576 }')" 1 \
	"ib_send_bw of UD"
between h1 h0 ib_send_bw -c UD -F -s 1024 -n 4000
near "$(average)" "$(bench ud-bw 1024 'BW average[MiB/sec]')" 1 \
	"ud-bw of the bench"
between h1 h0 ib_send_lat -c UD -F -n 20
near "$(latency)" "$(bench ud-lat 2 't_typical[usec]')" 5 "ud-lat"
between h1 h0 ib_send_bw --use-srq -F -n 100
near "$(average)" "$rate" 1 "ib_send_bw with a shared queue"

# ---- simulated time waits for each program with work to do, with or without a
# processor: a program that has just started, one that was stopped between a
# completion and its next receive. It does not wait for a program that sleeps
late() { # QUEUE WAY
	pick_port
	timeout 300 "$HEDDLE" live exec h1 -- "$LATE" "$port" "$@" \
		>server 2>&1 &
	server=$!
	programs="$programs $server"
	timeout 300 "$HEDDLE" live exec h0 -- "$LATE" "$port" "$@" 127.0.0.1 \
		>client 2>&1 || fail "late, $*: $(cat client server)"
	wait "$server" || fail "late, $*: $(cat server client)"
}
for queue in own shared; do
	late $queue poll
	late $queue event
	late $queue sleep
done

# ---- contents, polled for and waited for
for kind in rc uc ud srq; do
	between h0 h5 ibv_${kind}_pingpong -c -n 20
	between h0 h5 ibv_${kind}_pingpong -c -e -n 20
done
for tool in ib_send_lat 'ib_send_lat -c UD' ib_read_lat ib_atomic_lat \
	'ib_send_bw -q 2 --use-srq' 'ib_send_bw -c UC' ib_write_bw \
	'ib_write_bw -c UC' ib_read_bw ib_atomic_bw; do
	compared 20 h0 h5 $tool -F -n 20
done

# ---- two that share the cable to h4, from the same moment on: 1 to 3
compete() { # HOST SL N: its process in $pair, what it says in client.SL
	pick_port
	"$HEDDLE" live exec h4 -- ib_write_bw -F -n "$3" --sl "$2" \
		-p "$port" >"server.$2" 2>&1 &
	programs="$programs $!"
	wait_for_port
	"$HEDDLE" live exec "$1" -- ib_write_bw -F -n "$3" --sl "$2" \
		-p "$port" 127.0.0.1 >"client.$2" 2>&1 &
	pair=$!
	programs="$programs $pair"
}
# ready PROGRAMS REQUESTS: until PROGRAMS programs have posted REQUESTS requests.
ready() {
	tries=0
	until "$HEDDLE" live time | awk -v n="$1" -v m="$2" '{
		exit !($3 == "paused," && $4 == n && $6 >= m) }'; do
		tries=$((tries + 1))
		[ $tries -lt $PATIENCE ] ||
			fail "they do not begin: $("$HEDDLE" live time)"
		sleep 0.05
	done
}
"$HEDDLE" live time pause
compete h0 0 150
first=$pair
compete h2 1 450
# Three changes of state at each client, two at each server, and all that fits
# their queues.
ready 4 266
"$HEDDLE" live time resume
wait "$first" || fail "$(cat client.0)"
wait "$pair" || fail "$(cat client.1)"
near "$(average client.0)" "$(awk -v r="$rate" 'BEGIN { print r / 4 }')" 2 \
	"one of four parts"
near "$(average client.1)" "$(awk -v r="$rate" 'BEGIN { print r * 3 / 4 }')" \
	2 "three of four parts"

# ---- a cable is pulled before anything is sent
"$HEDDLE" live time pause
pick_port
"$HEDDLE" live exec h0 -- ibv_rc_pingpong -p "$port" >server 2>&1 &
programs="$programs $!"
wait_for_port
"$HEDDLE" live exec h5 -- ibv_rc_pingpong -p "$port" 127.0.0.1 >client 2>&1 &
pair=$!
programs="$programs $pair"
# Receives of both, their states, and the first send.
ready 2 1007
ups=$(grep -c 'SUBNET UP' log)
"$HEDDLE" live link h5 down
"$HEDDLE" live time resume
! wait "$pair" || fail "data over a cable that is pulled"
has client 'transport retry counter exceeded'
wait_for $((ups + 1)) 'SUBNET UP'
"$HEDDLE" live link h5 up
wait_for $((ups + 2)) 'SUBNET UP'
between h0 h5 ibv_rc_pingpong -c -n 10
kill "$manager"
wait "$manager" || true
"$HEDDLE" live down -q

# ---- congestion control, as OpenSM sets it: SL 0 is held back as its table
# says, by three packets' time after each at most, while SL 1 asks for all of
# the cable: a quarter for the one, and the other gets what is left, where each
# would have half of it without
control_of_sl_0 0:0,0:1,0:2,0:3 >conf
echo 'fabric: {topology: {kind: star, hosts: 5}}' >star.yaml
for control in on off; do
	"$HEDDLE" live up star.yaml --clock simulated -q
	rm -rf cache/*
	[ $control = on ] || : >conf
	on h1 opensm -o -F conf -f "$PWD/star.log" >opensm.out 2>&1 ||
		fail "OpenSM on a star"
	"$HEDDLE" live time pause
	if [ $control = on ]; then
		one=4 parts=3
		compete h0 0 300
		first=$pair
		compete h2 1 900
	else
		one=2 parts=1
		compete h0 0 300
		first=$pair
		compete h2 1 300
	fi
	ready 4 266
	"$HEDDLE" live time resume
	wait "$first" || fail "$(cat client.0)"
	wait "$pair" || fail "$(cat client.1)"
	near "$(average client.0)" \
		"$(awk -v r="$rate" -v n=$one 'BEGIN { print r / n }')" 2 \
		"SL 0, control $control"
	near "$(average client.1)" \
		"$(awk -v r="$rate" -v n=$one -v m=$parts 'BEGIN {
			print r * m / n }')" 2 "SL 1, control $control"
	"$HEDDLE" live down -q
done

# ---- the engine is killed: all that was posted ends, and it is said
"$HEDDLE" live up star.yaml --sm minhop --clock simulated -q
# The daemon waits for many, and the manager has a log.
for process in $(fabric_processes); do
	ls -l "/proc/$process/fd" >files
	grep -q 'eventpoll\|manager' files || engine=$process
done
pick_port
timeout 300 "$HEDDLE" live exec h1 -- "$CUT" "$port" "$engine" >server 2>&1 &
server=$!
programs="$programs $server"
timeout 300 "$HEDDLE" live exec h0 -- "$CUT" "$port" "$engine" 127.0.0.1 \
	>client 2>&1 || fail "no engine: $(cat client server)"
wait "$server" || fail "no engine: $(cat server client)"
for word in '' pause resume; do
	status 4 "$HEDDLE" live time $word
	one_line err
	has err 'the engine that times data is gone'
done
status 4 "$HEDDLE" live capture --data -o no.pcap
has err 'the engine that times data is gone'
"$HEDDLE" live down -q
