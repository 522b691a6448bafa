# Traffic uses the tables of unmodified OpenSM: SLs of paths, VLs (wrong ones block it), partitions,
# multicast groups that hosts have joined, and congestion control.
. "$SRC/tests/cli/lib.sh"
. "$SRC/tests/cli/live_lib.sh"
cat >conf <<'END'
force_log_flush TRUE
qos TRUE
qos_max_vls 15
qos_high_limit 0
qos_vlarb_high 0:0
qos_vlarb_low 0:64,1:64,2:64,3:64,4:64,5:64,6:64,7:64,8:64,9:64,10:64,11:64,12:64,13:64,14:64
qos_sl2vl 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,0
END
# OpenSM's DFSSSP spreads paths over all 15 VLs that ports can have, and by
# chance: fewer ones would mix what it keeps apart.

# begin FILE OPTION...: a fabric of the scenario, and OpenSM on its h0. The clock
# is $clock. Engines that keep paths apart do so in another way with each sweep.
clock=free
begin() {
	scenario=$1
	shift
	"$HEDDLE" live up "$scenario" -q --clock $clock
	manage h0 log "$@"
	settle
}
finish() {
	kill "$manager"
	wait "$manager" || true
	"$HEDDLE" live down
}
# delivered ROW: packets, of the last run.
delivered() {
	sed -n "/^# traffic:/,/^$/s/^$1,\([^,]*,\)\{4\}\([0-9]*\),.*/\2/p" traffic.csv
}
run() {
	"$HEDDLE" live traffic "$1" -- --csv -o traffic.csv
}

# ---- a ring whose paths are kept apart by their SLs, and where they are not
cat >ring.yaml <<'END'
fabric: {topology: {kind: torus, sizes: 6, hosts: 2}}
traffic:
  - {name: a, kind: saturating, pattern: uniform, sl: 0, payload: 2KiB}
run: {warmup: 20us, measure: 200us}
END
# Slow SA queries are no change of the tables.
for clock in free simulated; do
	begin ring.yaml -R dfsssp -F conf
	run ring.yaml ||
		fail "traffic does not use the SLs of its paths: $(cat traffic.csv log)"
	[ "$(delivered a)" -gt 5000 ] || fail "only $(delivered a) packets"
	finish
done
clock=free
sed 's/^qos_sl2vl.*/qos_sl2vl 0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0/' conf >wrong
begin ring.yaml -R dfsssp -F wrong
status 1 "$HEDDLE" live traffic ring.yaml
has out "wait for each other in a circle"
[ "$(grep -c '^ *[1-6]  s-[0-5] ' out)" -eq 6 ] ||
	fail "the circle is not that of six switches: $(head -9 out)"
finish

# ---- a manager that says something else than SLs: no traffic by chance
# serves STATUS BUSY: subnet administration on h0 is that, from now on.
serves() {
	rm -f serving
	"$HEDDLE" live exec h0 -- python3 "$SRC/tests/cli/live_refuse.py" "$1" \
		"$2" "$PWD/serving" &
	manager=$!
	programs="$programs $manager"
	tries=0
	until [ -e serving ]; do
		tries=$((tries + 1))
		[ $tries -lt $PATIENCE ] || fail "it does not serve"
		sleep 0.1
	done
}
sed 's/kind: torus.*/kind: star, hosts: 4}}/' ring.yaml >star.yaml
# Ten seconds of the fabric, until it gives up, are one of the clock.
"$HEDDLE" live up star.yaml -q --pace 10
on h0 opensm -o -F conf -f "$PWD/log" >opensm.out 2>&1 || fail "OpenSM on a star"
lid=$(lid_of h0)
# No manager answers: SLs are the scenario's.
run star.yaml || fail "traffic without a manager: $(cat traffic.csv)"
serves 0x0300 3
run star.yaml || fail "traffic without records: $(cat traffic.csv)"
unserves() {
	kill "$manager"
	wait "$manager" || true
}
unserves
serves 0x0200 0
status 4 "$HEDDLE" live traffic star.yaml
has err "the subnet manager at LID $lid refuses to tell the SLs of paths: status 0x0200"
unserves
serves none 0
status 3 "$HEDDLE" live traffic star.yaml
has err "the subnet manager at LID $lid does not answer"
unserves
# An engine that draws a random SL for each response is accepted, whatever it draws.
serves "drawn 5 $(lid_of h1) $(lid_of h2) $(lid_of h3)" 0
run star.yaml || fail "traffic by SLs that are drawn: $(cat traffic.csv)"
sed -n '/^VL,packets/,/^$/p' traffic.csv | grep -q '^5,[1-9]' ||
	fail "not on the VL of the SL in the path record: $(cat traffic.csv)"
