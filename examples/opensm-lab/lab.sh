#!/bin/sh
# Runs an OpenSM binary over fabrics, routing engines, QoS policies and failed cables, and compares
# what it programs with the tables in a folder. Usage:
#
#	lab.sh OPENSM TABLES [PATTERN]
#
# A case that has no tables in the folder yet is recorded: run it first with the binary that you
# trust, then with the one that you changed. PATTERN chooses cases ('minhop', 'torus.*cable').
# HEDDLE names the heddle program. The exit status is 1 if a case differs or has no subnet.
set -eu
[ $# -ge 2 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
heddle=${HEDDLE:-heddle} opensm=$1 pattern=${3:-.}
mkdir -p "$2"
tables=$(cd "$2" && pwd)
work=$(mktemp -d /tmp/opensm-lab.XXXXXXXX)
export XDG_RUNTIME_DIR="$work" OSM_CACHE_DIR="$work" OSM_TMP_DIR="$work"
trap '"$heddle" live down -q 2>/dev/null || true; rm -rf "$work"' EXIT
bad=0 n=0

# ---- policies: files of options for OpenSM
echo 'qos FALSE' >"$work/plain.conf"
cat >"$work/qos.conf" <<'END'
qos TRUE
qos_max_vls 4
qos_high_limit 4
qos_vlarb_high 0:64,1:128
qos_vlarb_low 0:32,1:64,2:96,3:0
qos_sl2vl 0,1,2,3,0,1,2,3,3,2,1,0,3,2,1,0
END

# sweep: OpenSM programs the fabric once; status 1 if it does not bring the subnet up.
sweep() {
	timeout 600 "$heddle" live exec h0 -- "$opensm" -o -R "$engine" -F "$work/$policy.conf" \
		-f "$work/log" >"$work/out" 2>&1 && grep -q 'SUBNET UP' "$work/log"
}

# one NAME: a case of $fabric, $engine, $policy, $cable.
one() {
	n=$((n + 1))
	rm -f "$work/log" "$work"/guid2* "$work"/neighbors
	"$heddle" live up "$fabric" -q
	if ! sweep || { [ -n "$cable" ] &&
		! { "$heddle" live link "$cable" down && sweep; }; }; then
		echo "fails    $1: $(grep ' ERR ' "$work/log" | tail -n 1)"
		bad=1
	else
		for format in fts mfts sl2vl json; do
			"$heddle" live dump --to $format
		done >"$work/tables"
		if [ ! -e "$tables/$1" ]; then
			cp "$work/tables" "$tables/$1"
			echo "recorded $1"
		elif cmp -s "$work/tables" "$tables/$1"; then
			echo "same     $1"
		else
			echo "differs  $1"
			diff "$tables/$1" "$work/tables" | head -n 10 | cut -c 1-100 | sed 's/^/  /'
			bad=1
		fi
	fi
	"$heddle" live down -q
}

# NAME|FABRIC|ENGINES|A CABLE
while IFS='|' read -r name fabric engines far; do
	for engine in $engines; do
		for policy in plain qos; do
			for cable in '' "$far"; do
				case="$name.$engine.$policy${cable:+.cable}"
				echo "$case" | grep -qE -- "$pattern" || continue
				one "$case" </dev/null
			done
		done
	done
done <<'END'
star|star --hosts 8|minhop updn|hub:8
tree|fat-tree --radix 4 --levels 3|minhop updn dnup ftree lash dfsssp|s1-0:3
torus|torus --sizes 4x4|minhop updn lash dfsssp|s-0-0:1
hypercube|hypercube --dimensions 4|minhop updn lash|s-0:1
mesh|mesh --rows 4 --columns 4|minhop dor updn|s-0-0:1
irregular|irregular --switches 12|minhop updn lash|s-0:1
END
[ $n -gt 0 ] || { echo "lab: '$pattern' matches no case" >&2; exit 2; }
exit $bad
