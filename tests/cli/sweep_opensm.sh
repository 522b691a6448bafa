# What OpenSM does when cables fail and come back is what --sweep foretells:
# entry by entry, and block by block in the order in which it writes them.
. "$SRC/tests/cli/lib.sh"
for tool in ibsim opensm ibnetdiscover; do
	command -v $tool >/dev/null || fail "$tool is not installed"
done
umad=$(ls /usr/lib/*/umad2sim/libumad2sim.so | head -1)
IBSIM_SOCKNAME=$(mktemp -u heddle-sweep-XXXXXXXX)
export IBSIM_SOCKNAME
export OSM_CACHE_DIR="$PWD/cache" OSM_TMP_DIR="$PWD/dumps"
pids=
# OpenSM first: it takes its leave of ibsim, and waits for ever if that is gone.
cleanup() {
	for pid in $pids; do
		kill "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
	pids=
}
trap cleanup EXIT

# wait_for N: until the subnet was brought up N times and no more.
wait_for() {
	tries=0 before=-1
	until now=$(grep -cs 'SUBNET UP' log || true) &&
		[ "${now:-0}" -ge "$1" ] && [ "$now" = "$before" ]; do
		before=${now:-0}
		tries=$((tries + 1))
		[ $tries -lt 100 ] || fail "no SUBNET UP: $(tail -3 log)"
		sleep 0.6
	done
	ups=$now
}

bring_up() { # FABRIC [OPENSM OPTIONS...]
	fabric=$1
	shift
	rm -rf cache dumps console log
	mkdir cache dumps
	"$HEDDLE" topo convert "$fabric" --to ibsim -o fabric.net
	mkfifo console
	sleep 300 >console &
	pids=$!
	ibsim -s fabric.net <console >ibsim.log 2>&1 &
	pids="$! $pids"
	sleep 1
	echo 'force_log_flush TRUE' >conf
	# 0x08: it tells which blocks it writes.
	SIM_HOST=h0 LD_PRELOAD=$umad timeout 120 opensm -F conf -D 0x4b -f "$PWD/log" \
		"$@" >opensm.log 2>&1 &
	pids="$! $pids"
	wait_for 1
	SIM_HOST=h0 LD_PRELOAD=$umad timeout 60 ibnetdiscover >found
	cp dumps/opensm-lfts.dump tables
	sweeps=
}

# event down|up NODE PORT: to OpenSM and to us.
event() {
	case $1 in
	down) command=Unlink ;;
	up) command=ReLink ;;
	esac
	seen=$(wc -l <log)
	echo "$command \"$2\"[$3]" >console
	wait_for $((ups + 1))
	sweeps="$sweeps --sweep $1=$2/$3"
	# shellcheck disable=SC2086 # words
	set -- "$HEDDLE" route found --engine file --routes tables $sweeps
	"$@" --dump opensm >ours
	cmp ours dumps/opensm-lfts.dump || fail "$fabric:$sweeps"
	tail -n "+$seen" log |
		sed -n 's/.*Writing FT block \([0-9]*\) to switch 0x\(.*\)/\1 \2/p' \
			>theirs
	"$@" --json | jq -r '.tables as $t |
		($t.sweeps.rows | length) as $last | $t.writes.rows[] |
		select(.sweep == $last) |
		"\(.block) \(.GUID | ltrimstr("0x0"))"' >ours
	cmp ours theirs || fail "blocks of $fabric:$sweeps"
}

bring_up 'fat-tree --radix 8 --levels 3'
event down s2-3 8
event down s1-4 6
event down s1-15 1 # a host's
event up s2-3 8
event down s3-5 2
cleanup
bring_up 'irregular --switches 16 --degree 4 --hosts 2' -l 1
event down s-3 1
event down s-9 2
event up s-3 1
cleanup
