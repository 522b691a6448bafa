#!/bin/bash
# Speed of data on a live fabric at the free pace, relative to the same machine
# without a fabric: perftest against bare process_vm_writev, Open MPI against
# UCX's own shared memory; the best of several runs in turn. Processes are bound
# to a core each and, if the user may, preferred to all others for moments.
# Usage: bench_verbs.sh [HEDDLE [RUNS]]; fails if a goal is missed.
set -eu
cd "$(dirname "$0")/.."
heddle=$(realpath "${1:-build/release/heddle}")
runs=${2:-5}
work=$(mktemp -d /tmp/heddle-bench.XXXXXXXX)
export XDG_RUNTIME_DIR=$work
leave() {
	"$heddle" live down -q 2>/dev/null || true
	rm -rf "$work"
}
trap leave EXIT
first=
chrt -f 2 true 2>/dev/null && first='chrt -f 2'
cc -O2 -D_GNU_SOURCE -o "$work/process_vm" tests/bench/process_vm.c
mpicc -O2 -o "$work/pingpong" tests/bench/mpi_pingpong.c
"$heddle" live up 'star --hosts 2' --sm minhop -q

least() { sort -g | head -n 1; }
most() { sort -g | tail -n 1; }

# between TOOL OPTION...: what its client says.
between() {
	timeout 60 "$heddle" live exec h0 -- $first taskset -c 0 "$@" -F \
		>/dev/null 2>&1 &
	server=$!
	sleep 1
	timeout 60 "$heddle" live exec h1 -- $first taskset -c 1 "$@" -F \
		localhost 2>/dev/null
	wait $server
}
# ranks LAUNCHER...: half a round trip. They wait for mpirun, which must be able
# to run: they are not preferred.
ranks() {
	timeout 120 "$@" mpirun --allow-run-as-root --oversubscribe --bind-to core -n 2 \
		--mca pml ucx --mca btl ^openib,tcp,vader --mca osc ^ucx \
		--mca pml_ucx_tls any --mca pml_ucx_devices any \
		"$work/pingpong"
}

for ((i = 0; i < runs; i++)); do
	$first taskset -c 0 "$work/process_vm" 1 >"$work/bare"
	sed 's/2 bytes: \([0-9.]*\) us.*/\1/' "$work/bare" >>"$work/bare.lat"
	sed 's/.* \([0-9]*\) MiB.*/\1/' "$work/bare" >>"$work/bare.bw"
	between ib_write_lat -n 5000 |
		awk '$2 ~ /^[0-9]+$/ && NF > 5 { print $5 }' >>"$work/lat"
	between ib_write_bw -n 5000 |
		awk '$2 ~ /^[0-9]+$/ && NF == 5 { print $4 }' >>"$work/bw"
	UCX_TLS=sm,self ranks env >>"$work/shm"
	ranks "$heddle" live exec h0,h1 -- >>"$work/mpi"
done

# row WHAT VALUE REFERENCE GOAL: the goal is a ratio, at most (<) or at least (>).
missed=0
row() {
	awk -v what="$1" -v a="$2" -v b="$3" -v goal="${4:-}" 'BEGIN {
		met = goal == "" || (substr(goal, 1, 1) == "<" \
			? a / b <= substr(goal, 2) : a / b >= substr(goal, 2))
		printf "%-44s %10.3f %10.3f %7.2f  %-6s%s\n", what, a, b,
			a / b, goal, met ? "" : " MISSED"
		exit !met }' || missed=1
}
printf '%-44s %10s %10s %7s  %s\n' what here reference ratio goal
row 'ib_write_lat, 2 bytes: process_vm_writev, us' "$(least <"$work/lat")" \
	"$(least <"$work/bare.lat")" '<1.5'
row 'ib_write_bw, 64 KiB: process_vm_writev, MiB/s' "$(most <"$work/bw")" \
	"$(most <"$work/bare.bw")" '>0.8'
row 'Open MPI, 8 bytes: UCX shared memory, us' "$(least <"$work/mpi")" \
	"$(least <"$work/shm")"
exit $missed
