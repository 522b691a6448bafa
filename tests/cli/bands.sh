# With qos.bands the rate of a row chooses the SL of its class, as the table of paper 000 does;
# bands.py has the table once more.
. "$SRC/tests/cli/lib.sh"

bands() {
	python3 "$SRC/tests/cli/bands.py" "$@"
}
for seed in 1 2 3; do
	bands rows $seed >rows.yaml
	bands requests $seed >requests
	status 0 "$HEDDLE" sim rows.yaml --json
	bands check $seed <out || fail "rows of seed $seed"
	# The scenario with every default filled in has the same classes.
	status 0 "$HEDDLE" sim rows.yaml --explain
	cp out explained.yaml
	status 0 "$HEDDLE" sim explained.yaml --json
	bands check $seed <out || fail "explained rows of seed $seed"
	status 0 "$HEDDLE" qos admit rows.yaml --payload 64 --requests requests --json
	bands answers $seed <out || fail "requests of seed $seed"
done
