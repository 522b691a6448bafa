# The chapter's experiments: what is claimed, and what we find of it.
. "$SRC/tests/cli/lib.sh"

status 0 "$HEDDLE" cc thesis --warmup 40ms --measure 80ms --json
cp out thesis.json

# holds TRUE|FALSE WORDS: the claim that has these words.
holds() {
	jq -e --arg words "$2" ".tables.claims.rows |
		map(select(.claim | contains(\$words))) |
		length == 1 and .[0].holds == $1" thesis.json >/dev/null ||
		fail "'$2' is not $1"
}
holds true 'reservations of 2:1 are admitted'
holds true 'the high class is faster'
holds true 'the root link is used better'
holds true 'linear increase leaves bandwidth unused'
holds true 'a low marking threshold costs utilisation'
holds true 'a threshold near the capacity'
# Borne out by nothing of ours: said plainly.
holds false 'PIPD performs better than FIMD'
holds false 'mostly within 1e5'
holds false 'almost constant at Rmin'
# The functions run as printed, without a cap: then PIPD's r2 is mostly, but not
# always, faster than FIMD's r1.
holds false "PIPD's r2 is faster"
jq -e '.tables.claims.rows[] | select(.claim | contains("r2 is faster")) |
	.ours | test("in [345] of 6 settings whose gaps follow.*in [56] of 6")' \
	thesis.json >/dev/null || fail "the order of Table 3.3"
jq -e '.tables.claims.rows[] | select(.claim | contains("PIPD performs")) |
	.ours | contains("not borne out")' thesis.json >/dev/null ||
	fail "the report must say so"

# The published values, from the thesis' pages.
jq -e '[.tables["table 3.2"].rows[:4][].published | round] ==
	[47234, 149790, 76440, 259757] and
	([.tables["table 3.3"].rows[:4][].published | round] ==
	[18537, 118862, 20148, 194464])' thesis.json >/dev/null ||
	fail "not the published values"

# Four figures, rates that stay within their bounds.
jq -e '["figure 3.4", "figure 3.5", "figure 3.6", "figure 3.7"] as $names |
	[$names[] as $n | .tables[$n].rows | length > 500] | all' \
	thesis.json >/dev/null || fail "figures"
jq -e '[.tables["figure 3.4"].rows[] | .r1, .r2] |
	(min > 1888.8) and (max < 483560)' thesis.json >/dev/null ||
	fail "rates leave their bounds"

# Recovery: a lone flow whose acknowledgements are unmarked reaches the highest
# rate in the time that its function says, less the first 1/Rmin, which is not
# waited for; samples are 10 us apart.
jq -e '[.tables.start.rows[] | .computed - 1000 / 1888.9 - ."to Rmax" |
	fabs < 0.03] | all' thesis.json >/dev/null || fail "recovery"

# The scenario that the program has is the example.
status 0 "$HEDDLE" cc thesis --scenario
cmp out "$SRC/examples/thesis-two-classes.yaml" ||
	fail "another scenario than the example"
