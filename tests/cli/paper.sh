# Published experiments: their list, results compared with published values, and the same output on
# any number of cores.
. "$SRC/tests/cli/lib.sh"
rm -f ./*.db page.html

status 0 "$HEDDLE" paper list
for id in 000/fig 001/fig 002/fig27 003/fig1 004/fig5.11; do
	has out "$id"
done
# One line each within the width of a screen; details on request, or for a single experiment.
awk 'length($0) > 120 { bad = 1 } END { exit bad }' out ||
	fail "lines of more than 120 letters"
awk '$1 ~ "^00[0-4]/" { print $1 }' out >brief.ids
status 0 "$HEDDLE" paper list --json
jq -r '.tables.experiments.rows[].id' out >ids
cmp ids brief.ids || fail "experiments are left out"
status 0 "$HEDDLE" paper list 000/table2
has out 'reproduced for lead=10%, retries=3000'
has out 'heddle qos evaluate --establish'
mv out one.out
status 0 "$HEDDLE" paper list 000/table2 000/table3 --all
head -n "$(wc -l <one.out)" out | cmp - one.out || fail "--all is not all"
status 0 "$HEDDLE" paper list 000 --db list.db
sqlite3 list.db "SELECT count(DISTINCT name) FROM value" >columns
[ "$(cat columns)" = 9 ] || fail "not all is kept"

# Deadlock and its avoidance, classes of service, the credit chain.
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

# Results of an earlier call are not computed again; the rest is, with the same output as in one
# call.
runs() {
	sqlite3 "$1" "SELECT count(*) FROM run JOIN parameter ON run = run.id
		WHERE name = 'point'"
}
status 0 "$HEDDLE" paper run 002/fig9 003/dbts --db part.db
[ "$(runs part.db)" = 2 ] || fail "$(runs part.db) runs, not 2"
for again in 1 2; do
	status 0 "$HEDDLE" paper run 002/fig1 002/fig2 002/fig9 003 004/fig4.5 \
		--db part.db -o part.json
	jq .tables.comparison.rows part.json >part.rows
	cmp one.rows part.rows || fail "$again: other results when it went on"
	[ "$(runs part.db)" = "$(runs one.db)" ] ||
		fail "$again: $(runs part.db) runs, not $(runs one.db)"
done

# A figure in one command: the page has the series, not only the verdict.
if "$HEDDLE" paper run 004/fig4.5 --db one.db --html page.html >out 2>err; then
	has page.html '"command":"paper run 004/fig4.5"'
	has page.html '"name":"points"'
else
	has err "not part of this build"
fi

# The list has the command of each experiment that runs one.
jq -e '.tables.commands.rows[] | select(.id == "002/fig1") |
	.command == "heddle sim papers/002/deadlock.yaml"' one.json >jq.out ||
	fail "no command of 002/fig1"
status 0 "$HEDDLE" paper list --json
jq -e '[.tables.experiments.rows[] | select((.runs > 0) !=
	(.command | startswith("heddle ")))] == []' out >jq.out ||
	fail "commands: $(cat jq.out)"
jq -r '.tables.experiments.rows[].id' out >ids
[ "$(wc -l <ids)" -gt 150 ] || fail "few experiments"

# A printed study can be edited: it has its checks and all files that it reads, and gives the same
# results as the experiment; or its scenario.
if [ "${HD_LONG:-0}" = 0 ]; then
	some="000/fig1 000/table1 001/fig4 002/fig1 002/fig4 003/latency
		003/reservation 002/fig10 004/fig4.9"
else
	some=$(cat ids)
fi
for id in $some; do
	status 0 "$HEDDLE" paper show "$id" -o my.yaml
	status 0 "$HEDDLE" paper run "$id" --quick --db one.db -o theirs.json
	status 0 "$HEDDLE" paper run my.yaml --quick --db mine.db -o mine.json
	for which in theirs mine; do
		jq '.tables | [.comparison.rows, .verdicts.rows] |
			map(.[] | del(.id, .time))' $which.json >$which.rows
	done
	[ -s mine.rows ] || fail "$id: nothing"
	cmp theirs.rows mine.rows || fail "$id: another one when handed over"
done
status 0 "$HEDDLE" paper show 003/dbts --scenario -o my.yaml
status 0 "$HEDDLE" sim my.yaml --set run.measure=1ms
cmp my.yaml "$SRC/papers/003/dual.yaml" || fail "another scenario than its own"
status 3 "$HEDDLE" paper show 004/fig4.5 --scenario
one_line err
has err "experiment 004/fig4.5 has no scenario"
status 3 "$HEDDLE" paper show 004

# Changed: a shorter range; a scenario with less traffic, which it reads.
status 0 "$HEDDLE" paper show 004/fig4.5 -o my.yaml
sed -i 's/2\.\.11/2..4/' my.yaml
status 0 "$HEDDLE" paper run my.yaml --db one.db --json
jq -e '.tables.verdicts.rows[0] | .id == "my/fig4.5" and
	.record == "as recorded"' out >jq.out || fail "a changed experiment"
status 0 "$HEDDLE" paper show 003/beminimum -o my.yaml
grep -q 'name: my/dual.yaml' my.yaml || fail "no scenario in what is handed over"
# The same command on another file is another run.
before=$(runs one.db)
status 0 "$HEDDLE" paper run my.yaml --db one.db
sed -i 's/measure: 50ms/measure: 49ms/' my.yaml
status 0 "$HEDDLE" paper run my.yaml --db one.db
status 0 "$HEDDLE" paper run my.yaml --db one.db
[ "$(runs one.db)" = $((before + 2)) ] ||
	fail "$(runs one.db) runs, not two more than $before"
sed -i 's/^\( *\)fabric:/\1fabricated:/' my.yaml
status 1 "$HEDDLE" paper run my.yaml --db one.db
has out "my/dual.yaml"

# Settings for which the numbers hold, among the open parameters of a paper.
status 0 "$HEDDLE" paper calibrate 004/em5.2 --quick --db one.db --json
jq -e '[.tables.settings.rows[] | select(."checks that hold" == 2) | .setting]
	== ["form=separate, threshold=6", "form=separate, threshold=7"]' out >jq.out ||
	fail "the fit: $(jq -c .tables.settings.rows out)"
status 0 "$HEDDLE" paper calibrate 004/em5.2 --quick --vary threshold=6,8 \
	--vary form=separate --db one.db \
	--json
jq -e '.tables.settings.rows | length == 2' out >jq.out || fail "--vary"

# The program writes the document from the recorded results.
status 0 "$HEDDLE" paper list --document papers.md
cmp papers.md "$SRC/docs/papers.md" ||
	fail "docs/papers.md is not what 'heddle paper list --document' writes"

status 3 "$HEDDLE" paper run 002/fig999
has err "no experiment '002/fig999'"
status 2 "$HEDDLE" paper run
# Bad files: one line with the place, and nothing is written.
bad() { # TEXT SAYS
	printf '%b' "$1" >bad.yaml
	for what in "run --db bad.db" "calibrate --db bad.db" show "list --db bad.db"; do
		# shellcheck disable=SC2086 # words
		status 3 "$HEDDLE" paper $what bad.yaml
		one_line err
		has err "bad.yaml"
		has err "$2"
		[ ! -e bad.db ] || fail "$what: a database of nothing"
	done
}
head="paper: x\ntitle: t\n"
bad "" "empty"
bad "paper: a\n" "title"
bad "${head}experiments: []\n" "experiments"
bad "${head}experiments:\n\t- {id: a}\n" "tab"
bad "${head}experiments: [{id: a, title: t, reason: r, studdy: s}]\n" "study"
bad "${head}experiments: [{id: a, title: t, reason: r, study: s}]\n" \
	"unknown study"
bad "${head}files: [{name: ../../a, text: b}]\nexperiments: [{id: a, title: t, reason: r}]\n" \
	"begins with"
bad "paper: '000'\ntitle: t\nexperiments: [{id: a, title: t, reason: r}]\n" \
	"another paper"
status 3 "$HEDDLE" paper run missing.yaml
one_line err
status 2 "$HEDDLE" paper all 002
