# FECN and BECN are bits of real packets: byte 4 of the BTH, as decoded by tshark, equals the
# simulator's count. Heddle decodes nothing here.
. "$SRC/tests/cli/lib.sh"

command -v tshark >/dev/null || fail "no tshark"

# bits SCENARIO: runs it, captured at every port, and leaves in ./bits a line
# "opcode qp psn FECN BECN rest" per packet, once for all ports it passes
# (marks stay: of a packet's lines the last one counts).
bits() {
	status 0 "$HEDDLE" sim --set congestion.algorithm=cct --pcap run.pcap --json \
		--set run.warmup=20us --set run.measure=60us "$1"
	tshark --disable-heuristic rpcrdma_infiniband \
		--disable-protocol smb_direct -r run.pcap -T fields \
		-e infiniband.bth >bth 2>tshark.err
	[ "$(wc -l <bth)" -gt 1000 ] || fail "tshark read too little"
	# Two hexadecimal digits a byte: opcode 1, FECN and BECN 9, rest 9 and
	# 10, queue pair 11 to 16, PSN 19 to 24.
	awk 'length($1) != 24 { exit 1 }
	{
		high = index("0123456789abcdef", substr($1, 9, 1)) - 1
		low = index("0123456789abcdef", substr($1, 10, 1)) - 1
		key = substr($1, 1, 2) " " substr($1, 11, 6) " " \
			substr($1, 19, 6)
		fecn = int(high / 8); becn = int(high / 4) % 2
		if (seen[key] > fecn) exit 1 # a mark was lost on the way
		seen[key] = fecn
		last[key] = fecn " " becn " " high % 4 * 16 + low
	} END { for (key in last) print key, last[key] }' bth >bits ||
		fail "not BTHs, or marks that vanish"
}

# counted OPCODE COLUMN: number of these packets with the bit.
counted() {
	awk -v opcode="$1" -v column="$2" '
		$1 == opcode && $column == 1 { n++ } END { print n + 0 }' bits
}

# says PACKETS: the simulator's count.
says() {
	jq -r --arg packets "$1" '[.tables.marks.rows[] |
		select(.packets == $packets).number] | add // 0' out
}
FECN='marked by switches'
BECN='of them with BECN'
CNP='notifications (CNPs)'

bits "$SRC/examples/incast.yaml"
[ "$(says "$FECN")" -gt 50 ] || fail "nothing to see"
[ "$(counted 04 4)" -eq "$(says "$FECN")" ] || fail "FECN: $(counted 04 4)"
[ "$(counted 11 5)" -eq "$(says "$BECN")" ] || fail "BECN: $(counted 11 5)"
[ "$(says "$CNP")" -eq 0 ] || fail "CNPs without being asked for"
[ "$(counted 11 4)" -eq 0 ] || fail "an acknowledgement with FECN"
[ "$(counted 04 5)" -eq 0 ] || fail "data with BECN"
awk '$6 != 0 { exit 1 }' bits || fail "reserved bits are set"

# The same with CNPs: they have BECN, and acknowledgements do not.
sed 's/congestion: {/congestion: {echo: cnp, /' "$SRC/examples/incast.yaml" \
	>cnp.yaml
bits cnp.yaml
[ "$(says "$CNP")" -gt 50 ] || fail "no CNPs"
[ "$(counted 80 5)" -eq "$(says "$CNP")" ] || fail "CNPs: $(counted 80 5)"
[ "$(counted 04 4)" -eq "$(says "$FECN")" ] || fail "FECN: $(counted 04 4)"
[ "$(counted 11 5)" -eq 0 ] || fail "BECN twice"
[ "$(says "$BECN")" -eq 0 ] || fail "BECN counted twice"

# Capture at one port; rejected formats.
status 0 "$HEDDLE" sim --set congestion.algorithm=fimd --pcap h0.pcap --port h0 \
	--set run.warmup=5us --set run.measure=5us "$SRC/examples/incast.yaml"
[ -s h0.pcap ] || fail "no capture"
status 3 "$HEDDLE" sim --set congestion.algorithm=fimd --pcap x.pcap \
	"$SRC/examples/two-switch-congestion.yaml"
has err 'overhead of 20 bytes'
[ ! -e x.pcap ] || fail "half a capture"

# Admission is packets too: probes and answers as datagrams, and the end of a
# reservation in the header of the last data packet. Two of three flows fit.
cat >ask.yaml <<'END'
fabric:
  topology: {kind: two-switch, remote: 3, local: 1, victims: 1}
  link: {rate: 8Gb/s}
traffic:
  - {name: ask, kind: saturating, pattern: incast, source: A1..A3,
     destination: Bc, reserve: 3Gb/s, count: 20}
congestion: {algorithm: cct, marking: none}
run: {warmup: 10us, measure: 500us}
END
status 0 "$HEDDLE" sim --pcap ask.pcap --json ask.yaml
tshark --disable-heuristic rpcrdma_infiniband --disable-protocol smb_direct \
	-r ask.pcap -Y 'infiniband.mad.mgmtclass == 0x09' -T fields \
	-e infiniband.mad.attributeid -e infiniband.mad.transactionid \
	-e infiniband.bth.destqp 2>tshark.err | sort -u >mads
for pair in 10:probes 11:accepts 12:rejects; do
	seen=$(grep -ci "^0x00${pair%:*}" mads) || true
	[ "$seen" -eq "$(says "${pair#*:}")" ] ||
		fail "$pair: $seen datagrams"
done
[ "$(says rejects)" -eq 1 ] && [ "$(says accepts)" -eq 2 ] ||
	fail "who was admitted?"
jq -e '[.tables.admission.rows[].answer] | sort == ["rejected", "released", "released"]' \
	out >/dev/null || fail "a reservation was left behind"
# 3 Gb/s are 3,000,000 kb/s, 0x002dc6c0, in the immediate data of RC SEND only
# with immediate (0x05), once per flow that was admitted.
tshark --disable-heuristic rpcrdma_infiniband --disable-protocol smb_direct \
	-r ask.pcap -Y 'infiniband.bth.opcode == 5' -T fields \
	-e infiniband.bth.destqp -e infiniband.immdt 2>tshark.err |
	sort -u >last
[ "$(wc -l <last)" -eq 2 ] || fail "last packets: $(cat last)"
[ "$(grep -ci '002dc6c0' last)" -eq 2 ] || fail "not what was reserved"
