# --set PATH=VALUE, on every command that takes a scenario, has the same results as the field in the
# file.
. "$SRC/tests/cli/lib.sh"

cat >a.yaml <<'EOF'
fabric:
  topology: {kind: mesh, columns: 2, rows: 2}
  routing: xy
traffic:
  - {name: a, kind: poisson, load: 30%, payload: 256}
  - {name: b, kind: saturating, pattern: permutation}
run: {warmup: 10us, measure: 100us}
EOF
sed 's/rows: 2/rows: 3/; s/routing: xy/routing: {engine: updn, lmc: 1}/
	s/30%/45%/; s/payload: 256/sl: 2/; s/measure: 100us/measure: 60us/' \
	a.yaml >b.yaml
set -- --set fabric.topology.rows=3 --set fabric.routing.lmc=1 \
	--set fabric.routing.engine=updn --set traffic.a.load=45% \
	--set traffic.0.payload= --set traffic.0.sl=2 --set run.measure=60us
for how in --explain --checksum --counters; do
	"$HEDDLE" sim $how b.yaml >wanted
	"$HEDDLE" sim $how a.yaml "$@" >got
	cmp wanted got || fail "sim $how differs"
done
"$HEDDLE" route b.yaml --check --json >wanted
"$HEDDLE" route a.yaml --check --json "$@" >got
cmp wanted got || fail "route differs"

# An option that abbreviates a path has the same effect; the last one has priority.
"$HEDDLE" sim --checksum a.yaml --set run.seed=5 >wanted
[ "$("$HEDDLE" sim --checksum a.yaml --seed 5)" = "$(cat wanted)" ] ||
	fail "--seed differs"
cp "$SRC/examples/two-switch-congestion.yaml" two-switch.yaml
cc="cc compare two-switch.yaml --algorithm fimd --json"
"$HEDDLE" $cc --warmup 100us --measure 200us --window 2 >wanted
"$HEDDLE" $cc --set run.warmup=100us --set congestion.window=3 \
	--set run.measure=200us --set congestion.window=2 >got
cmp wanted got || fail "cc compare differs"
"$HEDDLE" mcast compare --topology 'kind: ring, switches: 5, hosts: 1' \
	--json >wanted
"$HEDDLE" mcast compare --topology 'kind: ring' --json \
	--set fabric.topology.switches=5 --set fabric.topology.hosts=1 >got
cmp wanted got || fail "mcast compare differs"

# Words of a user stay words: none of them ends the mapping they stand in.
status 2 "$HEDDLE" mcast compare --topology 'kind: ring}, link: {rate: 1b/s'
one_line err
has err "heddle: --topology: not YAML"
status 3 "$HEDDLE" mcast compare --topology 'kind: ring' --fail 's-1, at: 0s'
has err "heddle: --fail: no switch 's-1, at: 0s'"

# An error names the field once, if all or a part of it was set.
status 2 "$HEDDLE" sim a.yaml --set run.measure=soon
has err "heddle: --set run.measure: 'soon'"
status 2 "$HEDDLE" sim a.yaml --set 'run={measure: soon}'
has err "heddle: --set run: run.measure: 'soon'"

# Benchmarks and models support --set, too.
status 2 "$HEDDLE" bench send-lat --set fabric.packet.mtu=300
has err "heddle: --set fabric.packet.mtu: '300' is not one of 256, 512"
status 3 "$HEDDLE" model fabric "$SRC/examples/entry-threshold.yaml" \
	--set qos.thresholds.capacity=
has err "the model requires qos.thresholds.capacity"

# A file in an override is relative to the current folder, not to the scenario.
mkdir -p sub
cp a.yaml sub/
"$HEDDLE" topo gen ring --switches 3 >here.net
status 0 "$HEDDLE" sim --checksum sub/a.yaml --set fabric.routing=minhop \
	--set fabric.topology=here.net
status 3 "$HEDDLE" sim sub/a.yaml --set fabric.topology=nothere.net
one_line err
has err "heddle: --set fabric.topology: "

