# On a terminal, commands that take long show progress; elsewhere, and with --quiet, they do not.
. "$SRC/tests/cli/lib.sh"
cat >long.yaml <<'END'
fabric: {topology: {kind: star, hosts: 8}}
traffic:
  - {name: a, kind: poisson, pattern: incast, destination: h0, payload: 2KiB, load: 90%}
run: {warmup: 1ms, measure: 900ms}
END

# shows UNIT ARGUMENTS...: the progress line has a number of UNIT and a rate per
# second. The command is not run to its end.
shows() {
	unit=$1
	shift
	rm -f seen
	script -qefc "'$HEDDLE' $* >/dev/null" seen </dev/null >log 2>&1 &
	pid=$!
	until grep -qs "$unit, .*/s" seen; do
		kill -0 $pid 2>/dev/null || {
			cat seen
			fail "'$*' does not say how many $unit"
		}
		sleep 0.1
	done
	kill $pid || :
	wait $pid || :
}

shows packets sim long.yaml --db none.db
shows runs cc compare long.yaml --set run.measure=20ms
cp "$SRC/examples/fat-tree-incast.yaml" . # its path may have blanks
shows trials cc tune fat-tree-incast.yaml
shows points sweep long.yaml --vary run.measure=100us,200us,300us,400us --seeds 99
shows points bench all
shows packets qos evaluate
shows packets model queue mm1 --simulate 100000000

# A file and a terminal with --quiet get no progress line.
status 0 "$HEDDLE" sim long.yaml --set run.measure=20ms
empty err
script -qefc "'$HEDDLE' sim long.yaml --quiet --set run.measure=20ms \
	>/dev/null" seen </dev/null >log
! grep packets seen || fail "a quiet run shows its progress"
