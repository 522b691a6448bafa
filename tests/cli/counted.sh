# Counts of tables equal those of the trace; observers (a database) and more threads change nothing.
# counted.py has the cases and names those that fail.
. "$SRC/tests/cli/lib.sh"

CASES=25
[ -z "${HD_LONG:-}" ] || CASES=500

python3 "$SRC/tests/cli/counted.py" "$HEDDLE" "$CASES" >out || fail "$(cat out)"

# A run that ends in its warm-up has no counts, and the output says so.
cat >over.yaml <<'END'
fabric: {topology: {kind: star, hosts: 3}}
traffic:
  - {name: a, kind: messages, count: 3, payload: 9000, pattern: pairs, source: h0, destination: h1}
END
for credits in delay exact; do
	status 0 "$HEDDLE" sim over.yaml --set fabric.credits=$credits --json --all
	[ "$(jq '[.tables.ports.rows[].packets] | add' out)" -eq 0 ] ||
		fail "$credits: ports counted what the warm-up has"
	jq -e '.notes[] | select(test("in its warm-up"))' out >note ||
		fail "$credits: no note of a run that is over in its warm-up"
done

# One packet of 4122 bytes, 3297.6 ns on each link, is on its last link when
# measuring begins, and arrives 3512.6 ns after it was made: the link was busy
# but for the last 5 ns, and no port began to send.
cat >across.yaml <<'END'
fabric:
  topology: {kind: mesh, columns: 2, rows: 1, hosts: 1}
  link: {rate: 10Gb/s, propagation: 5ns}
  switch: {order: fifo}
traffic:
  - {name: a, kind: cbr, rate: 1Mb/s, count: 1, aligned: true, payload: 4KiB, pattern: pairs, source: h0, destination: h1}
run: {warmup: 1us, measure: 1ms}
END
for order in fifo voq; do
	for threads in 1 2; do
		for watch in '' '--db across.db --sample 300ns'; do
			# shellcheck disable=SC2086 # words
			status 0 "$HEDDLE" sim across.yaml --json --all $watch \
				--threads $threads --set fabric.switch.order=$order
			jq -e '.tables | .traffic.rows[0].packets == 1 and
				(.summary.rows[0].measured * 1000 | round) == 2513 and
				([.ports.rows[].packets] | add) == 0 and
				([.ports.rows[].used] | max * 100 | round) == 9980' \
				out >said ||
				fail "$order, $threads threads, '$watch': $(cat out)"
		done
	done
done
