# The same bytes on any number of threads: tables and counters of every example,
# for the first part of its run.
. "$SRC/tests/cli/lib.sh"

# sim THREADS OPTION...: what is printed into `out`; 1 is a goal missed.
sim() {
	threads=$1
	shift
	"$HEDDLE" sim "$file" --set run.measure=20us --set run.warmup=5us \
		--set run.horizon=25us --threads "$threads" -v "$@" \
		>out 2>err || [ $? -eq 1 ] || fail "$name: $(cat err)"
}

cut=
for file in "$SRC"/examples/*.yaml; do
	name=$(basename "$file" .yaml)
	! grep -q '^scenario:' "$file" || continue # a study, not a scenario
	sim 1 --counters
	mv out counters
	sim 3 --counters
	cmp counters out || fail "$name: counters differ on 3 threads"
	sim 1 --all --json
	mv out json
	for n in 2 3 4 8; do
		sim $n --all --json
		cmp json out || fail "$name: results differ on $n threads"
	done
	! grep -q "parts on" err || cut="$cut $name"
done
# Most of them are cut indeed.
set -- $cut
[ $# -ge 12 ] || fail "only these were cut: $*"

status 2 "$HEDDLE" sim "$SRC/examples/quickstart.yaml" --threads 0
status 2 "$HEDDLE" sim "$SRC/examples/quickstart.yaml" --threads many
