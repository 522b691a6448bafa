# Unmodified OpenSM manages a live fabric; unmodified tools query it and read the configuration that
# OpenSM was given.
. "$SRC/tests/cli/lib.sh"
. "$SRC/tests/cli/live_lib.sh"
cat >conf <<'END'
force_log_flush TRUE
qos TRUE
qos_max_vls 8
qos_high_limit 4
qos_vlarb_high 0:64,1:128
qos_vlarb_low 0:32,1:64,2:96,3:0,4:0,5:0,6:0,7:0
qos_sl2vl 0,1,2,3,4,5,6,7,7,6,5,4,3,2,1,0
use_optimized_slvl TRUE
congestion_control TRUE
cc_key 0x0
cc_sw_cong_setting_control_map 0xF
cc_sw_cong_setting_threshold 0x0F
cc_sw_cong_setting_packet_size 8
cc_sw_cong_setting_marking_rate 10
cc_ca_cong_setting_port_control 0x0001
cc_ca_cong_setting_control_map 0xFFFF
cc_ca_cong_setting_ccti_timer 0 150
cc_cct 0:0,1:1,2:2,3:4,4:8
END

# ---- fabrics that the help starts, without what only some machines have
{ "$HEDDLE" live --help && "$HEDDLE" live up --help; } >help
sed -n "s/^ *heddle live up '\(.*\)'.*/\1/p" help >fabrics
[ -s fabrics ] || fail "no example in the help: $(cat help)"
while read -r fabric; do
	"$HEDDLE" topo show "$fabric" >/dev/null || fail "the help's '$fabric'"
done <fabrics

# ---- no fabric runs
status 3 "$HEDDLE" live show
has err "no fabric runs"
status 3 "$HEDDLE" live exec h0 -- true
status 3 "$HEDDLE" live dump
status 2 "$HEDDLE" live up star --name 'a/b'

# ---- a fabric, and OpenSM on its first host; no reader waits for the daemon
"$HEDDLE" live up 'fat-tree --radix 4 --levels 3' 2>&1 | cat >up
has up "16 hosts, 20 switches"
status 4 "$HEDDLE" live up star
has err "runs already"
status 3 "$HEDDLE" live exec unknown -- true
manage h0 log -F conf
settle

# ---- nodes and cables are those that were generated
on h3 ibnetdiscover >found
"$HEDDLE" topo check found >/dev/null || fail "ibnetdiscover's file"
"$HEDDLE" topo gen fat-tree --radix 4 --levels 3 -o made
links() {
	"$HEDDLE" topo convert "$1" --to links | sort
}
links made >wanted
links found >got
cmp wanted got || fail "ibnetdiscover finds another fabric"
for form in -f -g; do
	on h3 ibnetdiscover $form | grep -v '^Non-Chassis' >listed
	links listed >got
	cmp wanted got || fail "ibnetdiscover $form finds another fabric"
done
# -p: a line per end of a cable.
on h3 ibnetdiscover -p >ends
[ "$(grep -c '^CA .* - SW ' ends)" -eq 16 ] &&
	[ "$(grep -c '^SW .* - SW ' ends)" -eq 64 ] &&
	[ "$(grep -c '^SW .* - CA ' ends)" -eq 16 ] ||
	fail "ibnetdiscover -p: $(cat ends)"
[ "$("$HEDDLE" live show --csv | grep -c ',active,')" -eq 116 ] ||
	fail "not all of 20 + 96 ports are active"

# ---- the configuration of OpenSM is programmed
on h3 smpquery portinfo 2 1 | grep -q 'VLHighLimit:\.*4$' ||
	fail "the high limit is not 4"
on h3 smpquery sl2vl 2 1 >vls
[ "$(grep -c '| 0| 1| 2| 3| 4| 5| 6| 7| 7| 6| 5| 4| 3| 2| 1| 0|' vls)" -ge 5 ] ||
	fail "vls: $(cat vls)"
on h3 smpquery vlarb 2 1 >weights
has weights '|0x20|0x40|0x60|0x0 '
has weights '|0x40|0x80|0x0 '
on h3 ibccquery SwitchCongestionSetting 2 >setting
grep -q 'Marking_Rate:\.*10$' setting || fail "the marking rate is not 10"
grep -q '^Threshold:\.*0x0f$' setting || fail "the threshold is not 15"
on h3 ibccquery CACongestionSetting 1 >source
grep -q 'CCTI_Timer:\.*150$' source || fail "the timer is not 150"

