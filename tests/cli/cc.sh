# The response functions through the program: reference values, and refusals.
. "$SRC/tests/cli/lib.sh"

# Rmin 1, Rmax 256, nine points: powers of two; 16 rises to 17.448 and falls to 4.
status 0 "$HEDDLE" cc curve fimd --rmin 1 --rmax 256
has out '16.000         17.448          4.000'
status 0 "$HEDDLE" cc curve lipd --rmin 1 --rmax 256 --csv
has out '51.2'

status 3 "$HEDDLE" cc curve pipd --rmin 2 --rmax 512 --unit 2
one_line err
has err 'above 1 in its unit'
status 0 "$HEDDLE" cc curve pipd --rmin 2 --rmax 512 --unit 0.1
has out 'knows only the minimum and the maximum rate'
status 3 "$HEDDLE" cc curve fimd --m 1
status 3 "$HEDDLE" cc curve fimd --rmin 5 --rmax 4
status 2 "$HEDDLE" cc curve fimt
has err "did you mean 'fimd'?"
status 2 "$HEDDLE" cc curve cct

# On the two switches, control gives the victim back several times what
# congestion left it; whoever has no single destination is refused.
status 0 "$HEDDLE" cc compare --measure 40ms --warmup 40ms \
	"$SRC/examples/two-switch-congestion.yaml"
has out 'victim'
awk '$1 == "none" && $2 == "victim" { none = $4 }
     $1 == "cct" && $2 == "victim" { cct = $4 }
     END { exit !(none > 0 && cct > 3 * none) }' out || fail "no relief"
status 3 "$HEDDLE" cc compare --measure 1ms --warmup 1ms \
	"$SRC/examples/quickstart.yaml"
one_line err
has err 'no single destination'

# On 128 hosts, control frees victims of a hotspot, and of hotspots that move.
for name in fat-tree-incast moving-hotspots; do
	status 0 "$HEDDLE" cc compare "$SRC/examples/$name.yaml" --json \
		--algorithm none --algorithm fimd --measure 400us \
		--warmup 300us
	jq -e 'def victims(a): .tables.rows.rows[] |
			select(.algorithm == a and .row == "victims").goodput;
		victims("fimd") > 1.5 * victims("none")' out >/dev/null ||
		fail "$name: no relief"
done
# All algorithms over the scenarios' own windows are the documentation's rows.
if [ "${HD_LONG:-0}" = 1 ]; then
	for name in fat-tree-incast moving-hotspots; do
		status 0 "$HEDDLE" cc compare "$SRC/examples/$name.yaml" --json \
			--marking iba
		has "$SRC/docs/congestion.md" "$(jq -r '"| " +
			([.tables.rows.rows[] | select(.row == "victims").goodput
				/ 1000 | round | tostring] | join(" | ")) +
			" |"' out)"
	done
fi

# ack: a delay, or packets; refusals.
sed 's/^congestion: {/congestion: {ack: {delay: 2us}, /' \
	"$SRC/examples/two-switch-congestion.yaml" >delay.yaml
status 0 "$HEDDLE" sim --explain delay.yaml
has out 'delay: 2us'
status 0 "$HEDDLE" sim --explain "$SRC/examples/two-switch-congestion.yaml"
has out 'delay: packet'
status 0 "$HEDDLE" cc compare --algorithm fimd --warmup 5ms --measure 5ms \
	delay.yaml --json
jq -e '.tables.totals.rows[0] | .FECN > 0 and .BECN == 0' out >/dev/null ||
	fail "acknowledgements that cost nothing are no packets"
# PIPD's unit: refused where its lowest rate is one of it, warned of where it
# knows two rates only; and what the cap forbids shows without it.
for units in 1 7; do
	sed "s/^congestion: {/congestion: {units: $units, /" \
		"$SRC/examples/two-switch-congestion.yaml" >units-$units.yaml
done
status 3 "$HEDDLE" cc compare --algorithm pipd units-1.yaml
one_line err
has err 'above 1 in its unit'
status 0 "$HEDDLE" cc compare --algorithm pipd --warmup 1ms --measure 1ms \
	units-7.yaml
has out 'knows only the minimum and the maximum rate'
sed 's/^congestion: {/congestion: {cap: false, /' \
	"$SRC/examples/two-switch-congestion.yaml" >uncapped.yaml
status 0 "$HEDDLE" cc compare --algorithm fimd --warmup 5ms --measure 5ms \
	uncapped.yaml --csv
cp out uncapped
status 0 "$HEDDLE" cc compare --algorithm fimd --warmup 5ms --measure 5ms \
	"$SRC/examples/two-switch-congestion.yaml" --csv
cmp -s out uncapped && fail "the cap makes no difference"
sed 's/^congestion: {/congestion: {echo: cnp, /' \
	"$SRC/examples/two-switch-congestion.yaml" >cnp.yaml
status 0 "$HEDDLE" cc compare --algorithm cct --warmup 1ms --measure 1ms \
	cnp.yaml
status 2 "$HEDDLE" cc compare --algorithm nobody cnp.yaml
has err "there is no 'nobody'"
sed 's/order: fifo/queueing: cioq/' \
	"$SRC/examples/two-switch-congestion.yaml" >cioq.yaml
status 0 "$HEDDLE" cc compare --warmup 20ms --measure 20ms --marking iba \
	--algorithm none --algorithm cct cioq.yaml
awk '$1 == "none" && $2 == "victim" { none = $4 }
     $1 == "cct" && $2 == "victim" { cct = $4 }
     END { exit !(none > 0 && cct > 3 * none) }' out ||
	fail "no relief behind crossbars"

# Rates of flows over time are for programs and pages; a screen has no room.
sampled() {
	status 0 "$HEDDLE" cc compare --algorithm cct --warmup 1ms --measure 1ms \
		--sample 10us "$SRC/examples/two-switch-congestion.yaml" "$@"
}
sampled --json
rows=$(jq '.tables.rates.rows | length' out)
[ "$rows" -ge 1000 ] || fail "$rows rates of eleven flows"
sampled
lacks out '# rates:'
has out "rates over time: $rows rows"
sampled --all
has out '# rates:'
