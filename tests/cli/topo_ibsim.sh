# ibsim loads the nets that we write, OpenSM brings them up, and what
# ibnetdiscover then prints is, to us, the same fabric; and is written by us
# as it was read.
. "$SRC/tests/cli/lib.sh"
SO=$(ls /usr/lib/*/umad2sim/libumad2sim.so) || fail "ibsim is not installed"
for tool in ibsim opensm ibnetdiscover; do
	command -v "$tool" >/dev/null || fail "$tool is not installed"
done
rm -rf run
mkdir run
cd run
pids=
# All processes of the test end with it.
stop() {
	for pid in $pids; do
		! is_ours "$pid" || kill "$pid" 2>/dev/null || true
	done
	sleep 0.2
	for pid in $pids; do
		! is_ours "$pid" || kill -9 "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
	pids=
}
trap stop EXIT

# load NAME: name.net in ibsim.
load() {
	IBSIM_SOCKNAME=$(mktemp -u "heddle-$1-XXXXXXXX")
	export IBSIM_SOCKNAME
	mkdir "$1.d" "$1.d/cache" "$1.d/tmp"
	mkfifo "$1.d/console"
	# ibsim reads its console for ever: a process must hold the other end.
	sleep $PATIENCE >"$1.d/console" &
	pids="$pids $!"
	ibsim -s "$1.net" <"$1.d/console" >"$1.d/ibsim.log" 2>&1 &
	pids="$! $pids"
	tries=0
	until grep -q 'simulator ready' "$1.d/ibsim.log"; do
		tries=$((tries + 1))
		[ "$tries" -le $PATIENCE ] || fail "ibsim: $(tail -3 "$1.d/ibsim.log")"
		sleep 0.1
	done
}

# manage NAME: OpenSM on host h0, until the subnet is up.
manage() {
	OSM_CACHE_DIR=$PWD/$1.d/cache OSM_TMP_DIR=$PWD/$1.d/tmp SIM_HOST=h0 \
		LD_PRELOAD=$SO opensm -d 2 -e -f "$PWD/$1.d/opensm.log" \
		>/dev/null 2>&1 &
	pids="$! $pids"
	tries=0
	until grep -q 'SUBNET UP' "$1.d/opensm.log" 2>/dev/null; do
		tries=$((tries + 1))
		[ "$tries" -le $PATIENCE ] || fail "OpenSM: no SUBNET UP for $1"
		sleep 0.1
	done
}

discover() { # NAME SUFFIX OPTION...
	into=$1.found$2
	shift 2
	SIM_HOST=h0 LD_PRELOAD=$SO timeout 300 ibnetdiscover "$@" >"$into"
}

names() {
	"$HEDDLE" topo convert "$1" --json |
		jq -r '.tables.nodes.rows[] | .guid + " " + .node' | sort
}

check() { # NAME MANAGER KIND...
	name=$1 manager=$2
	shift 2
	"$HEDDLE" topo gen "$@" -o "$name.net"
	load "$name"
	"$manager" "$name"
	discover "$name" ''
	discover "$name" -f -f
	discover "$name" -g -g
	stop
	# The same cables between the same GUIDs, at the same speed.
	"$HEDDLE" topo convert "$name.net" --to links >wanted
	for suffix in '' -f -g; do
		found=$name.found$suffix
		[ -s "$found" ] || fail "ibnetdiscover found nothing"
		"$HEDDLE" topo convert "$found" --to links >got
		cmp wanted got || fail "$found is another fabric than $name"
		names "$name.net" >wanted.names
		names "$found" >got.names
		cmp wanted.names got.names
		# And the real tool's file comes out as it went in.
		"$HEDDLE" topo convert "$found" >again
		cmp "$found" again || fail "$found is not written as read"
	done
	status 0 "$HEDDLE" topo check "$name.found"
}

check mesh manage mesh --columns 4 --rows 3 --hosts 2
check tree manage fat-tree --radix 8 --levels 3
check dragonfly manage dragonfly --routers 4 --globals 2 --hosts 2
# Ends that support different things: before OpenSM, which enables all that
# ibsim's ports say they support.
check mixed true tree --arity 3 --levels 2 --link 12xEDR --host-link 1xFDR
