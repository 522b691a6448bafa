#!/bin/sh
# make test-rxe: an adapter of ours and the kernel's rxe0 at the two ends of a
# cable (ci/rxe-cable.sh); then verbs programs of Debian on rxe0 alone (ci/rxe.sh),
# then heddle bench, test by test, among threads and among processes; every
# document that it writes must be valid, complete and in order: least <=
# average <= greatest, percentiles ascending, bandwidths above 0 and no higher
# than their peak. A test that the device cannot do is refused in one line.
set -eu
cd "$(dirname "$0")/.."
ci/rxe-cable.sh
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
ci/rxe.sh "$@" --seconds 1800 "$work/job" >"$log" || status=$?
awk -v dir="$work/json" '
	/^end / { name = ""; next }
	name { print >(dir "/" name ".json"); next }
	/^json / { name = $2; next }
	{ print }' "$log"

bad=0 n=0
for file in "$work"/json/*.json; do
	[ -e "$file" ] || break
	name=$(basename "$file" .json)
	test=${name%%.*}
	n=$((n + 1))
	jq -e --arg test "$test" '
		.tables[$test].rows as $rows | ($rows | length > 0) and
		.tables.device.rows[0].device == "rxe0" and
		(.tables.host.rows | length == 1) and
		([$rows[] | (."t_min" == null or
			(.t_min <= .t_avg and .t_avg <= .t_max and
			."90% percentile" <= ."99% percentile" and
			."99% percentile" <= ."99.9% percentile")) and
			(."BW average" == null or (."BW average" > 0 and
			."BW peak" >= ."BW average"))] | all)
	' "$file" >/dev/null || { echo "test-rxe: $file is wrong"; bad=1; }
done
programs=$(grep -c '^ok ib' "$log") refused=$(grep -c '^refused ' "$log")
wanted=$("$heddle" bench list --csv |
	grep -cE '^[a-z][a-z0-9-]*,(non-data|data|beyond),')
echo "$programs programs; of $wanted tests and 7 runs of processes on rxe0" \
	"$n passed, $refused were refused"
# What Soft-RoCE has not: groups, weights, a second P_Key.
[ "$programs" -eq 9 ] && [ "$refused" -eq 3 ] &&
	[ $((n + refused)) -eq $((wanted + 7)) ] && [ "$bad" -eq 0 ] &&
	[ "$status" -eq 0 ]
