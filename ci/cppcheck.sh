#!/bin/sh
# A second static analyser, in addition to clang-tidy.
set -eu
cd "$(dirname "$0")/.."
n=$(git ls-files 'src/*.c' | wc -l)
[ "$n" -gt 0 ] || { echo "cppcheck: nothing to check"; exit 1; }
mkdir -p build/cppcheck
cppcheck --quiet --std=c11 -Isrc --inline-suppr -j "${JOBS:-$(nproc)}" \
	--enable=warning,style,performance,portability \
	--cppcheck-build-dir=build/cppcheck --error-exitcode=1 src
echo "$n files"
