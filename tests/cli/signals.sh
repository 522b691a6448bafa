# Signals that end the program, once or twice, at any moment, for every command that writes: the
# command ends; earlier results are unchanged or completely replaced; no file and no process
# remains; completed work is kept. RAISER is the library that sends the signals (raise_at.c).
. "$SRC/tests/cli/lib.sh"
MOMENTS=3
[ "${HD_LIGHT:-0}" = 0 ] || MOMENTS=2
[ -z "${HD_LONG:-}" ] || MOMENTS=100
ulimit -c 0
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0"

rm -rf base work tmp
mkdir base tmp
export TMPDIR="$PWD/tmp"
cat >base/small.yaml <<'END'
fabric: {topology: {kind: star, hosts: 3}}
traffic:
  - {name: a, kind: poisson, payload: 256, load: 20%}
run: {warmup: 0us, measure: 20us}
END
cat >base/contended.yaml <<'END'
fabric: {topology: {kind: star, hosts: 4}}
traffic:
  - {name: a, kind: poisson, pattern: incast, destination: h0, payload: 2KiB, load: 90%}
run: {warmup: 0us, measure: 100us}
END
(
	cd base
	status 0 "$HEDDLE" sim small.yaml --db runs.db --pcap in.pcap
	status 0 "$HEDDLE" sim small.yaml --db runs.db --seed 2
	rm out err
	for f in o.txt p.pcap t.txt h.html; do echo "an old $f" >$f; done
)

finished() {
	sqlite3 "$1" 'SELECT count(*) FROM run WHERE finished IS NOT NULL'
}

# By its name alone: a blank in its path would end it there.
preloaded() {
	env LD_LIBRARY_PATH="${RAISER%/*}" LD_PRELOAD="${RAISER##*/}" \
		"$@" >../out 2>../err
}

# fresh: restores ./work.
fresh() {
	rm -rf work
	cp -r base work
}

# partial FILE: output of an interrupted run. Results have a remark; captures and traces are a
# beginning of the full ones.
partial() {
	case $1 in
	o.txt) grep -q '^# note: interrupted at ' "work/$1" ;;
	*) head -c "$(stat -c %s "work/$1")" "new/$1" | cmp -s - "work/$1" ;;
	esac
}

# whole FILE: the previous content, or the output of the command.
whole() {
	[ ! -e "work/$1" ] || cmp -s "work/$1" "new/$1" ||
		cmp -s "work/$1" "base/$1" || { $keeps && partial "$1"; } ||
		fail "$what: half of $1"
	[ -e "work/$1" ] || [ ! -e "base/$1" ] || fail "$what: $1 is gone"
}

check_left() {
	for path in work/* tmp/*; do
		name=${path#*/}
		case $path in
		*'*') continue ;;
		work/*.db)
			[ "$(sqlite3 "$path" 'PRAGMA integrity_check')" = ok ] ||
				fail "$what: $name is damaged"
			continue
			;;
		esac
		[ "${path%%/*}" = work ] && [ -e "new/$name" ] ||
			fail "$what leaves $path"
	done
	for path in base/* new/*; do
		case $path in *.db) continue ;; esac
		whole "${path#*/}"
	done
	[ "$(finished work/runs.db)" -ge 2 ] || fail "$what: runs are lost"
}

tried=0
keeps=false
# one MOMENT SIGNALS STATUS COMMAND...
one() {
	moment=$1 signals=$2 wanted=$3 what="$2 at moment $1 of $4 $5 $6" got=0
	shift 3
	fresh
	(cd work && RAISE_AT=$moment RAISE=$signals preloaded "$HEDDLE" "$@") ||
		got=$?
	[ $got = "$wanted" ] || {
		cat err
		fail "$what: ended with $got, not $wanted"
	}
	check_left
	tried=$((tried + 1))
}

# every COMMAND...: all signals at some moments of the command.
every() {
	fresh
	(cd work && RAISE_COUNT=../count preloaded "$HEDDLE" "$@") || {
		cat err
		fail "$* does not work at all"
	}
	rm -rf new
	mv work new
	count=$(cat count) i=0
	[ "$count" -gt 0 ] || fail "$* writes nothing"
	# Spread over all moments, and the last ones.
	while [ $i -lt $MOMENTS ]; do
		at=$((i * count / MOMENTS))
		[ $i -lt $((MOMENTS - 1)) ] || at=$((count - 2))
		twice=$((i % 2))
		for number in 1 2 3 13 15; do
			signals=$number
			[ $twice -eq 0 ] || signals=$number,$number
			twice=$((1 - twice))
			one $at $signals $((128 + number)) "$@"
		done
		i=$((i + 1))
		[ $i -lt "$count" ] || break
	done
}

keeps=true
every sim small.yaml --pcap p.pcap --trace t.txt -o o.txt -q
every sim small.yaml --db runs.db -o o.txt -q
every sim small.yaml --db new.db --json -q
keeps=false
every cc curve fimd --db runs.db -o o.txt -q
every decode in.pcap -o o.txt -q
# These commands keep partial results.
every bench send-lat --size 64 -n 3 --pcap p.pcap --db runs.db -q
every paper run 001/table1 002/fig1 --quick --db runs.db -q -j 2
every topo gen star --hosts 3 -o o.txt --db runs.db
every report --db runs.db -o o.txt -q
every qos plan a=60% b=40% -o o.txt --db runs.db
if [ -z "$("$HEDDLE" report --db base/runs.db --html page.html 2>&1 >/dev/null)" ]; then
	every report --db runs.db --html h.html -q
fi
# A completed run is in the database when the signal arrives, and stays there.
long=000/fig8
first_of() {
	rm -f k.db
	"$HEDDLE" paper run 001/table1 $long -j 1 --db k.db >out 2>err &
	pid=$! children=
	# One checkpoint has been kept, and the next has begun: two moments.
	for wait in $(seq $PATIENCE); do
		if [ "$(finished k.db 2>/dev/null)" = 1 ]; then
			children=$(cat /proc/$pid/task/*/children)
			[ -z "$children" ] || break
		fi
		sleep 0.1
	done
	[ -n "$children" ] || fail "no experiment was running"
}

# A process that has ended counts as gone, even if its new parent has not waited for it.
runs() {
	grep -qs '^State:[[:space:]]*[^ZX[:space:]]' "/proc/$1/status"
}

gone() {
	for child in $children; do
		for wait in $(seq $PATIENCE); do
			runs "$child" || break
			sleep 0.1
		done
		! runs "$child" || fail "SIG$1 leaves an orphan"
	done
}

for signal in TERM HUP KILL; do
	first_of
	kill -$signal $pid
	got=0
	wait $pid || got=$?
	gone $signal
	case $signal in
	KILL)
		[ "$(finished k.db)" = 1 ] || fail "a finished one is lost"
		for wait in $(seq $PATIENCE); do
			[ -n "$(ls tmp)" ] || break
			sleep 0.1
		done
		;;
	*)
		[ "$(kill -l $got)" = $signal ] ||
			fail "SIG$signal: ended with $got"
		[ "$(finished k.db)" = 2 ] || fail "a finished one is lost"
		# One of 001/table1, and six of the long one.
		has out "interrupted after 1 of 7 runs"
		;;
	esac
	[ -z "$(ls tmp)" ] || fail "SIG$signal leaves $(ls tmp)"
	tried=$((tried + 1))
done
echo "signals: $tried ends tried, 0 left anything behind"
