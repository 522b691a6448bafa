# What a review finds is what is recorded, value by value, and the document is
# written from it. In long runs all of it, else what takes less than a second.
. "$SRC/tests/cli/lib.sh"
rm -f all.db

if [ "${HD_LONG:-0}" = 1 ]; then
	status 0 "$HEDDLE" paper all --quick --db all.db --record record.yaml \
		--document papers.md
	cmp record.yaml "$SRC/papers/record.yaml" || fail "the record"
	cmp papers.md "$SRC/docs/papers.md" || fail "the document"
	exit 0
fi
status 0 "$HEDDLE" paper list --quick --json
# "seconds id" of those that run.
jq -r '.tables.experiments.rows[] | select(.runs > 0) |
	"\(.quick) \(.id)"' out | awk '$1 <= 1 && $2 !~ "^001/fig" { print $2 }' >ids
[ "$(wc -l <ids)" -gt 25 ] || fail "few experiments: $(cat ids)"
# shellcheck disable=SC2046 # ids have no blanks
status 0 "$HEDDLE" paper run $(cat ids) --quick --db all.db --record record.yaml \
	--json
jq -e '[.tables.verdicts.rows[].record] | unique == ["as recorded"]' out \
	>jq.out || fail "verdicts"
# What was run is as recorded, and so stays what was not.
cmp record.yaml "$SRC/papers/record.yaml" || fail "the record"
