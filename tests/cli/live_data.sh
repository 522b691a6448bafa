# Packets of verbs programs in a capture that Wireshark opens: packets, numbers, addresses and bytes
# match the posted requests, at the ports that they cross, with times of the fabric.
. "$SRC/tests/cli/lib.sh"
. "$SRC/tests/cli/live_lib.sh"
. "$SRC/tests/cli/verbs_lib.sh"
for tool in tshark capinfos; do
	command -v $tool >/dev/null || fail "$tool is not installed"
done

# ---- with the free clock there are no packets
"$HEDDLE" live up 'star --hosts 2' --name plain -q
status 3 "$HEDDLE" live capture --data -o no.pcap --name plain
one_line err
has err 'the free clock copies messages from memory to memory'
[ ! -e no.pcap ] || fail "a file of nothing"
"$HEDDLE" live down --name plain -q

"$HEDDLE" live up 'star --hosts 3' --sm minhop --clock simulated -q
status 3 "$HEDDLE" live capture --data --stop
has err 'no data are captured'
status 3 "$HEDDLE" live capture h7 --data -o no.pcap
[ ! -e no.pcap ] || fail "a file of nothing"

# seen [steps]: two programs, and their expected packets in ./wanted.
seen() {
	pick_port
	timeout 300 "$HEDDLE" live exec h0 -- "$SEEN" "$port" >server 2>&1 &
	server=$!
	programs="$programs $server"
	timeout 300 "$HEDDLE" live exec h1 -- "$SEEN" "$port" 127.0.0.1 $* \
		>wanted 2>client || fail "client: $(cat client server)"
	wait "$server" || fail "server: $(cat server client)"
}
fields() { # FILE FIELD...
	file=$1
	shift
	tshark -r "$file" --disable-heuristic rpcrdma_infiniband \
		--disable-protocol smb_direct -T fields -E occurrence=f \
		$(printf ' -e %s' "$@") 2>tshark.err
}
# rows FILE: as verbs_seen says them, without plain acknowledgements; padding is
# not content.
rows() {
	fields "$1" infiniband.bth.opcode infiniband.bth.psn \
		infiniband.bth.destqp infiniband.reth.va infiniband.reth.r_key \
		infiniband.reth.dmalen infiniband.atomiceth.swapdt \
		infiniband.atomiceth.cmpdt infiniband.immdt infiniband.bth.se \
		infiniband.atomicacketh.origremdt infiniband.bth.padcnt \
		data.data | awk -F'\t' '
		function had(x) { return x == "" ? "-" : x }
		$1 == 17 { next }
		$1 == 19 || $1 == 20 {
			print $1, $2, $3, $4, $5, $7, $8, $10, "-"
			next
		}
		{ content = substr($13, 1, length($13) - 2 * $12)
		print $1, $2, $3, had($4), had($5), had($6), had($9), $10,
			had($11 content) }' | sort
}
# same FILE: the file has the expected packets, complete, in order of time.
same() {
	rows "$1" >found
	sort "${2:-wanted}" | cmp - found || {
		sort "${2:-wanted}" | diff - found | cut -c 1-160 >&2
		fail "$1: other packets than were sent"
	}
	[ -z "$(fields "$1" _ws.malformed | tr -d '\n')" ] || fail "malformed"
	fields "$1" frame.time_relative | sort -c -g || fail "times of $1"
	status 0 "$HEDDLE" decode -s "$1"
}

# ---- at a port
status 0 "$HEDDLE" live capture h1 --data -o one.pcap
status 3 "$HEDDLE" live capture h1 --data -o two.pcap
has err 'there is a capture already'
[ ! -e two.pcap ] || fail "a file of nothing"
seen
status 0 "$HEDDLE" live capture --data --stop
same one.pcap
# The GIDs of one datagram; it says its port.
fields one.pcap infiniband.grh.hoplmt infiniband.deth.srcqp |
	awk '$1 == 3 && NF == 2 { n++ } END { exit n != 1 }' || fail "GRH"
# Each request that wants one has an acknowledgement.
fields one.pcap infiniband.bth.opcode infiniband.aeth.syndrome.opcode |
	awk '$1 == 17 && $2 == 0 { n++ } END { exit n < 4 }' || fail "ACKs"

# ---- what is programmed changes: PSNs continue
manager_log=$(echo "$XDG_RUNTIME_DIR"/heddle-*/manager-h0.log)
# change STATE: of the cable of h2; the manager has seen to it.
change() {
	ups=$(grep -c 'SUBNET UP' "$manager_log")
	"$HEDDLE" live link h2 "$1" >/dev/null
	wait_for $((ups + 1)) 'SUBNET UP' "$manager_log"
}
status 0 "$HEDDLE" live capture h1 --data -o changed.pcap
mkfifo lines
seen steps <lines &
both=$!
programs="$programs $both"
exec 3>lines
n=0
for state in down up down up; do
	n=$((n + 1))
	wait_for $n next client
	change $state
	echo >&3
done
exec 3>&-
wait $both || fail "what is programmed changes"
status 0 "$HEDDLE" live capture --data --stop
same changed.pcap

# ---- on all cables: h1 to the switch, and from there to h0
status 0 "$HEDDLE" live capture --data -o all.pcap
seen
between h0 h2 ibv_rc_pingpong -c -n 10 -s 3000
status 0 "$HEDDLE" live capture --data --stop
fields all.pcap infiniband.lrh.slid infiniband.lrh.dlid >ends
lid=$(lid_of h2)
awk -v lid=$((lid)) '$1 == sprintf("%u", lid) || $2 == sprintf("%u", lid)' \
	ends | wc -l >n
tshark -r all.pcap -Y "infiniband.lrh.slid != $lid and infiniband.lrh.dlid != $lid" \
	-w pair.pcap 2>tshark.err
cat wanted wanted >twice
same pair.pcap twice
# 10 there and 10 back, in 3 packets (MTU 1024) or 1, and what acknowledges.
[ "$(cat n)" -ge 80 ] || fail "a pingpong of $(cat n) packets"

# ---- the disk is full: it says so
status 0 "$HEDDLE" live capture --data -o /dev/full
seen
status 4 "$HEDDLE" live capture --data --stop
has err 'not all of the capture could be written'
# ---- and nothing is left of it
seen
"$HEDDLE" live down -q
