# The same bytes on any number of threads, of every example, for the first part
# of its run: tables and pictures, rows of a database, traces and captures.
. "$SRC/tests/cli/lib.sh"

# sim THREADS OPTION...: what is printed into `out`; 1 is a goal missed.
sim() {
	threads=$1
	shift
	"$HEDDLE" sim "$file" --set run.measure=10us --set run.warmup=3us \
		--set run.horizon=13us --threads "$threads" -v "$@" \
		>out 2>err || [ $? -eq 1 ] || fail "$name: $(cat err)"
}

# Everything but who computed it, and when.
rows() {
	sqlite3 "$1" .dump |
		grep -v '^INSERT INTO run ' >"$2"
}

# same WHAT: is what `sim` has left the same as on one thread?
same() {
	cmp "$1.one" "$1" >&2 || fail "$name: $1 differs on $threads threads"
}

# watched THREADS: with all that can be watched, and without.
watched() {
	rm -f trace pcap db
	sim "$1" --all --json --trace trace $pcap --db db
	rows db dump
}

captured=
for file in "$SRC"/examples/*.yaml; do
	name=$(basename "$file" .yaml)
	! grep -q '^scenario:' "$file" || continue # a study, not a scenario
	pcap='--pcap pcap'
	"$HEDDLE" sim "$file" --set run.measure=1us --set run.warmup=0s \
		--set run.horizon=1us $pcap >/dev/null 2>&1 || [ $? -eq 1 ] ||
		pcap=
	watched 1
	for what in out trace dump ${pcap:+pcap}; do
		mv $what $what.one
	done
	for n in 2 3 16; do
		watched $n
		for what in out trace dump ${pcap:+pcap}; do
			same $what
		done
	done
	for n in 1 4 8; do
		sim $n --all --json
		same out
	done
	sim 1 --counters
	mv out counters.one
	sim 3 --counters
	mv out counters
	same counters
	sim 1 --all --csv
	mv out csv.one
	sim 5 --all --csv
	mv out csv
	same csv
	grep -q "parts on" err || grep -q "it has one switch" err ||
		fail "$name: $(cat err)"
	captured=$captured${pcap:+ $name}
done
# Most can be captured.
set -- $captured
[ $# -ge 10 ] || fail "only these were captured: $*"

status 2 "$HEDDLE" sim "$SRC/examples/quickstart.yaml" --threads 0
status 2 "$HEDDLE" sim "$SRC/examples/quickstart.yaml" --threads many
