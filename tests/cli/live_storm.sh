# Processes that send data all to all and are killed at any moment: those that
# are left continue, those that come again find them, and nothing of the dead stays.
. "$SRC/tests/cli/lib.sh"
. "$SRC/tests/cli/live_lib.sh"
stay 'star --hosts 24'
on h0 opensm -o -f "$PWD/log" >opensm.out 2>&1 || fail "OpenSM"
descriptors() {
	ls "/proc/$daemon/fd" | wc -l
}
shared() {
	ls /dev/shm | grep -c heddle || true
}
mapped() {
	grep -c memfd: "/proc/$daemon/maps" || true
}
before=$(descriptors) files=$(shared) maps=$(mapped)
# PROCESSES PAIRS KILLS PAUSE: a few, or for minutes.
storm='3 20 20 0'
[ -z "${HD_LONG:-}" ] || storm='24 207 1500 500'
"$HEDDLE" live exec h0..h23 -- "$STORM" $storm >said 2>&1 || fail "$(cat said)"
grep -q '^[0-9]* deaths, [0-9]* messages$' said || fail "$(cat said)"
tries=0
until [ "$(descriptors)" -le "$before" ] && [ "$(mapped)" -le "$maps" ]; do
	tries=$((tries + 1))
	[ $tries -lt $PATIENCE ] ||
		fail "descriptors: $before, $(descriptors); mappings: $maps, $(mapped)"
	sleep 0.05
done
[ "$(shared)" -eq "$files" ] || fail "$(ls /dev/shm)"
on h1 perfquery >/dev/null || fail "it does not answer any more"
kill -TERM "$daemon"
wait "$daemon" || fail "it ends with $?"
cat said

# ---- the same with the simulated clock
[ -n "${HD_LONG:-}" ] || exit 0
"$HEDDLE" live up 'star --hosts 24' --sm minhop --clock simulated -q
"$HEDDLE" live exec h0..h23 -- "$STORM" 3 20 20 0 >said 2>&1 || fail "$(cat said)"
grep -q '^[0-9]* deaths, [0-9]* messages$' said || fail "$(cat said)"
"$HEDDLE" live time | grep -q ' 0 programs, 0 requests' || fail "$("$HEDDLE" live time)"
"$HEDDLE" live down
[ "$(shared)" -eq "$files" ] || fail "$(ls /dev/shm)"
cat said
