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
status 3 "$HEDDLE" cc curve fimd --factor 1
status 3 "$HEDDLE" cc curve fimd --rmin 5 --rmax 4
status 2 "$HEDDLE" cc curve fimt
has err "did you mean 'fimd'?"
status 2 "$HEDDLE" cc curve cct

# relieved FACTOR ALGORITHM ROW: what ./out says it is delivered, in relation to
# no control.
relieved() {
	jq -e --argjson factor "$1" --arg with "$2" --arg row "$3" '
		def rate(a): .tables.traffic.rows[] |
			select(.algorithm == a and .traffic == $row).delivered;
		rate($with) > $factor * rate("none")' out >/dev/null ||
		fail "no relief of $3 by $2"
}

# On the two switches, control gives the victim back several times what
# congestion left it.
status 0 "$HEDDLE" cc compare --measure 40ms --warmup 40ms --json \
	"$SRC/examples/two-switch-congestion.yaml"
relieved 3 cct victim

# On 128 hosts, control frees victims of a hotspot, and of hotspots that move.
for name in fat-tree-incast moving-hotspots; do
	status 0 "$HEDDLE" cc compare "$SRC/examples/$name.yaml" --json \
		--algorithm none --algorithm pipd --measure 400us \
		--warmup 300us
	relieved 1.5 pipd victims
done
# The documentation has the rows of all algorithms over these windows.
if [ "${HD_LONG:-0}" = 1 ]; then
	for name in fat-tree-incast moving-hotspots; do
		windows='--warmup 2ms --measure 2ms'
		[ $name = fat-tree-incast ] || windows='--warmup 1us --measure 4ms'
		# shellcheck disable=SC2086 # words
		status 0 "$HEDDLE" cc compare "$SRC/examples/$name.yaml" --json \
			--marking iba $windows
		has "$SRC/docs/congestion.md" "$(jq -r '"| " +
			([.tables.traffic.rows[] | select(.traffic == "victims").delivered
				| round | tostring] | join(" | ")) +
			" |"' out)"
	done
fi

# ack: a delay, or packets; refusals.
with() { # FIELDS: the two switches with these in 'congestion'
	sed "s/^run:/congestion: {$1}\n\n&/" \
		"$SRC/examples/two-switch-congestion.yaml"
}
with 'ack: {delay: 2us}' >delay.yaml
status 0 "$HEDDLE" sim --explain delay.yaml
has out 'delay: 2us'
status 0 "$HEDDLE" sim --explain "$SRC/examples/two-switch-congestion.yaml"
has out 'delay: packet'
status 0 "$HEDDLE" cc compare --algorithm fimd --warmup 5ms --measure 5ms \
	delay.yaml --json
jq -e '.tables.marks.rows | length == 1 and .[0].number > 0' out >/dev/null ||
	fail "acknowledgements that cost nothing are no packets"
# PIPD's unit: refused where its lowest rate is one of it, warned of where it
# knows two rates only; and what the cap forbids shows without it.
for units in 1 7; do
	with "units: $units" >units-$units.yaml
done
status 3 "$HEDDLE" cc compare --algorithm pipd units-1.yaml
one_line err
has err 'above 1 in its unit'
status 0 "$HEDDLE" cc compare --algorithm pipd --warmup 1ms --measure 1ms \
	units-7.yaml
has out 'knows only the minimum and the maximum rate'
with 'cap: false' >uncapped.yaml
status 0 "$HEDDLE" cc compare --algorithm fimd --warmup 5ms --measure 5ms \
	uncapped.yaml --csv
cp out uncapped
status 0 "$HEDDLE" cc compare --algorithm fimd --warmup 5ms --measure 5ms \
	"$SRC/examples/two-switch-congestion.yaml" --csv
cmp -s out uncapped && fail "the cap makes no difference"
with 'echo: cnp' >cnp.yaml
status 0 "$HEDDLE" cc compare --algorithm cct --warmup 1ms --measure 1ms \
	cnp.yaml
status 2 "$HEDDLE" cc compare --algorithm unknown cnp.yaml
has err "unknown algorithm 'unknown'"
sed 's/order: fifo/queueing: cioq/' \
	"$SRC/examples/two-switch-congestion.yaml" >cioq.yaml
status 0 "$HEDDLE" cc compare --warmup 20ms --measure 20ms --marking iba \
	--algorithm none --algorithm cct cioq.yaml --json
relieved 3 cct victim

# Rates of flows over time are shown in JSON and pages, not as text.
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
