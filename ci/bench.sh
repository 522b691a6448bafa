#!/bin/sh
# Runs every benchmark of a build (hd_bench), after the facts of the machine
# that its numbers depend on. Usage: bench.sh BUILD
set -eu
cd "$(dirname "$0")/.."
echo "# machine: $(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo |
	head -n 1), $(nproc) cores," \
	"$(awk '/^MemTotal/ { printf "%.1f GiB", $2 / 1048576 }' /proc/meminfo)"
echo "# compiler: $(cc --version | head -n 1)"
n=0 bad=0
for bench in "$1"/tests/bench/bench_*; do
	[ -x "$bench" ] || continue
	n=$((n + 1))
	"$bench" || bad=1
done
[ "$n" -gt 0 ] || { echo "bench: nothing to run"; exit 1; }
exit $bad
