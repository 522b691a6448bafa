# Heddle's subnet manager: its tables and responses are correct according to the tools that query
# OpenSM, its routes are those of 'heddle route' and of OpenSM, it shares a fabric with OpenSM, and
# it reacts to changes of the fabric.
. "$SRC/tests/cli/lib.sh"
. "$SRC/tests/cli/live_lib.sh"
tree='fat-tree --radix 4 --levels 3'
said() {
	cat "$XDG_RUNTIME_DIR/heddle-fabric/manager-h0.log"
}
# says N TEXT: waits until the manager has logged it N times.
says() {
	tries=0
	until [ "$(said | grep -c -- "$2")" -ge "$1" ]; do
		tries=$((tries + 1))
		[ $tries -lt $PATIENCE ] || fail "no '$2': $(said | tail -n 3)"
		sleep 0.1
	done
}
programmed() { # FILE: the routes that switches have
	on h0 dump_fts </dev/null | routes >"$1"
	[ -s "$1" ] || fail "no routes"
}

# ---- what cannot be
status 3 "$HEDDLE" live sm h0
has err 'no fabric runs'

# ---- every engine programs what 'heddle route' prints, and all links are up
while read -r engine fabric; do
	"$HEDDLE" live up "$fabric" --sm "$engine" -q || fail "$engine"
	programmed got
	"$HEDDLE" route "$fabric" --engine "$engine" --dump fts | routes >wanted
	cmp wanted got || fail "$engine programs other routes"
	! "$HEDDLE" live show --csv | grep -E ',(initialize|armed),' ||
		fail "$engine leaves links inactive"
	"$HEDDLE" live down
done <<END
minhop $tree
updn $tree
ftree $tree
lash $tree
dfsssp irregular --switches 12
dor mesh --rows 4 --columns 4
xy mesh --rows 4 --columns 4
negative-first mesh --rows 4 --columns 4
ecube hypercube --dimensions 4
torus torus --sizes 5x5
dragonfly dragonfly
END

# ---- VLs and SLs of paths, where an engine needs them: by what smpquery and
# saquery say no packets can wait for each other, and without SLs they could
"$HEDDLE" live up 'torus --sizes 5x3' --sm torus -q
on h0 ibnetdiscover >found
on h0 dump_fts >fts
on h0 saquery -t 300000 -p >paths
sed -n 's/^Unicast.* guid \(0x[0-9a-f]*\) (\(.*\)):$/\1 \2/p' fts |
	while read -r guid name; do
		lid=$(lid_of "$name")
		echo "Switch $guid, base LID $lid, \"a switch\""
		for port in 1 2 3 4 5; do
			on h0 smpquery sl2vl "$lid" $port </dev/null
		done | sed -n 's/^ports: in *\([0-9]*\), out *\([0-9]*\): |\(.*\)|$/\1 \2 : \3/p' |
			tr '|' ' '
	done >vls
[ "$(grep -c ' : ' vls)" -eq $((15 * 5 * 6)) ] || fail "VLs of 15 switches"
status 0 "$HEDDLE" route found -e file --routes fts --sl2vl vls \
	--path-sls paths --check
status 1 "$HEDDLE" route found -e file --routes fts --sl2vl vls --check
"$HEDDLE" live down

# ---- tables on which packets can wait for each other do it, and are named
cat >load.yaml <<'END'
fabric: {topology: {kind: torus, sizes: [5, 5]}}
traffic: [{name: all, kind: saturating, pattern: uniform, payload: 2KiB}]
run: {warmup: 20us, measure: 500us}
END
for engine in dor:1 updn:0; do
	"$HEDDLE" live up 'torus --sizes 5x5' --sm "${engine%:*}" -q
	status "${engine#*:}" "$HEDDLE" live traffic load.yaml -- --csv
	[ "$(grep -c '^# deadlock:' out)" -eq "${engine#*:}" ] ||
		fail "traffic by $engine: $(cat out)"
	"$HEDDLE" live down
done

# ---- an engine that does not take the fabric is refused, and nothing is left
status 3 "$HEDDLE" live up 'irregular --switches 12' --sm dor
[ ! -e "$XDG_RUNTIME_DIR/heddle-fabric" ] || fail "the folder is still there"

# ---- a subnet that is not up in time: with a millionth of the clock's pace no
# answer can come in it. That is said, and all of it runs on
status 1 "$HEDDLE" live up "$tree" --sm minhop --clock simulated --pace 1e-6 --wait 50ms
has err 'the subnet is not up after 0.05 s; its manager continues'
empty out
status 0 "$HEDDLE" live show
"$HEDDLE" live down

# ---- OpenSM's engines of the same name program the same, where they have a
# route: between tops of a tree they may have none
echo 'force_log_flush TRUE' >conf
while read -r engine fabric; do
	"$HEDDLE" live up "$fabric" --sm "$engine" -q
	programmed got
	"$HEDDLE" live down
	rm -rf cache/*
	"$HEDDLE" live up "$fabric" -q
	# The root that ours takes where there is no tree, and OpenSM none.
	"$HEDDLE" topo convert "$fabric" --to ibnetdiscover |
		sed -n 's/^switchguid=\(0x[0-9a-f]*\).*/\1/p' | sort |
		head -n 1 >root
	case $fabric in
	torus* | hypercube*) set -- -a "$PWD/root" ;;
	*) set -- ;;
	esac
	on h0 opensm -o -R "$engine" "$@" -F conf -f "$PWD/log" >opensm.out 2>&1 \
		</dev/null || fail "OpenSM"
	programmed wanted
	[ "$(wc -l <wanted)" -ge 500 ] || fail "OpenSM's $engine has no routes"
	comm -23 wanted got >differ
	empty differ
	"$HEDDLE" live down
