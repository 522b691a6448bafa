#!/bin/bash
# Everything CI does, fastest first. Usage: check.sh all | lint | long
# One line per step, followed by the log of a failing step. A step that finds
# nothing to check fails. The last line is the sum over steps and tests. Slow
# analysers run in the background of tests that wait.
set -u
# awk, sort and the compiler's messages are the same everywhere.
export LC_ALL=C.UTF-8
cd "$(dirname "$0")/.." || exit 1
mode=${1:-all}
jobs=${JOBS:-$(nproc)}
logs=build/check
passed=0 failed=0
mkdir -p "$logs"

seconds() {
	awk -v from="$1" -v to="$EPOCHREALTIME" \
		'BEGIN { printf "%.1f", to - from }'
}

# report NAME STATUS SINCE: one line; the whole log if the step failed, or
# else its last line, which says how much was checked.
report() {
	local verdict=ok
	[ "$2" -eq 0 ] || verdict=FAIL
	printf '%-4s %-16s %7s s  %s\n' "$verdict" "$1" "$(seconds "$3")" \
		"$([ "$2" -ne 0 ] || tail -n 1 "$logs/$1.log")"
	[ "$2" -eq 0 ] || sed 's/^/     | /' "$logs/$1.log"
}

# count NAME STATUS SINCE
count() {
	report "$@"
	if [ "$2" -eq 0 ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
	fi
	return "$2"
}

# step NAME COMMAND...
step() {
	local name=$1 since=$EPOCHREALTIME status=0
	shift
	"$@" >"$logs/$name.log" 2>&1 || status=$?
	count "$name" "$status" "$since"
}

# background NAME COMMAND...: runs at the lowest priority. finish NAME: waits for
# it and reports the seconds of waiting.
declare -A in_background
background() {
	local name=$1
	shift
	set -m # a group of its own, to be ended with all that it began
	nice -n 19 "$@" >"$logs/$name.log" 2>&1 &
	set +m
	in_background[$name]=$!
}
finish() {
	local since=$EPOCHREALTIME status=0
	wait "${in_background[$1]}" || status=$?
	unset "in_background[$1]"
	count "$1" "$status" "$since"
}
end_background() {
	local group
	for group in "${in_background[@]}"; do
		kill -- "-$group"
	done
}
trap 'exit 130' INT TERM
trap end_background EXIT

# Tests that found something missing and said so: ", 1 SKIPPED: web.browser".
skipped() {
	sed -n 's/^[[:space:]]*[0-9]* - \(.*\) (Skipped)$/\1/p' "$1" |
		awk '{ names = names " " $1 }
			END { if (NR) printf ", %d SKIPPED:%s", NR, names }'
}

# tests PRESET: the ctest of a preset that was built; counts single tests.
tests() {
	local name=test-$1 since=$EPOCHREALTIME status=0 bad total
	local log=$logs/$name.full
	# More than there are processors: many tests mostly wait for daemons and launchers.
	ctest --preset "$1" --no-tests=error -j $((2 * jobs + 1)) >"$log" 2>&1 ||
		status=$?
	total=$(sed -n 's/.*tests failed out of \([0-9]*\)$/\1/p' "$log")
	bad=$(sed -n 's/.* \([0-9]*\) tests failed out of .*/\1/p' "$log")
	if [ "$status" -eq 0 ] && [ -n "$total" ]; then
		echo "$total tests$(skipped "$log")" >"$logs/$name.log"
		passed=$((passed + total))
	else
		[ -n "$total" ] || { total=1 bad=1; }
		grep -vE '^ *(Start +[0-9]+:|[0-9]+/[0-9]+ .* Passed )' "$log" \
			>"$logs/$name.log"
		passed=$((passed + total - bad))
		failed=$((failed + bad))
		status=1
	fi
	report "$name" "$status" "$since"
}

lint() {
	step format ci/format.sh
	step layers ci/layers.sh
	step commands ci/commands.sh
	step headers ci/headers.sh
	step scripts ci/scripts.sh
	step draws ci/draws.sh
	step words ci/words.sh
	step abi ci/abi.sh
	step packaging ci/packaging.sh
}

begun=$EPOCHREALTIME
case $mode in
lint)
	lint
	step build-release ci/build.sh release
	step configure-asan cmake --preset asan
	step man ci/man.sh build/release
	step tidy ci/tidy.sh build/asan
	step cppcheck ci/cppcheck.sh
	;;
all | long)
	long=OFF light=ON fuzz=smoke
	[ "$mode" = all ] || { long=ON light=OFF fuzz=grow; export TIDY_DEEP=1; }
	lint
	background cppcheck ci/cppcheck.sh
	step build-release ci/build.sh release -DHD_LONG=$long && tests release
	step man ci/man.sh build/release
	if step build-asan ci/build.sh asan -DHD_LONG=OFF -DHD_LIGHT=$light; then
		background tidy ci/tidy.sh build/asan
		tests asan
		finish tidy
	fi
	finish cppcheck
	step build-fuzz ci/build.sh fuzz && step fuzz ci/fuzz.sh $fuzz
	if [ "$mode" = long ]; then
		step build-tsan ci/build.sh tsan -DHD_LONG=OFF -DHD_LIGHT=ON &&
			tests tsan
		step fuzz-same ci/fuzz.sh same
		step bench ci/bench.sh build/release
		step mutate ci/mutate.sh
	fi
	;;
*)
	echo "usage: check.sh all | lint | long" >&2
	exit 2
	;;
esac

printf '%s took %s s\n' "$mode" "$(seconds "$begun")"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
