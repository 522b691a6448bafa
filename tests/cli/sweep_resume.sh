# A sweep that is interrupted by SIGTERM or SIGKILL at any point and called again has the same CSV
# and JSON, and a database with the same contents. No temporary files remain.
. "$SRC/tests/cli/lib.sh"
rm -rf ./*.db ./*.csv ./*.json tmp
mkdir tmp
export TMPDIR="$PWD/tmp"

cat >star.yaml <<'END'
fabric: {topology: {kind: star, hosts: 6, link: 4x EDR}}
traffic:
  - {name: a, kind: poisson, load: 50%, payload: 512}
run: {seed: 3, warmup: 5us, measure: 400us}
END
words='sweep star.yaml --vary fabric.routing=minhop,updn --vary
	traffic.a.load=30%..90%:30% --seeds 2 --keep traffic --jobs 2'

# contents DATABASE: all that it holds, but for numbers of runs and times, in
# an order that does not depend on them; once, since a call that was over
# before the signal came is as good as the next.
contents() {
	sqlite3 "$1" "
		SELECT 'run', command, version, seed, scenario, arguments,
			finished IS NOT NULL FROM run;
		SELECT 'parameter', run.arguments, position, name, value
			FROM parameter JOIN run ON run.id = run;
		SELECT 'remark', run.arguments, position, text
			FROM remark JOIN run ON run.id = run;
		SELECT 'result', run.arguments, name, title, kind
			FROM result JOIN run ON run.id = run;
		SELECT 'cell', run.arguments, result.name, field.position,
			field.name, unit, origin, type, places, line, value
			FROM cell JOIN field ON field.id = field
			JOIN result ON result.id = result
			JOIN run ON run.id = result.run;" |
		sed "s/ $1 / DB /g" | sort -u
}
points() {
	sqlite3 "$1" "SELECT count(*) FROM run WHERE command = 'sweep point'" \
		2>/dev/null || echo 0
}

# shellcheck disable=SC2086 # words
status 0 "$HEDDLE" $words --db whole.db -o sweep.csv
mv sweep.csv whole.csv
# shellcheck disable=SC2086
status 0 "$HEDDLE" $words --db whole.db -o sweep.json
mv sweep.json whole.json
contents whole.db >whole.dump
[ "$(points whole.db)" -eq 12 ] || fail "not 12 points"
# The key of a point holds the version of the rules.
[ "$(sqlite3 whole.db "SELECT count(*) FROM run WHERE command = 'sweep point'
	AND scenario LIKE '# rules: %'")" -eq 12 ] ||
	fail "points lack the version of the rules"

# interrupt SIGNAL N: a call that gets the signal once N points are kept. It is
# said in other words than the one that ends the sweep.
others='sweep star.yaml --vary fabric.routing=minhop,updn --vary
	traffic.a.load=30%,60%,90% --jobs 1 --keep traffic --seeds 2 --quiet'
interrupt() {
	# shellcheck disable=SC2086
	"$HEDDLE" $others --db part.db --csv >out 2>err &
	pid=$!
	while kill -0 $pid 2>/dev/null && [ "$(points part.db)" -lt "$2" ]; do
		sleep 0.01
	done
	kill "-$1" $pid 2>/dev/null || true
	wait $pid 2>/dev/null || true
	# Who was over by then has left more than points: as if it had not.
	sqlite3 part.db "PRAGMA foreign_keys = ON;
		DELETE FROM run WHERE command = 'sweep' AND finished IS NOT NULL"
	[ "$(points part.db)" -ge 12 ] || interrupted=$((interrupted + 1))
}
interrupted=0

# Where: after these numbers of points, one call after the other.
for where in 'TERM 1' 'KILL 1' 'TERM 5' 'KILL 4' 'KILL 9' \
	'TERM 2 KILL 5 TERM 8' 'KILL 1 KILL 3 KILL 6 TERM 10'; do
	rm -f part.db
	# shellcheck disable=SC2086
	set -- $where
	while [ $# -gt 0 ]; do
		interrupt "$1" "$2"
		shift 2
	done
	# shellcheck disable=SC2086
	status 0 "$HEDDLE" $words --db part.db -o sweep.csv
	cmp whole.csv sweep.csv || fail "$where: another CSV"
	# shellcheck disable=SC2086
	status 0 "$HEDDLE" $words --db part.db -o sweep.json
	cmp whole.json sweep.json || fail "$where: other JSON"
	contents part.db | sed 's/part\.db/whole.db/g' >part.dump
	cmp whole.dump part.dump ||
		fail "$where: the database differs: $(diff whole.dump part.dump | head -5)"
done
# The note of a sweep of something else stays: its study is not done.
sqlite3 part.db "INSERT INTO run(command, version, seed, scenario, arguments,
	process) VALUES ('sweep', '', '', 'another one', 'other.yaml', '')"
# shellcheck disable=SC2086
status 0 "$HEDDLE" $words --db part.db
[ "$(sqlite3 part.db 'SELECT arguments FROM run WHERE finished IS NULL')" = \
	other.yaml ] || fail "the note of another sweep is gone"
# Who was killed could remove nothing: another one does, as soon as it can.
for wait in $(seq $PATIENCE); do
	[ -n "$(ls tmp)" ] || break
	sleep 0.1
done
[ -z "$(ls tmp)" ] || fail "there is still $(ls tmp)"
# A machine may be too slow to be interrupted in time, but not always.
[ $interrupted -gt 3 ] || fail "only $interrupted calls were interrupted"
