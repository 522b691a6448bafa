# --memory is obeyed at every limit, however small: a run takes no more, or ends
# with status 4 and one line.
. "$SRC/tests/cli/lib.sh"
python3 "$SRC/tests/cli/memory_small.py" "$HEDDLE" "$SRC/examples"

# A run that leaves out iterations of jobs fits where one that computes all of them (--trace) does.
cat >repeats.yaml <<'END'
fabric: {topology: {kind: xgft, down: "4,4", up: "1,2"}, link: {rate: 4x HDR}, routing: ftree}
jobs:
  - {name: a, ranks: 16, repeat: 300, program: [{allreduce: 16KiB, algorithm: doubling}, {barrier: 0}]}
END
fit=0
for size in 4 5 6 7 8 9 10 11 12 14 16 20; do
	"$HEDDLE" sim repeats.yaml --memory ${size}MB --trace /dev/null -q >out 2>err || continue
	fit=$((fit + 1))
	"$HEDDLE" sim repeats.yaml --memory ${size}MB -q >out 2>err ||
		fail "with $size MB: $(cat err)"
done
[ $fit -gt 1 ] || fail "only $fit sizes are enough"
