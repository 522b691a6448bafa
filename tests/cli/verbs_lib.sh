# Functions for tests of programs that use verbs on a live fabric; sourced after live_lib.sh.
for tool in ibv_devinfo ibv_rc_pingpong ib_write_bw ucx_perftest; do
	command -v $tool >/dev/null || fail "$tool is not installed"
done
# Two programs that poll need a core each.
if [ "$(nproc)" -gt 1 ]; then
	pin0="taskset -c 0" pin1="taskset -c 1"
else
	pin0= pin1=
fi

. "$SRC/tests/cli/port_lib.sh"

# between HOST HOST TOOL OPTION...: its server on one, its client on the other;
# what they say is in ./server and ./client.
with='exec "$@"'
between() {
	one=$1 other=$2
	shift 2
	pick_port
	timeout 300 "$HEDDLE" live exec "$one" -- sh -c "$with" with $pin0 \
		"$@" -p "$port" >server 2>&1 &
	server=$!
	programs="$programs $server"
	wait_for_port
	timeout 300 "$HEDDLE" live exec "$other" -- sh -c "$with" with $pin1 \
		"$@" -p "$port" 127.0.0.1 >client 2>&1 ||
		fail "client of $*: $(tail -n 5 client server)"
	wait "$server" || fail "server of $*: $(tail -n 5 server client)"
}

# compared N HOST HOST TOOL OPTION...: the same, and each byte of at least N
# messages is compared with what was sent (verbs_witness.c).
compared() {
	at_least=$1
	shift
	witness
	between "$@"
	with='exec "$@"'
	awk -v n="$at_least" '$1 == "witness:" { sum += $3 + $5 + $7 + $9 }
		END { exit !(sum >= n) }' client server ||
		fail "$*: not all compared: $(cat client server)"
}

# witness [LIBRARY]: of the next programs, and one more library before them. The
# loader ends a path at a blank, but not a folder.
witness() {
	rm -f ledger
	export WITNESS="$PWD/ledger"
	export WITNESSES="${WITNESS_LIBRARY##*/}${1:+:${1##*/}}"
	with='folder=${WITNESS_LIBRARY%/*}
		export LD_LIBRARY_PATH="$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
		LD_PRELOAD="$WITNESSES:$LD_PRELOAD" exec "$@"'
}
