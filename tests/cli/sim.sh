# 'heddle sim' runs a scenario, shows results in every format, and its exit status is 1 if a goal
# was missed.
. "$SRC/tests/cli/lib.sh"

cat >ok.yaml <<'EOF'
fabric:
  topology: {kind: star, hosts: 4}
  link: {rate: 8Gb/s, propagation: 5ns}
traffic:
  - {name: a, kind: poisson, load: 30%, payload: 256, stop: 190us}
run: {warmup: 10us, measure: 200us}
goals: [{row: a, mean: 1ms}]
EOF

# Results: the summary comes first, numbers have units, nothing on stderr.
status 0 "$HEDDLE" sim ok.yaml
empty err
head -n 1 out | grep -q '^# summary' || fail "the summary is not first"
has out "latency p99:"
has out "p99[us]"
has out "delivered[Gb/s]"
status 0 "$HEDDLE" sim - <ok.yaml

# Runs are reproducible; another seed gives another result.
"$HEDDLE" sim ok.yaml --json --all >one.json
"$HEDDLE" sim ok.yaml --json --all >two.json
cmp one.json two.json
jq -e '.tables.traffic.rows | length == 1' one.json >jq.out
jq -e '.seed == 1' one.json >jq.out
one=$("$HEDDLE" sim ok.yaml --checksum)
[ "$one" = "$("$HEDDLE" sim ok.yaml --checksum)" ] || fail "checksum differs"
[ "$one" = "$("$HEDDLE" sim ok.yaml --checksum --seed 1)" ] || fail "seed 1"
[ "$one" != "$("$HEDDLE" sim ok.yaml --checksum --seed 2)" ] || fail "seed 2"
[ "${#one}" -eq 16 ] || fail "'$one' is not 16 digits"

# --explain fills in defaults and changes nothing.
status 0 "$HEDDLE" sim --explain ok.yaml
cp out full.yaml
has full.yaml "propagation: 5ns"
has full.yaml "routing_delay: 80ns"
[ "$one" = "$("$HEDDLE" sim full.yaml --checksum)" ] || fail "explained run"

# CSV, a file, a database.
status 0 "$HEDDLE" sim ok.yaml --csv
has out "delivered[Gb/s]"
status 0 "$HEDDLE" sim ok.yaml -o result.json
jq -e . result.json >jq.out
rm -f runs.db
status 0 "$HEDDLE" sim ok.yaml --db runs.db
status 0 "$HEDDLE" sim ok.yaml --db runs.db --seed 2
[ "$(sqlite3 runs.db 'select group_concat(seed) from run')" = 1,2 ] ||
	fail "seeds in the database"
[ "$(sqlite3 runs.db "select scenario from run where id = 1")" = \
	"$(cat ok.yaml)" ] || fail "scenario in the database"
