# What tables count is what the trace shows, and neither looking on (a database)
# nor more threads change anything: counted.py has the cases, and says which one
# failed.
. "$SRC/tests/cli/lib.sh"

CASES=25
[ -z "${HD_LONG:-}" ] || CASES=500

python3 "$SRC/tests/cli/counted.py" "$HEDDLE" "$CASES" >out || fail "$(cat out)"

# A run that is over in its warm-up has counted nothing, and says so.
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
