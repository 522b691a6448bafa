# Debian's programs exchange data over the adapters of a live fabric by verbs.
. "$SRC/tests/cli/lib.sh"
. "$SRC/tests/cli/live_lib.sh"
. "$SRC/tests/cli/verbs_lib.sh"
"$HEDDLE" live up 'fat-tree --radix 4 --levels 2' --sm minhop >up
has up '8 hosts, 6 switches'

# ---- the adapter is the host's, as the manager has programmed it
on h5 ibv_devinfo -v >info
lid=$(lid_of h5)
awk -v lid="$lid" '/port_lid:/ { seen += $2 == lid } /sm_lid:/ { seen += $2 > 0 }
	/state:.*PORT_ACTIVE/ { seen++ } /link_layer:.*InfiniBand/ { seen++ }
	END { exit seen != 4 }' info || fail "$(cat info)"
on h5 ibstat >stat
guid=$(sed -n 's/.*Port GUID: 0x\(....\)\(....\)\(....\)\(....\)/\1:\2:\3:\4/p' stat)
has info "fe80:0000:0000:0000:$guid"
on h5 ibv_devices >devices
has devices heddle0

# ---- counters: 100 messages of 16 packets, 24 octets of headers each, and an
# RETH per message; an ACK of 28 octets for each
between h0 h5 ib_write_bw -F -n 100
counted() { # HOST NAME VALUE
	on "$1" perfquery -x >counters
	grep -q "^$2:\.*$3\$" counters || fail "$1: no $3 in $(cat counters)"
}
words=$((100 * (16 * 24 + 65536 + 16) / 4))
counted h5 PortXmitData $words
counted h5 PortXmitPkts 1600
counted h5 PortRcvPkts 100
counted h5 PortRcvData 700
counted h0 PortRcvData $words
counted h0 PortXmitPkts 100

# ---- contents, compared by the program
for kind in rc uc ud srq; do
	between h0 h5 ibv_${kind}_pingpong -c -n 300
	has client '300 iters'
	between h0 h5 ibv_${kind}_pingpong -c -e -n 300
	has client '300 iters'
done
for events in '' -e; do
	between h0 h5 ibv_xsrq_pingpong $events
	has client success
done
between h0 h5 ibv_rc_pingpong -c -s 1000000 -n 20
between h0 h0 ibv_rc_pingpong -c -n 300 # within a host

# ---- perftest: TOOL OPTIONS, a line each; the last line of numbers begins
# with the size, and has the iterations of all queue pairs. Contents are compared
# for it.
rows=0
while read -r size n tool options; do
	rows=$((rows + 1))
	compared "$n" h0 h5 $tool -F $options
	awk -v size="$size" -v n="$n" '$1 == size && $2 == n { found = 1 }
		END { exit !found }' client || fail "$tool $options: $(cat client)"
done <<'ROWS'
2 300 ib_send_lat -n 300
1001 300 ib_send_lat -n 300 -c UC -s 1001
1001 300 ib_send_lat -n 300 -c UD -s 1001
2 300 ib_send_lat -n 300 -e
2 300 ib_send_lat -n 300 -I 64
2 300 ib_write_lat -n 300
5001 300 ib_write_lat -n 300 -c UC -s 5001
5001 300 ib_read_lat -n 300 -s 5001
8 300 ib_atomic_lat -n 300
8 300 ib_atomic_lat -n 300 -A CMP_AND_SWAP
65536 300 ib_send_bw -n 300
65536 300 ib_send_bw -n 300 -c UC
4096 300 ib_send_bw -n 300 -c UD
65536 300 ib_send_bw -n 300 -e
65536 1200 ib_send_bw -n 300 -q 4 --use-srq
65536 300 ib_send_bw -n 300 -b
65536 300 ib_write_bw -n 300
65536 300 ib_write_bw -n 300 -c UC
65536 4800 ib_write_bw -n 300 -q 16
65536 300 ib_write_bw -n 300 -b
65536 300 ib_read_bw -n 300
65536 300 ib_read_bw -n 300 -e
8 300 ib_atomic_bw -n 300
8 300 ib_atomic_bw -n 300 -A CMP_AND_SWAP
ROWS
echo "suite: perftest $rows $rows 0"

# ---- an adapter that gets one byte wrong is found out
while read -r what; do
	read -r tool <&3
	witness "$SPOIL_LIBRARY"
	(between h0 h5 $tool) >said 2>&1 && fail "$tool: the wrong byte is not noticed"
	grep -q "^witness: $what of .* wrong" client server ||
		fail "$tool: no '$what' in $(cat client server)"
done 3<<'TOOLS' <<'WHAT'
ib_send_bw -F -n 20
ib_write_bw -F -n 20
ib_read_bw -F -n 20
ib_atomic_lat -F -n 20
TOOLS
a message
a write
a read
what an atomic found
WHAT
