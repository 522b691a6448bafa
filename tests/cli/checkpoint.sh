# Checkpoints: a run that is killed (SIGKILL) at any moment continues from its last checkpoint with
# the same bytes, on any number of threads: tables, database rows, traces and captures, for the
# first part of the run of every example. Invalid checkpoints, and those of other runs, are refused
# in one line. RAISER is the library that kills (raise_at.c).
. "$SRC/tests/cli/lib.sh"
ulimit -c 0
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0"
KILLS=4 LAST=12
[ -z "${HD_LONG:-}" ] || KILLS=40 LAST=60

# sim OPTION...: the output is in `out`; status 1 is a missed goal or a deadlock.
sim() {
	"$HEDDLE" sim "$file" --set run.measure=10us --set run.warmup=3us \
		--set run.horizon=13us --all --json "$@" >out 2>err
}

# Results without time and number of threads.
rows() {
	sqlite3 "$1" .dump | grep -v '^INSERT INTO run ' >"$2"
}

# watched OPTION...: a run with all observers.
watched() {
	sim --trace trace $pcap $record "$@" || [ $? -eq 1 ] ||
		fail "$name: $(cat err)"
	[ -z "$record" ] || rows db dump
}

# Files that a run leaves.
left() {
	echo out trace ${pcap:+pcap} ${record:+dump}
}

same() {
	for what in $(left); do
		cmp one/$what $what >&2 || fail "$name: $what differs ($1)"
	done
}

clear() {
	rm -f trace* pcap* db dump out state*
}

# raised SIGNAL MOMENT STATUS: a run that gets that signal at that moment.
raised() {
	clear
	status=0
	RAISE_AT=$2 RAISE=$1 LD_LIBRARY_PATH="${RAISER%/*}" \
		LD_PRELOAD="${RAISER##*/}" sim --trace trace $pcap $record \
		--checkpoint state --every-simulated 2us || status=$?
	[ "$status" -eq "$3" ] ||
		fail "$name: signal $1 at moment $2: ends with $status: $(cat err)"
}

# goes_on WHEN THREADS: from the checkpoint, with the results of an uninterrupted run.
goes_on() {
	went_on=$((went_on + 1))
	rm -f db
	watched --restart state --checkpoint state --every-simulated 3us \
		--threads "$2"
	same "$1, then on $2 threads"
	[ -z "$(find . -name 'trace.*' -o -name 'pcap.*')" ] ||
		fail "$name: a part of a trace or capture is left ($1)"
}

# killed MOMENT THREADS: the run dies at that moment and continues from its files.
killed() {
	raised 9 "$1" 137
	[ ! -f state ] || goes_on "killed at moment $1" "$2"
}

# An uninterrupted run, and the number of moments at which it can be killed.
saved() {
	clear
	RAISE_COUNT=moments LD_LIBRARY_PATH="${RAISER%/*}" \
		LD_PRELOAD="${RAISER##*/}" sim --trace trace $pcap $record \
		--checkpoint state --every-simulated 2us || [ $? -eq 1 ] ||
		fail "$name: $(cat err)"
	moments=$(cat moments)
	[ -z "$record" ] || rows db dump
	same "saved now and then"
	[ -f state ] || fail "$name: no checkpoint"
}

