# 'qos explain' predicts OpenSM's tables: unusual configurations are given to OpenSM on a live
# fabric with every kind of port, and all tables are read back, entry by entry. A scenario with
# 'qos.opensm' then has the same results as one on the fabric that OpenSM programmed, and classes
# get the predicted shares.
. "$SRC/tests/cli/lib.sh"
. "$SRC/tests/cli/live_lib.sh"
fixtures=$SRC/tests/fixtures
net=$fixtures/opensm/kinds.net
ENTRIES=32 # that ports of a live fabric have

# read.py PORTS NAME: what smpquery printed for a port, next to our rows.
cat >read.py <<'END'
import json, sys
said = json.load(open("explain.json"))["tables"]["ports"]["rows"]
kind, name = sys.argv[1:]
n_vls = limit = None
for line in open(name + ".info"):
    if line.startswith("OperVLs"):
        text = line.split(".")[-1].strip()
        n_vls = 1 if text == "VL0" else int(text.split("-")[1]) + 1
    elif line.startswith("VLHighLimit"):
        limit = int(line.split(".")[-1])
row = [r for r in said if r["ports"] == kind and r["vls"] == n_vls]
if not row:
    sys.exit(f"{name}: no row for a {kind} with {n_vls} VLs")
row = row[0]
def table(text):
    pairs = [] if text == "none" else [
        tuple(map(int, e.split(":"))) for e in text.split(",")]
    return pairs + [(None, 0)] * (64 - len(pairs))
tables, vls, weights = [], [], []
for line in open(name + ".arb"):
    cells = [int(c, 16) for c in line.split("|")[1:-1]]
    if line.startswith("#"):
        vls, weights = [], []
    elif line.startswith("VL"):
        vls += cells
    elif line.startswith("WEIGHT"):
        weights += cells
        if len(tables) < 2:
            tables.append((vls, weights))
for (vls, weights), what in zip(tables, ("low", "high")):
    if n_vls == 1:
        break  # nothing is arbitrated, and OpenSM sends nothing
    for i, (vl, weight) in enumerate(zip(vls, weights)):
        ours = table(row[what])[i]
        if weight != ours[1] or (weight and vl != ours[0]):
            sys.exit(f"{name}: {what} entry {i} is {vl}:{weight}, said {ours}")
if n_vls > 1 and row["high limit"] != limit:
    sys.exit(f"{name}: high limit {limit}, said {row['high limit']}")
maps = [line for line in open(name + ".map") if line.startswith("ports:")]
if not maps:
    sys.exit(f"{name}: no map")
# From outside, the way to a switch's own port is mapped as any other.
outside = [r for r in said if r["ports"] == "switch" and r["vls"] == n_vls]
for line in maps:
    if kind == "switch port 0" and not line.startswith("ports: in  0"):
        row = outside[0]
    seen = ",".join(str(int(c)) for c in line.split("|")[1:-1])
    if seen != row["sl2vl"]:
        sys.exit(f"{name}: {line.split('|')[0]} {seen}, said {row['sl2vl']}")
END

# sends NAME: OpenSM sends the tables of this configuration; else ports keep those that they came up
# with, which 'qos explain' notes.
sends() {
	grep -qE '^[[:blank:]]*qos[[:blank:]]+TRUE' "$fixtures/$1.conf"
}