# ---- what was programmed, as tools of others write it, and read back
on h0 dump_fts >theirs
"$HEDDLE" live dump -o ours
cmp theirs ours || fail "'live dump' differs from dump_fts"
on h0 dump_fts -M | grep -v '^Multicast' >theirs
"$HEDDLE" live dump --to mfts | grep -v '^Multicast' >ours
cmp theirs ours || fail "'live dump --to mfts' differs from dump_fts -M"
"$HEDDLE" live dump --to opensm -o tables
"$HEDDLE" route found --engine file --routes tables --dump fts -o ours
on h3 dump_fts >theirs
"$HEDDLE" live show --csv | sed -n 's/^s[^,]*,0,active,\([0-9]*\),.*/\1/p' >lids
[ "$(wc -l <lids)" -eq 20 ] || fail "LIDs of switches: $(cat lids)"
while read -r lid; do
	on h3 ibroute "$lid" </dev/null
done <lids | routes >got
routes <theirs >wanted
[ "$(wc -l <wanted)" -eq 720 ] || fail "dump_fts: $(wc -l <wanted) entries"
cmp wanted got || fail "ibroute differs from dump_fts"
cmp theirs ours || fail "'live dump --to opensm' is not read back"
"$HEDDLE" live dump --to sl2vl -o vls
status 0 "$HEDDLE" route found --engine file --routes tables --sl2vl vls
"$HEDDLE" live dump --to json | jq -e '.' >/dev/null || fail "no JSON"

# ---- responses of several segments
on h3 saquery -t 300000 >nodes
[ "$(grep -c 'NodeDescription' nodes)" -eq 36 ] || fail "not all 36 nodes"
on h3 saquery -t 300000 -p >paths
[ "$(grep -c 'PathRecord' paths)" -eq 1296 ] || fail "not all 36 x 36 paths"

# ---- a cable is removed and reconnected: OpenSM receives a trap and sweeps
before=$(grep -c 'SUBNET UP' log)
"$HEDDLE" live link s1-0:3 down
wait_for 1 'num:128 (Link state change)'
wait_for $((before + 1)) 'SUBNET UP'
on h3 ibnetdiscover >without
[ "$(links without | wc -l)" -eq "$(($(links made | wc -l) - 1))" ] ||
	fail "the cable is still found"
"$HEDDLE" live link s1-0:3 up
wait_for $((before + 2)) 'SUBNET UP'

# ---- error counters have the injected errors until they are cleared
"$HEDDLE" live inject-error s1-1:2 SymbolErrorCounter 7
lid=$("$HEDDLE" live show --csv | sed -n 's/^s1-1,0,active,\([0-9]*\),.*/\1/p')
on h3 perfquery "$lid" 2 | grep -q 'SymbolErrorCounter:\.*7$' ||
	fail "perfquery does not show the errors"
on h3 perfquery -R "$lid" 2 >/dev/null
on h3 perfquery "$lid" 2 | grep -q 'SymbolErrorCounter:\.*0$' ||
	fail "perfquery -R does not clear them"
status 3 "$HEDDLE" live inject-error s1-1:2 NoSuchCounter 7
status 3 "$HEDDLE" live inject-error s1-1:2 SymbolErrorCounter 18446744073709551616
status 3 "$HEDDLE" live link s1-1:99 down
status 2 "$HEDDLE" live link s1-1:2 sideways
# A port of a node with many ports must be named.
status 3 "$HEDDLE" live link s1-1 down
has err "'s1-1' has the ports 1 to 4"
status 3 "$HEDDLE" live inject-error s1-1 SymbolErrorCounter 7

# ---- a shell sees the adapter, too
on h3 ibstatus | grep -q 'ACTIVE' || fail "ibstatus"

# ---- so does the other kit: it finds all nodes, and nothing wrong with them
command -v ibdiagnet >/dev/null || fail "ibdiagnet is not installed"
# Like its script, with a longer timeout: it gives up 100 ms after a request by its own clock, even
# if the response has arrived and it had no processor meanwhile.
sed 's/^set argv0.*/&\
rename ibis_set_transaction_timeout wait_for\
proc ibis_set_transaction_timeout {ms} { wait_for 20000 }/' \
	"$(command -v ibdiagnet)" >patient
grep -q 'wait_for 20000' patient || fail "ibdiagnet is started in another way"
on h3 sh patient -o "$PWD/ibdiagnet" >checked 2>&1 ||
	fail "ibdiagnet: $(tail -20 checked)"
has checked '36 nodes (20 Switches & 16 CA-s) discovered'
[ "$(grep -cE '^ +(Bad GUIDs|Link State|General|Performance|Partitions).* 0 +0' \
	checked)" -eq 5 ] || fail "ibdiagnet: $(tail -20 checked)"

# ---- programs on two hosts talk to each other
on h5 ibping -S >/dev/null 2>&1 &
server=$!
lid=$(on h5 cat /sys/class/infiniband/heddle0/ports/1/lid)
tries=0
# The other has to begin first: it may do so between two of the three.
until on h3 ibping -c 3 "$((lid))" >pings 2>&1 &&
	grep -q '3 packets transmitted, 3 received, 0% packet loss' pings; do
	tries=$((tries + 1))
	[ $tries -lt $PATIENCE ] || fail "ibping: $(cat pings)"
	sleep 0.1
