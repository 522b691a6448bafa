# The same bytes on any number of threads, of every example, for the first part of its run: output
# in every format, the page, database rows, traces and captures.
. "$SRC/tests/cli/lib.sh"

# sim THREADS OPTION...: what is printed into `out`; 1 is a goal missed.
sim() {
	threads=$1
	shift
	"$HEDDLE" sim "$file" --set run.measure=10us --set run.warmup=3us \
		--set run.horizon=13us --threads "$threads" -v "$@" \
		>out 2>err || [ $? -eq 1 ] || fail "$name: $(cat err)"
}

# Results without time and number of threads.
rows() {
	sqlite3 "$1" .dump |
		grep -v '^INSERT INTO run ' >"$2"
}

# same WHAT: compares the files with those of one thread.
same() {
	cmp "$1.one" "$1" >&2 || fail "$name: $1 differs on $threads threads"
}

# watched THREADS: a run with all observers.
watched() {
	rm -f trace pcap db page
	sim "$1" --all --json --trace trace $pcap --db db --html page
	mv out json
	rows db dump
	# The page has the command line, too.
	sed 's/"arguments":"[^"]*"//' page >html
}

# alone THREADS: a run without observers; its output is all that is compared.
alone() {
	for what in $printed; do
		case $what in
		text) sim "$1" --all ;;
		csv) sim "$1" --all --csv ;;
		counters) sim "$1" --counters ;;
		checksum) sim "$1" --checksum ;;
		esac
		mv out $what
	done
}

# Each number of threads meets each kind of output in one of the examples, and
# in long runs in all of them: five and four have no common factor.
number=0
turns() {
	if [ "${HD_LONG:-0}" = 1 ]; then
		echo "$*"
	else
		shift $((number % $#))
		echo "$1"
	fi
}

captured=
for file in "$SRC"/examples/*.yaml; do
	name=$(basename "$file" .yaml)
	! grep -q '^scenario:' "$file" || continue # a study, not a scenario
	number=$((number + 1))
	pcap='--pcap pcap'
	"$HEDDLE" sim "$file" --set run.measure=1us --set run.warmup=0s \
		--set run.horizon=1us $pcap >/dev/null 2>&1 || [ $? -eq 1 ] ||
		pcap=
	seen="json trace dump html ${pcap:+pcap}"
	printed=$(turns text csv counters checksum)
	watched 1
	alone 1
	for what in $seen $printed; do
		mv $what $what.one
	done
	for n in $(turns 2 3 4 8 16); do
		watched "$n"
		for what in $seen; do
			same $what
		done
	done
	for n in $(turns 16 8 4 3 2); do
		alone "$n"
		for what in $printed; do
			same $what
		done
	done
	grep -qE "parts on|it has one switch" err ||
		fail "$name: $(cat err)"
	captured=$captured${pcap:+ $name}
done
# Most can be captured.
set -- $captured
[ $# -ge 10 ] || fail "only these were captured: $*"

# The head of a packet arrives with the end of one that has an answer: both are
# deliveries of one instant at one port, which the flows' own parts count.
cat >tie.yaml <<'EOF'
fabric:
  topology: {kind: ring, switches: 3, hosts: 2, link: 4x EDR}
  routing: updn
  credits: exact
traffic:
  - {name: plain, kind: saturating, payload: 512, pattern: incast, destination: 0}
  - {name: pairs, kind: poisson, load: 30%, payload: 512, pattern: incast, destination: 0, transport: uc}
run: {warmup: 0s, measure: 12us}
EOF
for seed in 2 4 6 7; do
	for n in 1 3; do
		status 0 "$HEDDLE" sim tie.yaml --seed $seed --all --json \
			--threads $n -q
		mv out tie$n.json
	done
	cmp tie1.json tie3.json || fail "seed $seed differs on three threads"
done

# A note says why a run with --threads uses one thread: here no delay is long
# enough for a lookahead.
for quiet in '' -q; do
	status 0 "$HEDDLE" sim "$SRC/examples/link-failure.yaml" --threads 2 \
		--set fabric.link.propagation=1ps --set fabric.switch.routing_delay=0s \
		--set fabric.switch.arbitration_delay=0s --set run.measure=10us $quiet
	one='heddle: computed on one thread: its links, switches or answers take'
	[ -n "$quiet" ] || has err "$one"
	[ -z "$quiet" ] || empty err
done

status 2 "$HEDDLE" sim "$SRC/examples/quickstart.yaml" --threads 0
status 2 "$HEDDLE" sim "$SRC/examples/quickstart.yaml" --threads many
