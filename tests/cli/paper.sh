# Published experiments: what there is, ours beside theirs, and the same
# whatever the number of cores.
. "$SRC/tests/cli/lib.sh"
rm -f heddle.db one.db four.db page.html

status 0 "$HEDDLE" paper list
for id in 000/fig 001/fig 002/fig27 003/fig1 004/fig5.11; do
	has out "$id"
done

# Deadlock and its cure, classes of service, the credit chain.
for j in one:1 four:4; do
	status 0 "$HEDDLE" paper run 002/fig1 002/fig2 002/fig9 003 004/fig4.5 \
		--jobs ${j#*:} --db ${j%:*}.db -o ${j%:*}.json
done
for j in one four; do
	jq .tables.comparison.rows $j.json >$j.rows
	[ -s $j.rows ] || fail "no comparison in $j.json"
done
cmp one.rows four.rows || fail "results depend on the number of jobs"
sqlite3 one.db "SELECT count(*) FROM run" >runs
[ "$(cat runs)" -ge 3 ] || fail "the runs are not in the database"

# A figure in one command: the page has the series, not only the verdict.
if "$HEDDLE" paper run 004/fig4.5 --db one.db --html page.html >out 2>err; then
	has page.html '"command":"paper run 004/fig4.5"'
	has page.html '"name":"points"'
else
	has err "built without the page"
fi

status 3 "$HEDDLE" paper run 002/fig999
has err "no experiment '002/fig999'"
status 2 "$HEDDLE" paper run
status 2 "$HEDDLE" paper all 002
