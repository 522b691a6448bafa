# Every command whose work may take long (heddle --long-commands) keeps what it
# has when it is interrupted, says so, and ends by the signal.
. "$SRC/tests/cli/lib.sh"
cat >long.yaml <<'END'
fabric: {topology: {kind: star, hosts: 4}}
traffic: [{name: a, kind: poisson, payload: 2KiB, load: 50%}]
run: {warmup: 1us, measure: 900ms}
END
cat >incast.yaml <<'END'
fabric:
  topology: {kind: two-switch, remote: 3, local: 1, victims: 1}
  link: {rate: 100Gb/s, propagation: 500ns}
  switch: {input_buffer: 16 packets}
qos: {vls: 1}
traffic:
  - {name: incast, kind: saturating, pattern: incast, source: A1..A3, destination: Bc}
  - {name: victim, kind: saturating, pattern: pairs, source: Av, destination: Bv}
congestion: {marking: iba, window: 16}
run: {warmup: 100us, measure: 100us}
END
# The smallest packets, and long rounds of the tables.
echo 'a: 88%, packets 1' >goals.yaml
printf '%s: 1.3%%, packets 1\n' b c d e f g h >>goals.yaml
echo 'qos TRUE' >old.conf
printf '%s\n' 'qos TRUE' 'qos_max_vls 4' >new.conf
sed 's/measure: *[0-9]*[mu]s/measure: 900ms/' "$SRC/examples/entry-threshold.yaml" >sharing.yaml
has sharing.yaml 900ms

# work WORDS...: a command line of that command that takes minutes, most of
# them in small pieces.
work() {
	case $* in
	sim) set -- long.yaml ;;
	sweep) set -- long.yaml --seeds 4 --jobs 1 ;;
	failures) set -- 'fat-tree --radix 16 --levels 2' --fail links --pairs 8000 ;;
	'failures simulated') set -- long.yaml --fail hosts --simulate 3 ;;
	'qos plan') set -- --goals goals.yaml 'star --hosts 16' --verify ;;
	'qos verify') set -- new.conf long.yaml --against old.conf --seeds 4 ;;
	'mcast compare') set -- --topology 'kind: mesh, columns: 8, rows: 8' \
		--sources 40% --size 64KiB --seeds 64 ;;
	'qos evaluate') set -- --rule paper --topology mesh --tried 64 ;;
	'cc compare') set -- incast.yaml --measure 900ms ;;
	'cc tune') set -- incast.yaml --senders 8 --stress 1 --floor 50% --held-out 1000 ;;
	'model queue') set -- mm1 --lambda 0.1..0.9:0.0001 --mu 1 --simulate 10000 ;;
	'model credit') set -- --lambda 0.1..5:0.0001 --downstream 3 --simulate 10000 ;;
	'model fabric') set -- sharing.yaml ;;
	model*) set -- --lambda 1..8:0.0001 --simulate 10000 ;;
	bench) set -- send-lat write-lat read-lat --size 1..4KiB -n 100000 ;;
	'paper calibrate') set -- 004/table3.2 --jobs 1 ;;
	paper*) set -- 000/fig8 --jobs 1 ;;
	*) fail "no long work of '$*' is known here" ;;
	esac
	[ "$command" != 'paper all' ] || set -- --jobs 1
	for word; do printf '%s\n' "$word"; done
}

# begun PID: its work has begun, which is noted in the database, and for a
# tenth of a second of its own or others' time.
begun() {
	[ "$(sqlite3 work.db 'SELECT count(*) > 0 FROM run' 2>/dev/null)" = 1 ] ||
		return 1
	[ -n "$(cat /proc/"$1"/task/*/children)" ] ||
		[ "$(cut -d ' ' -f 14 /proc/"$1"/stat)" -ge 10 ]
}

# interrupted SIGNAL STATUS WORDS...: while it works; what it shows is in out.
interrupted() {
	signal=$1 wanted=$2 got=0
	shift 2
	rm -f work.db
	# A shell's background job ignores INT; env takes it back.
	env --default-signal "$HEDDLE" "$@" --db work.db >out 2>err &
	pid=$!
	for wait in $(seq $PATIENCE); do
		kill -0 $pid || fail "'$*' ended by itself: $(cat err)"
		! begun $pid || break
		sleep 0.02
	done
	kill -"$signal" $pid
	wait $pid || got=$?
	[ $got = "$wanted" ] || fail "'$*' ended with $got, not $wanted: $(cat err)"
	has out '# note: interrupted'
}

tried=0
walk() {
	command=$*
	work "$@" >words
	signal=INT number=130
	[ $((tried % 2)) = 0 ] || signal=TERM number=143
	[ "$command" != 'failures simulated' ] || set -- failures
	while IFS= read -r word; do
		set -- "$@" "$word"
	done <words
	interrupted $signal $number "$@"
	tried=$((tried + 1))
}

"$HEDDLE" --long-commands >commands
while IFS= read -r words <&3; do
	# shellcheck disable=SC2086 # words of a name
	walk $words
	# shellcheck disable=SC2086
	"$HEDDLE" help $words >help
	has help 'Interrupted (Ctrl-C'
	case $words in
	model\ [qceg]*) grep -q '^# note: interrupted after [1-9]' out ||
		fail "$words has done nothing: $(head out)" ;;
	esac
done 3<commands
walk failures simulated
[ $tried -gt 15 ] || fail "only $tried commands were tried"
echo "interrupted: $tried commands keep what they have"