# judge NAME: a fabric again, since OpenSM does not raise the VLs of a switch's
# own port again; it sweeps twice, since it folds by the VLs that it read.
judge() {
	"$HEDDLE" live up "$net" >up
	cp "$fixtures/$1.conf" used.conf
	for sweep in 1 2; do
		on h0 opensm -o -f "$PWD/log" -F "$PWD/used.conf" >sm.out 2>&1 ||
			fail "OpenSM on $1.conf: $(tail -3 sm.out)"
	done
	"$HEDDLE" qos explain "$fixtures/$1.conf" "$net" --vls 15 \
		--entries $ENTRIES --json >explain.json
	# All questions by one shell on the fabric, then the answers.
	while read -r node port kind; do
		echo "$(lid_of "$node") $port $node.$port $kind"
	done >wanted <<-END
		h0 1 adapter
		h1 1 adapter
		h3 1 adapter
		r0 1 router
		s1 0 switch port 0
		s1 1 switch
		s1 2 switch
		s1 4 switch
		s2 1 switch
		s2 3 switch
	END
	on h0 sh -c 'while read -r lid port name kind; do
		smpquery portinfo $lid $port >$name.info
		smpquery vlarb $lid $port >$name.arb
		smpquery sl2vl $lid $port >$name.map
	done <wanted'
	! sends "$1" || while read -r lid port name kind; do
		python3 read.py "$kind" "$name" ||
			fail "$1.conf: port $name is not as said"
	done <wanted
	live=$("$HEDDLE" sim run.yaml --live fabric --checksum)
	said=$("$HEDDLE" sim run.yaml --opensm "$fixtures/$1.conf" --checksum)
	[ "$live" = "$said" ] || fail "$1.conf: a run on what OpenSM programmed" \
		"gives $live, one by --opensm $said"
	"$HEDDLE" live down -q
}

cat >run.yaml <<END
fabric: {topology: {file: $net}}
qos: {vls: 15, entries: $ENTRIES}
traffic:
END
for sl in 0 1 2 3 5 9 14 15; do
	cat >>run.yaml <<-END
		- {name: up$sl, kind: poisson, pattern: pairs, source: h0, destination: h3, sl: $sl, load: 20%}
		- {name: on$sl, kind: poisson, pattern: pairs, source: h1, destination: h2, sl: $sl, load: 20%, payload: 256}
	END
done
echo 'run: {warmup: 10us, measure: 150us}' >>run.yaml

# shares NAME: classes of all VLs, with packets of several sizes, simulated.
cat >shares.py <<'END'
import json, subprocess, sys
heddle, conf = sys.argv[1:]
def ask(*words):
    return json.loads(subprocess.run([heddle, *words, "--json"], check=True,
                                     capture_output=True).stdout)["tables"]
def sls(kind, wanted):  # of each VL
    return [{int(sl) for sl in r["class"][2:].split(",")}
            for r in ask("qos", "explain", conf)["services"]["rows"]
            if kind in r["ports"].split(", ") and wanted(r)]
# Adapters have one class each: a class either sends or does not.
out = set().union(*sls("adapter", lambda r: r["vls"] == 1 or r["table"]))
vls = [min(vl & out) for vl in sls("switch", lambda r: r["vl"] < 15)
         if vl & out]
if not vls:
    sys.exit(0)
sizes = [2048, 256, 4096, 1024, 512, 2048, 4096, 256]
classes, rows = [], []
for n, sl in enumerate(vls):
    classes += ["--class", f"c{sl}={sl},{sizes[n]}"]
    rows.append(f"- {{name: c{sl}, kind: saturating, pattern: pairs, source: h{n}, "
                f"destination: h{len(vls)}, sl: {sl}, payload: {sizes[n]}}}")
open("shares.yaml", "w").write(f"""fabric:
  topology: {{kind: star, hosts: {len(vls) + 1}}}
  link: {{rate: 8Gb/s, propagation: 5ns}}
  switch: {{order: voq, routing_delay: 20ns, arbitration_delay: 5ns, input_buffer: 64KiB}}
traffic:
""" + "\n".join(rows) + "\nrun: {warmup: 1ms, measure: 20ms}\n")
said = {r["class"]: r["share"] for r in ask("qos", "explain", conf, *classes)
        ["services"]["rows"] if "switch" in r["ports"].split(", ")}
got = {r["traffic"]: r["delivered"] * (p + 26) / p / 8 * 100 for r, p in
       zip(ask("sim", "shares.yaml", "--opensm", conf)["traffic"]["rows"], sizes)}
