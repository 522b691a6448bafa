# Only packets that the tables let through arrive, a refused request changes
# nothing, and the kill of one program ends no other.
. "$SRC/tests/cli/lib.sh"
. "$SRC/tests/cli/live_lib.sh"
. "$SRC/tests/cli/verbs_lib.sh"
cat >conf <<'CONF'
force_log_flush TRUE
qos TRUE
qos_max_vls 8
qos_sl2vl 0,1,2,15,4,5,6,7,0,1,2,3,4,5,6,7
CONF
echo 'Default=0x7fff: ALL=limited, SELF=full;' >partitions
"$HEDDLE" live up 'fat-tree --radix 4 --levels 2' >up
manage h0 log -F conf -P "$PWD/partitions"
settle

# ---- each violation
on h0 "$VIOLATIONS" >violations || fail "$(cat violations)"
on h0 "$WINDOWS" >windows || fail "$(cat windows)"
[ "${HD_LONG:-0}" != 1 ] || on h0 "$LARGE" >large || fail "$(cat large)"

# ---- a VL that carries no data, and a key that two limited members share
! (between h0 h5 ibv_rc_pingpong -n 10 -l 3) >refused 2>&1 ||
	fail "data on a VL that is for management"
has refused 'transport retry counter exceeded'
between h0 h5 ibv_rc_pingpong -n 10 -l 2
! (between h3 h5 ibv_rc_pingpong -n 10) >refused 2>&1 ||
	fail "two limited members talk to each other"
has refused 'transport retry counter exceeded'
# The port that refused the packet has counted it.
for host in h3 h5; do
	on $host ibv_devinfo -v | sed -n 's/.*bad_pkey_cntr:[^0-9]*//p'
done >pkeys
awk '{ n += $1 } END { exit n == 0 }' pkeys || fail "no P_Key violation is counted"

# ---- a cable is pulled
"$HEDDLE" live exec h5 -- ibv_asyncwatch >watch 2>&1 &
watcher=$!
programs="$programs $watcher"
wait_for 1 'async event FD' watch
"$HEDDLE" live link h5 down
wait_for 1 IBV_EVENT_PORT_ERR watch
on h5 ibv_devinfo >info
has info 'PORT_DOWN'
"$HEDDLE" live link h5 up
wait_for 1 IBV_EVENT_PORT_ACTIVE watch
kill -9 "$watcher"
between h0 h5 ibv_rc_pingpong -c -n 10

# ---- one of two is killed while both send: the other ends, and others continue
sent() { # HOST: packets; h0 is a full member
	until on h0 perfquery -x "$(lid_of "$1")" 1 >counters 2>&1 &&
		grep -q '^PortXmitPkts:' counters; do
		: # it asks for three seconds, which may be too short
	done
	sed -n 's/^PortXmitPkts:\.*//p' counters
}
# sends HOST PACKETS: until it has sent more.
sends() {
	tries=0
	until [ "$(sent "$1")" -gt "$2" ]; do
		tries=$((tries + 1))
		[ $tries -lt $PATIENCE ] || fail "$1 sends nothing"
		sleep 0.05
	done
}
rounds=4
[ -z "${HD_LONG:-}" ] || rounds=100
for round in $(seq $rounds); do
	pick_port
	before_h0=$(sent h0) before_h5=$(sent h5)
	tool="ib_write_bw -b -F -n 50000000"
	[ $((round % 2)) -eq 0 ] || tool="ib_send_bw -b -F -n 50000000 -s 64"
	"$HEDDLE" live exec h0 -- $tool -p "$port" >server 2>&1 &
	one=$!
	programs="$programs $one"
	wait_for_port
	"$HEDDLE" live exec h5 -- $tool -p "$port" 127.0.0.1 >client 2>&1 &
	other=$!
	programs="$programs $other"
	sends h0 "$before_h0"
	sends h5 "$before_h5"
	sleep "0.$((round % 3))$((round * 7 % 10))"
	victim=$one survivor=$other
	[ $((round % 4)) -lt 2 ] || { victim=$other; survivor=$one; }
	kill -9 "$victim"
	tries=0
	until grep -q '^State:.Z' "/proc/$survivor/status" 2>/dev/null ||
		! kill -0 "$survivor" 2>/dev/null; do
		tries=$((tries + 1))
		[ $tries -lt $PATIENCE ] || fail "round $round: the other hangs"
		sleep 0.05
	done
	! wait "$survivor" || fail "round $round: it has not noticed"
done
between h0 h5 ibv_rc_pingpong -c -n 100
