# Verbs beyond the basic calls, with both clocks; rsockets; and programs whose fabric or engine is
# killed.
. "$SRC/tests/cli/lib.sh"
. "$SRC/tests/cli/live_lib.sh"
command -v rstream >/dev/null || fail "rstream is not installed"
echo 'fabric: {topology: {kind: star, hosts: 3}}' >three.yaml

"$HEDDLE" live up three.yaml --sm minhop -q
on h1 python3 "$SRC/tests/cli/live_join.py" >/dev/null
on h1 "$SURFACE" groups >said || fail "$(cat said)"

# ---- sockets over verbs
"$HEDDLE" live exec h0 -- rstream -T v -S 10000 -C 20 >server 2>&1 &
server=$!
programs="$programs $server"
tries=0
until on h2 rstream -s h0 -T v -S 10000 -C 20 >client 2>&1; do
	tries=$((tries + 1))
	kill -0 $server && [ $tries -lt $PATIENCE ] ||
		fail "rstream: $(cat client server)"
	sleep 0.1
done
wait $server || fail "$(cat server)"
grep -q '^custom\|10k\|10000' client || fail "$(cat client)"
"$HEDDLE" live down -q

# ---- the fabric is killed with all its processes: senders end, and listeners
# get an event
# ends PROCESS: by itself.
ends() {
	tries=0
	while kill -0 "$1" 2>/dev/null; do
		tries=$((tries + 1))
		[ $tries -lt $PATIENCE ] || fail "it hangs: $(cat client server)"
		sleep 0.05
	done
}
# busy: two that send to each other for ever, as $server and $client.
busy() {
	"$HEDDLE" live exec h0 -- rping -s -P >server 2>&1 &
	server=$!
	"$HEDDLE" live exec h1 -- ibv_asyncwatch >watch 2>&1 &
	watcher=$!
	programs="$programs $server $watcher"
	tries=0
	until on h2 rping -c -a h0 -C 1 >client 2>&1; do
		tries=$((tries + 1))
		[ $tries -lt $PATIENCE ] || fail "rping: $(cat client server)"
		sleep 0.1
	done
	"$HEDDLE" live exec h2 -- rping -c -a h0 -v >client 2>&1 &
	client=$!
	programs="$programs $client"
	wait_for 1 'rdma-ping-9' client
	wait_for 1 'async event FD' watch
}
for clock in free simulated; do
	"$HEDDLE" live up three.yaml --sm minhop --clock $clock -q
	[ $clock = free ] || on h1 "$SURFACE" >said || fail "$(cat said)"
	busy
	kill -9 $(fabric_processes)
	ends $client
	wait_for 1 IBV_EVENT_DEVICE_FATAL watch
	kill -9 $server $watcher 2>/dev/null || true
	"$HEDDLE" live down -q 2>/dev/null || true
	rm -rf "$XDG_RUNTIME_DIR"/heddle-*
done
