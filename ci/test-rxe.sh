#!/bin/sh
# make test-rxe: verbs programs of Debian on the kernel's rxe0 (ci/rxe.sh),
# then heddle bench, test by test; every document that it writes must be valid,
# complete and in order: least <= average <= greatest, percentiles ascending,
# bandwidths above 0.
set -eu
cd "$(dirname "$0")/.."
work=build/rxe
heddle=$PWD/build/release/heddle
log=$work/suite.log
rm -rf "$work/json"
mkdir -p "$work/json"
set -- --with "$heddle"
for program in ibv_devices ibv_rc_pingpong ibv_uc_pingpong ibv_ud_pingpong \
	ibv_srq_pingpong ib_send_lat ib_write_lat ib_read_lat ib_atomic_lat \
	ib_write_bw; do
	set -- "$@" --with "$(command -v $program)"
done
{
	cat ci/rxe-suite.sh
	echo "heddle=$heddle"
	cat ci/rxe-bench.sh
	echo 'exit $failed'
} >"$work/job"
status=0
ci/rxe.sh "$@" --seconds 900 "$work/job" >"$log" || status=$?
awk -v dir="$work/json" '
	/^end / { name = ""; next }
	name { print >(dir "/" name ".json"); next }
	/^json / { name = $2; next }
	{ print }' "$log"

bad=0 n=0
for file in "$work"/json/*.json; do
	[ -e "$file" ] || break
	test=$(basename "$file" .json)
	n=$((n + 1))
	jq -e --arg test "$test" '
		.tables[$test].rows as $rows | ($rows | length > 0) and
		.tables.device.rows[0].device == "rxe0" and
		(.tables.host.rows | length == 1) and
		([$rows[] | (."t_min" == null or
			(.t_min <= .t_avg and .t_avg <= .t_max and
			."90% percentile" <= ."99% percentile" and
			."99% percentile" <= ."99.9% percentile")) and
			(."BW average" == null or ."BW average" > 0)] | all)
	' "$file" >/dev/null || { echo "test-rxe: $file is wrong"; bad=1; }
done
echo "$(grep -c '^ok ' "$log") programs and $n tests of heddle bench on rxe0"
[ "$(grep -c '^ok ' "$log")" -ge 9 ] && [ "$n" -ge 15 ] && [ "$bad" -eq 0 ] &&
	[ "$status" -eq 0 ]
