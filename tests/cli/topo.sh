# 'heddle topo': kinds, formats, standard input, refusals with their line.
. "$SRC/tests/cli/lib.sh"
fixtures=$SRC/tests/fixtures/topo

# The help of 'topo gen' names every kind that there is, and each has its own.
status 2 "$HEDDLE" topo gen
one_line err
kinds=$(sed 's/.*one of \(.*\); .*/\1/; s/,//g' err)
[ "$(echo "$kinds" | wc -w)" -ge 16 ] || fail "kinds: $kinds"
status 0 "$HEDDLE" topo gen --help
cp out help
for kind in $kinds; do
	grep -q "^  $kind  *[a-z0-9]" help || fail "help lacks $kind"
	status 0 "$HEDDLE" topo gen "$kind" --help
	has out "Usage: heddle topo gen $kind"
	[ "$(wc -L <out)" -le 80 ] || fail "help of $kind is wider than 80"
	status 0 "$HEDDLE" topo gen "$kind"
	mv out made
	# What is made reads back, from a file and from standard input.
	status 0 "$HEDDLE" topo check made
	"$HEDDLE" topo convert made >again
	cmp made again
	"$HEDDLE" topo convert - <made >again
	cmp made again
	status 0 "$HEDDLE" topo show made
	cp out shown
	status 0 "$HEDDLE" topo show "$kind"
	cmp out shown
done

# Pictures are valid XML and Graphviz for any names.
printf 'Switch 2 "a"\t# <&> "q" é\n[1]\t"b"[1]\n\nCa 1 "b"\n[1]\t"a"[1]\n' >odd
for kind in odd mesh dragonfly 'fat-tree --radix 8 --levels 3'; do
	"$HEDDLE" topo convert "$kind" -o picture.svg
	python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' \
		picture.svg
	"$HEDDLE" topo convert "$kind" -o picture.dot
	head -1 picture.dot | grep -q '^graph fabric {'
done
# Graphs for other programs have the same nodes and cables.
for kind in mesh dragonfly "$fixtures/site.ibnetdiscover"; do
	python3 "$SRC/tests/cli/topo_graphs.py" "$HEDDLE" "$kind" || fail "$kind"
done
for levels in 2 3; do
	python3 "$SRC/tests/cli/topo_graphs.py" "$HEDDLE" "fat-tree --radix 8 --levels $levels" \
		fat-tree || fail "a fat tree of $levels levels"
done
# A name that ends like JSON or CSV is of tables, as everywhere.
"$HEDDLE" topo convert mesh --json >tables
"$HEDDLE" topo convert mesh -o tables.json
cmp tables tables.json
"$HEDDLE" topo gen mesh -o tables.csv
has tables.csv "node,kind,guid,ports,tier"

# Topologies are reproducible; another seed gives another graph.
"$HEDDLE" topo gen irregular --seed 3 >a
"$HEDDLE" topo gen irregular --seed 3 >b
cmp a b
"$HEDDLE" topo gen irregular --seed 4 >c
! cmp -s a c || fail "two seeds, one graph"

# The fat tree of the benchmarks is one line.
status 0 "$HEDDLE" topo show 'fat-tree --radix 36 --levels 3' --json
jq -e '.tables.fabric.rows[0] | .switches == 1620 and .hosts == 11664 and
	.diameter == 4 and .bisection == 5832' out >/dev/null

# Refusals: one line that names file and line, exit 3, no output file.
refuse() { # LINE TEXT < file
	cat >bad
	status 3 "$HEDDLE" topo convert bad -o new
	one_line err
	has err "heddle: bad:$1"
	has err "$2"
	[ ! -e new ] || fail "an output was left"
	empty out
}
real=$fixtures/small.ibnetdiscover
head -c 700 "$real" | refuse 2 "expected"
sed 's/^\[3\]\t/[300]\t/' "$real" |
	refuse 13 "port 300 of a node that has 8 (line 10)"
sed 's/Switch\t8/Switch\t2147483648/' "$real" |
	refuse 10 "2147483648 ports"
awk -v RS= -v ORS='\n\n' '!/Ca\t1 "H-0000000000100006"/' "$real" |
	refuse 12 "'H-0000000000100006', is not in the file"
sed 's/^\[2\]\t"H/[1]\t"H/' "$real" | refuse 12 "port 1 is in use"
sed '/^\[4\]\t"S-0000000000200001"/d' "$real" |
	refuse 14 "is not cabled at all"
echo hello | refuse "" "not a topology"
status 3 "$HEDDLE" topo show no-such-file
has err "no-such-file"
status 2 "$HEDDLE" topo gen mehs
has err "did you mean 'mesh'?"
status 2 "$HEDDLE" topo convert mesh --to gif
has err "unknown format 'gif'"
status 3 "$HEDDLE" topo gen irregular --switches 5 --degree 3
one_line err
# The least that each kind makes is a fabric that can be read.
for words in 'mesh --columns 1 --rows 1 --hosts 0' 'node-mesh --columns 1 --rows 1' \
	'torus --sizes 1 --hosts 0' 'hypercube --dimensions 1 --hosts 0' \
	'ring --switches 1 --hosts 0' 'star --hosts 0' 'star --switches 1 --hosts 0' \
	back-to-back 'tree --arity 1 --levels 1' 'fat-tree --radix 2 --levels 1' \
	'xgft --down 1 --up 1' 'rail --rails 1 --units 1 --hosts 1 --spines 0' \
	'dragonfly --routers 1 --globals 1 --groups 1 --hosts 0' \
	'dragonfly-plus --leaves 1 --spines 1 --globals 1 --groups 1 --hosts 0' \
	'irregular --switches 2 --degree 1 --hosts 0' 'routed --hosts 0'; do
	# shellcheck disable=SC2086 # these are words
	status 0 "$HEDDLE" topo gen $words -o least.ibnet
	status 0 "$HEDDLE" topo check least.ibnet
done

# check lists errors instead of refusing the file, and its exit status reports them.
sed 's/^\[2\]\t"H/[1]\t"H/' "$real" >bad
status 1 "$HEDDLE" topo check bad
has out "port clash"
has out "12"
sed '/^\[4\]\t"S-0000000000200001"/d; s/lid 6 4xHDR/lid 6 4xEDR/' "$real" >bad
status 1 "$HEDDLE" topo check bad --json
jq -e '[.tables.problems.rows[].problem] ==
	["speed mismatch", "asymmetric link"]' out >/dev/null
status 0 "$HEDDLE" topo check "$real"
