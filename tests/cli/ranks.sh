# Processes started by mpirun compute the same bytes as one process: tables, rows of a database,
# traces and captures, for any number of ranks and threads. Unsupported options end all of them with
# one line, and a killed process leaves no files.
. "$SRC/tests/cli/lib.sh"
command -v mpirun >/dev/null || fail "mpirun is not installed"
[ -e "$(dirname "$HEDDLE")/libheddle-mpi.so" ] ||
	fail "heddle was built without libopenmpi-dev"
rm -rf ./*.one trace pcap db dump out err files killed.* state.*

# ranks N COMMAND...
ranks() {
	ranks=$1
	shift
	mpirun -n "$ranks" --allow-run-as-root --oversubscribe "$@"
}

# sim RANKS THREADS OPTION...: 1 is a missed goal, which mpirun reports.
sim() {
	processes=$1 threads=$2
	shift 2
	set -- "$HEDDLE" sim "$file" --set run.measure=10us \
		--set run.warmup=3us --set run.horizon=13us \
		--threads "$threads" "$@"
	if [ "$processes" -gt 1 ]; then
		set -- ranks "$processes" "$@"
	fi
	"$@" -o out >said 2>err || [ $? -eq 1 ] || fail "$name: $(cat err)"
}

# Everything but who computed it, and when.
rows() {
	sqlite3 "$1" .dump | grep -v '^INSERT INTO run ' >"$2"
}

same() {
	cmp "$1.one" "$1" >&2 ||
		fail "$name: $1 differs by $processes ranks on $threads threads"
}

watched() {
	rm -f trace pcap db
	sim "$1" "$2" --all --json --trace trace $pcap --db db
	rows db dump
}

# all FILE: all outputs.
all() {
	file=$1 name=$(basename "$1" .yaml) pcap='--pcap pcap'
	"$HEDDLE" sim "$file" --set run.measure=1us --set run.warmup=0s \
		--set run.horizon=1us $pcap >/dev/null 2>&1 || [ $? -eq 1 ] ||
		pcap=
	watched 1 1
	for what in out trace dump ${pcap:+pcap}; do
		mv $what $what.one
	done
	for how in $2; do
		watched "${how%x*}" "${how#*x}"
		for what in out trace dump ${pcap:+pcap}; do
			same $what
		done
	done
	for format in '--all --csv' '--all' --counters; do
		# shellcheck disable=SC2086 # words
		sim 1 1 $format
		mv out out.one
		# shellcheck disable=SC2086
		sim 3 1 $format
		same out
	done
	compared=$((compared + 1))
}

# few FILE HOW CAPTURE: the same in one format, by the options of CAPTURE.
few() {
	file=$1 name=$(basename "$1" .yaml) pcap=$3
	watched 1 1
	for what in out trace dump ${pcap:+pcap}; do
		mv $what $what.one
	done
	watched "${2%x*}" "${2#*x}"
	for what in out trace dump ${pcap:+pcap}; do
		same $what
	done
}

# Fabrics that ranks can share: more switches than ranks.
compared=0
if [ "${HD_LONG:-0}" = 1 ]; then
	for file in "$SRC"/examples/*.yaml; do
		! grep -q '^scenario:' "$file" || continue
		if ranks 3 "$HEDDLE" sim "$file" --set run.measure=1us \
			--set run.warmup=0s --set run.horizon=1us -o out \
			>said 2>err || [ $? -eq 1 ]; then
			all "$file" '2x1 2x2 3x1 3x2'
		else
			grep -q 'cannot compute this run together: it' err ||
				fail "$file: $(cat err)"
		fi
	done
	[ $compared -ge 12 ] || fail "only $compared examples were compared"
else
	all "$SRC/examples/link-failure.yaml" '2x2 3x1'
	few "$SRC/examples/jobs.yaml" 3x1 '--pcap pcap' # messages of jobs
	few "$SRC/examples/rails.yaml" 3x1 ''           # inside hosts, too
	few "$SRC/examples/one-fabric.yaml" 2x2 ''      # queue pairs
fi
# A job next to flows that are slowed down, and alone.
cat >alone.yaml <<'END'
fabric: {topology: {kind: xgft, down: "2,2", up: "1,2"}}
congestion: {algorithm: cct}
traffic: [{name: a, kind: poisson, load: 20%}]
jobs: [{name: j, program: [{alltoall: 10KiB}]}]
run: {precision: 50%}
END
few alone.yaml 2x1 ''

# ---- checkpoints: what some save, others continue with
file=$SRC/examples/link-failure.yaml name=link-failure
rm -f state*
sim 1 1 --all --json
mv out out.one
# saved RANKS THREADS FILE, goes_on RANKS THREADS FILE
saved() {
	sim "$1" "$2" --all --json --checkpoint "$3" --every-simulated 5us
	same out
	[ -f "$3" ] || fail "no checkpoint by $1 ranks"
}
goes_on() {
	sim "$1" "$2" --all --json --restart "$3"
	same out
}
saved 2 1 state.ranks
saved 1 2 state.threads
# Over TCP, as between machines.
(
	export OMPI_MCA_btl=tcp,self OMPI_MCA_btl_tcp_if_include=lo
	goes_on 3 1 state.ranks
) || exit 1
goes_on 1 2 state.ranks
goes_on 2 2 state.threads
# Queue pairs, with packets of some ranks' adapters at others.
file=$SRC/examples/one-fabric.yaml name=one-fabric
sim 1 1 --all --json
mv out out.one
saved 2 1 state.pairs
goes_on 3 1 state.pairs
# Messages of jobs, some of them in flight between ranks.
file=$SRC/examples/jobs.yaml name=jobs
sim 1 1 --all --json
mv out out.one
saved 2 1 state.jobs
goes_on 3 1 state.jobs
goes_on 1 2 state.jobs

# ---- what is refused, in one line
# refused RANKS STATUS TEXT COMMAND...: what mpirun adds is between dashes.
refused() {
	n=$1 want=$2 text=$3 got=0
	shift 3
	mpirun -n "$n" --allow-run-as-root --oversubscribe "$@" >out 2>err ||
		got=$?
	[ $got -eq "$want" ] || {
		cat err >&2
		fail "'$*' ended with $got, not $want"
	}
	has err "$text"
	[ "$(grep -c '^heddle' err)" -eq 1 ] || {
		cat err >&2
		fail "'$*' was refused in more than one line"
	}
	empty out
}
cat >ring.yaml <<'END'
fabric: {topology: {kind: ring, switches: 4, hosts: 1}}
traffic:
  - {name: a, kind: poisson, load: 20%, payload: 1KiB}
run: {seed: 3, warmup: 1us, measure: 5ms}
END
sed 's/20%/21%/' ring.yaml >other.yaml
refused 5 3 '5 processes cannot compute this run together: it has fewer switches' \
	"$HEDDLE" sim ring.yaml -o files
refused 2 3 'together: links inside its hosts join all its switches' \
	"$HEDDLE" sim "$SRC/examples/rails.yaml" -o files \
	--set fabric.topology.units=1 --set fabric.topology.planes=8 \
	--set fabric.topology.spines=0
refused 2 3 'nowhere.yaml: cannot be read' "$HEDDLE" sim nowhere.yaml -o files
refused 1 3 'rank 1 has a different scenario, option or version than rank 0' \
	"$HEDDLE" sim ring.yaml -o files : -n 1 "$HEDDLE" sim other.yaml -o files
refused 1 3 'rank 1 has a different scenario, option or version than rank 0' \
	"$HEDDLE" sim ring.yaml -o files : \
	-n 1 "$HEDDLE" sim ring.yaml --set run.seed=4 -o files
refused 1 3 '(on rank 1)' "$HEDDLE" sim ring.yaml -o files : \
	-n 1 "$HEDDLE" sim nowhere.yaml -o files
refused 2 2 'standard input supports one process only' \
	"$HEDDLE" sim - -o files
refused 2 3 'another scenario' "$HEDDLE" sim ring.yaml -o files \
	--restart state.ranks
refused 2 3 'not a checkpoint' "$HEDDLE" sim ring.yaml -o files \
	--restart ring.yaml
refused 2 4 'no/where' "$HEDDLE" sim ring.yaml -o files --checkpoint no/where
refused 1 3 'rank 1 has a different scenario, option or version than rank 0' \
	"$HEDDLE" sim ring.yaml -o files : \
	-n 1 "$HEDDLE" sim ring.yaml -o files --checkpoint ring.ckpt
[ ! -e ring.ckpt ] || fail "a refused run wrote its state"
refused 2 4 'no/where' "$HEDDLE" sim ring.yaml --trace no/where
[ ! -e files ] || fail "a refused run wrote"

# A copy without the plug-in reports it, and works without ranks.
rm -rf bare
mkdir -p bare/bin
cp "$HEDDLE" bare/bin/heddle
refused 2 4 'apt install libopenmpi-dev && make' bare/bin/heddle sim ring.yaml
status 0 bare/bin/heddle sim ring.yaml --set run.measure=10us

# ---- who is killed
mpirun -n 3 --allow-run-as-root --oversubscribe "$HEDDLE" sim ring.yaml \
	--set run.measure=10s --set run.horizon=20s --trace killed.trace --db killed.db \
	-o killed.json >killed.out 2>killed.err &
launcher=$!
# writes_here PID: whether it has a file open here that has no name yet.
writes_here() {
	ls -l "/proc/$1/fd" 2>/dev/null | grep -qF -- "-> $PWD/#"
}
# Rank 0 has begun its trace.
begun() {
	for pid in $(ps -o pid= --ppid $launcher); do
		! writes_here $pid || return 0
	done
	return 1
}
saves() {
	[ -f killed.state ]
}
# dies WHEN: the last rank is killed while all of them work.
dies() {
	tries=0
	until "$1"; do
		tries=$((tries + 1))
		[ $tries -lt $PATIENCE ] || fail "no rank began"
		sleep 0.1
	done
	victim=
	for pid in $(ps -o pid= --ppid $launcher); do
		victim=$pid
	done
	kill -9 "$victim"
	got=0
	wait $launcher || got=$?
	[ $got -ne 0 ] || fail "a rank was killed, and all was well"
	! grep '^heddle' killed.err >&2 || fail "the others complain, too"
	[ "$(grep -c 'rank [0-9]* .*exited on signal 9' killed.err)" -eq 1 ] ||
		fail "no message names the killed rank: $(cat killed.err)"
	rm -f killed.out killed.err
}
dies begun
left=$(ls -A | grep killed | grep -v '^killed\.db' || true)
[ -z "$left" ] || fail "a killed rank left $left"

# A resumed run loses at most the time since the last checkpoint.
long='--set run.measure=40ms --set run.horizon=50ms'
# shellcheck disable=SC2086 # words
"$HEDDLE" sim ring.yaml $long --all --json >want
# shellcheck disable=SC2086
mpirun -n 3 --allow-run-as-root --oversubscribe "$HEDDLE" sim ring.yaml $long \
	--checkpoint killed.state --every-simulated 100us -o killed.json \
	>killed.out 2>killed.err &
launcher=$!
dies saves
# shellcheck disable=SC2086
"$HEDDLE" sim ring.yaml $long --all --json --restart killed.state >got
cmp want got >&2 || fail "another outcome after a rank was killed"