unserves
"$HEDDLE" live down

# ---- partitions: packets of a non-member are dropped, and the manager gets a trap
cat >parts.yaml <<'END'
fabric: {topology: {kind: fat-tree, radix: 4, levels: 2}}
qos: {partitions: [{name: blue, key: 1, full: h0}]}
traffic:
  - {name: within, kind: cbr, load: 20%, source: h1, destination: h6, pattern: pairs, partition: blue, payload: 2KiB}
  - {name: out, kind: cbr, load: 20%, source: h1, destination: h5, pattern: pairs, partition: blue, payload: 2KiB}
  - {name: in, kind: cbr, load: 20%, source: h4, destination: h6, pattern: pairs, partition: blue, payload: 2KiB}
  - {name: default, kind: cbr, load: 20%, source: h4, destination: h0, pattern: pairs, payload: 2KiB}
run: {warmup: 0us, measure: 100us}
END
"$HEDDLE" topo gen fat-tree --radix 4 --levels 2 -o made
guid_of() {
	sed -n "s/^\[.*(\([0-9a-f]*\)).*\"$1\" .*/0x\1/p" made
}
cat >partitions <<END
Default=0x7fff,ipoib:ALL=full;
blue=0x1:$(guid_of h1)=full,$(guid_of h6)=full;
END
constraints() { # SWITCH PORT NAME
	on h0 perfquery "$(lid_of "$1")" "$2" | sed -n "s/^$3:\.*//p"
}
begin parts.yaml -F conf -P "$PWD/partitions"
run parts.yaml || fail "traffic in partitions"
[ "$(delivered within)" -gt 200 ] && [ "$(delivered default)" -gt 200 ] ||
	fail "members: $(delivered within), default: $(delivered default)"
[ "$(delivered out)" -eq 0 ] && [ "$(delivered in)" -eq 0 ] ||
	fail "others: $(delivered out) and $(delivered in)"
wait_for 2 'num:259'
[ "$(constraints s1-2 2 PortXmitConstraintErrors)" -gt 200 ] ||
	fail "h5's switch has not counted what it kept from it"
[ "$(constraints s1-2 1 PortRcvConstraintErrors)" -gt 200 ] ||
	fail "h4's switch has not counted what it sent for another partition"
lacks log 'num:257'
# MADs obey partitions: h4 is a member of the default partition only.
status 1 on h4 python3 "$SRC/tests/cli/live_join.py" 0x12345
wait_for 1 'num:258'
on h1 smpquery portinfo "$(lid_of h0)" 1 | grep -q 'QkeyViolations:\.*[1-9]' ||
	fail "no violation of the Q_Key is counted"
finish

# ---- who enforces nothing lets the end port refuse it
{ cat conf; echo 'part_enforce off'; } >lax
begin parts.yaml -F lax -P "$PWD/partitions"
run parts.yaml
[ "$(delivered within)" -gt 200 ] || fail "within: $(delivered within)"
wait_for 1 'num:257'
on h1 smpquery portinfo "$(lid_of h5)" 1 | grep -q 'PkeyViolations:\.*[1-9]' ||
	fail "no violation of the P_Key is counted"
