# Findings of 'qos lint' match OpenSM's behaviour: unusual files are given to OpenSM on ibsim, and a
# switch port's tables are read back. Unknown keys are those that OpenSM reports.
. "$SRC/tests/cli/lib.sh"
SO=$(ls /usr/lib/*/umad2sim/libumad2sim.so) || fail "ibsim is not installed"
for tool in ibsim opensm smpquery ibswitches; do
	command -v "$tool" >/dev/null || fail "$tool is not installed"
done
rm -rf judged
mkdir judged judged/cache judged/tmp
cd judged
pids=
stop() {
	for pid in $pids; do
		! is_ours "$pid" || kill "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
	pids=
}
trap stop EXIT

"$HEDDLE" topo gen star --hosts 3 -o star.net
IBSIM_SOCKNAME=$(mktemp -u heddle-lint-XXXXXXXX)
export IBSIM_SOCKNAME SIM_HOST=h0
export OSM_CACHE_DIR=$PWD/cache OSM_TMP_DIR=$PWD/tmp
mkfifo console
sleep $PATIENCE >console &
pids=$!
ibsim -s star.net <console >ibsim.log 2>&1 &
pids="$! $pids"
tries=0
until grep -q 'simulator ready' ibsim.log; do
	tries=$((tries + 1))
	[ "$tries" -le $PATIENCE ] || fail "ibsim: $(tail -3 ibsim.log)"
	sleep 0.1
done

# The VLs of all SLs with their weights, from smpquery's text.
cat >vls.py <<'END'
import re, sys
tables, vls = [], None
for line in open(sys.argv[1]):
    cells = [c.strip() for c in line.split("|")[1:-1]]
    if line.startswith("VL"):
        vls = [int(c, 16) for c in cells]
    elif line.startswith("WEIGHT"):
        weight = {}
        for vl, w in zip(vls, cells):
            weight[vl] = weight.get(vl, 0) + int(w, 16)
        tables.append(weight)
    elif line.startswith("ports:"):
        vl_of_sl = [int(c) for c in cells]
low, high = tables
for sl, vl in enumerate(vl_of_sl):
    print(sl, vl, high.get(vl, 0), low.get(vl, 0))
END

judge() { # NAME: name.conf by OpenSM and by us
	cp "$1.conf" used.conf
	echo 'force_log_flush TRUE' >>used.conf
	LD_PRELOAD=$SO timeout 300 opensm -o -f "$PWD/$1.log" \
		-F "$PWD/used.conf" >"$1.out" 2>&1 ||
		fail "OpenSM on $1.conf: $(tail -3 "$1.out")"
	lid=$(LD_PRELOAD=$SO timeout 300 ibswitches | sed 's/.* lid //; s/ .*//')
	LD_PRELOAD=$SO timeout 300 smpquery vlarb "$lid" 1 >seen
	LD_PRELOAD=$SO timeout 300 smpquery sl2vl "$lid" 1 | grep 'in  2' >>seen
	python3 vls.py seen >theirs
	"$HEDDLE" qos lint --vls 8 --entries 8 --json "$1.conf" >lint.json || true
	jq -r '.tables.VLs.rows[] |
		"\(.sl) \(.vl) \(.["high weight"]) \(.["low weight"])"' \
		lint.json >ours
	diff theirs ours >difference ||
		fail "$1.conf: OpenSM (<) and we (>): $(cat difference)"
	# It reads the file twice.
	{ grep 'Unrecognized token' "$1.out" || true; } | sort -u |
		wc -l >unknown
	jq '[.tables.findings.rows[] | select(.code == "W14")] | length' \
		lint.json >said
	cmp -s unknown said || fail "$1.conf: $(cat unknown) unknown keys," \
		"we say $(cat said)"
}

