# Answers of subnet administration in several segments: 'heddle decode' puts
# records together that begin in one segment and end in the next. The capture
# is made here, byte by byte from the standard's tables; tshark agrees with its
# headers.
. "$SRC/tests/cli/lib.sh"

cat >make.py <<'EOT'
import json, random, struct, zlib
random.seed(11)

def crc16(data):
    crc = 0xFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xD008 if crc & 1 else 0)
    return crc ^ 0xFFFF

def packet(slid, dlid, psn, mad):
    lrh = struct.pack('>BBHHH', 0, 2, dlid, (8 + 12 + 8 + 256 + 4) // 4, slid)
    bth = struct.pack('>BBHII', 0x64, 0, 0xFFFF, 1, psn)
    deth = struct.pack('>II', 0x80010000, 1)
    body = lrh + bth + deth + mad
    masked = bytearray(body)
    masked[0] |= 0xF0
    masked[12] = 0xFF
    body += struct.pack('<I', zlib.crc32(bytes(masked)))
    return body + struct.pack('<H', crc16(body))

def erf(ns, data):
    stamp = (ns << 32) // 10**9
    head = struct.pack('<Q', stamp) + struct.pack('>BBHHH', 21, 4,
            16 + len(data), 0, len(data))
    return struct.pack('<IIII', 0, ns, 16 + len(data), 16 + len(data)) + \
        head + data

def segment(tid, attribute, stride, number, last, data):
    mad = struct.pack('>BBBBHHQHHI', 1, 3, 2, 0x92, 0, 0, tid, attribute, 0, 0)
    flags = 1 | (2 if number == 1 else 0) | (4 if last else 0)
    length = 20 + len(data) if last else 0
    mad += struct.pack('>BBBBII', 1, 1, 20 << 3 | flags, 0, number, length)
    mad += struct.pack('>QHHQ', 0, stride // 8, 0, 0)
    return mad + data.ljust(200, b'\0')

# Paths of 64 bytes, which straddle; multicast members of 52 in strides of 56.
paths, members = [], []
table = b''
for i in range(11):
    dgid, sgid = random.randbytes(16), random.randbytes(16)
    dlid, slid, sl = random.randrange(1, 49152), 1 + i, i
    table += struct.pack('>Q16s16sHHIBBHHBBBB6s', i << 32, dgid, sgid, dlid,
            slid, 0x12345 << 8 | 63, 0, 0x80 | 1, 0x8001, sl, 2 << 6 | 4,
            2 << 6 | 16, 2 << 6 | 18, 0, b'')
    paths.append({'DLID': dlid, 'SLID': slid, 'SL': sl, 'Mtu': '2048',
                  'Rate': '100 Gbps', 'PacketLifeTime': 18, 'HopLimit': 63})
other = b''
for i in range(8):
    mlid = 0xC000 + random.randrange(16383)
    other += struct.pack('>16s16sIHBBHBBIBB', random.randbytes(16),
            random.randbytes(16), i, mlid, 2 << 6 | 5, 7, 0xFFFF, 2 << 6 | 3,
            0, i << 28 | 9, 0xE1, 0x80).ljust(56, b'\0')
    members.append({'MLID': '0x%04x' % mlid, 'SL': i, 'MTU': '4096',
                    'Scope': '0x0e', 'JoinState': 'FullMember',
                    'ProxyJoin': 1, 'Q_Key': '0x%08x' % i})
other = other[:-4]

def cut(table, tid, attribute, stride):
    pieces = [table[i:i + 200] for i in range(0, len(table), 200)]
    return [segment(tid, attribute, stride, n + 1, n + 1 == len(pieces), p)
            for n, p in enumerate(pieces)]
one, two = cut(table, 71, 0x35, 64), cut(other, 72, 0x38, 56)
# Both at once, one segment of the first again.
mads = [one[0], two[0], one[1], two[1], one[1], one[2], two[2], one[3]]
assert (len(one), len(two)) == (4, 3)
with open('sa.pcap', 'wb') as f:
    f.write(struct.pack('<IHHIIII', 0xA1B23C4D, 2, 4, 0, 0, 65535, 197))
    for n, mad in enumerate(mads):
        f.write(erf(1000 * n, packet(4, 9, n, mad)))
json.dump({'paths': paths, 'members': members}, open('truth.json', 'w'))
EOT
python3 make.py

status 0 "$HEDDLE" decode sa.pcap
has out 'SubnAdmGetTableResp(PathRecord) segment 1 payload 256 B ICRC ok VCRC ok'
has out 'SubnAdmGetTableResp(MCMemberRecord) segment 3 (last) payload 256 B'
has out '# ICRC 8 good, 0 bad; VCRC 8 good, 0 bad'

# Every record once, in order, as it was made; the segment that came again
# shows what is whole in it.
status 0 "$HEDDLE" decode --json sa.pcap
cat >check.py <<'EOT'
import json
truth = json.load(open('truth.json'))
packets = json.load(open('out'))['packets']
again = packets[4]['MAD']
assert again['first_record'] == 4 and len(again['PathRecord']) == 2, again
del packets[4]
for name, wanted in (('PathRecord', truth['paths']),
                     ('MCMemberRecord', truth['members'])):
    got = []
    for p in packets:
        if name in p['MAD']:
            assert p['MAD']['first_record'] == len(got) or not p['MAD'][name]
            got += p['MAD'][name]
    assert len(got) == len(wanted), (name, len(got))
    for mine, theirs in zip(got, wanted):
        for key, value in theirs.items():
            assert mine[key] == value, (name, key, mine[key], value)
EOT
python3 check.py

# In full: the header of a segment, and the record that it completes.
status 0 "$HEDDLE" decode -v sa.pcap
[ "$(grep -c '# PathRecord 3$' out)" -eq 1 ] || fail "path 3 straddles"
has out 'SegmentNumber:...................3'
has out 'PayloadLength:...................124'
has out 'RMPPFlags:.......................0x5'

# The same headers for tshark, and nothing malformed. It shows no records of
# later segments.
tshark -r sa.pcap -T fields -E separator=, -e infiniband.rmpp.rmpptype \
	-e infiniband.rmpp.segmentnumber -e infiniband.rmpp.payloadlength \
	-e infiniband.mad.transactionid -e _ws.malformed >theirs 2>err
"$HEDDLE" decode --json sa.pcap >ours
python3 - <<'EOT'
import json
theirs = [line.rstrip('\n').split(',') for line in open('theirs')]
ours = [p['MAD']['header'] for p in json.load(open('ours'))['packets']]
assert len(ours) == len(theirs) == 8
for mine, (kind, number, length, tid, malformed) in zip(ours, theirs):
    assert mine['RMPPType'] == 'DATA' and int(kind, 16) == 1
    assert mine['SegmentNumber'] == int(number, 16), (mine, number)
    assert mine['PayloadLength'] == int(length, 16), (mine, length)
    assert mine['TransactionID'] == tid and not malformed, (mine, tid)
EOT