finish

# ---- limited members: with a full one, not with each other; MADs, too
cat >limited.yaml <<'END'
fabric: {topology: {kind: star, hosts: 4}}
qos: {partitions: [{name: blue, key: 1, full: h0}]}
traffic:
  - {name: up, kind: cbr, load: 20%, source: h1, destination: h0, pattern: pairs, partition: blue, payload: 2KiB}
  - {name: back, kind: cbr, load: 20%, source: h0, destination: h2, pattern: pairs, partition: blue, payload: 2KiB}
  - {name: across, kind: cbr, load: 20%, source: h2, destination: h3, pattern: pairs, partition: blue, payload: 2KiB}
run: {warmup: 0us, measure: 100us}
END
"$HEDDLE" topo gen star --hosts 4 -o made
cat >partitions <<END
Default=0x7fff,ipoib:ALL=limited,SELF=full;
blue=0x1:ALL=limited,$(guid_of h0)=full;
END
begin limited.yaml -F conf -P "$PWD/partitions"
run limited.yaml || fail "traffic of limited members"
[ "$(delivered up)" -gt 200 ] && [ "$(delivered back)" -gt 200 ] &&
	[ "$(delivered across)" -eq 0 ] ||
	fail "$(delivered up) up, $(delivered back) back, $(delivered across) across"
on h2 saquery -t 300000 | grep -q 'NodeDescription\.*h0$' ||
	fail "a limited member cannot ask the manager"
on h0 perfquery "$(lid_of h3)" >/dev/null || fail "nor be asked by it"
! on h2 perfquery "$(lid_of h3)" >/dev/null 2>&1 ||
	fail "limited members ask each other"
finish

# ---- a group is what hosts have joined, by the tables that OpenSM made
begin parts.yaml -F lax
cat >group.yaml <<'END'
fabric:
  topology: {kind: fat-tree, radix: 4, levels: 2}
  groups: [{name: g, members: 'h1,h4,h7'}]
traffic:
  - {name: m, kind: cbr, load: 10%, pattern: group, group: g, source: h1, payload: 2KiB}
run: {warmup: 0us, measure: 100us}
END
status 3 "$HEDDLE" live traffic group.yaml
has err "have not joined"
for host in h1 h4 h7; do
	on $host python3 "$SRC/tests/cli/live_join.py" >/dev/null
done
wait_for_group() { # the tables are there some time after the answer
	tries=0
	until run group.yaml 2>err; do
		tries=$((tries + 1))
		[ $tries -lt $PATIENCE ] || fail "the group: $(cat err)"
		sleep 0.1
	done
}
wait_for_group
[ "$(delivered m)" -gt 200 ] || fail "the group got $(delivered m) packets"
finish

# ---- congestion control: its table says how slow a source becomes
cat >control.yaml <<'END'
fabric: {topology: {kind: star, hosts: 4}}
traffic:
  - {name: a, kind: saturating, source: h1, destination: h0, pattern: pairs, sl: 0, payload: 2KiB}
  - {name: b, kind: saturating, source: h2, destination: h0, pattern: pairs, sl: 1, payload: 2KiB}
