# What fails in turn, as users ask for it: the exit status, the ranking, refusals,
# and the same bytes on any number of threads.
. "$SRC/tests/cli/lib.sh"

# A tree of two levels is redundant; a mesh of xy takes no hole.
status 0 "$HEDDLE" survey 'fat-tree --radix 4 --levels 2' --engine ftree --csv
grep -q '^links,8,0,0,0,0,8,0$' out || fail "no eight links that make it slower"
status 1 "$HEDDLE" survey 'mesh --columns=3 --rows=3' --engine xy --fail links
has out 'refused'
# Shortest ways around a torus can lock up, whatever fails.
status 1 "$HEDDLE" survey 'torus --sizes=5x5' --fail links --worst 1
has out 'can lock up'

# A site's file, with routes that OpenSM made.
"$HEDDLE" topo gen fat-tree --radix 4 --levels 3 -o site.net
"$HEDDLE" route site.net --engine updn --dump lfts -o site.lfts
status 0 "$HEDDLE" survey site.net --engine file \
	--set fabric.routing.file=site.lfts --fail switches --fail links --worst 0 --json
[ "$(jq '.tables.failures.rows | length' out)" -eq 52 ] || fail "not 20 switches and 32 links"

mv out one
status 0 "$HEDDLE" survey site.net --engine file --threads 3 \
	--set fabric.routing.file=site.lfts --fail switches --fail links --worst 0 --json
same() { # without the words that it was called with
	jq 'del(.arguments)' "$1"
}
[ "$(same out)" = "$(same one)" ] || fail "three threads find something else"

# Nothing to fail, nobody to lose.
status 0 "$HEDDLE" survey 'star --hosts 2' --fail links
status 2 "$HEDDLE" survey 'star --hosts 2' --fail cables
has err "'cables' is nothing that fails: switches, links or hosts"
status 2 "$HEDDLE" survey
status 3 "$HEDDLE" survey no-such-file
