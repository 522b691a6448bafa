# Captures of several interfaces, as mergecap and editcap make them: each packet
# is read by its own interface's link type, and is what tshark says it is.
. "$SRC/tests/cli/lib.sh"
rxe=$SRC/tests/fixtures/rxe.pcap

cat >run.yaml <<'EOT'
fabric: {topology: {kind: mesh, columns: 2, rows: 1, hosts: 2}}
traffic: [{name: all, kind: cbr, payload: 256, load: 10%, pattern: all-to-all}]
run: {warmup: 0us, measure: 20us}
EOT
"$HEDDLE" sim run.yaml --pcap run.pcap >run.txt
# Ethernet in microseconds, ERF in nanoseconds, and Ethernet again under a
# wrong name, which represents any link that carries no InfiniBand.
editcap -r run.pcap ib.pcap 1-40
editcap -r "$rxe" eth.pcap 20-90
editcap -T ieee-802-11 -r "$rxe" wifi.pcapng 91-110
mergecap -a -w mixed.pcapng wifi.pcapng eth.pcap ib.pcap
capinfos -I mixed.pcapng >interfaces 2>err
has interfaces 'Number of interfaces in file: 3'

status 0 "$HEDDLE" decode mixed.pcapng
empty err
[ "$(grep -c ' other  link type 105 (IEEE802_11) carries no' out)" -eq 20 ] ||
	fail "not 20 frames of another link type"
has out '# 131 records: 40 InfiniBand packets, '
has out ' 0 bad; VCRC 40 good, 0 bad'

# Number, time, length and protocol of every packet. Of an ERF record's binary
# fraction, tshark takes the nearest nanosecond and we the one before; the
# record's own header is not part of the packet, for either.
status 0 "$HEDDLE" decode --csv mixed.pcapng
mv out ours.csv
tshark -r mixed.pcapng -T fields -E separator=, -e frame.number \
	-e frame.time_epoch -e frame.len -e frame.protocols >theirs.csv 2>err
python3 - <<'EOT'
import csv
def kind(protocols):
    names = protocols.split(':')
    if 'infiniband' not in names:
        return 'other'
    return 'IB' if names[0] == 'erf' else 'RoCEv2'
def ns(text):
    seconds, fraction = text.split('.')
    return int(seconds) * 10**9 + int(fraction[:9].ljust(9, '0'))
ours = list(csv.DictReader(open('ours.csv')))
theirs = list(csv.reader(open('theirs.csv')))
assert len(ours) == len(theirs) == 131, (len(ours), len(theirs))
for mine, (number, time, length, protocols) in zip(ours, theirs):
    assert mine['number'] == number
    assert mine['protocol'] == kind(protocols), (mine, protocols)
    assert mine['bytes'] == length, (mine, length)
    slack = 1 if mine['protocol'] == 'IB' else 0
    assert 0 <= ns(time) - ns(mine['time_s']) <= slack, (mine, time)
EOT

# Clocks as editcap converts them, and a capture cut to 60 bytes per packet.
editcap -F nsecpcap -r "$rxe" nano.pcap 28-40
editcap -F pcapng -s 60 -r nano.pcap cut.pcapng 1-13
status 0 "$HEDDLE" decode cut.pcapng
sed -n 1p out | grep -q '^     1 1794705623.669100000 ' || fail "clock"
has out 'cut by the capture, not checked'

# Only links that carry no InfiniBand: refused, by name.
status 3 "$HEDDLE" decode wifi.pcapng
one_line err
has err 'wifi.pcapng: interface 0: link type 105 (IEEE802_11) carries no InfiniBand'
empty out
# Cut inside a block: what came before it is shown, and where it ends.
head -c 20000 mixed.pcapng >broken.pcapng
status 3 "$HEDDLE" decode broken.pcapng
one_line err
has err 'truncated: the file ends inside a block'
has out '# ICRC '
