#!/bin/bash
# Compares the binary interface of libheddle with src/api/heddle.abi: abi.sh [--record]
# The interface is the functions of heddle.h and the types that they name. An incompatible change
# needs another HD_ABI, which is part of the library's name; then, and after additions, --record
# writes the file.
set -eu -o pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C
recorded=src/api/heddle.abi
scratch=$(mktemp -d /tmp/heddle-abi.XXXXXX)
trap 'rm -rf "$scratch"' EXIT
abi=$(sed -n 's/^#define HD_ABI *//p' src/api/heddle.h)
mkdir "$scratch/public"
cp src/api/heddle.h "$scratch/public"

# Types of exported functions come from the debug information of the files that define them. The
# functions of stub.c return the enums of heddle.h, whose values other functions return as int.
{
	echo '#include "api/heddle.h"'
	sed -n 's/^enum \([a-z_]*\) {$/HD_API enum \1 hd_run_\1(void); enum \1 hd_run_\1(void) { return 0; }/p' \
		src/api/heddle.h
} >"$scratch/stub.c"
sources=$(git ls-files 'src/api/*.c' | grep -v '_test\.c$')
# shellcheck disable=SC2086 # a list
cc -std=c17 -g -fPIC -fvisibility=hidden -D_POSIX_C_SOURCE=200809L -D_XOPEN_SOURCE=700 -Isrc -DHD_VERSION=\"\" \
	-shared -Wl,--version-script=src/api/heddle.map -Wl,-soname,"libheddle.so.$abi" \
	-o "$scratch/libheddle.so" $sources "$scratch/stub.c"
cd "$scratch"
abidw --headers-dir public --drop-private-types --no-comp-dir-path --no-show-locs \
	--out-file now.abi libheddle.so
sed -i "s|/tmp/[^']*/stub.c|stub.c|" now.abi
cd "$OLDPWD"
if [ "${1:-}" = --record ]; then
	cp "$scratch/now.abi" "$recorded"
	exit
fi
functions=$(grep '<elf-symbol .*func-type' "$recorded" | grep -vc hd_run_hd_) || {
	echo "abi: $recorded has no functions" >&2
	exit 1
}
abidiff "$recorded" "$scratch/now.abi" || {
	echo "abi: libheddle differs from $recorded; compatible additions: ci/abi.sh --record;" \
		"all else: raise HD_ABI, then ci/abi.sh --record" >&2
	exit 1
}
echo "$functions functions, libheddle.so.$abi"
