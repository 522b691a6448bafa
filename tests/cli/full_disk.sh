# Output that cannot be written is an error.
. "$SRC/tests/cli/lib.sh"
got=0
"$HEDDLE" --help >/dev/full 2>err || got=$?
[ "$got" -eq 4 ] || fail "ended with $got, not 4"
one_line err
has err "cannot write to standard output"

# too_small COMMAND...: runs with a file size limit of a few KiB, as if the disk were full. The
# error names the file and the system's reason, and the file is removed.
cat >s.yaml <<'END'
fabric: {topology: {kind: two-switch, remote: 2, local: 1, victims: 1}}
qos: {vls: 1}
traffic:
  - {name: t, kind: saturating, pattern: incast, source: A1..A2, destination: Bc}
  - {name: v, kind: saturating, pattern: pairs, source: Av, destination: Bv}
run: {warmup: 1us, measure: 50us}
END
mkdir -p tmp
export TMPDIR="$PWD/tmp"
too_small() {
	file=$1
	shift
	rm -f full.db
	status 4 sh -c 'ulimit -f 16 && exec "$@"' sh "$HEDDLE" "$@"
	one_line err
	grep -q "^heddle: .*$file: cannot be written: File too large\$" err ||
		fail "'$*' says $(cat err)"
	[ ! -e full ] && [ -z "$(ls tmp)" ] || fail "'$*' leaves a file"
}
too_small full sim s.yaml -q --pcap full
too_small full sim s.yaml -q --trace full
too_small full sim s.yaml -q --all --json -o full
too_small full bench send-lat --size 4KiB -n 9 --pcap full
too_small full decode "$SRC/tests/fixtures/rxe.pcap" --json -o full
too_small full topo gen mesh --columns 9 --rows 9 -o full
too_small full route 'mesh --columns 9 --rows 9' --dump opensm -o full
too_small full topo convert 'mesh --columns 9 --rows 9' --to svg -o full
too_small 'tmp/heddle-jobs-.*' paper run 001/table1 --quick --db full.db

# A checkpoint that cannot be written is reported once for each time, and the
# run comes to its end; its results and its status say that no checkpoint was
# written. Nothing of the checkpoints is left.
status 0 "$HEDDLE" sim s.yaml --json
cp out want
status 4 "$HEDDLE" sim s.yaml --json --checkpoint /dev/full \
	--every-simulated 5us --pcap side.pcap --trace side.trace
[ "$(grep -c '^heddle: no checkpoint at .*, and the run continues: /dev/full: cannot be written: No space left on device$' err)" -eq 10 ] &&
	[ "$(wc -l <err)" -eq 10 ] || fail "ten checkpoints: $(cat err)"
jq -e '.notes[] | select(test("the checkpoint ./dev/full. is missing"))' out >note ||
	fail 'no note that the checkpoint is missing'
jq 'del(.notes)' want >want.json
jq 'del(.notes)' out | cmp - want.json || fail 'other results'
for path in side.*; do
	case $path in
	side.pcap | side.trace) [ -s "$path" ] || fail "$path is empty" ;;
	*) fail "a checkpoint that failed leaves $path" ;;
	esac
done
status 4 "$HEDDLE" sim s.yaml --checksum --checkpoint /dev/full --every-simulated 5us
[ "$(cat out)" = "$(jq -r '.tables.summary.rows[0].checksum' want)" ] ||
	fail 'another checksum'
# A file that exceeds the disk is removed completely.
status 4 sh -c 'ulimit -f 1 && exec "$@"' sh "$HEDDLE" sim s.yaml --checksum \
	--checkpoint small.ckpt --every-simulated 25us
has err 'small.ckpt: cannot be written: File too large'
for path in small*; do
	[ ! -e "$path" ] || fail "a checkpoint that failed leaves $path"
done
