#!/bin/bash
# Runs every fuzz harness. Usage: fuzz.sh smoke | same | grow
#   smoke  the corpus and a few thousand inputs made of it: the same ones in
#          every run, on any machine. The corpus is untouched. Fails if a
#          harness covers 5 % fewer edges than tests/fuzz/edges.txt says
#          ("name edges" a line).
#   same   smoke twice, the second time on a loaded machine; fails if the inputs or
#          the covered edges of the two differ.
#   grow   FUZZ_SECONDS (60) each; new inputs that cover more join the corpus.
set -u
cd "$(dirname "$0")/.." || exit 1
mode=$1
seconds=${FUZZ_SECONDS:-60}
runs=5000
recorded=tests/fuzz/edges.txt
logs=build/check/fuzz
case $mode in
smoke | same | grow) build=build/fuzz ;;
*)
	echo "usage: fuzz.sh smoke | same | grow" >&2
	exit 2
	;;
esac
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

# The corpus by name, not as a folder gives it; what is compared holds
# addresses and is not learnt from. They are the same in every run where that
# can be had; a container may forbid it.
smoke_one() {
	local list=$logs/$2.inputs fixed='setarch -R'
	find "tests/fuzz/corpus/$2" -type f | LC_ALL=C sort | paste -sd, >"$list"
	$fixed true 2>/dev/null || fixed=
	# shellcheck disable=SC2086
	$fixed "$1" -runs=$runs -seed=1 -use_cmp=0 -seed_inputs="@$list" \
		-artifact_prefix="$logs/$2-"
}

grow_one() {
	local corpus=tests/fuzz/corpus/$2 scratch status=0
	scratch=$(mktemp -d)
	mkdir -p "$corpus"
	"$1" -max_total_time="$seconds" -timeout=10 \
		-artifact_prefix="$logs/$2-" "$scratch" "$corpus" || status=$?
	"$1" -merge=1 "$corpus" "$scratch" >>"$logs/$2.log.merge" 2>&1
	rm -rf "$scratch"
	return $status
}

# fuzz_one HARNESS: leaves NAME.log, and NAME.failed if it did.
fuzz_one() {
	local name=${1##*/fuzz_} how=smoke_one
	rm -f "$logs/$name.failed"
	[ "$mode" != grow ] || how=grow_one
	"$how" "$1" "$name" >"$logs/$name.log" 2>&1 || : >"$logs/$name.failed"
}
export -f fuzz_one smoke_one grow_one
export logs mode runs seconds

fuzz_all() {
	find $build/tests/fuzz -maxdepth 1 -name 'fuzz_*' -type f -print0 |
		sort -z | xargs -0 -r -n 1 -P "${JOBS:-$(nproc)}" \
			bash -c 'fuzz_one "$1"' fuzz
}

# What a harness met, in order; without times and addresses.
met() {
	sed -n 's/^\(#[0-9].* lim: [0-9]*\) .*/\1/p' "$1" | grep -v pulse
}

# The same again while eight others want the processors.
fuzz_again() {
	local first=$logs/first load=() i name
	rm -rf "$first"
	mkdir -p "$first"
	cp "$logs"/*.log "$first"
	for i in 1 2 3 4 5 6 7 8; do
		sh -c 'while :; do :; done' &
		load[i]=$!
	done
	fuzz_all
	kill "${load[@]}"
	for i in "$first"/*.log; do
		name=$(basename "$i" .log)
		diff <(met "$i") <(met "$logs/$name.log") >"$logs/$name.diff" ||
			complain "$name" "other inputs; see $logs/$name.diff"
	done
}

fuzz_all
[ "$mode" != same ] || fuzz_again
for harness in $build/tests/fuzz/fuzz_*; do
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
