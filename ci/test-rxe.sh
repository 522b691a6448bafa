#!/bin/sh
# make test-rxe: verbs programs on the kernel's rxe0 (ci/rxe.sh).
set -eu
cd "$(dirname "$0")/.."
log=build/rxe/suite.log
mkdir -p build/rxe
set --
for program in ibv_devices ibv_rc_pingpong ibv_uc_pingpong ibv_ud_pingpong \
	ibv_srq_pingpong ib_send_lat ib_write_lat ib_read_lat ib_atomic_lat \
	ib_write_bw; do
	set -- "$@" --with "$(command -v $program)"
done
status=0
ci/rxe.sh "$@" --seconds 900 ci/rxe-suite.sh >"$log" || status=$?
cat "$log"
[ "$status" -eq 0 ] || exit "$status"
[ "$(grep -c '^ok ' "$log")" -ge 9 ] ||
	{ echo "test-rxe: too few programs ran" >&2; exit 1; }
