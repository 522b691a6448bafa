# Datagrams to a group, with both clocks: each member gets all of them, byte by
# byte, where the switches' tables send them; no other host does. Where data take
# time, each crosses each cable of the tree once.
. "$SRC/tests/cli/lib.sh"
. "$SRC/tests/cli/live_lib.sh"
command -v tshark >/dev/null || fail "tshark is not installed"
echo 'fabric: {topology: {kind: fat-tree, radix: 4, levels: 2}}' >two.yaml

# spread N: from h0 to members on h0, h1 (its own switch) and h4, h5.
spread() {
	rm -f ready.*
	receivers=
	for host in h0 h1 h4 h5; do
		timeout 300 "$HEDDLE" live exec $host -- "$GROUP" receive "$1" \
			"$PWD/ready.$host" >"said.$host" 2>&1 &
		receivers="$receivers $!"
	done
	programs="$programs $receivers"
	for host in h0 h1 h4 h5; do
		tries=0
		until [ -e "ready.$host" ]; do
			tries=$((tries + 1))
			[ $tries -lt $PATIENCE ] || fail "$host: $(cat said.$host)"
			sleep 0.05
		done
	done
	on h0 "$GROUP" send "$1" || fail "nothing is sent: $(as_it_is)"
	for receiver in $receivers; do
		wait $receiver || fail "nothing is heard: $(as_it_is)"
	done
}
as_it_is() {
	cat said.* "$XDG_RUNTIME_DIR"/heddle-*/*.log
	"$HEDDLE" live time
	"$HEDDLE" live dump --to mfts
}
for clock in free simulated; do
	"$HEDDLE" live up two.yaml --sm minhop --clock $clock -q
	for host in h0 h1 h4 h5; do
		on $host python3 "$SRC/tests/cli/live_join.py" >mlid
		has mlid 0xc000
	done
	[ $clock = free ] || status 0 "$HEDDLE" live capture --data -o all.pcap
	spread 20
	[ $clock = free ] || status 0 "$HEDDLE" live capture --data --stop
	# PortMulticastXmitPkts of h0; what h2 and h6 have received.
	on h0 perfquery -x "$(lid_of h0)" 1 >counters
	grep -q '^PortMulticastXmitPkts:\.*20$' counters || fail "$(cat counters)"
	for host in h2 h6; do
		on h0 perfquery -x "$(lid_of $host)" 1 >counters
		grep -q '^PortMulticastRcvPkts:\.*0$' counters ||
			fail "$host: $(cat counters)"
	done
	# A sender that leaves and ends at once: what it posted is on its way.
	timeout 300 "$HEDDLE" live exec h3 -- stdbuf -oL mckey -m 239.1.2.3 \
		-C 5 -S 200 >member 2>&1 &
	member=$!
	programs="$programs $member"
	wait_for 1 'receiving data transfers' member
	on h1 mckey -s -m 239.1.2.3 -C 5 -S 200 >sender 2>&1 ||
		fail "mckey -s: $(cat sender)"
	wait $member || fail "mckey with the clock $clock: $(cat member)"
	"$HEDDLE" live down -q
done
# From h0 to its switch, from there to h1 and to a spine, to the other switch,
# and to h4 and h5: six cables, each datagram once on each.
tshark -r all.pcap -T fields -e infiniband.lrh.dlid -e infiniband.bth.destqp \
	-e infiniband.grh.dgid -e infiniband.bth.psn 2>tshark.err |
	sort | uniq -c >packets
awk '$1 == 6 && $2 == 49152 && $3 == "0xffffff" &&
	$4 == "ff12:401b:ffff::ffff:ffff" { n++ } END { exit n != 20 || NR != n }' \
	packets || fail "$(cat packets)"
