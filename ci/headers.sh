#!/bin/sh
# Every header compiles alone, so that include order never matters.
set -eu
cd "$(dirname "$0")/.."
headers=$(git ls-files 'src/*.h' 'include/*.h')
[ -n "$headers" ] || { echo "headers: nothing to check"; exit 1; }
# One header needs the MPI headers; programs without MPI do not include it.
MPI=$(pkg-config --cflags ompi-c)
export MPI
echo "$headers" | xargs -P "${JOBS:-$(nproc)}" -I '{}' sh -c '
	echo "#include \"$1\"" | cc -std=c17 -Wall -Wextra -Werror -I. -Isrc \
		-Iinclude $MPI -D_XOPEN_SOURCE=700 -fsyntax-only -xc - ||
		{ echo "$1 does not compile alone"; exit 1; }' check '{}'
echo "$(echo "$headers" | wc -l) headers"
