#!/bin/bash
# Configures and builds one preset, quietly. Usage: build.sh PRESET [-D...]
# TARGET=product in the environment builds what is installed only.
# PROGRESS=1 prints the number of files built, the total and the time left.
set -eu -o pipefail
cd "$(dirname "$0")/.."
preset=$1
shift
mkdir -p build
log=build/$preset.log

case $preset in
fuzz) target=fuzzers ;;
*) target=${TARGET:-all} ;;
esac

# Copies ninja's lines to the log; with PROGRESS=1, prints progress: on a terminal one line that is
# overwritten every second, elsewhere a line every ten seconds.
progress() {
	local line start=$SECONDS last=$SECONDS every=10 end='\n' begin=''
	if [ -t 3 ]; then every=1 end='' begin='\r\e[K'; fi
	while IFS= read -r line; do
		printf '%s\n' "$line"
		[ "${PROGRESS:-0}" = 1 ] && [ $((SECONDS - last)) -ge $every ] || continue
		[[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]] || continue
		local n=${BASH_REMATCH[1]} all=${BASH_REMATCH[2]}
		last=$SECONDS
		printf "${begin}build: %d of %d files, about %d s left$end" "$n" "$all" \
			$(((SECONDS - start) * (all - n) / n)) >&3
	done
	[ -z "$begin" ] || [ "${PROGRESS:-0}" != 1 ] || printf "$begin" >&3
}

{ cmake --preset "$preset" "$@" &&
	cmake --build --preset "$preset" --target "$target" \
		-j "${JOBS:-$(nproc)}"; } 3>&- 2>&1 | progress 3>&2 >"$log" || {
	grep -vE '^\[[0-9]+/[0-9]+\] (Building|Linking|Generating)' "$log" |
		tail -n 60 >&2
	echo "build: preset '$preset' failed; all of it is in $log" >&2
	exit 1
}
# Once, for the program that people use.
if [ "$preset" = release ] && [ -s build/web/missing ]; then
	echo "build: heddle is built without its interactive page:" \
		"$(cat build/web/missing)" >&2
fi
