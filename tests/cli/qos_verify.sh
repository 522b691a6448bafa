# A plan goes to OpenSM on a live fabric, its tables are read back by smpquery
# and saquery and from OpenSM's dump, and 'qos verify' finds all of them as
# planned; any entry that is another it names.
. "$SRC/tests/cli/lib.sh"
. "$SRC/tests/cli/live_lib.sh"
rm -rf smp sa dump
mkdir smp sa dump
"$HEDDLE" topo gen fat-tree --radix 4 --levels 2 -o tree.net
"$HEDDLE" qos plan --conf mds=10%,latency,256 mpi=60%,2KiB ost=30%,4KiB >plan.conf
grep -q '^qos TRUE' plan.conf || echo 'qos TRUE' >>plan.conf
"$HEDDLE" live up tree.net >up
# It folds by the VLs that it read: the second sweep is what stays.
for sweep in 1 2; do
	on h0 opensm -o -f "$PWD/log" -F "$PWD/plan.conf" -D 0x43 >sm.out 2>&1 ||
		fail "OpenSM: $(tail -3 sm.out)"
done
cp dumps/opensm-sl2vl.dump dump/
on h0 ibnetdiscover >smp/topology
cp smp/topology sa/
cp smp/topology dump/
# Every port that has a cable: "LID PORT".
awk '/^Switch/ { for (i = 1; i < NF; i++) if ($i == "lid") lid = $(i + 1) }
	/^Ca/ { lid = "" }
	/^\[/ { if (lid) { split($1, n, /[][]/); print lid, n[2] }
		else for (i = 1; i < NF; i++) if ($i == "lid") { print $(i + 1), 1; break } }' \
	smp/topology >ports
on h0 sh -c 'while read -r lid port; do
	smpquery vlarb $lid $port
	smpquery sl2vl $lid $port
	smpquery portinfo $lid $port
done <ports' >smp/tables
manage h0 sm.log -F "$PWD/plan.conf"
settle sm.log
for what in VLAR SL2VL PIR; do
	on h0 saquery -t 300000 $what >sa/$what
done
kill $manager
wait $manager 2>/dev/null || :
"$HEDDLE" live down -q

n=$(wc -l <ports)
# value NAME: of what was compared.
value() {
	jq ".tables.compared.rows[0][\"$1\"]" out
}
status 0 "$HEDDLE" qos verify plan.conf --against smp --json
for what in ports 'VLs read' 'limits read' 'tables read' 'maps read'; do
	[ "$(value "$what")" = "$n" ] || fail "$(value "$what") $what, not $n"
done
status 0 "$HEDDLE" qos verify plan.conf --against sa --json
for what in 'VLs read' 'limits read' 'tables read' 'maps read'; do
	[ "$(value "$what")" = "$n" ] || fail "sa: $(value "$what") $what, not $n"
done
status 0 "$HEDDLE" qos verify plan.conf tree.net --against dump --json
[ "$(value 'maps read')" = "$n" ] ||
	fail "$(value 'maps read') maps in OpenSM's dump, of $n ports"

# another FOLDER SED EXPECTED...: exactly one thing is otherwise.
another() {
	rm -rf wrong
	cp -r "$1" wrong
	sed -i "$2" wrong/*
	! diff -r "$1" wrong >/dev/null || fail "'$2' changes nothing"
	status 1 "$HEDDLE" qos verify plan.conf --against wrong
	shift 2
	[ "$(sed -n '/^# differences/,/^$/p' out | grep -c '^  ')" = 1 ] ||
		fail "not one difference: $(cat out)"
	for text; do
		has out "$text"
	done
}
at=$(grep -n 'VLHighLimit' smp/tables | sed -n 5p | cut -d: -f1)
another smp "${at}s/[0-9]*\$/77/" 'high limit' 77 "wrong/tables:$at"
at=$(grep -n '^WEIGHT' smp/tables | sed -n 7p | cut -d: -f1)
another smp "${at}s/0x[0-9a-fA-F]*/0x7/" 'entry 0' ":7 "
at=$(grep -n '^ports: in' smp/tables | sed -n 9p | cut -d: -f1)
another smp "${at}s/| *[0-9]*|/|14|/" 'VL of SL 0' 14
at=$(grep -n 'VL: ' sa/SL2VL | tail -n 1 | cut -d: -f1)
another sa "${at}s/VL: *[0-9]*|/VL:11|/" 'VL of SL 0' 11
at=$(grep -n 'OperVLs' sa/PIR | tail -n 1 | cut -d: -f1)
another sa "${at}s/VL0.*/VL0-1/" VLs
# A plan that no manager programmed.
"$HEDDLE" qos plan --conf a=50%,2KiB b=50%,2KiB >other.conf
grep -q '^qos TRUE' other.conf || echo 'qos TRUE' >>other.conf
status 1 "$HEDDLE" qos verify other.conf --against smp --json
[ "$(jq '[.tables.differences.rows[].port] | unique | length' out)" = "$n" ] ||
	fail "not every port differs"
# With one VL there is nothing to arbitrate: other weights are as good.
sed 's/^max_op_vls.*/max_op_vls 1/; s/^\(qos_vlarb_[a-z]*\) .*/\1 0:99/
	s/^qos_high_limit.*/qos_high_limit 99/' plan.conf >one.conf
status 1 "$HEDDLE" qos verify one.conf --against smp --json
[ "$(value 'VLs read') $(value 'limits read') $(value 'tables read')" = "$n 0 0" ] ||
	fail "weights of one VL are compared"
jq -e '[.tables.differences.rows[].what] | length > 0 and
	all(test("entry|limit") | not)' out >jq.out ||
	fail "weights of one VL are another: $(jq -c .tables.differences out)"
# Half of it is not all of it.
rm -rf wrong
mkdir wrong
head -c $(($(wc -c <smp/tables) / 2)) smp/tables >wrong/tables
status 0 "$HEDDLE" qos verify plan.conf smp/topology --against wrong
has out "nothing was read of "
# What is invalid.
status 2 "$HEDDLE" qos verify plan.conf
status 3 "$HEDDLE" qos verify plan.conf --against nowhere
one_line err
status 3 "$HEDDLE" qos verify plan.conf tree.net --against cache
has err "no file contains output of smpquery"
status 3 "$HEDDLE" qos verify plan.conf --against cache
has err "no file contains output of ibnetdiscover"
echo 'qos FALSE' >off.conf
status 3 "$HEDDLE" qos verify off.conf --against smp
has err "'qos' is not TRUE"
echo "$n ports are as planned, by smpquery and by saquery"
