# Flows per channel and effective bisection bandwidth of three fabrics, computed
# a second time from the cables and the tables (route_load.py).
. "$SRC/tests/cli/lib.sh"

patterns=200
# agree NAME ENGINE GENERATOR...
agree() {
	name=$1 engine=$2
	shift 2
	"$HEDDLE" topo gen "$@" -o "$name.ibnet" -q || fail "topo gen $*"
	"$HEDDLE" route "$name.ibnet" -e "$engine" --dump json -q >"$name.tables" ||
		fail "tables of $name"
	"$HEDDLE" route "$name.ibnet" -e "$engine" --load $patterns --all --json -q \
		--set 'traffic.+={name: a, kind: cbr, load: 1%, pattern: tornado}' \
		--db "$name.db" --html "$name.html" >"$name.json" ||
		fail "load of $name"
	echo "$name:"
	python3 "$SRC/tests/cli/route_load.py" "$name.ibnet" "$name.tables" \
		"$name.json" $patterns "$name.db" || fail "$name is loaded otherwise"
}

# Flows without a fixed destination are not counted, and a note says so. On a mesh
# with columns first a transposition loads the cables at two corners most, with
# all but one of the row.
status 0 "$HEDDLE" route 'mesh --columns=8 --rows=8' -e xy --load 1 --json \
	--set 'traffic.+={name: a, kind: cbr, load: 1%, pattern: transpose}' \
	--set 'traffic.+={name: b, kind: cbr, load: 1%, pattern: uniform}'
jq -e '.tables["channel loads"].rows[0]["of the traffic"] == 7 and
	(.tables.shares.rows[3] | .pattern == "traffic" and .["most per channel"] == 7)' out \
	>/dev/null || fail "a transposition loads otherwise"
has out '64 flows of the traffic go to no single end port'
status 0 "$HEDDLE" route 'mesh --columns=2 --rows=2' --load 1 --json
jq -e '.tables["channel loads"].rows[0]["of the traffic"] == null and
	(.tables.shares.rows | length == 3)' out >/dev/null || fail "loads without traffic"

agree tree ftree fat-tree --radix 8 --levels 3
agree torus torus torus --sizes=4x4x4 --hosts=2
agree dragonfly minhop dragonfly --hosts=2
echo ok
