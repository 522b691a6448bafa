# Packets between subnets: fields that a router changes and keeps, by heddle decode and Wireshark;
# destinations without a path are rejected.
. "$SRC/tests/cli/lib.sh"

cat >three.yaml <<'EOF'
fabric:
  topology: {kind: routed, subnets: 3, hosts: 2, link: 4x EDR}
qos:
  vls: 4
  tclasses:
    - {tclass: 184, sl: 2, subnet: 1}
    - {tclass: 184, sl: 3, subnet: 2}
traffic:
  - {name: far, kind: cbr, pattern: pairs, source: h0, destination: h5, rate: 1Gb/s, tclass: 184, sl: 1, payload: 1024, count: 40, aligned: true}
  - {name: stray, kind: cbr, pattern: pairs, source: h1, destination: h4, rate: 1Gb/s, payload: 1024, count: 7, hop_limit: 2, start: 1us}
run: {warmup: 0s, measure: 1ms}
EOF
status 0 "$HEDDLE" sim three.yaml --json --pcap r0.pcap --port r-0:1 \
	--port r-0:2
cp out three.json
# 3 switches and 2 routers of 100 ns, 6 cables of 5 ns, 1090 bytes at 100 Gb/s.
jq -e '.tables.traffic.rows[] | select(.traffic == "far") |
	(.max * 1000 * 10 | round) == 6172 and .packets == 40 and .lost == 0' \
	three.json >jq.out || fail "latency over two routers"
jq -e '.tables.losses.rows == [{reason: "hop limit exceeded at a router",
	packets: 7}]' three.json >jq.out || fail "hop limits"

# 47 packets go in at r-0:1 and out at r-0:2, all with good CRCs.
status 0 "$HEDDLE" decode -s r0.pcap
has out "ICRC 94 good, 0 bad; VCRC 94 good, 0 bad"
status 0 "$HEDDLE" decode --json r0.pcap
jq -e '[.packets[] | select(.GRH.TClass == "0xb8")] |
	(map(select(.GRH.HopLmt == 64)) | length == 40 and
		all(.[]; .LRH.SL == 1 and .LRH.VL == 1)) and
	(map(select(.GRH.HopLmt == 63)) | length == 40 and
		all(.[]; .LRH.SL == 2 and .LRH.VL == 2)) and
	(map(.GRH.DGID) | unique | length == 1) and
	(map(.GRH.SGID) | unique | length == 1)' out >jq.out ||
	fail "decode: SL and hop limit on both sides"

# The same by Wireshark: ICRC, payload and GIDs stay; LIDs, SL, VL, hop limit
# and so the VCRC change.
tshark -r r0.pcap -T fields -e infiniband.bth.destqp -e infiniband.bth.psn \
	-e infiniband.grh.hoplmt -e infiniband.invariant.crc \
	-e infiniband.grh.dgid -e infiniband.lrh.slid -e infiniband.lrh.dlid \
	-e infiniband.lrh.sl -e infiniband.variant.crc >fields 2>tshark.err
[ "$(tshark -r r0.pcap -Y _ws.malformed 2>tshark.err | wc -l)" -eq 0 ] ||
	fail "malformed packets"
sort -k1,1 -k2,2n -k3,3nr fields | awk '
	NR % 2 { for (i = 1; i <= NF; i++) before[i] = $i; next }
	$1 != before[1] || $2 != before[2] { print "no pair: " $0; bad = 1 }
	$3 != before[3] - 1 { print "hop limit: " $0; bad = 1 }
	$4 != before[4] { print "ICRC: " $0; bad = 1 }
	$5 != before[5] { print "DGID: " $0; bad = 1 }
	$6 == before[6] && $7 == before[7] { print "LIDs: " $0; bad = 1 }
	$9 == before[9] { print "VCRC: " $0; bad = 1 }
	{ pairs++ }
	END { if (pairs != 47) print pairs " pairs"; exit bad || pairs != 47 }' \
	>pairs.out || fail "$(head -n 5 pairs.out)"