total = sum(got.values()) or 1
for name, share in said.items():
    if abs(share - got[name] / total * 100) > 1:
        sys.exit(f"{conf}: {name} has {got[name] / total * 100:.2f} %, said {share:.2f} %")
END

if [ "${HD_LONG:-0}" = 1 ]; then
	# Those with planted faults, their repaired ones and correct ones, too.
	some=$(cd "$fixtures" && ls opensm/*.conf lint/*.conf | sed 's,\.conf$,,')
else
	some='opensm/scopes opensm/fold-15-to-8 lint/W8-dropped'
fi
n=0
for conf in $some; do
	judge "$conf"
	! sends "$conf" || python3 shares.py "$HEDDLE" "$fixtures/$conf.conf" || fail "shares of $conf"
	n=$((n + 1))
done
echo "$n configurations"

# Classes of one VL, with packets of two sizes, from two hosts each: what a
# class gets is its own, not the VL's.
printf 'qos TRUE\nqos_high_limit 0\nqos_vlarb_high 0:0\nqos_vlarb_low 0:130,1:65\nqos_sl2vl 0,0,1\n' >shared.conf
"$HEDDLE" qos explain shared.conf --class a=0 --class b=1,512 --class c=2 \
	--json >shared.json
cat >shared.yaml <<'END'
fabric:
  topology: {kind: star, hosts: 4}
  link: {rate: 8Gb/s, propagation: 5ns}
  switch: {order: voq, routing_delay: 20ns, arbitration_delay: 5ns, input_buffer: 64KiB}
traffic:
  - {name: a, kind: saturating, pattern: pairs, source: h0, destination: h3, sl: 0, payload: 4KiB}
  - {name: b, kind: saturating, pattern: pairs, source: h1, destination: h3, sl: 1, payload: 512}
  - {name: c, kind: saturating, pattern: pairs, source: h2, destination: h3, sl: 2, payload: 4KiB}
run: {warmup: 1ms, measure: 20ms}
END
"$HEDDLE" sim shared.yaml --opensm shared.conf --json >shared.sim
python3 - <<'END' || fail "classes of a shared VL"
import json, sys
said = {r["class"]: r for r in json.load(open("shared.json"))["tables"]["services"]["rows"]
        if "switch" in r["ports"].split(", ")}
rows = json.load(open("shared.sim"))["tables"]["traffic"]["rows"]
got = {r["traffic"]: r["delivered"] * (1 + 26 / p) for r, p in zip(rows, (4096, 512, 4096))}
total = sum(got.values())
for name, r in said.items():
    share = got[name] / total * 100
    if abs(r["share"] - share) > 1:
        sys.exit(f"{name} has {share:.2f} %, said {r['share']:.2f} %")
if abs(said["a"]["share"] + said["b"]["share"] - said["a"]["vl share"]) > 0.01 or said["a"]["with"] != "1":
    sys.exit(f"not the VL's: {said['a']}, {said['b']}")
if said["a"]["floor"] is not None or said["c"]["floor"] is None:
    sys.exit("a floor where others queue before it")
END

# Weights are those of the tables that serve the VL, high before low.
printf 'qos TRUE\nqos_vlarb_high 0:65,2:66,1:0\nqos_vlarb_low 0:0,1:67,2:68\n' >a
status 0 "$HEDDLE" qos explain a --class a=0 --class b=1 --class c=2 --class d=3 --json
jq -e '[.tables.services.rows[].weights] == ["65", "67", "66 68", null]' out >found ||
	fail "$(cat out)"

# Two files: the most important change first. Invalid classes give one line.
printf 'qos TRUE\nqos_high_limit 4\nqos_vlarb_high 0:65\nqos_vlarb_low 1:65\n' >a
sed 's/limit 4/limit 255/' a >b
status 0 "$HEDDLE" qos explain a --against b --class x=0 --class y=1
sed -n 3p out >first
has first 'starves while a high VL is busy'
# Equal kinds of ports share one row, in the tree as on one link.
status 0 "$HEDDLE" qos explain a --against b --class x=0 --class y=1 'fat-tree --radix 4 --levels 2'
has out 'adapter, switch'
awk '/^# differences/ { on = 1; next } /^$/ { on = 0 } on && !/^#/ {
	sub(/^ *adapter, switch */, ""); if (seen[$1 $2]++) exit 1 }' out ||
	fail "a difference is printed twice: $(cat out)"
