# Recorded runs read back unchanged, can be compared, and survive failures of later runs: a kill, a
# full disk, a newer version.
. "$SRC/tests/cli/lib.sh"
scenario=$SRC/examples/two-switch-congestion.yaml
rm -f runs.db* old.db* bad.db*

# The text of a recorded run equals that of the run itself, except for tables that only a record
# has.
status 0 "$HEDDLE" sim "$scenario" --all
cp out printed
status 0 "$HEDDLE" sim "$scenario" --db runs.db
for table in summary traffic flows ports; do
	status 0 "$HEDDLE" report --db runs.db 1 --table "$table"
	awk -v head="# $table:" 'index($0, head) == 1 { on = 1 }
		on && !NF { exit } on' printed >wanted
	[ -s wanted ] || fail "the run printed no table '$table'"
	awk '!NF { exit } 1' out >got
	cmp got wanted || fail "'$table' came back differently"
done
status 0 "$HEDDLE" report --db runs.db 1 --json
jq -e '.seed == 1 and (.tables.traffic | length > 0)' out >/dev/null ||
	fail "a run is no JSON"
[ "$(sqlite3 runs.db "SELECT value FROM parameter WHERE run = 1 AND
	name = 'fabric.topology.kind'")" = two-switch ] ||
	fail "the scenario's parameters are missing"

# On a screen, a run has its first table and those of up to 40 rows; the others are listed with
# their number of rows.
status 0 "$HEDDLE" report --db runs.db 1
cp out brief
status 0 "$HEDDLE" report --db runs.db 1 --all
sqlite3 runs.db "SELECT result, max(line) + 1 FROM value WHERE run = 1
	GROUP BY result" | while IFS='|' read -r table rows; do
	has out "# $table:"
	if [ "$rows" -le 40 ] || [ "$table" = summary ]; then
		has brief "# $table:"
	else
		lacks brief "# $table:"
		has brief "'$table' ($rows rows)"
		echo "$table" >>long
	fi
done
[ -s long ] || fail "no table of the run is long"
rm long

# Two runs side by side: equal ones are reported as such, unequal ones with the differences.
status 0 "$HEDDLE" sim "$scenario" --db runs.db
status 0 "$HEDDLE" report --db runs.db 1 2
has out "equal in all runs"
lacks out "# values"
sed 's/^title:.*/title: another/; s/measure: .*ms/measure: 1ms/' "$scenario" \
	>other.yaml
! cmp -s other.yaml "$scenario" || fail "the scenario has no such lines"
status 0 "$HEDDLE" sim other.yaml --db runs.db
status 0 "$HEDDLE" report --db runs.db 1 3 --csv
has out "title,"
has out "change"
a=$(sqlite3 runs.db "SELECT value FROM value WHERE run = 1 AND
	result = 'summary' AND name = 'measured'")
b=$(sqlite3 runs.db "SELECT value FROM value WHERE run = 3 AND
	result = 'summary' AND name = 'measured'")
awk -F, -v a="$a" -v b="$b" '$1 == "summary" && $3 == "measured" {
	ok = $6 == a && $7 == b && ($8 - 100 * (b - a) / a) ^ 2 < 1e-6 }
	END { exit !ok }' out || fail "wrong values or change of 'measured'"

# On a screen: the runs as a whole first, then the largest of all other changes,
# as all of them sorted by their size show, and how many more there are.
status 0 "$HEDDLE" report --db runs.db 1 3 --csv
awk -F, '/^#/ { t = $0 } t ~ /values/ && $1 != "summary" && $1 != "fabric" &&
	$1 != "table" && NF >= 8 && $8 != "" { print ($8 < 0 ? -$8 : $8), $1 }' out |
	sort -g -r | head -8 >largest
status 0 "$HEDDLE" report --db runs.db 1 3
[ "$(wc -l <out)" -le 45 ] || fail "$(wc -l <out) lines are no screen"
grep '^# [a-z]*: ' out | head -3 | cut -d: -f1 | tr -d '\n' >order
[ "$(cat order)" = "# parameters# headline# changes" ] ||
	fail "the order is $(cat order)"
awk '/^# changes/ { on = 1 } on && /^ / && $NF != "-" {
	print ($NF < 0 ? -$NF : $NF); exit }' out >first
