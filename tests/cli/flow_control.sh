# Flow-control packets in a capture: their fields follow, by IBA's rules, from the data packets
# before them.
. "$SRC/tests/cli/lib.sh"

# h1 only receives, so its updates have FCTBS 0 and the switch's, sent by the
# timer alone, always offer all of its buffer. All times are whole nanoseconds.
cat >exact.yaml <<'EOF'
fabric:
  topology: {kind: star, hosts: 3}
  link: {rate: 8Gb/s, propagation: 5ns}
  credits: exact
  switch: {input_buffer: 2KiB}
  host: {input_buffer: 4KiB}
qos: {vls: 2}
traffic:
  - {name: a, kind: cbr, rate: 3200Mb/s, payload: 512, source: 0, destination: 1, pattern: pairs, aligned: true}
  - {name: b, kind: cbr, rate: 2Gb/s, payload: 256, sl: 1, source: 2, destination: 1, pattern: pairs, aligned: true}
run: {warmup: 0s, measure: 2ms}
EOF
status 0 "$HEDDLE" sim exact.yaml --pcap all.pcap --port h1 \
	--flow-control padded
status 0 "$HEDDLE" decode -s all.pcap
has out " 0 bad; VCRC"
lacks out " 1 bad"
[ "$(tshark -r all.pcap -Y _ws.malformed 2>tshark.err | wc -l)" -eq 0 ] ||
	fail "malformed packets"
tshark -r all.pcap -T fields -E separator=, -e frame.time_epoch \
	-e infiniband.lrh.vl -e infiniband.lrh.pktlen -e infiniband_link.op \
	-e infiniband_link.vl -e infiniband_link.fctbs \
	-e infiniband_link.fccl >fields 2>tshark.err
awk -F, '
	{ split($1, t, "."); now = t[1] * 1e9 + t[2] }
	$3 != "" { # data: its space is free when its tail has come
		vl = $2 + 0; if ($2 ~ /x/) vl = substr($2, 3) + 0
		bytes = 4 * $3 + 2; blocks = int((bytes + 63) / 64)
		sent[vl] += blocks; data++
		n++; tail[n] = now + bytes; of[n] = vl; size[n] = blocks
		next
	}
	{
		vl = $5 + 0
		for (; first < n && tail[first + 1] <= now; first++)
			freed[of[first + 1]] += size[first + 1]
		if ($6 == 0 && $7 == (64 + freed[vl]) % 4096) own++
		else if ($6 == sent[vl] % 4096 && $7 == 32) far++
		else { print "VL " vl " at " now ": " $0 " sent " sent[vl] \
			" freed " freed[vl]; bad++ }
		if (freed[vl] > 4096) wraps++
	}
	END {
		print data " packets, " own " updates of h1, " far \
			" of the switch, " wraps " after a wrap, " bad + 0 " bad"
		exit bad > 0 || own < 2000 || far < 50 || wraps < 1000
	}' fields >counts || fail "$(cat counts)"
cat counts

# The counters of the port agree with what was captured.
status 0 "$HEDDLE" sim exact.yaml --counters --port hub:2
packets=$(sed -n 's/^PortXmitPkts:\.*//p' out)
[ "$packets" -eq "$(sed 's/ packets.*//' counts)" ] ||
	fail "$packets packets counted, $(cat counts)"

# Bare ones are 6 bytes; without the option there are none.
status 0 "$HEDDLE" sim exact.yaml --pcap bare.pcap --port h1 \
	--flow-control bare
status 0 "$HEDDLE" decode --json bare.pcap
jq -e '[.packets[] | select(.protocol == "FC")] |
	length > 2000 and all(.[]; .bytes == 6)' out >jq.out ||
	fail "bare flow-control packets"
status 0 "$HEDDLE" sim exact.yaml --pcap plain.pcap --port h1
status 0 "$HEDDLE" decode -s plain.pcap
lacks out "flow-control"

# A capture that cannot have flow-control packets is refused with the reason.
sed 's/exact/delay/' exact.yaml >delay.yaml
status 3 "$HEDDLE" sim delay.yaml --pcap none.pcap --flow-control bare
one_line err
has err "flow-control packets are on the links only with 'fabric.credits: exact'"
[ ! -e none.pcap ] || fail "a refused capture left a file"
status 2 "$HEDDLE" sim exact.yaml --pcap none.pcap --flow-control some
one_line err

# Packets with bit errors are sent intact and received with bad CRCs; packets that a link loses when
# it goes down are sent and not received.
cat >faults.yaml <<'EOF'
fabric:
  topology: {kind: star, hosts: 2}
  link: {rate: 8Gb/s, propagation: 2us}
traffic:
  - {name: a, kind: cbr, rate: 4Gb/s, payload: 512, source: 0, destination: 1, pattern: pairs, count: 400, aligned: true}
faults:
  ber: 1.0e-5
  events:
    - {at: 100us, kind: link-down, port: h1}
    - {at: 100us, kind: link-up, port: h1}
run: {warmup: 0s, measure: 2ms}
EOF
status 0 "$HEDDLE" sim faults.yaml --pcap sent.pcap --port hub:2 --json
corrupt=$(jq '.tables.losses.rows[] | select(.reason | test("CRC")).packets' out)
cut=$(jq '.tables.losses.rows[] | select(.reason | test("went down")).packets' out)
[ "$cut" -ge 1 ] && [ "$corrupt" -ge 10 ] || fail "cut $cut, corrupt $corrupt"
status 0 "$HEDDLE" sim faults.yaml --pcap got.pcap --port h1 --counters
errors=$(sed -n 's/^PortRcvErrors:\.*//p' out)
status 1 "$HEDDLE" decode -s got.pcap
has out ", $errors bad; VCRC"
has out ", $errors bad"
seen=$(sed -n 's/^# \([0-9]*\) records.*/\1/p' out)
status 0 "$HEDDLE" sim faults.yaml --pcap hub.pcap --port hub:2 --counters
sent=$(sed -n 's/^PortXmitPkts:\.*//p' out)
[ "$((sent - cut))" -eq "$seen" ] ||
	fail "$sent sent, $cut cut, $seen captured"
