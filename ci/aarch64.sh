#!/bin/sh
# Runs tests on a 64-bit ARM processor, emulated: coroutines, whose switch is
# written for each processor, and the modules that need no other library.
# Takes half a minute; needs the packages below "aarch64:" in ci/deps.txt.
set -eu
cd "$(dirname "$0")/.."
work=build/aarch64
compiler=aarch64-linux-gnu-gcc
emulator=qemu-aarch64-static

for tool in $compiler $emulator; do
	command -v $tool >/dev/null || {
		echo "aarch64: $tool is not installed" >&2
		exit 4
	}
done
mkdir -p "$work"
# gcc 12 for this processor fails at vectorising some of it.
flags="-std=c17 -O2 -fno-tree-vectorize -g -Wall -Wextra -Werror -Wno-sign-compare -D_XOPEN_SOURCE=700
	-Isrc -Ici/aarch64 -I$work"
case ${CMAKE_C_COMPILER_LAUNCHER:-} in
*ccache) compiler="ccache $compiler" ;;
esac

mkdir -p "$work/wire"
$compiler $flags -static src/wire/crc16_gen.c -o "$work/crc16_gen"
"$emulator" "$work/crc16_gen" >"$work/wire/crc16_table.h"

# Sources of the modules, without what needs libpcap.
sources=$(ls src/base/*.c src/measure/*.c src/cc/*.c src/transport/*.c \
	src/wire/*.c src/hca/coroutine.c |
	grep -vE '_test\.c$|_gen\.c$|wire/(capture|roce)\.c$')
objects=
for source in $sources; do
	object=$work/$(echo "${source#src/}" | tr / -).o
	objects="$objects $object"
	$compiler $flags -c "$source" -o "$object"
done
rm -f "$work/library.a"
aarch64-linux-gnu-ar rcs "$work/library.a" $objects

n=0
for test in verbs/coroutine transport/codes transport/qp wire/crc wire/cursor \
	wire/headers wire/opcode wire/packet base/eventq base/map base/rng \
	base/series base/text base/units measure/fairness measure/histogram \
	measure/interval cc/marking cc/response; do
	program=$work/$(basename "$test")_test
	$compiler $flags -static "src/${test}_test.c" "$work/library.a" -lm \
		-o "$program"
	"$emulator" "$program" >"$program.log" 2>&1 || {
		cat "$program.log" >&2
		echo "aarch64: $test failed" >&2
		exit 1
	}
	n=$((n + 1))
done
echo "aarch64: $n test programs passed"
