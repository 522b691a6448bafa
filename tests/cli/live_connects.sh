# A listener rejects no connection: programs on all hosts connect to one at random times, also while
# it is late; with HD_LONG=1 10,000 connections, and 200 runs each of perftest over RC and UD.
. "$SRC/tests/cli/lib.sh"
. "$SRC/tests/cli/live_lib.sh"
each=40 runs=2
[ "${HD_LONG:-0}" != 1 ] || each=1250 runs=200
"$HEDDLE" live up 'fat-tree --radix 4 --levels 2' --sm minhop -q

"$HEDDLE" live exec h0 -- "$CONNECTS" 7000 $((8 * each)) >server 2>&1 &
server=$!
programs="$programs $server"
wait_for 1 listens server
clients=
for i in 0 1 2 3 4 5 6 7; do
	"$HEDDLE" live exec h$i -- "$CONNECTS" 7000 $each h0 $i >client.$i 2>&1 &
	clients="$clients $!"
done
programs="$programs $clients"
for client in $clients; do
	wait $client || fail "$(cat client.* server)"
done
wait $server || fail "$(cat server)"
has server "$((8 * each)) accepted, $((8 * each)) ended"

# perftest listens twice, and a client that connects in between is rejected with "invalid service":
# by no listener. Nothing else may fail.
early=0
while [ $runs -gt 0 ]; do
	runs=$((runs - 1))
	for tool in 'ib_send_bw -n 100 -s 1024' 'ib_send_lat -c UD -n 100'; do
		done=0
		while [ $done -eq 0 ]; do
			"$HEDDLE" live exec h0 -- $tool -R -F >server 2>&1 &
			server=$!
			programs="$programs $server"
			sleep 0.2
			if on h5 $tool -R -F h0 >client 2>&1; then
				wait $server || fail "$tool: $(cat server)"
				done=1
			else
				grep -q 'CM event bl blka 8\|handle RDMA CM event' client ||
					fail "$tool: $(cat client server)"
				early=$((early + 1))
				[ $early -lt $PATIENCE ] || fail "$tool: $(cat client)"
				kill -9 $server
				wait $server 2>/dev/null || true
			fi
		done
	done
done
"$HEDDLE" live down -q
