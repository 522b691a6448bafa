# OpenSM and infiniband-diags on fabrics of ours, which ibsim serves; after
# lib.sh: . "$SRC/tests/cli/ibsim.sh". Nothing of it outlives the test.
SO=$(ls /usr/lib/*/umad2sim/libumad2sim.so) || fail "ibsim is not installed"
IBSIM_SOCKNAME=$(mktemp -u heddle-ibsim-XXXXXXXX)
OSM_CACHE_DIR=$PWD/cache OSM_TMP_DIR=$PWD/dumps
export IBSIM_SOCKNAME OSM_CACHE_DIR OSM_TMP_DIR
pids=

# needs TOOL...: they are installed, and ibsim is.
needs() {
	for tool in ibsim "$@"; do
		command -v "$tool" >/dev/null || fail "$tool is not installed"
	done
}

# OpenSM first: it takes its leave of ibsim, and waits for ever if that is gone.
leave_fabric() {
	for pid in $pids; do
		! is_ours "$pid" || kill "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
	pids=
}
trap leave_fabric EXIT

# in_fabric COMMAND...: through the adapter of h0.
in_fabric() {
	SIM_HOST=h0 LD_PRELOAD=$SO timeout 300 "$@"
}

# until_up N: the subnet was brought up at least N times; how often: $ups.
until_up() {
	tries=0
	until ups=$(grep -cs 'SUBNET UP' log) && [ "$ups" -ge "$1" ]; do
		tries=$((tries + 1))
		[ $tries -lt $PATIENCE ] || fail "no SUBNET UP: $(tail -3 log opensm.log)"
		sleep 0.2
	done
}

# enter_fabric TOPOLOGY [OPENSM'S OPTIONS...]: both run, the first sweep is
# done; ./console is ibsim's, ./log and ./dumps are OpenSM's.
enter_fabric() {
	fabric=$1
	shift
	rm -rf cache dumps console log
	mkdir cache dumps
	"$HEDDLE" topo convert "$fabric" --to ibsim -o fabric.net
	mkfifo console
	# ibsim reads its console for ever: a process must hold the other end.
	sleep $PATIENCE >console &
	pids=$!
	ibsim -s fabric.net <console >ibsim.log 2>&1 &
	pids="$! $pids"
	tries=0
	until grep -q 'simulator ready' ibsim.log; do
		tries=$((tries + 1))
		[ $tries -lt $PATIENCE ] || fail "ibsim: $(tail -3 ibsim.log)"
		sleep 0.1
	done
	# Not by in_fabric: the process to end must be this one. 0x08: it tells
	# which blocks it writes.
	SIM_HOST=h0 LD_PRELOAD=$SO timeout $PATIENCE opensm -d 2 -D 0x4b \
		-f "$PWD/log" "$@" >opensm.log 2>&1 &
	pids="$! $pids"
	until_up 1
}
