# shellcheck shell=sh
# Runs in the guest of ci/rxe.sh, with heddle=PATH set in front of it: every
# test of heddle bench, briefly, on rxe0: by threads of one process, then by
# up to five processes. A JSON document is between the lines "json TEST" and
# "end TEST"; what the device cannot do is shown with the reason.
brief() {
	case $1 in
	qps-* | fairness-bw) echo "--values 1,4 --size 64" ;;
	*-create | *-modify | *-destroy) echo "--values 16,64" ;;
	mr-*huge) echo "--size 2MiB..4MiB" ;;
	mr-*) echo "--size 4KiB..64KiB --step 16" ;;
	load-bw | *sl-lat) echo "--values 0,1,2 --size 64" ;;
	reuse*) echo "--values 100,25 --size 4KiB" ;;
	cpu) echo "--values 0,100 --size 4KiB" ;;
	*-lat | *-bw | *-bidir) echo "--size 8..4KiB --step 512" ;;
	esac
}

# show NAME STATUS: what /tmp/out.json and /tmp/err have of it.
show() {
	if [ "$2" -eq 0 ]; then
		echo "json $1"
		cat /tmp/out.json
		echo "end $1"
	elif [ "$2" -eq 3 ] && [ "$(wc -l </tmp/err)" -eq 1 ]; then
		echo "refused $(cat /tmp/err)"
	else
		echo "FAILED $1: status $2 $(cat /tmp/err)"
		failed=1
	fi
	rm -f /tmp/out.json
}

echo 16 >/proc/sys/vm/nr_hugepages
for test in $("$heddle" bench list --csv |
	sed -n 's/^\([a-z][a-z0-9-]*\),\(non-data\|data\|beyond\),.*/\1/p'); do
	status=0
	timeout 120 "$heddle" bench "$test" --device rxe0 -n 10 $(brief "$test") \
		--quiet --json -o /tmp/out.json 2>/tmp/err || status=$?
	show "$test" $status
done

# listen N: N processes wait for a rank 0; $hosts has their addresses.
listen() {
	hosts= listeners= port=18515
	while [ $((port - 18515)) -lt "$1" ]; do
		"$heddle" bench --device rxe0 --listen 127.0.0.1:$port &
		listeners="$listeners $!"
		hosts=$hosts${hosts:+,}127.0.0.1:$port
		port=$((port + 1))
	done
	# 0A is the state of a socket that listens.
	for i in $(seq 60); do
		[ "$(grep -c ' 0100007F:48[0-9A-F]* .* 0A ' /proc/net/tcp)" \
			-lt "$1" ] || break
		sleep 1
	done
}

# processes N TEST OPTION...: this one measures, N others listen.
processes() {
	name=$2.$(($1 + 1))-processes status=0
	listen "$1"
	shift
	timeout 120 "$heddle" bench "$@" --device rxe0 --connect $hosts \
		--quiet --json -o /tmp/out.json 2>/tmp/err || status=$?
	show "$name" $status
	[ $status -eq 0 ] || kill $listeners
	wait
}
processes 1 send-lat --size 8..4KiB --step 8 -n 20
processes 1 cpu --size 4KiB --values 0,100 -n 4
processes 1 write-bidir --size 4KiB -n 20
processes 2 load-bw --size 64 -n 20
processes 4 load-bw --size 4KiB -n 20
processes 3 sl-lat -n 20 --values 0,1,2
processes 3 threads-bw --size 1KiB -n 20

# Interrupted: prints the measurements so far, and no process waits.
interrupt() {
	name=$1
	shift
	"$@" >/tmp/out.json 2>/tmp/err &
	pid=$!
	sleep 4
	kill -INT $pid
	status=0
	wait $pid || status=$?
	if [ $status -eq 130 ]; then
		echo "ok interrupted $name"
	else
		echo "FAILED interrupted $name: status $status $(cat /tmp/err)"
		failed=1
	fi
}
interrupt threads "$heddle" bench send-bw --device rxe0 -D 60s --quiet --json
interrupt listener "$heddle" bench --device rxe0 --listen 127.0.0.1:18600

# As a user sees it: the defaults, on a slow device.
listen 3
"$heddle" bench load-bw --size 4KiB --device rxe0 --connect $hosts --quiet ||
	{ failed=1 && kill $listeners; }
wait
echo "bench ended, up $(cut -d' ' -f1 /proc/uptime) s"
