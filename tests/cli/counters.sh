# Counters in the format of perfquery: counts by SL and by VL add up exactly to the totals.
. "$SRC/tests/cli/lib.sh"

# Five SLs of different sizes share two VLs, and bit errors cost some.
cat >mixed.yaml <<'EOF'
fabric:
  topology: {kind: star, hosts: 4}
  link: {rate: 8Gb/s, propagation: 5ns}
  credits: exact
qos: {vls: 2}
traffic:
  - {name: a, kind: poisson, load: 11%, payload: 4, sl: 0}
  - {name: b, kind: poisson, load: 12%, payload: 51, sl: 1}
  - {name: c, kind: poisson, load: 13%, payload: 302, sl: 2}
  - {name: d, kind: poisson, load: 14%, payload: 1028, sl: 3}
  - {name: e, kind: poisson, load: 15%, payload: 2048, sl: 13}
faults: {ber: 1.0e-6}
run: {warmup: 10us, measure: 3ms}
EOF
status 0 "$HEDDLE" sim mixed.yaml --counters
cp out counters
awk -F: '
	/^# Port counters/ { ports++ }
	/^#/ { next }
	{ gsub(/\./, "", $2); value = $2 + 0 }
	$1 == "PortXmitData" { check(); xmit = value }
	$1 == "PortRcvData" { rcv = value }
	$1 == "PortRcvPkts" { packets = value }
	$1 == "PortRcvErrors" { errors += value }
	$1 ~ /^XmtDataSL/ { xmit_sl += value; used += value > 0 }
	$1 ~ /^RcvDataSL/ { rcv_sl += value }
	$1 ~ /^PortVLOpPackets/ { vl_packets += value }
	$1 ~ /^PortVLOpData/ { vl_data += value }
	function check() {
		if (xmit == "") return
		checked++
		if (xmit_sl != xmit || rcv_sl != rcv || vl_data != rcv ||
		    vl_packets != packets) {
			print "port " checked ": sent " xmit " by SL " xmit_sl \
				", received " rcv " by SL " rcv_sl " by VL " \
				vl_data ", packets " packets " by VL " vl_packets
			bad = 1
		}
		all += xmit
		xmit_sl = rcv_sl = vl_packets = vl_data = 0
	}
	END {
		check()
		print checked " ports, " errors " errors, " used " SLs, " all " words"
		exit bad || checked != 8 || ports != 8 || errors < 10 ||
			used != 8 * 5
	}' counters >sums || fail "$(cat sums)"
cat sums

# A switch port receives the data that its host sends, except lost packets.
one() {
	sed -n "s/^$1:\.*//p" out
}
status 0 "$HEDDLE" sim mixed.yaml --counters --port h0
sent=$(one PortXmitPkts) updates=$(one PortXmitFlowPkts)
[ "$updates" -gt 1000 ] || fail "$updates flow-control packets"
status 0 "$HEDDLE" sim mixed.yaml --counters --port hub:1
received=$(one PortRcvPkts) errors=$(one PortRcvErrors)
[ "$((received + errors))" -eq "$sent" ] ||
	fail "$sent sent, $received received, $errors errors"
[ "$((updates - $(one PortRcvFlowPkts)))" -le 1 ] || fail "updates"

# Names and lines are perfquery's; without exact credits no flow control.
for name in PortXmitDataSL PortRcvDataSL PortVLOpPackets PortVLOpData \
	PortFlowCtlCounters; do
	has out "# $name counters: Lid 2 port 1"
done
has out "PortVLOpPackets0:................"
has out "PortVLOpData15:..................0"
sed '/credits/d' mixed.yaml >delay.yaml
status 0 "$HEDDLE" sim delay.yaml --counters --port hub:1
lacks out "PortFlowCtlCounters"

# A link that went down is counted at both of its ends.
status 0 "$HEDDLE" sim "$SRC/examples/link-failure.yaml" --counters
[ "$(grep -c '^LinkDownedCounter:\.*1$' out)" -eq 2 ] ||
	fail "LinkDowned is not counted at both ends"

# Packets smaller than a VCRC have no data, rather than all that a counter holds.
cat >bare.yaml <<'EOF'
fabric: {topology: {kind: star, hosts: 2}, packet: {overhead: 0}}
traffic: [{name: a, kind: cbr, rate: 100Mb/s, payload: 1}]
run: {warmup: 0s, measure: 10us}
EOF
status 0 "$HEDDLE" sim bare.yaml --counters --port h0
[ "$(one PortXmitData)" = 0 ] || fail "packets of a byte count $(one PortXmitData) words"

# The sums also hold with several ports in one output.
sed -i 's/^traffic: .*/traffic:\
  - {name: a, kind: cbr, rate: 9Gb\/s, payload: 1024, sl: 1}\
  - {name: b, kind: cbr, rate: 100Mb\/s, payload: 1, sl: 2}\
  - {name: c, kind: cbr, rate: 2Gb\/s, payload: 64, sl: 3}/' bare.yaml
status 0 "$HEDDLE" sim bare.yaml --counters --port h0
for way in Xmt/Xmit Rcv/Rcv; do
	sum=$(one "${way%/*}DataSL[0-9]*" | awk '{ s += $1 } END { print s }')
	[ "$sum" -gt 1000 ] && [ "$sum" = "$(one Port"${way#*/}"Data)" ] ||
		fail "${way#*/}: SLs have $sum words, $(one Port"${way#*/}"Data) in all"
done