for table in summary traffic ports flows goals; do
	n=$(sqlite3 runs.db "select count(*) from value where run = 2 and
		result = '$table'")
	[ "$n" -gt 0 ] || fail "no table $table in the database"
done

# Routes from a file are used unchanged; a fabric's file is equivalent to the fabric.
status 0 "$HEDDLE" topo gen mesh --columns 3 --rows 3 -o mesh.ibnet
status 0 "$HEDDLE" route mesh.ibnet --engine xy --dump opensm
cp out lfts.dump
cat >routed.yaml <<'EOF'
fabric: {topology: mesh.ibnet, routing: {engine: file, file: lfts.dump}}
traffic: [{name: a, kind: poisson, load: 20%}]
EOF
sed 's/engine: file, file: lfts.dump/engine: xy/' routed.yaml >computed.yaml
sed 's/engine: file, file: lfts.dump/engine: updn/' routed.yaml >other.yaml
routed=$("$HEDDLE" sim routed.yaml --checksum)
[ "$routed" = "$("$HEDDLE" sim computed.yaml --checksum)" ] ||
	fail "routes from a file differ"
[ "$routed" != "$("$HEDDLE" sim other.yaml --checksum)" ] ||
	fail "routes make no difference"
sed '2s/005/099/' lfts.dump >bad.dump
sed 's/lfts.dump/bad.dump/' routed.yaml >refused.yaml
status 3 "$HEDDLE" sim refused.yaml
one_line err
has err "refused.yaml:1:62: bad.dump:2: port 99"

# A missed goal: all results are shown, and the status is 1.
sed 's/mean: 1ms/mean: 1ns/' ok.yaml >missed.yaml
status 1 "$HEDDLE" sim missed.yaml
has out "# summary"
has out " no"

# Captures that Wireshark can read, of one port; a port that does not exist is refused.
status 0 "$HEDDLE" sim ok.yaml --pcap run.pcap --port h0 --trace run.txt
status 0 "$HEDDLE" decode -s run.pcap
has out "VCRC"
tshark -r run.pcap -T fields -e infiniband.lrh.slid \
	-e infiniband.lrh.dlid >lids 2>tshark.err
[ "$(wc -l <lids)" -gt 20 ] || fail "few packets in the capture"
[ "$(tshark -r run.pcap -Y _ws.malformed 2>tshark.err | wc -l)" -eq 0 ] ||
	fail "malformed packets"
sent=$(grep -c ' sends h0 ' run.txt)
received=$(grep -c ' receives h0 ' run.txt)
[ "$((sent + received))" -eq "$(wc -l <lids)" ] ||
	fail "$sent sent, $received received, $(wc -l <lids) captured"
status 3 "$HEDDLE" sim ok.yaml --pcap none.pcap --port h9
one_line err
has err "option --port: no node 'h9' (did you mean 'h0'?)"
sed 's/payload: 256/payload: 255/' ok.yaml >odd.yaml
status 3 "$HEDDLE" sim odd.yaml --pcap none.pcap
one_line err
has err "multiples of 4"
[ ! -e none.pcap ] || fail "a refused capture left a file"

# Counters as perfquery shows them.
status 0 "$HEDDLE" sim ok.yaml --counters --port hub:1
has out "# Port counters: Lid"
has out "PortSelect:......................1"
[ "$(grep -c '^PortXmitWait' out)" -eq 1 ] || fail "more than one port"

# Rejected scenarios: one line with the place, and status 3.
refused() {
	cat >bad.yaml
	status 3 "$HEDDLE" sim bad.yaml
	one_line err
	empty out
	has err "$1"
}
refused "heddle: bad.yaml:2:3: unknown field 'topologie' in fabric (did you mean 'topology'?)" <<'EOF'
fabric:
  topologie: {kind: star}
EOF
refused "heddle: bad.yaml:2:3: field 'fabric.link' is there twice" <<'EOF'
fabric: {topology: {kind: star}, link: 8Gb/s,
  link: 9Gb/s}
traffic: [{name: a, kind: saturating}]
EOF
refused "heddle: bad.yaml:1:40: fabric.link.rate: '8ns' is not a rate" <<'EOF'
fabric: {topology: {kind: star}, link: 8ns}
traffic: [{name: a, kind: saturating}]
EOF
refused "heddle: bad.yaml:2:47: traffic[].source: no host 'h99'" <<'EOF'
fabric: {topology: {kind: star}}
traffic: [{name: a, kind: saturating, source: h99}]
EOF
refused "heddle: bad.yaml:2:1: not YAML: did not find expected ',' or '}'" <<'EOF'
{"fabric": 1
EOF
status 3 "$HEDDLE" sim not-there.yaml
one_line err
status 2 "$HEDDLE" sim
one_line err
status 2 "$HEDDLE" sim ok.yaml ok.yaml
one_line err

# Congestion control protects the victims of an incast: they get the share of the spine that they
# offer, not that of the incast.
incast="$SRC/examples/incast.yaml"
victims() {
	"$HEDDLE" sim --csv --set "congestion.algorithm=$1" "$incast" >out ||
		fail "sim under $1"
	awk -F, '$1 ~ /^"?victims/ && n++ == 0 {print int($5)}' out
}
without=$(victims none)
with=$(victims cct)
[ "$with" -ge $((without * 3 / 2)) ] ||
	fail "victims get $with Gb/s under control, $without without"
status 0 "$HEDDLE" sim --set congestion.algorithm=cct "$incast"
has out "of them with BECN"
status 0 "$HEDDLE" sim --set congestion.algorithm=marks "$incast"
has out "marked by switches"
lacks out "acknowledgements"
status 3 "$HEDDLE" sim --set congestion.algorithm=fimd \
	--set congestion.echo=cnp "$incast"
one_line err
has err "only CCT can do with CNPs"

# Queue pairs without any arrival have no row.
cat >none.yaml <<'END'
fabric: {topology: {kind: star, hosts: 2}}
traffic: [{name: q, kind: cbr, transport: rc, source: h0, destination: h1, payload: 4KiB, load: 10%, arrivals: 1s, holding: 1us}]
run: {warmup: 1us, measure: 10us}
END
for threads in 1 2; do
	status 0 "$HEDDLE" sim none.yaml --threads $threads
	lacks out '# queue pairs'
done

# Commands in the help can be copied and work, although a goal may be missed.
ln -sfn "$SRC/examples" examples
"$HEDDLE" sim --help | sed -n 's/^  heddle sim //p' >shown
[ "$(wc -l <shown)" -ge 4 ] || fail "help has $(wc -l <shown) examples"
while read -r words; do
	got=0
	eval "\"\$HEDDLE\" sim $words" >out 2>err </dev/null || got=$?
	[ "$got" -le 1 ] || fail "sim $words: $(cat err)"
done <shown
# One table as CSV is read by any CSV reader without options.
status 0 "$HEDDLE" sim "$SRC/examples/quickstart.yaml" -q --csv --table traffic
python3 - out <<'EOT' || fail "--table traffic --csv: $(cat out)"
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
assert [r["traffic"] for r in rows] == ["voice", "video", "bulk"], rows
assert all(float(r["delivered[Gb/s]"]) > 0 for r in rows), rows
EOT
# As text, the results of a run with jobs start with the jobs.
status 0 "$HEDDLE" sim "$SRC/examples/jobs.yaml" -q
head -n 1 out | grep -q '^# jobs:' || fail "a job run starts with $(head -n 1 out)"
