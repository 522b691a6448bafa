#!/bin/bash
# Runs every fuzz harness of build/fuzz. Usage: fuzz.sh smoke | grow
#   smoke  a fixed number of runs from a fixed seed; the corpus is untouched.
#          Fails if a harness covers 5 % fewer edges than tests/fuzz/edges.txt
#          says ("name edges" a line).
#   grow   FUZZ_SECONDS (60) each; new inputs that cover more join the corpus.
set -u
cd "$(dirname "$0")/.." || exit 1
mode=$1
seconds=${FUZZ_SECONDS:-60}
runs=20000
recorded=tests/fuzz/edges.txt
logs=build/check/fuzz
n=0 bad=0 total=0
mkdir -p "$logs"

# Edges covered at the end of a log.
edges() {
	sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$1" | tail -n 1
}

complain() {
	echo "fuzz: $1: $2"
	bad=1
}

# fuzz_one HARNESS: leaves NAME.log, and NAME.failed if it did.
fuzz_one() {
	local name=${1##*/fuzz_} scratch status=0
	local corpus=tests/fuzz/corpus/$name log=$logs/$name.log
	rm -f "$logs/$name.failed"
	scratch=$(mktemp -d)
	mkdir -p "$corpus"
	if [ "$mode" = smoke ]; then
		"$1" -runs=$runs -seed=1 \
			-artifact_prefix="$logs/$name-" "$scratch" "$corpus" \
			>"$log" 2>&1 || status=$?
	else
		"$1" -max_total_time="$seconds" -timeout=10 \
			-artifact_prefix="$logs/$name-" "$scratch" "$corpus" \
			>"$log" 2>&1 || status=$?
		"$1" -merge=1 "$corpus" "$scratch" >>"$log.merge" 2>&1
	fi
	rm -rf "$scratch"
	[ "$status" -eq 0 ] || : >"$logs/$name.failed"
}
export -f fuzz_one
export logs mode runs seconds

find build/fuzz/tests/fuzz -maxdepth 1 -name 'fuzz_*' -type f -print0 |
	xargs -0 -r -n 1 -P "${JOBS:-$(nproc)}" bash -c 'fuzz_one "$1"' fuzz
for harness in build/fuzz/tests/fuzz/fuzz_*; do
	[ -x "$harness" ] || continue
	name=${harness##*/fuzz_}
	n=$((n + 1))
	[ ! -e "$logs/$name.failed" ] || {
		tail -n 40 "$logs/$name.log"
		complain "$name" "failed; the input is in $logs"
	}
	found=$(edges "$logs/$name.log")
	found=${found:-0}
	total=$((total + found))
	floor=$(sed -n "s/^$name \([0-9]*\)$/\1/p" "$recorded")
	echo "$name: $found edges covered, ${floor:-none} recorded"
	if [ -z "$floor" ]; then
		complain "$name" "add '$name $found' to $recorded"
	elif [ $((found * 100)) -lt $((floor * 95)) ]; then
		complain "$name" "covers too little: $found of $floor edges"
	fi
done
[ "$n" -gt 0 ] || { echo "fuzz: nothing to run"; exit 1; }
echo "$n harnesses, $total edges"
exit $bad
