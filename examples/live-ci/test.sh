#!/bin/sh
# Tests an MPI program on a software fabric of four hosts, as a CI job would: test.sh
# Needs heddle, mpicc, mpirun, infiniband-diags. No adapter, no privileges, no network.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
export XDG_RUNTIME_DIR="$scratch"
mpicc -O2 -o "$scratch/sum" "$here/sum.c"

# Four hosts behind one switch, with a subnet manager. The fabric ends with this script.
heddle live up 'star --hosts 4' --sm minhop >"$scratch/up.log"
trap 'heddle live down >"$scratch/down.log" 2>&1; rm -rf "$scratch"' EXIT
until heddle live show | grep -q 'h3 .*active'; do sleep 0.1; done

# Rank i runs on host i. 'live exec' selects the adapter for Open MPI.
heddle live exec h0..h3 -- mpirun --oversubscribe -n 4 "$scratch/sum"

# The program used the fabric, not the memory of this machine: the ports counted it.
sent=$(heddle live exec h0 -- perfquery -x | sed -n 's/^PortXmitPkts:\.*//p')
[ "$sent" -gt 100 ] || { echo "the program did not use the fabric: $sent packets" >&2; exit 1; }
echo "h0 sent more than 100 packets"

# A failure: the cable of h3 is out. The program must end with an error, not hang.
heddle live link h3:1 down >>"$scratch/up.log"
if timeout 60 heddle live exec h0..h3 -- mpirun --oversubscribe -n 4 "$scratch/sum" \
	>"$scratch/failure.log" 2>&1; then
	echo "the program ignored a cable that is out" >&2
	exit 1
elif [ $? -eq 124 ]; then
	echo "the program hangs when a cable is out" >&2
	exit 1
fi
echo "a pulled cable ends the program"