reference() {
	pcap='--pcap pcap'
	sim --set run.measure=1us $pcap || [ $? -eq 1 ] || pcap=
	captured=$((captured + ${#pcap}))
	clear
	watched
	rm -rf one
	mkdir one
	for what in $(left); do
		mv $what one
	done
}

# With sanitizers every second example, and the first.
went_on=0 turn=0 number=0 share=1 captured=0 record='--db db'
[ "${HD_LIGHT:-0}" = 0 ] || share=2
for file in "$SRC"/examples/*.yaml; do
	name=$(basename "$file" .yaml)
	! grep -q '^scenario:' "$file" || continue # a study, not a scenario
	number=$((number + 1))
	[ $((number % share)) = 0 ] || [ "$name" = quickstart ] || continue
	reference
	# The run is empty before the first connection starts.
	[ "$(wc -l <one/trace)" -gt 1 ] || continue
	saved
	kills=1
	[ "$name" != quickstart ] || kills=$KILLS
	for k in $(seq 1 "$kills"); do
		turn=$((turn + 1))
		# The first checkpoint is early, but after some of the database.
		killed $((moments * (25 + turn * 37 % 75) / 100)) $((1 + turn % 3))
	done
done
[ $((went_on * share)) -ge 15 ] || fail "only $went_on runs went on after a kill"
[ "$captured" -gt 0 ] || fail "no capture was looked at"

# ---- at its end ------------------------------------------------------------

# A run is not done before its last system call: traces and captures have their
# names by then, and all the same it continues from its last checkpoint. So it
# does when it is over.
file=$SRC/examples/quickstart.yaml name=quickstart record=
reference
saved
early=0 late=0
for back in $(seq 1 "$LAST"); do
	raised 9 $((moments - back)) 137
	[ -f state ] || fail "no checkpoint at moment $((moments - back))"
	if [ -f trace ] && [ -f pcap ]; then
		late=$((late + 1))
	else
		early=$((early + 1))
	fi
	goes_on "killed $back moments before its end" $((1 + back % 3))
done
[ "$late" -gt 0 ] && [ "$early" -gt 0 ] ||
	fail "$late kills after the files were in place, $early before"
saved
goes_on "over" 1
printf x | dd of=trace bs=1 seek=3 conv=notrunc 2>/dev/null
status 3 sim --trace trace $pcap --restart state
has err "the first part of this file, 'trace', has changed"
echo "checkpoint: continues after $early kills before, $late after its files have names"

# A signal ends a longer run regularly, with complete files.
long() {
	"$HEDDLE" sim "$file" --json --trace trace --set run.warmup=3us \
		--set run.measure=600us "$@" >out 2>err
}
clear
RAISE_COUNT=moments LD_LIBRARY_PATH="${RAISER%/*}" LD_PRELOAD="${RAISER##*/}" \
	long --checkpoint state
mv out one/out
mv trace one/trace
status=0
RAISE_AT=$(($(cat moments) / 2)) RAISE=15 LD_LIBRARY_PATH="${RAISER%/*}" \
	LD_PRELOAD="${RAISER##*/}" long --checkpoint state || status=$?
[ "$status" -eq 143 ] || fail "SIGTERM: ends with $status"
has err '--restart state continues from there'
long --restart state
pcap=
same "ended by a signal"

# ---- by the clock ----------------------------------------------------------

clear
"$HEDDLE" sim "$file" --checksum >want
"$HEDDLE" sim "$file" --checksum --checkpoint state --every 1ms >got
cmp want got || fail "another checksum with --every"
"$HEDDLE" sim "$file" --checksum --restart state >got
cmp want got || fail "another checksum after --restart"
"$HEDDLE" sim "$file" --checksum --restart state --threads 3 >got
cmp want got || fail "another checksum after --restart, on 3 threads"

# ---- rejected checkpoints --------------------------------------------------

# refused TEXT COMMAND...: status 3, one line with the text.
refused() {
	text=$1
	shift
	status 3 "$@"
	has err "$text"
	[ "$(wc -l <err)" -eq 1 ] && [ ! -s out ] || fail "more than a line: $*"
}

restart() {
	"$HEDDLE" sim "$file" --checksum --restart "$@"
}

size=$(wc -c <state)
for len in 1 17 18 30 $((size / 2)) $((size - 17)) $((size - 1)); do
	head -c "$len" state >short
	refused 'checkpoint' restart short
done
: >short
refused 'not a checkpoint' restart short
# A byte of the mark, of the rules, of the content, of the state, of the seal.
for at in 0 18 22 $((size / 3)) $((size * 2 / 3)) $((size - 3)); do
	cp state bad
	byte=$(od -An -tu1 -j "$at" -N 1 state)
	printf "$(printf '\\%03o' $(((byte + 1) % 256)))" |
		dd of=bad bs=1 seek="$at" conv=notrunc 2>/dev/null
	refused 'checkpoint' restart bad
done
cat state state >bad
refused 'damaged or truncated' restart bad
# A whole one of another version: its rules are one more, and sealed again.
python3 - state bad <<'EOT'
import sys
whole = bytearray(open(sys.argv[1], "rb").read()[:-16])
whole[18] += 1
a, b, most = 0xcbf29ce484222325, 1, (1 << 64) - 1
for byte in whole:
    a = (a ^ byte) * 0x100000001b3 & most
    b = (b + byte + 1) * 0x9e3779b97f4a7c15 & most
    b ^= b >> 29
seal = a.to_bytes(8, "little") + b.to_bytes(8, "little")
open(sys.argv[2], "wb").write(whole + seal)
EOT
refused 'another version of heddle' restart bad
refused 'another scenario' restart state --seed 77
refused 'another scenario' restart state --set run.warmup=4us
refused 'to a run without --trace' restart state --trace trace
refused 'to a run without --pcap' restart state --pcap pcap
refused 'to a run without --pcap and --trace' restart state --pcap pcap --trace trace
refused 'to a run without samples' "$HEDDLE" sim "$file" --restart state \
	--db samples.db
refused 'another scenario' \
	"$HEDDLE" sim "$SRC/examples/incast.yaml" --restart state
refused 'no-such-file' restart no-such-file
status 4 "$HEDDLE" sim "$file" --checkpoint no-such-folder/state
has err no-such-folder
refused 'regular files' "$HEDDLE" sim "$file" --checkpoint state.2 \
	--trace /dev/null

# The trace written so far must still exist.
clear
RAISE_AT=60 RAISE=9 LD_LIBRARY_PATH="${RAISER%/*}" LD_PRELOAD="${RAISER##*/}" sim --trace trace --checkpoint state \
	--every-simulated 2us || :
[ -f state ] || fail "no checkpoint to continue from"
part=$(find . -name 'trace.*')
: >"$part"
refused 'too short' sim --trace trace --restart state
rm "$part"
refused 'is missing' sim --trace trace --restart state
status 2 "$HEDDLE" sim "$file" --live x --checkpoint state

# What continues a little before its end, ends there: no flow-control update
# follows of the timer (2621.44 ns, the fifth time at 13107.2 ns), although the
# job ends behind the checkpoint, at about 13.05 us.
cat >ends.yaml <<'END'
fabric: {topology: {kind: mesh, columns: 2, rows: 1, hosts: 1}, credits: exact, link: 4x HDR}
jobs: [{name: j, program: [{shift: 1000}, {compute: 12800ns}]}]
END
for threads in 1 2; do
	rm -f state ends.pcap whole.pcap
	ended() {
		"$HEDDLE" sim ends.yaml -q --json --threads $threads \
			--flow-control bare --pcap "$@" >out 2>err ||
			fail "$(cat err)"
	}
	ended whole.pcap
	jq -e '.tables.jobs.rows[0].completion | . > 13 and . < 13.1' out >said ||
		fail "it ends elsewhere: $(cat out)"
	ended ends.pcap --checkpoint state --every-simulated 13us
	ended ends.pcap --restart state
	cmp whole.pcap ends.pcap >&2 || fail "continues behind its end"
done
