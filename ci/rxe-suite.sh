#!/bin/sh
# Runs in the guest of ci/rxe.sh: other people's programs, as a proof of the
# machine. A line "ok" or "FAILED" for each, and what it measured.
failed=0

# Both ends of a program; the client's output is shown.
both() {
	name=$1
	shift
	"$@" >/tmp/server 2>&1 &
	server=$!
	sleep 2
	if timeout 120 "$@" 127.0.0.1 >/tmp/client 2>&1; then
		echo "ok $name"
		grep -E 'usec/iter|^ [0-9]' /tmp/client
	else
		echo "FAILED $name"
		cat /tmp/server /tmp/client
		failed=1
		kill $server
	fi
	wait
}

echo "Linux $(uname -r), up $(cut -d' ' -f1 /proc/uptime) s"
ibv_devices
for kind in rc uc ud srq; do
	both ibv_${kind}_pingpong ibv_${kind}_pingpong -d rxe0 -g 1 -n 20
done
for test in send_lat write_lat read_lat atomic_lat; do
	both ib_$test ib_$test -d rxe0 -x 1 -F -n 50
done
both ib_write_bw ib_write_bw -d rxe0 -x 1 -F -s 65536 -n 20
