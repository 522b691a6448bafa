#!/bin/bash
# How long OpenSM takes to SUBNET UP on a live fabric and on ibsim, in turn, and
# what it costs: processor seconds of OpenSM and of the fabric's daemon, and the
# daemon's memory. Usage: bench_live.sh [HEDDLE [ROW...]]
#   ROW  hosts, or hosts-qos (with SL2VL and VLArb tables); by default
#        128 648 1944 1944-qos 11664
# Times by the clock are worth something on an idle machine only.
set -eu
cd "$(dirname "$0")/.."
heddle=$(realpath "${1:-build/release/heddle}")
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- 128 648 1944 1944-qos 11664
so=$(ls /usr/lib/*/umad2sim/libumad2sim.so)
work=$(mktemp -d /tmp/heddle-bench.XXXXXXXX)
export XDG_RUNTIME_DIR=$work OSM_CACHE_DIR=$work/cache OSM_TMP_DIR=$work
export IBSIM_SOCKNAME=${work##*/}
ibsim= holder=
leave() {
	"$heddle" live down -q 2>/dev/null || true
	[ -z "$ibsim" ] || kill "$ibsim" "$holder" 2>/dev/null || true
	rm -rf "$work"
}
trap leave EXIT

declare -A fabrics=(
	[128]='fat-tree --radix 16 --levels 2'
	[648]='fat-tree --radix 36 --levels 2'
	[1944]='xgft --down 18,18,6 --up 1,18,18'
	[11664]='fat-tree --radix 36 --levels 3'
)

configure() { # qos or nothing
	echo 'force_log_flush TRUE' >"$work/conf"
	[ "$1" = qos ] || return 0
	cat >>"$work/conf" <<-'END'
		qos TRUE
		qos_max_vls 8
		qos_high_limit 4
		qos_vlarb_high 0:64,1:128
		qos_vlarb_low 0:32,1:64,2:96,3:32,4:32,5:32,6:32,7:32
		qos_sl2vl 0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7
		use_optimized_slvl TRUE
	END
}

cpu_of() { # PID: seconds
	awk -v hz="$(getconf CLK_TCK)" '{ printf "%.2f", ($14 + $15) / hz }' \
		"/proc/$1/stat"
}

# sweep COMMAND...: OpenSM once; "wall cpu" of it into $swept.
sweep() {
	rm -rf "$work/cache" "$work/log"
	mkdir "$work/cache"
	/usr/bin/time -o "$work/time" -f '%U %S' timeout 600 "$@" opensm -o \
		-F "$work/conf" -f "$work/log" >/dev/null 2>&1 || true
	swept=$(awk '
		function at(t) { split(t, p, ":"); return p[1] * 3600 + p[2] * 60 + p[3] + $4 / 1e6 }
		/Entering DISCOVERING/ { from = at($3) }
		/SUBNET UP/ { printf "%.2f", at($3) - from; exit }' "$work/log")
	swept="${swept:-none} $(tail -n 1 "$work/time" | awk '{ printf "%.2f", $1 + $2 }')"
}

show() { # ROW WHO PID
	printf '%-9s %-7s %9s %11s %11s %9s\n' "$1" "$2" $swept \
		"$(cpu_of "$3")" "$(($(awk '/VmHWM/ { print $2 }' "/proc/$3/status") / 1024))"
}

printf '%-9s %-7s %9s %11s %11s %9s\n' hosts on 'UP [s]' 'opensm[s]' \
	'daemon[s]' 'MB'
for row; do
	hosts=${row%-qos}
	fabric=${fabrics[$hosts]}
	case $row in *-qos) configure qos ;; *) configure no ;; esac
	"$heddle" live up "$fabric" -q --foreground &
	daemon=$!
	until "$heddle" live show >/dev/null 2>&1; do sleep 0.1; done
	sweep "$heddle" live exec h0 --
	show "$row" heddle $daemon
	"$heddle" live down
	wait $daemon || true

	"$heddle" topo gen $fabric --to ibsim -o "$work/net"
	mkfifo "$work/console"
	sleep 3000 >"$work/console" &
	holder=$!
	ibsim -s -N 14000 -S 1700 -P 80000 -L 30720 "$work/net" \
		<"$work/console" >"$work/ibsim.log" 2>&1 &
	ibsim=$!
	until grep -q 'simulator ready' "$work/ibsim.log"; do sleep 0.1; done
	sweep env SIM_HOST=h0 LD_PRELOAD="$so"
	show "$row" ibsim $ibsim
	kill $ibsim $holder
	wait $ibsim $holder 2>/dev/null || true
	ibsim=
	rm -f "$work/console"
done