run: {warmup: 200us, measure: 200us}
END
sed 's/kind: saturating,/& transport: rc,/' control.yaml >pairs.yaml
"$HEDDLE" live up control.yaml -q
# After each packet a delay of up to 3 or 7 packets, on a link of 200 Gb/s.
for delays in 0:0,0:1,0:2,0:3=50 0:0,0:1,0:3,0:7=25; do
	control_of_sl_0 "${delays%=*}" >table
	on h0 opensm -o -F table -f "$PWD/table.log" >opensm.out 2>&1 ||
		fail "OpenSM on a star"
	run control.yaml
	# Payload: 2048 of 2074 bytes.
	allowed=$(awk "BEGIN { printf \"%.3f\", int(${delays#*=} * 2048000 / 2074) / 1000 }")
	grep -q "^a,1,[0-9.]*,[0-9.]*,$allowed[0-9]*,197.49" traffic.csv ||
		fail "the table ${delays%=*}: $(grep '^a,1' traffic.csv)"
	# SL 1 is not controlled.
	[ "$(delivered b)" -gt $((2 * $(delivered a))) ] ||
		fail "a: $(delivered a) packets, b: $(delivered b)"
	# So it does for queue pairs: a packet takes 82.96 ns of the link.
	run pairs.yaml
	came=$(delivered a | sed 1q)
	most=$((${delays#*=} * 100000 / 8296 + 2))
	[ "$came" -le $most ] && [ "$came" -ge $((most - 4)) ] &&
		[ "$(delivered b | sed 1q)" -gt $((2 * came)) ] ||
		fail "the table ${delays%=*}: $came messages, not $((most - 2))"
done
"$HEDDLE" live down

# ---- routes that change while traffic runs are used from then on
cat >flow.yaml <<'END'
fabric: {topology: {kind: fat-tree, radix: 4, levels: 2}}
traffic:
  - {name: a, kind: cbr, load: 20%, source: h0, destination: h7, pattern: pairs, payload: 2KiB}
run: {warmup: 0us, measure: 400us}
END
echo 'force_log_flush TRUE' >conf
"$HEDDLE" live up flow.yaml -q
rm -rf cache/*
manage h1 log -F conf
settle
sent() { # PORT: packets that have left by it
	on h1 perfquery -x "$(lid_of "${1%:*}")" "${1#*:}" |
		sed -n 's/^PortXmitPkts:\.*//p'
}
run flow.yaml
packets=$(delivered a)
[ "$packets" -gt 400 ] || fail "$packets packets on a whole fabric"
used=s1-0:3 other=s1-0:4
[ "$(sent $used)" -gt 0 ] || used=s1-0:4 other=s1-0:3
before=$(sent $used)
# Packets in flight at the end have not arrived.
[ "$before" -ge "$packets" ] && [ "$before" -le $((packets + 3)) ] &&
	[ "$(sent $other)" -eq 0 ] ||
	fail "$packets came, $before by $used, $(sent $other) by $other"
# amid PACE SECONDS: whether the end of a cable after these falls into the run.
amid() {
	sweeps=$(grep -c 'SUBNET UP' log)
	before=$(sent $used) earlier=$(sent $other)
	"$HEDDLE" live traffic flow.yaml --pace "$1" -- --csv -o traffic.csv &
	running=$!
	sleep "$2"
	"$HEDDLE" live link $used down
	wait_for $((sweeps + 1)) 'SUBNET UP'
	wait $running || fail "the run on a fabric that changes"
	first=$(($(sent $used) - before)) second=$(($(sent $other) - earlier))
	[ "$first" -eq 0 ] || [ "$second" -eq 0 ] || return 0
	"$HEDDLE" live link $used up
	wait_for $((sweeps + 2)) 'SUBNET UP'
	return 1
}
# Four seconds for 400 us: time for OpenSM, but on a machine that is busy.
most=$before
amid 1e-4 1 || amid 1e-5 10 || amid 1e-6 100 || fail "$first by $used, $second by $other"
[ "$(delivered a)" -le "$packets" ] &&
	[ $((first + second)) -ge "$(delivered a)" ] &&
	[ $((first + second)) -le "$most" ] ||
	fail "$first by $used, then $second by $other; $(delivered a) came"
"$HEDDLE" live down

# ---- and so are VLs, partitions and congestion control, set by one signal
cat >many.yaml <<'END'
fabric: {topology: {kind: star, hosts: 5}}
qos: {partitions: [{name: blue, key: 1, full: h0}]}
traffic:
  - {name: slowed, kind: saturating, source: h1, destination: h0, pattern: pairs, sl: 0, payload: 2KiB}
  - {name: free, kind: saturating, source: h2, destination: h0, pattern: pairs, sl: 1, payload: 2KiB}
  - {name: within, kind: cbr, load: 20%, source: h3, destination: h4, pattern: pairs, sl: 2, partition: blue, payload: 2KiB}
run: {warmup: 0us, measure: 400us}
END
"$HEDDLE" topo gen star --hosts 5 -o made
# settings VL MEMBERS CCT: for OpenSM
settings() {
	{
		control_of_sl_0 "$3"
		echo 'qos TRUE'
		echo 'qos_high_limit 0'
		echo 'qos_vlarb_high 0:0'
		echo 'qos_vlarb_low 0:64,1:64,2:64,3:64'
		echo "qos_sl2vl 0,$1,2,3,0,1,2,3,0,1,2,3,0,1,2,3"
	} >conf
	echo 'Default=0x7fff,ipoib:ALL=full;' >partitions
	echo "blue=0x1:$2;" >>partitions
}
settings 1 "$(guid_of h3)=full" 0:0,0:1,0:2,0:3
"$HEDDLE" live up many.yaml -q
rm -rf cache/*
manage h0 log -F "$PWD/conf" -P "$PWD/partitions"
settle
on_vl() { # VL: packets that h0 got on it
	on h0 perfquery --vloppackets "$(lid_of h0)" 1 |
		sed -n "s/^PortVLOpPackets$1:\.*//p"
}
# set_anew SETTINGS...: a sweep that programs them
set_anew() {
	sweeps=$(grep -c 'SUBNET UP' log)
	settings "$@"
	kill -HUP "$manager"
	wait_for $((sweeps + 1)) 'SUBNET UP'
}
# amid PACE SECONDS FILE: whether other settings after these fall into the run.
amid() {
	before=$(on_vl 1) earlier=$(on_vl 3)
	"$HEDDLE" live traffic "$3" --pace "$1" -- --csv -o traffic.csv &
	running=$!
	sleep "$2"
	set_anew 3 "$(guid_of h3)=full,$(guid_of h4)=full" 0:0,0:1,0:3,0:7
	wait $running || fail "the run on a fabric that is set again"
	first=$(($(on_vl 1) - before)) second=$(($(on_vl 3) - earlier))
	[ "$first" -le 100 ] || [ "$second" -le 100 ] || return 0
	set_anew 1 "$(guid_of h3)=full" 0:0,0:1,0:2,0:3
	return 1
}
# set_amid FILE
set_amid() {
	amid 1e-4 1 "$1" || amid 1e-5 10 "$1" || amid 1e-6 100 "$1" ||
		fail "$first packets on VL 1, then $second on VL 3"
}
set_amid many.yaml
[ "$(delivered within)" -gt 0 ] && [ "$(delivered within)" -lt 964 ] ||
	fail "$(delivered within) of some 964 to a host that became a member"
# The mean is above the rate by the new table, below that by the old one.
sed -n 's/^slowed,1,\([0-9]*\)[.0-9]*,[.0-9]*,24\.68[0-9]*,197\.49[0-9]*,.*/\1/p' traffic.csv >mean
[ "$(cat mean)" -gt 25 ] && [ "$(cat mean)" -lt 50 ] ||
	fail "by a new table: $(grep '^slowed,1' traffic.csv)"
# So they are for queue pairs: 1205 messages by the one table, 602 by the other.
set_anew 1 "$(guid_of h3)=full" 0:0,0:1,0:2,0:3
sed '/name: within/d; s/kind: saturating,/& transport: rc,/' many.yaml >pairs.yaml
set_amid pairs.yaml
came=$(delivered slowed | sed 1q)
[ "$came" -gt 640 ] && [ "$came" -lt 1160 ] ||
	fail "$came messages of a queue pair under two tables"
"$HEDDLE" live down

# ---- a capture of it at a cable: the packets and octets that perfquery counts
cat >seen.yaml <<'END'
fabric:
  topology: {kind: fat-tree, radix: 4, levels: 2}
  groups: [{name: g, members: 'h1,h4,h7'}]
traffic:
  - {name: large, kind: poisson, payload: 2KiB, load: 30%}
  - {name: small, kind: poisson, payload: 100, load: 5%}
  - {name: some, kind: poisson, payload: 500, load: 5%, pattern: group, group: g, source: 'h1,h4'}
run: {warmup: 0s, measure: 40us}
END
command -v tshark >/dev/null || fail "tshark is not installed"
"$HEDDLE" live up seen.yaml -q --sm minhop
for host in h1 h4 h7; do
	on $host python3 "$SRC/tests/cli/live_join.py" >/dev/null
done
# h1 sends to the group and is notified of it, and so it does of single hosts.
"$HEDDLE" live traffic seen.yaml -- --pcap seen.pcap --port s1-0:2 >/dev/null
on h1 perfquery -x "$(lid_of s1-0)" 2 >counters
# Octets are counted in words, without the variant CRC. What leaves the port is
# for h1, or for a group and not from it.
lid=$(lid_of h1)
tshark -r seen.pcap -T fields -e frame.len -e infiniband.bth.opcode \
	-e infiniband.lrh.slid -e infiniband.lrh.dlid 2>/dev/null |
	awk -v lid="$lid" '
	{ way = $3 == lid ? "Rcv" : "Xmit"
	  to = $4 >= 49152 ? "Multicast" : "Unicast"
	  n["Port" way "Pkts"]++
	  n["Port" way "Data"] += ($1 - 2) / 4
	  n["Port" to way "Pkts"]++
	  if ($2 == "") n["odd"]++ }
	END { for (i in n) print i, n[i] }' | sort >captured
sed -n 's/^\(Port.*\(Pkts\|Data\)\):\.*/\1 /p' counters | sort >counted
[ "$(awk '$2 > 9' counted | wc -l)" -eq 8 ] ||
	fail "too little for all counters: $(cat counted)"
cmp -s captured counted ||
	fail "captured: $(cat captured); counted: $(cat counted)"
# Without losses, all other counters except that of waiting stay 0.
sed -n 's/^\([A-Z][A-Za-z0-9]*\):\.*0*[1-9][0-9]*$/\1/p' counters |
	grep -v '^Port\(Uni\|Multi\)\?\(cast\)\?\(Xmit\|Rcv\)\(Pkts\|Data\)$\|PortXmitWait\|^PortSelect' >odd || true
[ ! -s odd ] || fail "counters of what did not happen: $(cat odd)"
"$HEDDLE" live down

# ---- data have the rate that a link was told to train to, as MADs do
cat >pair.yaml <<'END'
fabric: {topology: {kind: star, hosts: 2, link: 4x EDR}}
traffic:
  - {name: a, kind: saturating, pattern: pairs, source: h0, destination: h1, payload: 2KiB}
run: {warmup: 20us, measure: 200us}
END
"$HEDDLE" live up pair.yaml -q --sm minhop
for rate in 100 8 2; do
	case $rate in
	8) "$HEDDLE" live link h1 speed SDR ;;
	2) "$HEDDLE" live link hub:2 width 1x ;;
	esac
	tries=0
	until [ "$("$HEDDLE" live show --csv | grep -c ',active,')" -eq 5 ]; do
		tries=$((tries + 1))
		[ $tries -lt $PATIENCE ] || fail "the link does not come up"
		sleep 0.1
	done
	"$HEDDLE" live traffic pair.yaml >out
	grep -q "hub:2  h1 *$rate.0 " out || fail "not $rate Gb/s: $(cat out)"
done
"$HEDDLE" live down
