# An MPI program of 16 ranks is recorded, and its GOAL replays: on a star its
# collectives take their closed forms, and whatever it does comes to an end.
. "$SRC/tests/cli/lib.sh"
command -v mpirun >/dev/null || fail "mpirun is not installed"
[ -e "$(dirname "$HEDDLE")/libheddle-record.so" ] ||
	fail "heddle was built without libopenmpi-dev"
rm -rf scratch
mkdir scratch
export TMPDIR="$PWD/scratch"
mpicc -std=c11 -Wall -Wextra -Werror "$SRC/tests/cli/record_app.c" -o app

# Nothing of it but functions of MPI meets those of a program.
! nm -D --defined-only "$(dirname "$HEDDLE")/libheddle-record.so" |
	grep -v ' MPI_' || fail "other names than MPI's are seen"

# record STATUS WORDS...: by 16 ranks.
record() {
	wanted=$1 mode=$2
	shift 2
	status "$wanted" "$HEDDLE" job record "$@" -- mpirun -n 16 \
		--allow-run-as-root --oversubscribe ./app "$mode"
}
# sim FILE: on a star of 4x HDR; its jobs' completion in us.
sim() {
	cat >star.yaml <<END
fabric: {topology: {kind: star, hosts: 16}, link: {rate: 4x HDR}}
jobs: [{name: a, goal: $1}]
END
	status 0 "$HEDDLE" sim star.yaml --json
	jq -r '.tables.jobs.rows[0].completion' out
}

# c(s) = 110 ns + 40 ps for each byte of its packets, of 4096 + 26 at most.
record 0 lockstep --no-compute -o lockstep.goal
awk 'function c(s) { return .110 + 40e-6 * (s + 26 * (s > 4096 ? s / 4096 : 1)) }
	BEGIN {
		sum = 4 * c(0) + 4 * c(1024) + 30 * c(4096)
		sum += 15 * c(8192) + 15 * c(2048) + 15 * c(4096)
		printf "%.6f\n", sum
	}' >wanted
sim lockstep.goal | awk '{ printf "%.6f\n", $1 }' >got
cmp -s wanted got || fail "takes $(cat got) us, not $(cat wanted)"
lacks lockstep.goal 'calc 1'

# Everything matches, is as large as it was, and is the same when read again.
record 0 all -o all.goal
grep -q 'calc [1-9]' all.goal || fail "the job has no computation"
lacks all.goal 'from -1'
status 0 "$HEDDLE" job show all.goal --json
jq -e '.tables.job.rows[0].ranks == 16' out >jq.out ||
	fail "other ranks: $(cat out)"
sim all.goal >got
record 0 all --no-compute -o bare.goal
sim bare.goal >less
[ "$(cat less)" != "$(cat got)" ] || fail "computing takes no time"
# What does not depend on who came first is the same every time.
sends() {
	grep -o 'send [0-9]*b to [0-9]*' "$1" | sort
}
sends all.goal >one
sends bare.goal >two
cmp -s one two || fail "two records of one program differ"
# 30 rounds of the 16 in a ring, once around per round: counted by hand.
[ "$(grep -c 'send 4096b' lockstep.goal)" -eq $((16 * 30 + 16 * 15)) ] ||
	fail "other messages than a ring has"

# What goes wrong is one line, and nothing is left behind.
record 3 exit -o none.goal
has err "'mpirun' ended with status"
status 4 "$HEDDLE" job record -o none.goal -- ./no-such-program
one_line err
has err "cannot start './no-such-program'"
status 3 "$HEDDLE" job record -o none.goal -- true
one_line err
has err "no rank has a record"
status 2 "$HEDDLE" job record
# A signal ends the program that is recorded, and the folder goes with it.
"$HEDDLE" job record -o none.goal -- sleep $PATIENCE 2>err &
recorder=$!
until [ -n "$(ls scratch)" ]; do
	sleep 0.05
done
kill -TERM $recorder
status=0
wait $recorder || status=$?
[ $status -eq 143 ] || fail "ended by a signal, it says $status"
[ ! -e none.goal ] || fail "a record of nothing"
[ -z "$(ls scratch)" ] || fail "left behind: $(ls scratch)"
