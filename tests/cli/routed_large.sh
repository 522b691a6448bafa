# Fabrics beyond the LIDs of one subnet: four fat trees, joined by routers that
# have the places of some hosts. In long runs 4 x 16,000 hosts (radix 40).
. "$SRC/tests/cli/lib.sh"

radix=8 routers=4 memory=256MiB
[ "${HD_LONG:-0}" = 0 ] || { radix=40 routers=20 memory=1GiB; }

"$HEDDLE" topo gen fat-tree --radix "$radix" --levels 3 --to ibsim -o tree
# Names and GUIDs say which subnet they are of; the first hosts become routers.
for k in 0 1 2 3; do
	sed -nE "s/[[:space:]]*#.*//; /^(vendid|devid|\$)/d
		s/(2[12])0([0-9a-f]{12})/\1$k\2/g; s/\"([hs])/\"n$k\1/g
		p" tree | awk -v k="$k" -v routers="$routers" '
	function is_router(text) {
		match(text, /h[0-9]+"/)
		number = substr(text, RSTART + 1, RLENGTH - 2) + 0
		return RSTART > 0 && number < routers
	}
	/guid=/ { guid = $0; next }
	/^(Switch|Ca)/ {
		skip = is_router($0)
		if (!skip) print "\n" guid
	}
	skip { next }
	/^\[/ && is_router($0) {
		sub(/"n[0-9]h.*/, "\"r" number "\"[" k + 1 "]")
	}
	{ print }'
done >four
awk -v radix="$radix" -v routers="$routers" 'BEGIN {
	for (i = 0; i < routers; i++) {
		printf "\nrtguid=0x23000000%08x\nRt\t4 \"r%d\"\n", 16 * i, i
		for (k = 0; k < 4; k++)
			printf "[%d](23000000%08x)\t\"n%ds1-%d\"[%d]\n", k + 1,
				16 * i + k + 1, k, int(i / (radix / 2)),
				i % (radix / 2) + 1
	}
}' >>four

hosts=$((4 * (radix * radix * radix / 4 - routers)))
"$HEDDLE" topo show four --json >shown.json
jq -e ".tables.fabric.rows[0] | .hosts == $hosts and .routers == $routers" \
	shown.json >/dev/null || { cat shown.json; fail "not what was meant"; }

cat >far.yaml <<'EOF'
fabric:
  topology: {file: four}
  link: {rate: 4x HDR}
  routing: minhop
traffic:
  - {name: near, kind: poisson, load: 10%, payload: 2KiB, source: 'n0h*',
     destination: 'n0h*'}
  - {name: far, kind: cbr, load: 1%, payload: 512, source: 'n1h*',
     destination: 'n3h*'}
run: {warmup: 1us, measure: 4us}
EOF
for n in 1 2; do
	"$HEDDLE" sim far.yaml --threads $n --memory "$memory" --json -v \
		>run.$n 2>err || { cat err; fail "on $n threads"; }
done
cmp run.1 run.2 >&2 || fail "differs on 2 threads"
grep -q 'in 2 parts on 2 threads' err || fail "not cut: $(cat err)"
jq -e '[.tables.traffic.rows[] | .packets > 0 and .lost == 0] | all' run.1 \
	>/dev/null || fail "not all traffic arrives: $(jq .tables.traffic run.1)"
