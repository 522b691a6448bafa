# Connections by librdmacm, as Debian has it, between hosts of a live fabric:
# tools of rdma-core, perftest and libfabric find each other by their names.
. "$SRC/tests/cli/lib.sh"
. "$SRC/tests/cli/live_lib.sh"
. "$SRC/tests/cli/port_lib.sh"
for tool in rping ucmatose udaddy fi_pingpong ib_write_bw tshark; do
	command -v $tool >/dev/null || fail "$tool is not installed"
done
"$HEDDLE" live up 'fat-tree --radix 4 --levels 2' --sm minhop >up
has up '8 hosts, 6 switches'

# serve PROGRAM...: on h0, its process in $server.
serve() {
	"$HEDDLE" live exec h0 -- "$@" >server 2>&1 &
	server=$!
	programs="$programs $server"
}

# ask PROGRAM...: on h5, again until the other one listens. Programs that make
# several connections at once are not asked: some of them might find it so.
ask() {
	tries=0
	until on h5 "$@" >client 2>&1; do
		tries=$((tries + 1))
		kill -0 $server && [ $tries -lt $PATIENCE ] ||
			fail "$*: $(cat client) $(cat server)"
		sleep 0.1
	done
}

finish() {
	wait $server || fail "$(cat server)"
}

# pair PROGRAM...: on h0 and on h5, both again until the first listened in time.
# perftest connects twice, and listens again for the second: who is too early
# there leaves a server with half of what it needs, which no other completes.
pair() {
	tries=0
	until
		serve "$@"
		sleep 0.2
		on h5 "$@" h0 >client 2>&1
	do
		kill -9 $server
		wait $server || true
		tries=$((tries + 1))
		[ $tries -lt $PATIENCE ] || fail "$*: $(cat client)"
	done
	finish
}

# ---- contents, compared by the program, and the MADs as Wireshark reads them
"$HEDDLE" live capture h5:1 -o cable.pcap
serve rping -s -V -C 5
ask rping -c -a h0 -V -v -C 5
has client 'ping data: rdma-ping-4'
finish
"$HEDDLE" live capture --stop
tshark -r cable.pcap -Y 'infiniband.mad.mgmtclass == 7' -T fields \
	-e infiniband.mad.attributeid >attributes 2>/dev/null
# ConnectRequest, ConnectReply, ReadyToUse, DisconnectRequest and -Reply
for attribute in 0x0010 0x0013 0x0014 0x0015 0x0016; do
	has attributes $attribute
done
tshark -r cable.pcap -Y infiniband.cm.req.ip_cm.dip4 -T fields \
	-e infiniband.cm.req.ip_cm.dip4 >asked 2>/dev/null
has asked '127.64.0.1'

# ---- others
serve ucmatose -C 50 -S 10000
ask ucmatose -s h0 -C 50 -S 10000
has client 'return status 0'
finish
serve udaddy -C 50
ask udaddy -s h0 -C 50
has client 'return status 0'
finish
pick_port
serve fi_pingpong -B "$port" -p verbs -e msg -c -I 20
ask fi_pingpong -P "$port" -p verbs -e msg -c -I 20 h0
has client '1m '
finish

# ---- perftest: SIZE N TOOL OPTIONS
while read -r size n tool options; do
	pair $tool -R -F $options
	awk -v size="$size" -v n="$n" '$1 == size && $2 == n { found = 1 }
		END { exit !found }' client || fail "$tool: $(cat client)"
done <<'ROWS'
4096 200 ib_write_bw -n 200 -s 4096
65536 400 ib_read_bw -n 100 -q 4
2 200 ib_send_lat -n 200
1024 200 ib_send_bw -c UD -n 200 -s 1024
ROWS

# ---- a group: only members receive what is sent to it, and it is deleted with
# its last member. The sender's switch is in the tree already.
members=
for end in h0 h3; do
	timeout 300 "$HEDDLE" live exec $end -- stdbuf -oL mckey -m 239.1.2.3 \
		-C 5 -S 200 >member.$end 2>&1 &
	members="$members $!"
done
programs="$programs $members"
for end in h0 h3; do
	wait_for 1 'receiving data transfers' member.$end
done
on h5 saquery -t 300000 -g >groups
has groups 'ff12:4001:ffff::f01:203'
on h1 mckey -s -m 239.1.2.3 -C 5 -S 200 >client 2>&1 ||
	fail "mckey: $(cat client)"
for member in $members; do
	wait $member || fail "mckey: $(cat member.*)"
done
for end in h0 h2 h3; do
	on h5 perfquery -x "$(lid_of $end)" 1 >counters
	n=5
	[ $end != h2 ] || n=0
	grep -q "^PortMulticastRcvPkts:\.*$n\$" counters ||
		fail "$end: $(cat counters)"
done
on h5 saquery -t 300000 -g >groups
lacks groups 'ff12:4001:'
# An address that is no group is rejected.
on h0 mckey -s -m 127.64.0.2 -C 1 >client 2>&1 && fail 'joined a host'

# ---- no server, or not any more
on h5 rping -c -a h0 -C 1 >client 2>&1 && fail 'connected to unknown'
has client 'RDMA_CM_EVENT_REJECTED, error 8'
serve rping -s -P
ask rping -c -a h0 -C 1
"$HEDDLE" live exec h5 -- rping -c -a h0 -v >client 2>&1 &
client=$!
programs="$programs $client"
wait_for 1 'ping data: rdma-ping-9' client
kill -9 $server
wait $server 2>/dev/null || true
wait $client || true # rping takes it for an end like others
grep -q 'client DISCONNECT EVENT\|state 10' client || fail "$(tail -3 client)"
"$HEDDLE" live down