# The first router sets the TClass by the SL of packets with TClass 0. No router
# changes the TClass that a source has set, and later routers set none, although
# their subnets have marks too.
cat >marks.yaml <<'EOF'
fabric:
  topology: {kind: routed, subnets: 3, hosts: 2, link: 4x EDR}
qos:
  vls: 4
  tclass_of_sl:
    - {sl: 1, tclass: 184, subnet: 0}
    - {sl: 2, tclass: 8}
  tclasses:
    - {tclass: 184, sl: 2, subnet: 1}
    - {tclass: 184, sl: 3, subnet: 2}
traffic:
  - {name: left, kind: cbr, pattern: pairs, source: h0, destination: h5, rate: 1Gb/s, tclass: 0, sl: 1, payload: 1024, count: 20}
  - {name: said, kind: cbr, pattern: pairs, source: h1, destination: h4, rate: 1Gb/s, tclass: 40, sl: 1, payload: 512, count: 20}
run: {warmup: 0s, measure: 1ms}
EOF
status 0 "$HEDDLE" sim marks.yaml --pcap m.pcap --port r-0:1 --port r-0:2 \
	--port r-1:2
status 0 "$HEDDLE" decode -s m.pcap
has out "ICRC 120 good, 0 bad; VCRC 120 good, 0 bad"
# TClass, SL and hop limit of each packet on its three links, by Wireshark; one
# ICRC a packet.
tshark -r m.pcap -T fields -e infiniband.grh.tclass -e infiniband.lrh.sl \
	-e infiniband.grh.hoplmt >fields 2>tshark.err
sort fields | uniq -c | awk '{ print $1, $2, $3, $4 }' >kinds
cat >kinds.want <<'EOF'
20 0 1 64
20 184 2 63
20 184 3 62
20 40 1 64
20 40 8 62
20 40 8 63
EOF
cmp -s kinds kinds.want || fail "marks: $(cat kinds)"
[ "$(tshark -r m.pcap -T fields -e infiniband.invariant.crc 2>tshark.err |
	sort | uniq -c | awk '{ print $1 }' | sort -u)" = 3 ] ||
	fail "marks: the ICRC changes"
sed 's/tclass: 8}/tclass: 8, subnet: 3}/' marks.yaml >bad.yaml
status 3 "$HEDDLE" sim bad.yaml
one_line err
has err "qos.tclass_of_sl[].subnet: no subnet 3; the fabric has 3, numbered from 0"
sed 's/tclass: 8}/tclass: 0}/' marks.yaml >bad.yaml
status 3 "$HEDDLE" sim bad.yaml
one_line err

# No router, no way; a trace may cross one.
cat >apart.ibnet <<'EOF'
switchguid=0x200000
Switch	8 "S-0000000000200000"		# "s1" base port 0 lid 1 lmc 0
[1]	"H-0000000000100000"[1](100001) 		# "h0" lid 3 4xSDR

switchguid=0x200001
Switch	8 "S-0000000000200001"		# "s2" base port 0 lid 2 lmc 0
[1]	"H-0000000000100004"[1](100005) 		# "h2" lid 5 4xSDR

caguid=0x100000
Ca	1 "H-0000000000100000"		# "h0"
[1](100001) 	"S-0000000000200000"[1]		# lid 3 lmc 0 "s1" lid 1 4xSDR

caguid=0x100004
Ca	1 "H-0000000000100004"		# "h2"
[1](100005) 	"S-0000000000200001"[1]		# lid 5 lmc 0 "s2" lid 2 4xSDR
EOF
cat >apart.yaml <<'EOF'
fabric: {topology: apart.ibnet}
traffic:
  - {name: a, kind: saturating, pattern: pairs, source: h0, destination: h2}