done <<END
minhop $tree
minhop irregular --switches 12
updn $tree
updn torus --sizes 4x4
updn hypercube
ftree fat-tree --radix 8 --levels 2
END

# ---- cables go and come, one by one: working routes stay, all routes are there
# again in the end, and the manager queries no node twice
flaps=30
[ -z "${HD_LONG:-}" ] || flaps=1000
"$HEDDLE" live up "$tree" --sm minhop -q
programmed whole
i=0
while [ $i -lt $flaps ]; do
	cable=s1-$((i % 8)):$((3 + i / 8 % 2))
	before=$(said | grep -c 'SUBNET UP')
	"$HEDDLE" live link $cable down
	says $((before + 1)) 'SUBNET UP'
	before=$(said | grep -c 'SUBNET UP')
	"$HEDDLE" live link $cable up
	says $((before + 1)) 'SUBNET UP'
	i=$((i + 1))
done
programmed got
cmp whole got || fail "other routes after $flaps flaps"
"$HEDDLE" live link s1-0:3 down
says $((before + 2)) 'SUBNET UP'
programmed got
# Only routes over the cable are new, as in 'heddle route'.
"$HEDDLE" route "$tree" --engine minhop --sweep down=s1-0/3 --dump fts |
	routes >wanted
cmp wanted got || fail "other routes than a sweep of 'heddle route' has"
on h0 ibqueryerrors -s LinkDownedCounter >/dev/null || fail "ibqueryerrors"
"$HEDDLE" live link s1-0:3 up

# ---- SM_Keys of requests: OpenSM and ours do the same with them
asked() { # KEY KIND MILLISECONDS: the status of the question
	got=0
	on h3 saquery -t "$3" --smkey "$1" "$2" >records 2>err || got=$?
	echo $got
}
keys() { # WHO
	[ "$(asked 0 NR 300000)" = 0 ] && [ "$(asked 1 NR 300000)" = 0 ] ||
		fail "$1: no nodes: $(cat err)"
	[ "$(asked 1 PKTR 300000)" = 0 ] || fail "$1: no P_Keys: $(cat err)"
	[ "$(asked 0 PKTR 300000)" != 0 ] || fail "$1 tells everybody P_Keys"
	grep -q '0x0200' records err || fail "$1: $(cat err)"
	[ "$(asked 7 NR 500)" = 110 ] || fail "$1 answers to any SM_Key"
}
keys ours

# ---- OpenSM is by, takes over if its priority is higher, and hands back
cat >conf <<'END'
force_log_flush TRUE
sminfo_polling_timeout 500
polling_retry_number 2
END
manage h7 log -F conf -p 0
wait_for 1 'STANDBY'
lacks log 'SUBNET UP'
on h3 sminfo | grep -q "sm lid $(lid_of h0) .*SMINFO_MASTER" || fail "sminfo"
kill "$manager"
wait "$manager" || true
# When the other manager ends, ours restores its settings: routes, VLs, weights, partitions and
# their enforcement.
lid=$(lid_of s1-0)
state() { # FILE
	programmed "$1"
	for what in sl2vl vlarb pkeys portinfo; do
		on h3 smpquery $what "$lid" 1
		on h3 smpquery $what -D 0
	done | grep -v 'SMLid\|HoqLife\|VLStallCount' >>"$1"
}
state ours
cat >>conf <<'END'
qos TRUE
qos_high_limit 3
qos_sl2vl 0,0,0,0,1,1,1,1,2,2,2,2,3,3,3,3
qos_vlarb_low 0:7,1:9
END
echo 'Default=0x7fff, defmember=limited: ALL, SELF=full;' >partitions
manage h9 log -F conf -p 9 -P partitions -R dor
wait_for 1 'SUBNET UP'
state theirs
for what in '| 0| 0| 0| 0| 1| 1| 1| 1|' '0: 0x7fff' 'VLHighLimit:\.*3$' \
	'PartEnforceInb:\.*1$' 'WEIGHT: |0x7 |0x9 '; do
	grep -q "$what" theirs || fail "OpenSM has not programmed '$what'"
done
says 1 'handing over'
on h3 sminfo | grep -q "sm lid $(lid_of h9) .*priority 9 .*SMINFO_MASTER" ||
	fail "OpenSM is not master"
keys OpenSM
before=$(said | grep -c 'SUBNET UP')
kill -9 "$manager"
says 1 'the master SM does not respond'
says $((before + 1)) 'SUBNET UP'
state got
cmp ours got || fail "not all is as it was before OpenSM: $(diff ours got)"
on h3 saquery -t 300000 >nodes
[ "$(grep -c 'NodeDescription' nodes)" -eq 36 ] || fail "not all 36 nodes"
"$HEDDLE" live down

# ---- the tools that ask OpenSM
. "$SRC/tests/cli/live_size.sh"
"$HEDDLE" live up "$fabric" --sm minhop >up
has up "$size, routed by minhop"
"$HEDDLE" route "$fabric" --engine minhop --dump fts >planned
. "$SRC/tests/cli/live_ask.sh"
