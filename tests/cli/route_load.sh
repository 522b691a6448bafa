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
		--db "$name.db" --html "$name.html" >"$name.json" ||
		fail "load of $name"
	echo "$name:"
	python3 "$SRC/tests/cli/route_load.py" "$name.ibnet" "$name.tables" \
		"$name.json" $patterns "$name.db" || fail "$name is loaded otherwise"
}

agree tree ftree fat-tree --radix 8 --levels 3
agree torus torus torus --sizes=4x4x4 --hosts=2
agree dragonfly minhop dragonfly --hosts=2
echo ok