EOF
status 3 "$HEDDLE" sim apart.yaml
one_line err
has err "apart.yaml:3:12: traffic 'a': no path from 'h0' to 'h2'"
sed 's/subnet: 2}/subnet: 3}/' three.yaml >bad.yaml
status 3 "$HEDDLE" sim bad.yaml
one_line err
has err "qos.tclasses[].subnet: no subnet 3; the fabric has 3, numbered from 0"
cat >group.yaml <<'EOF'
fabric:
  topology: {kind: routed, subnets: 2, hosts: 2}
  groups: [{name: g}]
traffic: [{name: a, kind: saturating, pattern: group, group: g}]
EOF
status 3 "$HEDDLE" sim group.yaml
one_line err
echo '1us,h0,h5,512,1' >trace.csv
cat >trace.yaml <<'EOF'
fabric: {topology: {kind: routed, subnets: 3, hosts: 2, link: 4x EDR}}
traffic: [{name: t, kind: trace, file: trace.csv}]
run: {warmup: 0s, measure: 1ms}
EOF
status 0 "$HEDDLE" sim trace.yaml --json
# 578 bytes with their GRH.
jq -e '.tables.summary.rows[0] | .packets == 1 and
	(.["latency max"] * 100000 | round) == 57624' out >jq.out ||
	fail "a trace across routers: $(jq -c .tables.summary out)"

# Every kind of switch and credits, with every fault at once: packets that are not lost arrive in
# order (a build with checks stops otherwise).
for switch in 'order: fifo' 'order: voq' 'queueing: cioq, order: fifo' \
	'queueing: cioq' 'crossbar_reads: 1, arbitration: oldest'; do
	for credits in delay exact; do
		cat >all.yaml <<EOF
fabric:
  topology: {kind: routed, subnets: 3, hosts: 3, link: 4x EDR}
  credits: $credits
  switch: {$switch, input_buffer: 2 packets}
qos:
  vls: 4
  tclasses: [{tclass: 184, sl: 2, subnet: 1}, {tclass: 184, sl: 3, subnet: 2}]
  changes: [{at: 20us, ports: "r-0,r-1", low: "0:4,1:200,2:3,3:1"}]
traffic:
  - {name: u, kind: poisson, load: 30%, payload: 1024}
  - {name: v, kind: poisson, load: 20%, payload: 256, sl: 1, tclass: 184}
  - {name: w, kind: on-off, load: 10%, payload: 512, sl: 3, hop_limit: 2}
faults:
  ber: 1.0e-7
  update_loss: 0.02
  hoq_life: 20us
  events:
    - {at: 30us, kind: link-down, port: "r-0:2"}
    - {at: 35us, kind: link-up, port: "r-0:2"}
    - {at: 40us, kind: link-down, port: "r-1:1"}
    - {at: 40us, kind: link-up, port: "r-1:1"}
run: {warmup: 5us, measure: 55us}
EOF
		status 0 "$HEDDLE" sim all.yaml
		has out "hop limit exceeded at a router"
		has out "bit errors, caught by a CRC"
		lacks out "out of order"
	done
done

# VLs that meet on a narrow cable keep no order between them, and need not.
cat >narrow.yaml <<'EOF'
fabric: {topology: {kind: star, hosts: 3, link: 4x EDR}}
qos:
  vls: 2
  low: "0:1,1:200"
  ports: [{ports: "hub:3", vls: 1}]
traffic:
  - {name: a, kind: poisson, load: 60%, payload: 1024, source: 0, destination: 2, pattern: pairs}
  - {name: b, kind: poisson, load: 60%, payload: 256, sl: 1, source: 0, destination: 2, pattern: pairs}
run: {warmup: 10us, measure: 150us}
EOF
status 0 "$HEDDLE" sim narrow.yaml
lacks out "out of order"

# Subnets have the same numbers however the fabric was read.
"$HEDDLE" topo gen routed --subnets 4 --hosts 2 -o routed.net
numbers() {
	"$HEDDLE" route "$1" --dump json |
		jq -r '.ports[] | "\(.guid) \(.port) \(.subnet)"' | sort
}
numbers 'routed --subnets 4 --hosts 2' >made
numbers routed.net >read
cmp made read || fail "subnets are numbered otherwise when read from a file"