printf 'qos TRUE\n' >plain.conf
printf 'qos TRUE\nqos_vlarb_high 0:300,1:010\nqos_vlarb_low 0:64,1:"2"\n%s\n' \
	'qos_sl2vl 0,17,0x12,020,5x,1' >odd.conf
printf 'qos TRUE\nqos_vlarb_low 0:64 , 1:32;2:7\nqos_sl2vl\n%s\n' \
	'qos_vlarb_high ""' >holes.conf
printf 'qos TRUE # yes\n#qos_sl2vl 1,1\n  qos_sl2vl 3,3,3,-1 # 1,1\n%s\n' \
	'qos_vlarb_low -1:-1,18446744073709551616:1' >signs.conf
printf "qos 'TRUE'\nqos_sl2vl '%s'\nqos_vlarb_low 16:64,30:3,14:65\n" \
	15,14,13,12,11,10,9,8,7,6,5,4,3,2,1,0,5,5,5,5 >long.conf
printf 'qos TRUE\nqos_sl2vl 1,1\nqos_swe_sl2vl 2,2,2\nqos_sl2vl (null)\n%s\n%s\n' \
	'qos_swe_vlarb_high 3:9' 'qos_swe_vlarb_high (null)' >reset.conf
printf 'qos TRUE\nqos_vlarb_hihg 0:9\nQOS_sl2vl 1,1\nno_such_key 7\n%s\n' \
	'qos_vlarb_low 0:1,1:2,2:3,3:4,4:5,5:6,6:7,7:8,0:9,1:10' >unknown.conf
printf 'qos TRUE\nqos_vlarb_low 1:200,qos\nqos_sl2vl a,b,c,1,2\n' >words.conf
for name in plain odd holes signs long reset unknown words; do
	judge $name
done
# Random texts of the elements of such lists. (A script called random.py would be found by 'import
# random'.)
cat >draw.py <<'END'
import random
random.seed(15)
words = ["0", "1", "7", "8", "15", "16", "29", "010", "0x1f", "-1", "255",
         "256", "300", ":", ":", ",", ",", ",", " ", ";", "x"]
for n in range(6):
    with open(f"random{n}.conf", "w") as out:
        out.write("qos TRUE\n")
        for key in "qos_vlarb_high", "qos_swe_vlarb_low", "qos_sl2vl":
            text = "".join(random.choice(words) for _ in range(24))
            out.write(f"{key} 1{text}\n")
END
python3 draw.py
for n in 0 1 2 3 4 5; do
	judge random$n
done

# 'qos true' is not TRUE: OpenSM sends nothing, and ports keep their tables.
printf 'qos true\nqos_sl2vl 5,5,5,5,5,5,5,5,5,5,5,5,5,5,5,5\n' >small.conf
cp seen before
LD_PRELOAD=$SO timeout 300 opensm -o -f "$PWD/small.log" \
	-F "$PWD/small.conf" >small.out 2>&1 || fail "OpenSM on small.conf"
LD_PRELOAD=$SO timeout 300 smpquery vlarb "$lid" 1 >seen
LD_PRELOAD=$SO timeout 300 smpquery sl2vl "$lid" 1 | grep 'in  2' >>seen
cmp -s before seen || fail "OpenSM took 'qos true' for TRUE"
status 1 "$HEDDLE" qos lint small.conf
has out 'capitals only'

# All the keys that it writes itself are known to us, and no fault but 'qos FALSE'.
opensm -c "$PWD/all.conf" >all.out 2>&1 || true
grep -c '^qos_vlarb_low\|^qos_ca_high_limit' all.conf >/dev/null ||
	fail "opensm -c wrote no keys: $(tail -3 all.out)"
status 1 "$HEDDLE" qos lint all.conf --json
[ "$(jq -r '[.tables.findings.rows[].code] | join(" ")' out)" = W0 ] || fail "faults in OpenSM's own file"
sed 's/^qos FALSE/qos TRUE/' all.conf >on.conf
status 0 "$HEDDLE" qos lint on.conf
