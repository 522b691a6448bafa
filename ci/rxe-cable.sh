#!/bin/sh
# RoCEv2 between an adapter of ours and the Linux kernel's rxe, over the cable
# of ci/rxe.sh: Debian's programs, and one of ours that compares every byte of
# all that verbs can send, either end as client and as server, as requester and
# as responder, also where frames are lost. A line for each; fails if one did.
set -eu
cd "$(dirname "$0")/.."
work=$PWD/build/rxe
heddle=$PWD/build/release/heddle
exchange=$PWD/build/release/tests/cli/verbs_exchange
cable=$(mktemp -d /tmp/heddle-rxe.XXXXXXXX)
log=$work/cable.out
mkdir -p "$work"
free_ports() {
	python3 -c 'import socket
a, b = socket.socket(), socket.socket()
a.bind(("127.0.0.1", 0))
b.bind(("127.0.0.1", 0))
print("PORT_IN=%d PORT_OUT=%d" % (a.getsockname()[1], b.getsockname()[1]))'
}
eval "$(free_ports)"
export PORT_IN PORT_OUT

set -- --with "$exchange"
for program in ibv_rc_pingpong ibv_uc_pingpong ibv_ud_pingpong \
	ibv_srq_pingpong ib_send_lat ib_write_lat ib_read_lat ib_atomic_lat \
	ib_write_bw ib_read_bw; do
	set -- "$@" --with "$(command -v $program)"
done
{
	echo "exchange=$exchange role=guest listen=7001 connect=7002"
	echo 'to=10.0.2.100 log=/tmp/log'
	echo 'run() { timeout 200 "$@"; }'
	cat ci/rxe-steps.sh
	echo 'exit $failed'
} >"$work/cable.job"
ci/rxe.sh "$@" --seconds 1500 --cable "$cable" "$work/cable.job" \
	>"$work/cable.guest" 2>&1 &
guest=$!
trap 'kill $guest 2>/dev/null || true; rm -rf "$cable"' EXIT

role=host listen=$PORT_OUT connect=$PORT_IN to=127.0.0.1
run() {
	timeout 200 "$heddle" live roce --address 10.0.0.2 \
		--local "$cable/host" --remote "$cable/guest" \
		--mtu "$mtu" --lose "$lose" -- "$@"
}
. ci/rxe-steps.sh
status=0
if [ "$failed" -ne 0 ]; then
	kill "$guest" 2>/dev/null || true
fi
wait "$guest" || status=$?
there=$(grep -c '^ok ' "$work/cable.guest" || true)
echo "$n steps with the kernel at the other end: $there passed there"
if [ "$failed" -ne 0 ] || [ "$status" -ne 0 ] || [ "$there" -ne "$n" ]; then
	tail -n 20 "$work/cable.guest"
	exit 1
fi
