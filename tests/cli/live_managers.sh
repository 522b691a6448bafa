# OpenSM's engines, two managers of which one dies, keys that others do not
# have, and what its log says of errors that were made.
. "$SRC/tests/cli/lib.sh"
. "$SRC/tests/cli/live_lib.sh"

# up FABRIC: it, and nothing that OpenSM remembers of another.
up() {
	rm -rf cache
	mkdir cache
	"$HEDDLE" live up "$1" -q
}

# ---- every engine brings it up, by itself rather than what it falls back to
engine() { # NAME FABRIC OPTION...
	name=$1
	up "$2"
	shift 2
	manage h0 "log.$name" -R "$name" -F conf -D 0x43 "$@"
	wait_for 1 'SUBNET UP' "log.$name"
	has "log.$name" "$name tables configured"
	lacks "log.$name" ' ERR '
	lacks log."$name" 'falling back'
	! "$HEDDLE" live show --csv | grep -E ',(initialize|armed),' ||
		fail "$name leaves links inactive"
	kill "$manager"
	wait "$manager" || true
	"$HEDDLE" live down
}
echo 'force_log_flush TRUE' >conf
tree='fat-tree --radix 4 --levels 3'
for name in minhop updn dnup ftree lash dfsssp sssp; do
	engine $name "$tree"
done
engine dor 'mesh --rows 4 --columns 4'
up "$tree"
on h0 opensm -o -R minhop -F conf -D 0x43 -f "$PWD/log.dump" >opensm.out 2>&1 || fail "no dump"
"$HEDDLE" live down
cp dumps/opensm-lfts.dump routes.dump
engine file "$tree" -U "$PWD/routes.dump"

# ---- a key, at each level of protection
for level in 0 1 2 3; do
	up 'fat-tree --radix 4 --levels 2'
	printf 'm_key 0x1234\nm_key_protection_level %s\n' $level >keys
	on h0 opensm -o -F keys -f "$PWD/log.keys" >opensm.out 2>&1 ||
		fail "OpenSM with a key at level $level"
	[ "$("$HEDDLE" live show --csv | grep -c ',active,')" -eq 38 ] ||
		fail "not all of 6 + 32 ports are active at level $level"
	"$HEDDLE" live down
done

# ---- a key that others do not have
up "$tree"
cat >conf <<'END'
force_log_flush TRUE
m_key 0x1234
m_key_protection_level 2
m_key_lease_period 60
sminfo_polling_timeout 500
polling_retry_number 2
END
manage h0 log -F conf -p 9
first=$manager
wait_for 1 'SUBNET UP'
lid=$(lid_of s1-3)
! on h3 smpquery -t 200 portinfo "$lid" 1 >out 2>&1 ||
	fail "a query without the key is answered"
on h3 smpquery -y 0x1234 portinfo "$lid" 1 >out ||
	fail "a query with the key is not answered"
wait_for 1 'num:256'

# ---- errors of which OpenSM is to hear; no trap is repeated for ever
"$HEDDLE" live inject-error s1-3:2 LocalLinkIntegrityErrors 1
wait_for 1 'num:129'
"$HEDDLE" live inject-error s1-3:2 ExcessiveBufferOverrunErrors 1
wait_for 1 'num:130'
"$HEDDLE" live inject-error h5 PortVLXmitFlowCtlUpdateErrors2 1
wait_for 1 'num:131'
no_more 'num:129'

# ---- another manager waits, and takes over when the first is gone
manage h7 log.other -F conf -p 5
wait_for 1 'STANDBY' log.other
lacks log.other 'SUBNET UP'
kill -9 "$first"
wait_for 1 'SUBNET UP' log.other
on h3 sminfo -y 0x1234 >out || fail "sminfo: $(tail -n 3 log.other)"
has out 'priority 5'
has out 'SMINFO_MASTER'
