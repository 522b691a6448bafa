#!/bin/sh
# Configures and builds one preset, quietly. Usage: build.sh PRESET [-D...]
# TARGET=product in the environment builds what is installed only.
set -eu
cd "$(dirname "$0")/.."
preset=$1
shift
mkdir -p build
log=build/$preset.log

case $preset in
fuzz) target=fuzzers ;;
*) target=${TARGET:-all} ;;
esac
{ cmake --preset "$preset" "$@" &&
	cmake --build --preset "$preset" --target "$target" \
		-j "${JOBS:-$(nproc)}"; } >"$log" 2>&1 || {
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
