# . "$SRC/tests/cli/live_ask.sh": each tool of infiniband-diags asks a live
# fabric of 648 hosts or more that is managed, by routes that ./planned has:
# what it finds is what the fabric is.

# ---- records of the subnet administrator: a row per kind, and how many
"$HEDDLE" live show --csv | sed 1,/^node,/d >ports
hosts=$(grep -c '^h' ports)
switches=$(grep -c '^s[^,]*,0,' ports)
switch_ports=$(grep -c '^s' ports)
ends=$((hosts + switches))
ports=$((hosts + switch_ports))
# Pairs of ports of a switch, its own among them.
pairs=$(awk -F, '/^s/ { n[$1]++ } END { for (s in n) sum += n[s] * n[s]; print sum }' ports)
ended=$(awk -F, '$2 > 0 && $7 != ""' ports | wc -l)
last=h$((hosts - 1))
for host in h3 h400 $last; do
	[ "$(on $host python3 "$SRC/tests/cli/live_join.py")" = 0xc000 ] ||
		fail "$host does not join"
done
while read -r kind wanted; do
	on h3 saquery -t 300000 --smkey 1 "$kind" >records
	got=$(grep -c 'Record.*dump:' records || true)
	[ "$got" -eq "$wanted" ] || fail "$got records $kind, not $wanted"
done <<END
NR $ends
PIR $ports
VLAR $((ports * 4))
PKTR $((switch_ports + hosts * 4))
LFTR $((switches * (ends / 64 + 1)))
GIR $ends
SWIR $switches
SMIR 1
LR $ended
SR 0
IIR 0
MCMR 3
END
on h3 saquery -t 300000 SL2VL >records
[ "$(grep -c 'Record dump' records)" -eq $((pairs + hosts)) ] ||
	fail "SL2VL records"
# The manager responds to a join before it has programmed the tables for it.
tries=0
until on h3 saquery -t 300000 MFTR >records &&
	[ "$(grep -c 'Record dump' records)" -ge 5 ]; do
	tries=$((tries + 1))
	[ $tries -lt $PATIENCE ] || fail "MFT records"
	sleep 0.1
done
on h3 saquery -t 300000 --src-to-dst 1:2 | grep -q 'dlid.*2$' || fail "a path record"
# The P_Keys of ports follow the administrator's partitions; one manager.
leaf=$(lid_of s1-5)
for end in "$(lid_of h3) 1 0" "$leaf 0 0" "$leaf 3 3" "$leaf 20 20"; do
	set -- $end
	on h3 saquery -t 300000 --smkey 1 PKTR "$1/$2" | sed -n '/PKey Table/,/^$/p' |
		grep -o '0x[0-9a-f]*' >said
	on h3 smpquery pkeys "$1" "$3" | grep -o ' 0x[0-9a-f]*' | tr -d ' ' >is
	[ -s said ] || fail "no P_Keys of LID $1, port $2"
	cmp said is || fail "P_Keys of LID $1, port $2"
done
# A path for a request: in that partition, of more than that MTU and rate.
while read -r option value wanted; do
	got=$(on h3 saquery -t 300000 PR --slid "$(lid_of h3)" --dlid "$(lid_of h400)" \
		"$option" "$value" </dev/null | grep -c 'PathRecord dump' || true)
	[ "$got" -eq "$wanted" ] || fail "$got paths of $option $value"
done <<'END'
--pkey 0xffff 1
--pkey 0x8001 0
--mtu 4 1
--mtu 5 0
--rate 16 1
--rate 17 0
END
on h3 saquery -t 300000 -s >records
[ "$(grep -c 'EndPortLid\.*1$' records)" -eq 1 ] ||
	fail "who is a manager: $(cat records)"
# All pairs: six million, for minutes.
[ -z "${HD_LONG:-}" ] ||
	[ "$(on h3 saquery -t 300000 -p | grep -c 'PathRecord dump')" -eq $((ends * ends)) ] ||
	fail "not every pair of ends has a path record"

