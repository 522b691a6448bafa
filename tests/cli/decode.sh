# 'heddle decode' shows packets and checks them: status 0 if all are good, 1 for a bad checksum, 3
# for invalid packets.
. "$SRC/tests/cli/lib.sh"
rxe=$SRC/tests/fixtures/rxe.pcap
vector=7012375C000E17D20A2024870087B1B3000DEC2A01710A1C015D400238F27A05
vector=${vector}0000000EBB884D85FD5CFBA4728BC0690ED400009625B75A45FA

# The kernel's packets: counts are tshark's.
status 0 "$HEDDLE" decode "$rxe"
empty err
has out '# 524 records: 315 RoCEv2 packets, 209 other frames'
has out '# ICRC 315 good, 0 bad'
has out '90 0x11 RC ACK'
has out '20 0x21 UC SEND_MIDDLE'
[ "$(grep -c ' RoCEv2 .* ICRC ok$' out)" -eq 315 ] || fail "not 315 lines"
status 0 "$HEDDLE" decode - <"$rxe"
has out '# ICRC 315 good, 0 bad'
cat "$rxe" | "$HEDDLE" decode -s - >piped
[ "$(wc -l <piped)" -eq 19 ] || fail "summary of a pipe"

# The published packet, and the published flow-control packet.
status 0 "$HEDDLE" decode --hex "$vector"
has out 'lid 6098 > 14172 sl 1 vl 7 RC WRITE_ONLY qp 0x87b1b3 psn 912426'
has out 'payload 14 B ICRC ok VCRC ok'
status 0 "$HEDDLE" decode -v --hex "$vector"
has out 'R_Key:...........................0x38f27a05'
has out 'ICRC 0x9625b75a ok'
has out 'VCRC 0x45fa ok'
status 0 "$HEDDLE" decode --hex '01:23 34-56 d1.9f'
has out 'vl 3 fctbs 291 fccl 1110 LPCRC ok'

# Congestion marks: both bits of BTH's byte 4 are outside the ICRC, but not
# outside the VCRC.
marked=$(echo "$vector" | sed 's/^\(.\{24\}\)00/\1C0/')
status 1 "$HEDDLE" decode --hex "$marked"
has out ' FECN BECN '
has out 'ICRC ok VCRC BAD'
has out '# 1 with FECN, 1 with BECN'

# Changed bytes of a RoCEv2 packet: flip-N.pcap has byte N of the frame of
# record 28 changed.
python3 - "$rxe" <<'EOF'
import struct, sys
data, at = bytearray(open(sys.argv[1], 'rb').read()), 24
for _ in range(27):
    at += 16 + struct.unpack_from('<I', data, at + 8)[0]
for offset in range(struct.unpack_from('<I', data, at + 8)[0]):
    if offset < 60 or offset in (900, 1081):
        data[at + 16 + offset] ^= 1
        open('flip-%d.pcap' % offset, 'wb').write(data)
        data[at + 16 + offset] ^= 1
EOF
# Covered: IP identification and addresses, UDP source port and length, every
# byte of BTH but the fifth, payload, ICRC.
for offset in 18 26 33 34 39 42 43 45 48 53 54 900 1081; do
	status 1 "$HEDDLE" decode "flip-$offset.pcap"
	has out '# ICRC 314 good, 1 bad'
	sed -n 28p out | grep -q 'ICRC BAD$' || fail "byte $offset: not BAD"
done
# Masked: type of service, time to live, checksums, BTH's fifth byte. Not
# covered: Ethernet addresses.
for offset in 0 11 15 22 24 25 40 41 46; do
	status 0 "$HEDDLE" decode "flip-$offset.pcap"
	has out '# ICRC 315 good, 0 bad'
done
# Changes that make it another protocol: EtherType, IP version, protocol, UDP port. The output says
# so; other frames are no error of a capture.
for offset in 12 14 23 36 37; do
	status 0 "$HEDDLE" decode "flip-$offset.pcap"
	has out '# ICRC 314 good, 0 bad'
	has out '314 RoCEv2 packets, 210 other frames'
	sed -n 28p out | grep -q 'other  not RoCEv2: ' || fail "byte $offset"
done

# An invalid packet is reported with the reason, and status 3.
status 3 "$HEDDLE" decode --hex 7012375C
has out 'malformed: 4 bytes are too few for an LRH and a VCRC (10)'
status 3 "$HEDDLE" decode --hex 7012x
one_line err
has err "'x' at character 5 is not a hexadecimal digit"
empty out
status 3 "$HEDDLE" decode "$SRC/README.md"
one_line err
has err 'not a capture, expected pcap, pcapng or ERF'
status 3 "$HEDDLE" decode no-such-file
one_line err
head -c 50000 "$rxe" >cut.pcap
status 3 "$HEDDLE" decode cut.pcap
has out '# ICRC '
has err 'truncated'
status 2 "$HEDDLE" decode
status 2 "$HEDDLE" decode "$rxe" --hex 00
status 2 "$HEDDLE" decode --as mad "$rxe"
status 2 "$HEDDLE" decode --format checksum "$rxe"

# Formats for programs.
status 0 "$HEDDLE" decode --json "$rxe"
jq -e '.counts.icrc_good == 315 and .counts.opcodes."RC ACK" == 90 and
	(.packets | length) == 524 and .packets[27].BTH.OpCode == "0x00" and
	.packets[27].BTH.FECN == 0 and .packets[27].icrc == "good"' out \
	>/dev/null || fail "JSON"
status 3 "$HEDDLE" decode --json cut.pcap
jq -e '.counts.records > 0' out >/dev/null || fail "JSON of a cut file"
status 0 "$HEDDLE" decode --csv "$rxe"
[ "$(awk -F, 'NF != 17' out | wc -l)" -eq 0 ] || fail "CSV is uneven"
[ "$(wc -l <out)" -eq 525 ] || fail "CSV has other than 525 lines"
status 0 "$HEDDLE" decode -s -o counts.txt "$rxe"
empty out
has counts.txt '# ICRC 315 good, 0 bad'
status 3 "$HEDDLE" decode -o counts.txt cut.pcap
has counts.txt '# ICRC 315 good, 0 bad'

# A management datagram, alone.
mad=0101018100000000$(printf '%016d' 7)001100000000000000000000
mad=$mad$(printf '%072d' 0)010102240000000000200000
mad=$mad$(printf '%0*d' $((512 - ${#mad})) 0)
status 0 "$HEDDLE" decode --as mad -v --hex "$mad"
has out 'SubnGetResp(NodeInfo)'
has out 'NodeType:........................Switch'
has out 'NumPorts:........................36'
has out 'SystemGuid:......................0x0000000000200000'
