# --set PATH=VALUE, on every command that takes a scenario, is as if the file
# said so, to the byte.
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

# An option that is short for a path says the same; the last one counts.
"$HEDDLE" sim --checksum a.yaml --set run.seed=5 >wanted
[ "$("$HEDDLE" sim --checksum a.yaml --seed 5)" = "$(cat wanted)" ] ||
	fail "--seed differs"
cp "$SRC/examples/two-switch-congestion.yaml" two-switch.yaml
cc="cc compare two-switch.yaml --algorithm fimd --json"
"$HEDDLE" $cc --warmup 100us --measure 200us --window 2 >wanted
"$HEDDLE" $cc --set congestion.warmup=100us --set congestion.window=3 \
	--set congestion.measure=200us --set congestion.window=2 >got
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

# A refusal names the field once, be it all that was set or a part of it.
status 2 "$HEDDLE" sim a.yaml --set run.measure=soon
has err "heddle: --set run.measure: 'soon'"
status 2 "$HEDDLE" sim a.yaml --set 'run={measure: soon}'
has err "heddle: --set run: run.measure: 'soon'"

# Benches and models take it too.
status 2 "$HEDDLE" bench send-lat --set fabric.packet.mtu=300
has err "heddle: --set fabric.packet.mtu: '300' is none of 256, 512"
status 3 "$HEDDLE" model fabric "$SRC/examples/entry-threshold.yaml" \
	--set qos.thresholds.capacity=
has err "the model needs qos.thresholds.capacity"

# A file that an override names is seen from here, not from the scenario.
mkdir -p sub
cp a.yaml sub/
"$HEDDLE" topo gen ring --switches 3 >here.net
status 0 "$HEDDLE" sim --checksum sub/a.yaml --set fabric.routing=minhop \
	--set fabric.topology=here.net
status 3 "$HEDDLE" sim sub/a.yaml --set fabric.topology=nothere.net
one_line err
has err "heddle: --set fabric.topology: "

# Bash offers the paths.
for words in "sim --set run.s|run.seed=" \
	"route x --set fabric.routing.lm|fabric.routing.lmc=" \
	"mcast compare --set traffic.0.pay|traffic.0.payload= traffic.0.payload_scv="; do
	offered=$(bash --norc -c ". '$(dirname "$HEDDLE")/completion/heddle'
		COMP_WORDS=(heddle ${words%|*})
		COMP_CWORD=\$((\${#COMP_WORDS[@]} - 1))
		_heddle; echo \"\${COMPREPLY[*]}\"")
	[ "$offered" = "${words#*|}" ] || fail "after '${words%|*}': $offered"
done
