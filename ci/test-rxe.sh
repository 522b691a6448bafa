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

# Our own benchmarks: that the JSON is whole, and its statistics in order.
heddle=$PWD/build/release/heddle
log=build/rxe/bench.log
{ echo "HEDDLE=$heddle"; cat ci/rxe-bench.sh; } >build/rxe/job
ci/rxe.sh --with "$heddle" --seconds 900 build/rxe/job >"$log" || {
	cat "$log"
	echo "test-rxe: heddle bench failed" >&2
	exit 1
}
sed -n '/^json begin$/,/^json end$/p' "$log" | sed '1d;$d' >build/rxe/bench.json
jq -e '[.tables | to_entries[] | select(.value.rows[0].t_avg)] as $lat
	| [.tables | to_entries[] | select(.value.rows[0]["BW average"])] as $bw
	| ($lat | length) >= 9 and ($bw | length) >= 3
	and ([$lat[].value.rows[] | .t_min <= .t_typical and .t_typical <= .t_max
		and .t_min <= .t_avg and .t_avg <= .t_max
		and .["99% percentile"] <= .t_max and .["#iterations"] > 0] | all)
	and ([$bw[].value.rows[] | .["BW average"] > 0
		and .["BW average"] <= .["BW peak"]] | all)
	and .tables.device.rows[0].device == "rxe0"' build/rxe/bench.json >/dev/null ||
	{ echo "test-rxe: the JSON is not as it should be" >&2; exit 1; }
sed '/^json begin$/,/^json end$/d' "$log"
echo "ok heddle bench, $(jq '[.tables[].rows | length] | add' build/rxe/bench.json) rows of JSON"
