# The arbitration tables of reservations are written to a file and programmed in a live fabric by
# Heddle's subnet manager. smpquery reads them back: 'qos verify' compares them on every port, entry
# by entry, and names differing ones.
. "$SRC/tests/cli/lib.sh"
. "$SRC/tests/cli/live_lib.sh"
"$HEDDLE" topo gen fat-tree --radix 4 --levels 2 --link '4x SDR' -o tree.net
cat >flows <<END
h0 h5 DB 1Gb/s
h1 h5 DBTS 100Mb/s 2KiB 1ms
h2 h6 DB 1Gb/s
END
status 0 "$HEDDLE" qos reserve --requests flows --tables tables tree.net
status 0 "$HEDDLE" qos reserve --requests flows --tables again tree.net
cmp tables again || fail "another file for the same reservations"
printf 'h0 h5 DB 1Gb/s\n' >fewer
status 0 "$HEDDLE" qos reserve --requests fewer --tables fewer.tables tree.net
! cmp -s tables fewer.tables || fail "the reservations are not in the tables"
# Admission without messages gives the same tables.
status 0 "$HEDDLE" qos admit --requests flows --tables admitted tree.net
cmp tables admitted || fail "'qos admit' has other tables than 'qos reserve'"

# table FILE NODE PORT: the keys of a port.
table() {
	awk -v node="$2" -v port="$3" '/^port/ { on = $5 == node && $3 == port; next } on' "$1"
}
# weights KEY FILE NODE PORT: of all entries of each VL, as "VL WEIGHT".
weights() {
	table "$2" "$3" "$4" | sed -n "s/^qos_vlarb_$1 //p" | tr ',:' '\n ' |
		awk '{ sum[$1] += $2 } END { for (vl in sum) if (sum[vl]) print vl, sum[vl] }' | sort -n
}
# h2 alone sends 1 Gb/s by its link of 8: its VL's weights are at least 1/8 of
# all weights of its port.
"$HEDDLE" qos reserve --requests flows tree.net --json >reserved
sl=$(jq '.tables.parts.rows[] | select(.from == "h2").sl' reserved)
vl=$(table tables h2 1 | sed -n 's/^qos_sl2vl //p' | cut -d, -f$((sl + 1)))
weights low tables h2 1 | awk -v vl="$vl" '{ all += $2 } $1 == vl { own = $2 }
	END { exit !(own > 0 && 8 * own >= all) }' ||
	fail "h2 has too little: $(table tables h2 1)"
[ "$(table tables h2 1 | grep '^qos_vlarb_high')" = 'qos_vlarb_high 0:0' ] ||
	fail "h2 has a high table"
# DBTS is in the high table of its port, which has no limit.
[ "$(weights high tables h1 1 | wc -l) $(table tables h1 1 | sed -n 1p)" = "1 qos_high_limit 255" ] ||
	fail "h1: $(table tables h1 1)"