# ---- routes: unicast as the manager planned them, multicast as it made them
on h3 dump_fts >fts
routes <fts >got
routes <planned >wanted
[ "$(wc -l <wanted)" -eq $((switches * ends)) ] || fail "the manager's routes"
cmp wanted got || fail "dump_fts has other routes than the manager"
on h3 ibtracert -m 0xc000 "$(lid_of h3)" "$(lid_of $last)" >way
has way "\"$last\""
[ "$(grep -c switch way)" -eq "$steps" ] || fail "not $steps switches: $(cat way)"

# ---- one link, each thing that ibportstate does to it
spine=$("$HEDDLE" live show --csv | sed -n 's/^s1-5,20,.*,\(s2-[0-9]*\),.*/\1/p')
state() {
	on h3 ibportstate "$leaf" 20 query | sed -n "s/^$1:\.*//p" | head -n 1
}
[ "$(state LinkState)" = Active ] || fail "the link is not active"
on h3 ibportstate "$leaf" 20 disable >/dev/null
[ "$(state PhysLinkState)" = Disabled ] || fail "it is not disabled"
on h3 ibportstate "$leaf" 20 enable >/dev/null
tries=0
until [ "$(state LinkState)" = Active ]; do
	tries=$((tries + 1))
	[ $tries -lt $PATIENCE ] || fail "it is $(state LinkState)"
	sleep 0.2
done
# The manager may write what it read before the change, so the change is repeated.
wide() { # ENABLED ACTIVE
	tries=0
	until on h3 ibportstate "$leaf" 20 width "$1" >/dev/null &&
		on h3 ibportstate "$leaf" 20 reset >/dev/null &&
		[ "$(state LinkWidthActive)" = "$2" ]; do
		tries=$((tries + 1))
		[ $tries -lt $PATIENCE ] || fail "its width is $(state LinkWidthActive)"
		sleep 0.2
	done
}
on h3 ibportstate "$leaf" 20 espeed 1 >/dev/null
wide 1 1X
wide 3 4X
on h3 iblinkinfo -l >links
[ "$(grep -c "\"$spine\"" links)" -ge 36 ] || fail "iblinkinfo has not $spine"

# ---- counters: each kind that perfquery knows
for option in '' -x -X -S -D -E -T --oprcvcounters --flowctlcounters \
	--vloppackets --vlopdata --vlxmitflowctlerrors --vlxmitcounters \
	--swportvlcong --rcvcc --slrcvfecn --slrcvbecn --xmitcc --vlxmittimecc \
	-c -a -l; do
	on h3 perfquery $option "$leaf" 3 >counters 2>err ||
		fail "perfquery $option: $(cat err)"
	! grep -q 'failed\|not supported' err || fail "perfquery $option: $(cat err)"
done
while read -r option counter n; do
	"$HEDDLE" live inject-error s1-5:3 "$counter" "$n"
	on h3 perfquery $option "$leaf" 3 | grep -q "^$counter:\.*$n\$" ||
		fail "perfquery $option has no $n of $counter"
done <<'END'
-x SymbolErrorCounter 100000
-E PortVLMappingErrors 5
-T FECCorrectableBlockCtrLane3 70000
--oprcvcounters PortOpRcvData 12
--vlxmitflowctlerrors PortVLXmitFlowCtlUpdateErrors9 2
--swportvlcong SWPortVLCongestion15 9
--slrcvfecn PortSLRcvFECN4 77
--slrcvbecn PortSLRcvBECN0 78
--xmitcc PortXmitTimeCong 1234
--vlxmittimecc PortVLXmitTimeCong14 4321
--vlxmitcounters PortVLXmitWait8 65000
END
on h3 ibqueryerrors -k >/dev/null 2>&1 || true
on h3 ibqueryerrors >errors || fail "errors that were cleared: $(cat errors)"
"$HEDDLE" live inject-error s1-7:4 PortRcvErrors 5
status 1 on h3 ibqueryerrors
has out 'port 4: [PortRcvErrors == 5 '
[ "$(grep -c 'GUID.*port [0-9]*:' out)" -eq 1 ] || fail "errors of others: $(cat out)"
