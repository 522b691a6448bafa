# Captures of 'tcpdump -i any' (Linux cooked, SLL and SLL2), in pcap and pcapng,
# compressed or not, are read like the Ethernet frames that they were.
. "$SRC/tests/cli/lib.sh"
rxe=$SRC/tests/fixtures/rxe.pcap

# The cooked headers as the kernel would have made them of these frames.
python3 - "$rxe" <<'END'
import struct, sys
data = open(sys.argv[1], 'rb').read()
order = '<' if data[:4] in (b'\xd4\xc3\xb2\xa1', b'\x4d\x3c\xb2\xa1') else '>'
def cooked(version, frame):
    source, kind = frame[6:12] + b'\0\0', frame[12:14]
    if version == 1:
        return struct.pack('>HHH', 4, 1, 6) + source + kind + frame[14:]
    return kind + struct.pack('>HIHBB', 0, 3, 1, 4, 6) + source + frame[14:]
for version, link in (1, 113), (2, 276):
    out = bytearray(data[:20] + struct.pack(order + 'I', link))
    at = 24
    while at < len(data):
        seconds, part, held, size = struct.unpack_from(order + '4I', data, at)
        frame = cooked(version, data[at + 16:at + 16 + held])
        out += struct.pack(order + '4I', seconds, part, len(frame),
                           size + len(frame) - held) + frame
        at += 16 + held
    open('sll%d.pcap' % version, 'wb').write(out)
END

"$HEDDLE" decode --csv "$rxe" >plain.csv
"$HEDDLE" decode -s "$rxe" >plain.txt
cp "$rxe" ether.pcap
for name in ether sll1 sll2; do
	editcap -F pcapng $name.pcap $name.pcapng
	for file in $name.pcap $name.pcapng; do
		gzip -kf $file
		for read in $file $file.gz; do
			status 0 "$HEDDLE" decode --csv $read
			cmp plain.csv out || fail "$read is read differently"
			status 0 "$HEDDLE" decode -s $read
			cmp plain.txt out || fail "$read counts differently"
		done
		# From a pipe, too.
		"$HEDDLE" decode --csv - <$file.gz | cmp plain.csv - ||
			fail "$file.gz is read differently from a pipe"
	done
	# tshark reads the same packets in cooked captures of Heddle.
	tshark -r $name.pcap -Y 'infiniband' -T fields \
		-e frame.number -e infiniband.bth.opcode -e infiniband.bth.psn \
		-e ip.src >$name.tshark 2>/dev/null
	[ "$(wc -l <$name.tshark)" -ge 300 ]
	cmp ether.tshark $name.tshark || fail "tshark reads $name differently"
done

# Concatenated gzip members are one file; data after them is ignored.
head -c 20000 "$rxe" | gzip >two.gz
tail -c +20001 "$rxe" | gzip >>two.gz
printf 'not gzip' >>two.gz
status 0 "$HEDDLE" decode --csv two.gz
cmp plain.csv out || fail "two members are not one file"

# The message tells damage from a truncated file; records before it are printed.
head -c 5000 ether.pcap.gz >cut.gz
status 3 "$HEDDLE" decode cut.gz
one_line err
has err "the compressed file ends too early"
has err "cut.gz: after record"
python3 - <<'END'
data = bytearray(open('ether.pcap.gz', 'rb').read())
data[3000] ^= 0xff
data[-6] ^= 0xff
open('bad.gz', 'wb').write(data)
END
status 3 "$HEDDLE" decode bad.gz
one_line err
head -c 12 ether.pcap.gz >short.gz
status 3 "$HEDDLE" decode short.gz
one_line err
has err "the compressed file ends too early"
printf 'no capture' | gzip >text.gz
status 3 "$HEDDLE" decode text.gz
has err "not a capture"