"$HEDDLE" live up tree.net -q
# Ports of this fabric have 32 entries in each table: more are refused.
printf 'h2 h6 DB 5Gb/s\n' >large
status 0 "$HEDDLE" qos reserve --requests large --tables large.tables tree.net
status 3 "$HEDDLE" live sm h0 --tables large.tables
has err "has smaller arbitration tables than the given ones"
"$HEDDLE" live sm h0 --tables tables >manager.log 2>&1 &
manager=$!
programs="$programs $manager"
wait_for 1 "SUBNET UP" manager.log
n=$(grep -c ^port tables)
has manager.log "port tables: $n given, $n of them for discovered ports"
# read_back FOLDER: tables of every port with a cable, whose number is in ./ports.
read_back() {
	mkdir -p "$1"
	on h0 ibnetdiscover >"$1/topology"
	awk '/^Switch/ { for (i = 1; i < NF; i++) if ($i == "lid") lid = $(i + 1) }
		/^Ca/ { lid = "" }
		/^\[/ { if (lid) { split($1, n, /[][]/); print lid, n[2] }
			else for (i = 1; i < NF; i++) if ($i == "lid") { print $(i + 1), 1; break } }' \
		"$1/topology" >ports
	on h0 sh -c 'while read -r lid port; do
		smpquery vlarb $lid $port
		smpquery sl2vl $lid $port
		smpquery portinfo $lid $port
	done <ports' >"$1/tables"
}
read_back read
[ "$(wc -l <ports)" = "$n" ] || fail "$(wc -l <ports) ports, not $n"
# The manager's routes are those of the reservations.
on h0 dump_fts </dev/null | routes >got
"$HEDDLE" route tree.net --dump fts | routes >wanted
cmp wanted got || fail "the manager routes other paths than 'qos reserve'"
# A cable fails: the remaining ports keep their tables.
ups=$(grep -c "SUBNET UP" manager.log)
"$HEDDLE" live link h3 down
wait_for $((ups + 1)) "SUBNET UP" manager.log
read_back less
[ "$(wc -l <ports)" = $((n - 2)) ] || fail "$(wc -l <ports) ports without h3"
status 0 "$HEDDLE" qos verify --tables tables tree.net --against less --json
[ "$(jq '.tables.compared.rows[0]["tables read"]' out)" = $((n - 2)) ] || fail "$(cat out)"
kill $manager
wait $manager 2>/dev/null || :

# ---- the fabric has them
status 0 "$HEDDLE" qos verify --tables tables --against read --json
for what in ports 'VLs read' 'limits read' 'tables read' 'maps read'; do
	got=$(jq ".tables.compared.rows[0][\"$what\"]" out)
	[ "$got" = "$n" ] || fail "$got $what, not $n"
done
status 0 "$HEDDLE" qos verify --tables tables tree.net --against read
status 1 "$HEDDLE" qos verify --tables fewer.tables --against read
has out "low entry"

# ---- one entry that is another is found, in the file and in the fabric
differs() {
	[ "$(sed -n '/^# differences/,/^$/p' out | grep -c '^  ')" = 1 ] ||
		fail "not one difference: $(cat out)"
	has out "$1"
}
# changed N SED: the file with its N-th line of that key changed.
changed() {
	at=$(grep -n "$1" tables | sed -n "$2p" | cut -d: -f1)
	sed "${at}$3" tables >changed.tables
	! cmp -s tables changed.tables || fail "'$3' changes nothing"
	status 1 "$HEDDLE" qos verify --tables changed.tables --against read
}
changed ^qos_vlarb_low 7 's/:\([0-9]*\)/:7/'
differs 'low entry 0'
changed ^qos_high_limit 3 's/ .*/ 9/'
differs 'high limit'
changed ^qos_vlarb_high 11 's/ .*/ 3:5/'
[ "$(grep -c 'high entry' out)" -ge 1 ] || fail "no high entry: $(cat out)"
rm -rf wrong
cp -r read wrong
at=$(grep -n '^WEIGHT' wrong/tables | sed -n 7p | cut -d: -f1)
sed -i "${at}s/0x[0-9a-fA-F]*/0x77/" wrong/tables
status 1 "$HEDDLE" qos verify --tables tables --against wrong
differs "wrong/tables:$at"

# ---- what is malformed is refused, by both, with its line
# malformed LINE TEXT SED
malformed() {
	sed "$3" tables >bad.tables
	for command in "live sm h0" "qos verify --against read"; do
		# shellcheck disable=SC2086
		status 3 "$HEDDLE" $command --tables bad.tables
		one_line err
		has err "bad.tables:$1: "
		has err "$2"
	done
}
malformed 1 "expected 'heddle-port-tables 1'" 1d
malformed 3 "max_op_vls is 1 to 5" '3s/4/7/'
malformed 4 "expected 'port 0xGUID NUMBER'" '4s/0x//'
malformed 7 "expected VL:WEIGHT" '7s/:/;/'
malformed 7 "a weight is 0 to 255" '7s/:1,/:256,/'
malformed 7 "a VL is not below" '7s/ [0-9]*:/ 8:/'
malformed 8 "the VLs of all 16 SLs" '8s/,[0-9]*$//'
malformed 4 "each once" '6d'
malformed 9 "a port is there twice" '4h;9g'
status 3 "$HEDDLE" qos verify --tables nothere --against read
one_line err
# Ports that are not those of the fabric.
"$HEDDLE" topo gen star --hosts 3 -o star.net
status 3 "$HEDDLE" qos verify --tables tables star.net --against read
one_line err
has err "tables"

# ---- nothing is written when it is refused
printf 'h0 unknown DB 1Gb/s\n' >unknown
rm -f none
status 3 "$HEDDLE" qos reserve --requests unknown --tables none tree.net
[ ! -e none ] || fail "a refused command wrote tables"
status 3 "$HEDDLE" qos reserve --requests flows --engine dfsssp --tables none tree.net
has err "'dfsssp' chooses VLs itself"
[ ! -e none ] || fail "a refused command wrote tables"
# A manager whose algorithm chooses VLs accepts no tables.
status 3 "$HEDDLE" live sm h0 --engine dfsssp --tables tables
has err "'dfsssp' chooses VLs itself"
"$HEDDLE" live down -q
echo "$n ports have the tables of the reservations"
