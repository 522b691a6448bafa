# What --db keeps: results are in the database before they are printed; a refused
# command leaves no database; a file that is not a database is refused at once.
. "$SRC/tests/cli/lib.sh"
rm -f ./*.db ./*.pcap
cat >small.yaml <<'END'
fabric: {topology: {kind: star, hosts: 3}}
qos:
  vls: 2
  classes: [{name: a, sl: 0}, {name: b, sl: 1}]
traffic:
  - {name: a, kind: poisson, pattern: incast, destination: h0, payload: 256, load: 20%}
run: {warmup: 0us, measure: 20us}
END
status 0 "$HEDDLE" topo gen star --hosts 3 -o star.ibnet
echo 'h1 h0 DB 64Mb/s' >flows.txt
status 0 "$HEDDLE" sim small.yaml --pcap in.pcap

runs() {
	sqlite3 "$1" 'SELECT count(*) FROM run WHERE finished IS NOT NULL'
}

# No program reads: the pipe is closed before the first byte. With sanitizers
# each command has one of the forms.
tried=0
kept() {
	rm -f b.db
	forms='--json --csv --format=text'
	[ "${HD_LIGHT:-0}" = 0 ] ||
		forms=$(echo "$forms" | cut -d ' ' -f $((tried % 3 + 1)))
	for form in $forms; do
		"$HEDDLE" "$@" $form --db b.db 2>err | : || :
		"$HEDDLE" "$@" $form --db b.db 2>err >&- || :
	done
	[ "$(runs b.db)" = $((2 * $(echo "$forms" | wc -w))) ] || {
		cat err
		fail "'$*' lost results when its output was closed"
	}
	tried=$((tried + 1))
}
kept sim small.yaml --all
kept cc compare small.yaml --algorithm none --measure 20us
kept cc curve fimd
kept topo gen star --hosts 3
kept topo show star.ibnet
kept topo check star.ibnet
kept route star.ibnet
kept qos plan a=60% b=40%
kept qos bound star.ibnet flows.txt
kept bench send-lat --size 64 -n 2
kept bench list
kept model queue mm1 --lambda 0.5
kept model ge --lambda 4
kept model credit --upstream 3 --downstream 2
kept paper list
echo "record: $tried commands keep their results when the output is closed"

# refused STATUS COMMAND...: and there is no new database.
refused() {
	wanted=$1
	shift
	status "$wanted" "$HEDDLE" "$@" --db new.db
	one_line err
	[ ! -e new.db ] || fail "'$*' was refused and left a database"
}
refused 2 decode in.pcap
refused 3 qos classify nowhere.conf --service-id 1
refused 3 qos bound nowhere.ibnet flows.txt
refused 2 sim
refused 3 sim nowhere.yaml
refused 2 sim small.yaml --explain
refused 3 topo show nowhere.ibnet
refused 2 bench nothing
refused 2 paper run
refused 3 paper run nothing
refused 2 report --no-such-option
refused 3 report
[ ! -e heddle.db ] || fail "a refused run left heddle.db"

# Names that SQLite takes for databases of its own.
for name in '' :memory: :x; do
	for command in 'sim small.yaml' 'paper all' report; do
		status 3 timeout 300 "$HEDDLE" $command --db "$name"
		one_line err
		has err "'$name' is not a database file name"
	done
done

# The host lacks a place: 4. A file is not what it should be: 3.
status 4 "$HEDDLE" sim small.yaml --db /nowhere/x.db
status 4 "$HEDDLE" sim small.yaml --html /nowhere/x.html
status 4 "$HEDDLE" sim small.yaml -o /nowhere/x.txt
status 4 "$HEDDLE" sim small.yaml --db .
echo "no database" >text.db
status 3 "$HEDDLE" sim small.yaml --db text.db
has text.db "no database"

# Before any experiment is run.
status 4 timeout 300 "$HEDDLE" paper all --db /nowhere/x.db
has err "/nowhere/x.db"
mkdir -p folder
ln -sfn /nowhere/x.db folder/heddle.db
(
	cd folder
	status 4 timeout 300 "$HEDDLE" paper all
	has err "heddle.db"
)

# The arguments can be typed again.
rm -f w.db
status 0 "$HEDDLE" topo gen star --hosts 3 --db w.db -o "it's \$HOME"
[ "$(sqlite3 w.db 'SELECT arguments FROM run')" = \
	"--hosts 3 --db w.db -o 'it'\\''s \$HOME'" ] ||
	fail "stored: $(sqlite3 w.db 'SELECT arguments FROM run')"
