# The table 'service levels' counts packets by the SL that they have when they
# are delivered, whatever the SL of their row: the trace of the run says which.
. "$SRC/tests/cli/lib.sh"

# The trace of packets: five SLs in turn, from 3 hosts to 4 others.
awk 'BEGIN {
	for (i = 0; i < 900; i++)
		printf "%dns,h%d,h%d,%d,%d\n", i * 130, i % 3, 3 + i % 4,
			64 + i * 37 % 1900, i * i % 7 % 5
}' >trace.csv
cat >trace.yaml <<'EOF2'
fabric: {topology: {kind: xgft, down: "4,2", up: "1,2"}, link: {rate: 8Gb/s}}
qos: {vls: 4}
traffic:
  - {name: t, kind: trace, file: trace.csv, sl: 2}
  - {name: i, kind: poisson, load: 30%, payload: 2KiB, sl: 3}
run: {warmup: 0us, measure: 100us}
EOF2
# ACKs and CNPs have the SL of their packet and are no packets of a row.
sed '/^run/i congestion: {algorithm: cct, echo: cnp}' trace.yaml >control.yaml
cat >paths.yaml <<'EOF2'
fabric: {topology: {kind: torus, sizes: 5x5, hosts: 1}, routing: dfsssp}
qos: {vls: 8, classes: [{name: a, sl: 5}]}
traffic:
  - {name: u, class: a, kind: poisson, load: 30%, payload: 1KiB}
run: {warmup: 0us, measure: 30us}
EOF2
sed 's/kind: poisson/kind: poisson, transport: rc, pattern: permutation/' \
	paths.yaml >pairs.yaml
sed 's/measure: 1ms/measure: 100us/' "$SRC/examples/two-subnets.yaml" >routers.yaml

# by_sl FILE OPTION...: the table, and what the trace has of rows.
by_sl() {
	name=$1
	shift
	code=0
	"$HEDDLE" sim "$name.yaml" --all --json --trace "$name.txt" "$@" >out ||
		code=$?
	[ "$code" -le 1 ] || fail "$name: ended with $code"
	jq -r '.tables."service levels".rows[] | "\(.SL) \(.packets)"' \
		out >table
	jq -r '.tables.summary.rows[0].packets' out >all
	[ "$(awk '{ n += $2 } END { print n }' table)" = "$(cat all)" ] ||
		fail "$name $*: not all packets have an SL"
}
same() {
	by_sl "$@"
	# ACKs and CNPs are below 60 bytes.
	awk '$2 == "receives" && $(NF - 2) > 60 { n[$(NF - 1)]++ }
		END { for (sl in n) print sl, n[sl] }' "$1.txt" | sort -n >seen
	cmp seen table || {
		cat seen table
		fail "$*: the trace has other SLs"
	}
}
for file in trace control paths routers; do
	for threads in 1 3; do
		same $file --threads $threads
	done
	cp table whole
	# A run that is resumed from a checkpoint counts on.
	"$HEDDLE" sim $file.yaml --quiet --format null --trace $file.txt \
		--checkpoint state --every-simulated 20us || [ $? -eq 1 ] || fail "$file: no run"
	by_sl $file --restart state --checkpoint state --every-simulated 1s
	cmp table whole || fail "$file: other SLs after a restart"
	rm -f state
	[ "$(wc -l <whole)" -gt 1 ] || fail "$file: only one SL"
done
# Its rows ask for SLs 0 and 1; those of the other subnet are 2 and 3.
[ "$(cut -d' ' -f1 whole | xargs)" = '2 3' ] || fail "routers: $(cat whole)"

# Messages over queue pairs have the SLs of their paths.
by_sl pairs
awk '$2 == "receives" { print $(NF - 1) }' pairs.txt | sort -un >seen
cut -d' ' -f1 table >sls
cmp seen sls || fail "queue pairs: $(cat seen sls)"
[ "$(wc -l <sls)" -gt 1 ] || fail "paths have one SL only"

# A run that ends by packets of each SL counts the SLs that rows ask for.
status 0 "$HEDDLE" sim paths.yaml --set 'run.measure=1000 packets per SL' \
	--set run.horizon=20ms --json
jq -e '.tables.summary.rows[0].measured < 100' out >/dev/null ||
	fail "packets of SL 5 were waited for, which routes send on others"