[ ! -s first ] || awk 'NR == FNR { x = $1; next } FNR == 1 {
	exit !($1 - x <= 0.01 && x - $1 <= 0.01) }' first largest ||
	fail "$(cat first) is not the largest change, $(head -1 largest) is"
has out "more values differ"
lacks out "# values"
"$HEDDLE" report --db runs.db 1 3 --all >out
has out "# values"

# Runs of different commands have little in common, which takes a few lines.
cp runs.db both.db
status 0 "$HEDDLE" model credit --upstream 3 --downstream 2 --db both.db
status 0 "$HEDDLE" report --db both.db 1 4
[ "$(wc -l <out)" -le 5 ] || fail "$(wc -l <out) lines of runs that differ in all"
has out "run 1 is of 'heddle sim', run 4 of 'heddle model credit'"
has out "tables that not every run has: 'summary', "
rm both.db

# The result of a goal is a value, also in words, next to that of the same goal in the other run.
cat >goals.yaml <<'YAML'
fabric: {topology: {kind: star, hosts: 3}}
traffic:
  - {name: calls, kind: cbr, load: 5%, source: h1, destination: h0, pattern: pairs}
  - {name: bulk, kind: cbr, load: 20%, source: h2, destination: h0, pattern: pairs, payload: 4KiB}
run: {warmup: 10us, measure: 100us}
goals:
  - {row: calls, p99: 345ns, throughput: 1Gb/s}
YAML
rm -f goals.db*
status 0 "$HEDDLE" sim goals.yaml --set traffic.bulk.load=1% --db goals.db
status 1 "$HEDDLE" sim goals.yaml --set traffic.bulk.load=97% --db goals.db
for run in 1 2; do
	sqlite3 goals.db "SELECT value FROM value WHERE run = $run AND
		result = 'goals' AND name = 'found' AND line = 0"
done >found
status 0 "$HEDDLE" report --db goals.db 1 2
awk 'NR == FNR { found[NR] = $0; next } /^# goals:/ { on = 1 } /^$/ { on = 0 }
	on && /calls p99 <= 345ns +found/ { a = index($0, found[1]) < index($0, found[2]) &&
		index($0, found[1]) }
	on && /calls p99 <= 345ns +met +yes +no$/ { b = 1 }
	END { exit !(a && b) }' found out || fail "goals are not compared"
"$HEDDLE" report --db goals.db 1 2 --csv >out
has out "goals,calls p99 <= 345ns,met,yes,no"

# A page of all runs, or of some with their differences first; without a page in the program, status
# 4.
got=0
"$HEDDLE" report --db runs.db --html all.html >out 2>err || got=$?
if [ "$got" -eq 0 ]; then
	empty out
	has all.html '"id":3'
	lacks all.html '"command":"report"'
	status 0 "$HEDDLE" report --db runs.db --html two.html 1 3
	has two.html '"command":"report"'
	lacks two.html '"id":2'
	status 3 "$HEDDLE" report --db runs.db --html none.html 99
	[ ! -e none.html ] || fail "a page of nothing was written"
else
	[ "$got" -eq 4 ] || fail "no page: ended with $got, not 4"
	one_line err
	has err "not part of this build"
fi

# A run that is killed is listed as lost; those before it are whole.
sed 's/^run: .*/run: {measure: 1000s, horizon: 2000s}/' "$scenario" >endless.yaml
"$HEDDLE" sim endless.yaml --db runs.db >/dev/null 2>&1 &
pid=$!
tries=0
until status 0 "$HEDDLE" report --db runs.db && grep -q running out; do
	tries=$((tries + 1))
	[ $tries -lt $PATIENCE ] || fail "no run is running: $(cat out)"
	sleep 0.2