# So are SLs that stay together, and none is left out: of those that OpenSM's
# default sends to VL 0 one moves away with another.
printf 'qos TRUE\nqos_high_limit 4\nqos_vlarb_high 0:65\nqos_vlarb_low 1:65\nqos_sl2vl 0,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0\n' >a
sed 's/0,1,0,0,0,/0,1,0,1,1,/' a >b
status 0 "$HEDDLE" qos explain a --against b --json
jq -e '[.tables.differences.rows[] | select(.what == "share [%]") | .class] == ["SL3,4"]' out >found ||
	fail "$(cat out)"
status 3 "$HEDDLE" qos explain a b
one_line err
has err 'a second opensm.conf goes with --against'
status 3 "$HEDDLE" qos explain a --class x=16
has err "class 'x': an SL is 0 to 15, not '16'"
status 3 "$HEDDLE" qos explain a --class x=0 --class y=0
has err "both have SL 0"
status 3 "$HEDDLE" qos explain missing
has err 'missing'
status 2 "$HEDDLE" qos explain a --vls 3

# In a scenario: files are rejected with their line, and determine all tables.
printf 'qos TRUE\n\ncc_cct 9:9\n' >bad
status 3 "$HEDDLE" sim run.yaml --opensm bad
has err "--opensm: bad:3: "
sed 's,^qos:.*,qos: {opensm: bad},' run.yaml >names.yaml
status 3 "$HEDDLE" sim names.yaml
has err "names.yaml:2:15: qos.opensm: bad:3: "
status 3 "$HEDDLE" sim run.yaml --opensm a --set qos.high_limit=3
has err 'not allowed with an opensm.conf'
status 3 "$HEDDLE" sim run.yaml --opensm a --set fabric.routing.engine=dfsssp
has err 'chooses those of all SLs'
status 0 "$HEDDLE" failures "$net" --opensm a
# Fields of the scenario override those of the file.
cat >cc <<END
congestion_control TRUE
cc_sw_cong_setting_control_map 0x14
cc_sw_cong_setting_threshold 7
cc_ca_cong_setting_control_map 0x2
cc_ca_cong_setting_ccti_timer 1 33
cc_ca_cong_setting_ccti_increase 1 2
cc_cct 0:0,0:9,0:30
END
cat >hot.yaml <<END
fabric: {topology: {kind: star, hosts: 6}}
traffic:
- {name: hot, kind: saturating, pattern: incast, source: h0..h4, destination: h5, sl: 1}
run: {warmup: 10us, measure: 200us}
END
status 0 "$HEDDLE" sim hot.yaml --opensm cc --explain \
	--set congestion.cct.timer=44
for line in 'algorithm: cct' 'rule: iba' 'threshold: 7' 'increase: 2' \
	'timer: 44' 'sls: 1 ' 'table: 0:0,0:9,0:30'; do
	has out "$line"
done
cp out whole.yaml
"$HEDDLE" sim hot.yaml --opensm cc --set congestion.cct.timer=44 --checksum >one
"$HEDDLE" sim whole.yaml --checksum >two
cmp one two || fail "a scenario with all defaults filled in runs otherwise"
# ... and each counts: with other marks or other SLs the run is another one.
for other in congestion.marking.threshold=0 congestion.cct.sls=none; do
	"$HEDDLE" sim hot.yaml --opensm cc --set $other --checksum >three
	! cmp -s one three || fail "--set $other changes nothing"
done
