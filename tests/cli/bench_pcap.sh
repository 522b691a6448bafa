# 'bench --pcap' writes one capture of all points, which other tools can read. It is the same in
# every run and has a second of its own for each point.
. "$SRC/tests/cli/lib.sh"

fields() { # FILE FIELD...
	file=$1
	shift
	tshark -r "$file" --disable-heuristic rpcrdma_infiniband \
		--disable-protocol smb_direct -T fields \
		$(printf ' -e %s' "$@") 2>tshark.err
}

# 3 and 4 warm-up ping-pongs of each size: 7 messages there, 7 back, an
# acknowledgement for each, and every packet is seen where it leaves and where
# it arrives.
status 0 "$HEDDLE" bench send-lat --size 64..256 -n 3 --pcap sizes.pcap
status 0 capinfos -c -T -m -r sizes.pcap
has out ",168"
fields sizes.pcap frame.time_epoch infiniband.bth.opcode infiniband.lrh.pktlen \
	_ws.malformed >sizes.txt
# A Send Only (4) has its point's bytes next to 24 of headers, in words of 4.
awk -F'\t' '
	$2 == 4 { n[int($1)]++; size[int($1) " " 4 * $3 - 24]++ }
	$4 != "" { exit 1 }
	END {
		for (s in n)
			if (n[s] != 28 || size[s " " 64 * 2 ^ s] != 28)
				exit 1
		exit !(3 in n == 0 && 0 in n && 1 in n && 2 in n)
	}' sizes.txt || {
	cat sizes.txt
	fail "points are not apart by whole seconds"
}

# A point that takes longer than a second delays the next one.
status 0 "$HEDDLE" bench disconnect read-lat --size 64 -n 11 --pcap long.pcap
fields long.pcap frame.time_epoch infiniband.bth.opcode |
	awk '$2 == 12 { print int($1) }' | sort -u >seconds
[ "$(wc -l <seconds)" -eq 1 ] || fail "one point is in $(cat seconds)"

# All kinds of test: a capture that tools read, and the same again.
for test in write-lat read-lat atomic-lat ud-lat uc-bw multicast-lat \
	fairness-bw partition connect; do
	for i in 1 2; do
		status 0 "$HEDDLE" bench $test --size 64..128 -n 3 --pcap $i.pcap
	done
	cmp 1.pcap 2.pcap || fail "$test: two runs differ"
	capinfos 1.pcap >info 2>&1 || fail "$test: $(cat info)"
	status 0 "$HEDDLE" decode -s 1.pcap
done

# Addresses are the hosts' own: the second one's are from 2 * 2^32 on.
status 0 "$HEDDLE" bench write-lat --size 64 -n 1 --pcap write.pcap
fields write.pcap infiniband.reth.va | grep . | sort -u >addresses
[ "$(cut -c 1-11 addresses | tr '\n' ' ')" = "0x000000010 0x000000020 " ] ||
	fail "addresses: $(cat addresses)"

# An output that cannot be written is reported with its name and the reason.
status 4 "$HEDDLE" bench send-bw --size 64KiB --pcap /dev/full
one_line err
has err "/dev/full: cannot be written: No space left on device"
status 4 "$HEDDLE" decode -v -o /dev/full "$SRC/tests/fixtures/rxe.pcap"
one_line err
has err "/dev/full: cannot be written: No space left on device"