done
kill -9 $pid
wait $pid 2>/dev/null || :
status 0 "$HEDDLE" report --db runs.db
lacks out running
has out "run 4 was interrupted: all results of 'heddle sim endless.yaml --db runs.db' are lost"
status 0 "$HEDDLE" report --db runs.db 1 2
has out "equal in all runs"
[ "$(sqlite3 runs.db 'PRAGMA integrity_check')" = ok ] || fail "damaged"

# A full disk: one line names lost and kept results.
size=$(($(stat -c %s runs.db) / 512 + 8))
(
	ulimit -f "$size"
	status 4 "$HEDDLE" sim "$scenario" --all --db runs.db
	one_line err
	has err "lost: this run of 'sim'"
	has err "intact: 3 earlier runs"
	has out "# summary" # what could be printed was
)
status 0 "$HEDDLE" report --db runs.db
has out "run 5 was interrupted"
status 0 "$HEDDLE" report --db runs.db 1 2
has out "equal in all runs"

# A rejected command leaves no record.
status 3 "$HEDDLE" sim /nowhere.yaml --db runs.db
status 2 "$HEDDLE" sim --db runs.db
[ "$(sqlite3 runs.db 'SELECT count(*) FROM run')" = 5 ] ||
	fail "a refused run was noted"
status 3 "$HEDDLE" report --db runs.db 99
one_line err
has err "runs.db: has no run 99"
status 3 "$HEDDLE" report --db runs.db x
has err "invalid run 'x'"
status 3 "$HEDDLE" report --db nothere.db
one_line err
has err "nothere.db: cannot be read"
status 3 "$HEDDLE" report --db .
one_line err
status 3 "$HEDDLE" report --db runs.db 1 2 --table nothere
one_line err
has err "none of the runs has a table 'nothere'"
[ ! -e nothere.db ] || fail "reading made a file"

# Version 1 is read as it is, and becomes version 2 with the next run.
sqlite3 old.db <"$SRC/tests/fixtures/runs-1.sql"
status 0 "$HEDDLE" report --db old.db 1
has out "voice"
has out "an old remark"
[ "$(sqlite3 old.db 'PRAGMA user_version')" = 1 ] || fail "reading changed it"
status 0 "$HEDDLE" model queue mm1 --lambda 0.5 --db old.db
[ "$(sqlite3 old.db 'PRAGMA user_version')" = 2 ] || fail "not brought to 2"
status 0 "$HEDDLE" report --db old.db
has out "2026-01-02 03:04:05"
status 0 "$HEDDLE" report --db old.db 1
has out "voice"

# Damage is refused, not believed.
sqlite3 old.db "DELETE FROM cell WHERE field = 2 AND line = 1"
status 3 "$HEDDLE" report --db old.db 1
has err "is damaged: columns of different length"
sqlite3 old.db "UPDATE field SET type = 'colour' WHERE id = 2"
status 3 "$HEDDLE" report --db old.db 1
has err "is damaged"
# So are a file cut short, one that is no database, and one whose tables were
# changed; neither reading nor adding a run touches it.
refused() {
	cp bad.db kept.db
	status 3 "$HEDDLE" report --db bad.db
	one_line err
	status 3 "$HEDDLE" model queue mm1 --lambda 0.5 --db bad.db
	one_line err
	has err "$1"
	cmp -s bad.db kept.db || fail "bad.db was changed"
}
head -c 3000 runs.db >bad.db
refused "malformed"
echo "no database" >bad.db
refused "not a database"
cp runs.db bad.db
sqlite3 bad.db "DROP VIEW value; ALTER TABLE run DROP COLUMN arguments"
refused "is damaged: no column run.arguments"
rm -f bad.db kept.db
