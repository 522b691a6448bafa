# A thousand programs at once, programs that are killed at any step, users without permission: the
# daemon continues to answer, keeps no state of ended programs, and ends at `live down`.
. "$SRC/tests/cli/lib.sh"
. "$SRC/tests/cli/live_lib.sh"
# What a sanitizer keeps of freed memory would hide what we do not free.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}quarantine_size_mb=1:thread_local_quarantine_size_kb=64"
stay 'star --hosts 4'
echo 'force_log_flush TRUE' >conf
on h0 opensm -o -F conf -f "$PWD/log" >opensm.out 2>&1 || fail "OpenSM"
descriptors() {
	ls "/proc/$daemon/fd" | wc -l
}
# settles_at N: at most N descriptors, once the daemon has noticed the ends of
# the programs; fewer, if it had not noticed earlier ends yet.
settles_at() {
	tries=0
	until [ "$(descriptors)" -le "$1" ]; do
		tries=$((tries + 1))
		[ $tries -lt $PATIENCE ] || fail "$(descriptors) descriptors, not $1"
		sleep 0.05
	done
}
memory() {
	sed -n 's/^VmRSS:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$daemon/status"
}
before=$(descriptors)
on h1 python3 "$SRC/tests/cli/live_clients.py" many 1000
settles_at "$before"
on h1 python3 "$SRC/tests/cli/live_clients.py" die 20
settles_at "$before"
kept=$(memory)
on h1 python3 "$SRC/tests/cli/live_clients.py" die 60
settles_at "$before"
[ "$(memory)" -le $((kept + 1024)) ] || fail "$kept kB became $(memory) kB"
# Tools of others: a few, or for five minutes.
killed=40
[ -z "${HD_LONG:-}" ] || killed=6000
"$HEDDLE" live exec h1 -- python3 "$SRC/tests/cli/live_clients.py" kill $killed
settles_at "$before"
[ "$(memory)" -le $((kept + 4096)) ] || fail "$kept kB became $(memory) kB"
on h1 perfquery >/dev/null || fail "it does not answer any more"

# ---- other users, even where they can reach the socket
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	chmod 755 "$XDG_RUNTIME_DIR" "$XDG_RUNTIME_DIR/heddle-fabric"
	chmod 777 "$XDG_RUNTIME_DIR/heddle-fabric/socket"
	! setpriv --reuid 65534 --regid 65534 --clear-groups \
		"$HEDDLE" live link h0 down >out 2>err || fail "a stranger is obeyed"
	"$HEDDLE" live show --csv | grep -q '^h0,1,active' || fail "a stranger was obeyed"
fi

# ---- the end
signals=$(sed -n '/^Threads\|^Sig\|^Shd/p' "/proc/$daemon/status")
kill -TERM "$daemon"
wait "$daemon" || fail "it ends with $?; before, it had $signals"
[ ! -e "$XDG_RUNTIME_DIR/heddle-fabric" ] || fail "its folder is still there"