# Completion in bash offers the paths.
for words in "sim --set run.s|run.seed=" \
	"route x --set fabric.routing.lm|fabric.routing.lmc=" \
	"mcast compare --set traffic.0.pay|traffic.0.payload= traffic.0.payload_scv="; do
	offered=$(bash --norc -c ". '$(dirname "$HEDDLE")/completion/heddle'
		COMP_WORDS=(heddle ${words%|*})
		COMP_CWORD=\$((\${#COMP_WORDS[@]} - 1))
		_heddle; echo \"\${COMPREPLY[*]}\"")
	[ "$offered" = "${words#*|}" ] || fail "after '${words%|*}': $offered"
done

# Each command that reads a scenario has --set: all commands that refuse an
# unknown field must also refuse it in --set, and apply known fields.
cat >good.yaml <<'EOF2'
fabric:
  topology: {kind: mesh, columns: 2, rows: 2, hosts: 1}
qos: {vls: 2}
traffic:
  - {name: a, kind: saturating, pattern: tornado, payload: 2KiB}
  - {name: b, kind: poisson, load: 10%, pattern: tornado, payload: 2KiB, sl: 1}
run: {warmup: 10us, measure: 20us}
EOF2
sed 's/rows: 2/rows: 3/' good.yaml >three.yaml
sed 's/^qos:/  rooting: xy\n&/' good.yaml >wrong.yaml
echo 'a: at least 70%' >goals
echo 'h0 h3 DB 1Mb/s' >requests
printf 'qos-ulps\n default: 3\nend-qos-ulps\n' >policy
echo 'qos_max_vls 8' >conf
"$HEDDLE" qos plan --conf mpi=70% ost=30% >plan
mkdir -p none
name=set_$(basename "$PWD" | tr -dc a-zA-Z0-9)
"$HEDDLE" live up good.yaml --name "$name" -q
trap '"$HEDDLE" live down --name "$name" >/dev/null 2>&1 || :' EXIT

# words COMMAND FILE: how the command is given a scenario.
words() {
	case $1 in
	bench) echo "bench send-lat --profile ideal --size 1 --fabric $2" ;;
	'cc compare') echo "cc compare --algorithm fimd $2" ;;
	'cc tune') echo "cc tune $2" ;;
	'live up') echo "live up --name $name-too $2" ;;
	'live traffic') echo "live traffic --name $name $2" ;;
	'model fabric') echo "$1 $2 --set qos.thresholds.capacity=16" ;;
	'qos admit') echo "qos admit --random 20 $2" ;;
	'qos bound') echo "qos bound $2 requests" ;;
	'qos explain') echo "qos explain conf $2" ;;
	'qos classify') echo "qos classify --fabric $2 --source h0 policy" ;;
	'qos plan') echo "qos plan --goals goals --verify $2" ;;
	'qos reserve') echo "qos reserve --requests requests $2" ;;
	'qos verify') echo "qos verify conf $2 --against none" ;;
	*) echo "$1 $2" ;;
	esac
}

readers=
"$HEDDLE" --commands >all
while read -r command; do
	"$HEDDLE" $(words "$command" wrong.yaml) </dev/null >out 2>err || :
	grep -q "wrong.yaml:3:3: unknown field 'rooting'" err || continue
	status 2 "$HEDDLE" $(words "$command" good.yaml) \
		--set fabric.rooting=xy </dev/null
	has err "heddle: --set fabric.rooting: "
	readers="$readers,$command"
	case $command in
	serve | sweep | 'cc tune' | 'live '* | 'qos '[clrv]*) continue ;;
	esac
	for file in good three; do
		"$HEDDLE" $(words "$command" $file.yaml) --json >$file.json \
			</dev/null || [ "$?" -le 1 ]
	done
	"$HEDDLE" $(words "$command" good.yaml) --set fabric.topology.rows=3 \
		--json >got </dev/null || [ "$?" -le 1 ]
	cmp three.json got || fail "$command does not obey --set"
	! cmp -s good.json got || fail "$command is the same with --set"
done <all
[ "$readers" = ",route,failures,qos plan,qos admit,qos bound,qos explain,qos verify,qos classify,qos reserve,cc compare,cc tune,model fabric,sim,sweep,mcast compare,bench,live up,live traffic,serve" ] ||
	fail "other commands read scenarios: $readers"

# Commands without tables of the fabric, by their output.
status 3 "$HEDDLE" qos classify --fabric good.yaml --source h5 policy
has err "no end port is called 'h5'"
status 0 "$HEDDLE" qos classify --fabric good.yaml --source h5 policy \
	--set fabric.topology.rows=3
echo 'h0 h5 DB 1Mb/s' >far
status 3 "$HEDDLE" qos reserve --requests far good.yaml
status 0 "$HEDDLE" qos reserve --requests far good.yaml \
	--set fabric.topology.rows=3
status 2 "$HEDDLE" qos classify policy --set run.seed=1
has err "require --fabric"
# Its manager routes it, and no second one.
status 3 "$HEDDLE" live traffic good.yaml --name "$name" --set sm.trap=1us
one_line err
has err "heddle: --set sm.trap: the live fabric's own manager routes"
"$HEDDLE" live down --name "$name"
status 0 "$HEDDLE" live up good.yaml --name "$name" \
	--set fabric.topology.rows=3
has out "is up: 6 hosts, 6 switches"
status 3 "$HEDDLE" live traffic good.yaml --name "$name"
has err "has another topology than the scenario"