done
kill $server
wait $server || true

# ---- traffic obeys what OpenSM programmed, and is counted where it passed
kill "$manager"
wait "$manager" || true
cat >load.yaml <<'END'
fabric: {topology: {kind: star, hosts: 4}}
traffic:
  - {name: a, kind: saturating, source: h0, destination: h3, pattern: pairs, sl: 0, payload: 2KiB}
  - {name: b, kind: saturating, source: h1, destination: h3, pattern: pairs, sl: 1, payload: 2KiB}
run: {warmup: 20us, measure: 500us}
END
share() { # ROW: Gb/s delivered
	sed -n "s/^$1,[^,]*,[^,]*,[^,]*,\([0-9]*\).*/\1/p" traffic.csv
}
"$HEDDLE" live up load.yaml --name star -q
status 3 "$HEDDLE" live traffic load.yaml --name star
has err "no manager has been there yet"
status 3 "$HEDDLE" live traffic "$SRC/examples/quickstart.yaml" --name star
has err "another topology than the scenario"
for weights in 64,192 192,64; do
	sed -i '/^qos_vlarb/d;/^qos_high/d' conf
	printf 'qos_high_limit 0\nqos_vlarb_high 0:0\nqos_vlarb_low 0:%s,1:%s\n' \
		"${weights%,*}" "${weights#*,}" >>conf
	timeout 300 "$HEDDLE" live exec h0 -n star -- opensm -o -F conf \
		-f "$PWD/star.log" >opensm.out 2>&1 || fail "OpenSM on a star"
	"$HEDDLE" live traffic load.yaml --name star -- --csv -o traffic.csv
	# Shares are the weights: packets are of one size.
	[ $((100 * $(share a) / ($(share a) + $(share b)))) -ge \
		$((${weights%,*} * 100 / 256 - 2)) ] &&
		[ $((100 * $(share b) / ($(share a) + $(share b)))) -ge \
			$((${weights#*,} * 100 / 256 - 2)) ] ||
		fail "weights $weights: $(share a) and $(share b) Gb/s"
done
received=$(timeout 300 "$HEDDLE" live exec h3 -n star -- perfquery |
	sed -n 's/^PortRcvPkts:\.*//p')
[ "$received" -gt 12000 ] || fail "h3 has counted $received packets"
# A cable that is down carries nothing.
"$HEDDLE" live link hub:1 down --name star
"$HEDDLE" live traffic load.yaml --name star -- --csv -o traffic.csv || true
[ "$(share a)" -eq 0 ] && [ "$(share b)" -gt 150 ] ||
	fail "without its cable a still has $(share a) Gb/s"
"$HEDDLE" live down --name star

# ---- what it says can be typed, whatever a node is called
cat >names <<'END'
Ca	1 "H-0000000000000001"		# "it's $(a) host"
[1](0000000000000011)	"H-0000000000000002"[1] (0000000000000012)	# lid 0 lmc 0 "b" lid 0 4xHDR

Ca	1 "H-0000000000000002"		# "b"
[1](0000000000000012)	"H-0000000000000001"[1] (0000000000000011)	# lid 0 lmc 0 "a" lid 0 4xHDR
END
"$HEDDLE" live up names --name names >up
has up ' 2 hosts, 0 switches'
eval "$(sed -n 's/^heddle\(.*\)-- opensm$/"$HEDDLE"\1-- ibstat -p/p' up)" >found ||
	fail "not to be typed: $(cat up)"
has found 0x0000000000000011
"$HEDDLE" live down --name names

# ---- a scenario's nodes and cables are what is up: who routes them is another
cat >unrouted.yaml <<'END'
fabric:
  topology: {kind: irregular, switches: 8}
  routing: {engine: dor}
END
status 3 "$HEDDLE" sim unrouted.yaml
"$HEDDLE" live up unrouted.yaml --name unrouted >up
has up "'unrouted' is up: "
has up 'heddle live exec --name unrouted h'
on_unrouted() {
	timeout 300 "$HEDDLE" live exec --name unrouted h0 -- "$@"
}
on_unrouted opensm -o -f "$PWD/unrouted.log" >opensm.out 2>&1 || fail "OpenSM"
[ "$(on_unrouted ibswitches | grep -c '^Switch')" -eq 8 ] || fail "its switches"
"$HEDDLE" live down --name unrouted

# ---- end of the fabric: nothing remains
"$HEDDLE" live down
[ ! -e "$XDG_RUNTIME_DIR/heddle-fabric" ] || fail "the folder is still there"
