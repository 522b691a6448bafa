# The folder of a live fabric belongs to one fabric and one user, also after
# simultaneous starts, a kill, or an earlier fabric; programs end with the fabric.
. "$SRC/tests/cli/lib.sh"
. "$SRC/tests/cli/live_lib.sh"
fabric='fat-tree --radix 4 --levels 2'
large='fat-tree --radix 12 --levels 3'
folder=$XDG_RUNTIME_DIR/heddle-fabric

# ---- many at once: one of them gets the folder, and `live down` leaves no daemon
n=12
round=0
while [ $round -lt 3 ]; do
	i=0 starters=
	while [ $i -lt $n ]; do
		"$HEDDLE" live up "$large" >up.$i 2>&1 &
		starters="$starters $!"
		i=$((i + 1))
	done
	won=0
	for starter in $starters; do
		wait "$starter" && won=$((won + 1))
	done
	[ $won -eq 1 ] || fail "$won of $n have started it: $(cat up.*)"
	[ "$(cat up.* | grep -c 'runs already')" -eq $((n - 1)) ] ||
		fail "$(cat up.*)"
	"$HEDDLE" live down || fail "the one that runs is not in the folder"
	[ ! -e "$folder" ] || fail "the folder is still there"
	round=$((round + 1))
done

# ---- nor does one that cannot answer now lose it
stay "$fabric"
kill -STOP $daemon
status 4 "$HEDDLE" live up "$fabric"
has err 'runs already'
kill -CONT $daemon
"$HEDDLE" live down
wait $daemon || fail "it ends with $?"

# ---- one that is called off before it is up leaves nothing: with a millionth of
# the clock's pace its manager waits for the first answer
for signal in TERM HUP; do
	"$HEDDLE" live up "$fabric" --sm minhop --clock simulated --pace 1e-6 >up 2>&1 &
	starter=$!
	tries=0
	until [ -e "$folder/manager-h0.log" ]; do
		tries=$((tries + 1))
		[ $tries -lt $PATIENCE ] || fail "it does not come up: $(cat up)"
		sleep 0.05
	done
	kill -$signal $starter
	! wait $starter || fail "it takes $signal for nothing"
	[ ! -e "$folder" ] || fail "$signal leaves the folder"
	status 3 "$HEDDLE" live show
done

# ---- what a killed one left is taken over, and becomes private again
mkdir -p "$folder/inner"
touch "$folder/socket" "$folder/inner/file"
chmod 755 "$folder"
"$HEDDLE" live up "$fabric" -q
[ ! -e "$folder/inner" ] || fail "what was left is still there"
[ "$(stat -c %a "$folder")" = 700 ] || fail "others may enter"
"$HEDDLE" live down
ln -s / "$folder"
status 4 "$HEDDLE" live up "$fabric"
has err "cannot make '$folder'"
rm "$folder"

# ---- another user's is neither used nor asked
if [ "$(id -u)" -eq 0 ]; then
	install -d -o 65534 "$folder"
	touch "$folder/kept"
	status 4 "$HEDDLE" live up "$fabric"
	has err "another user has one of that name"
	[ -e "$folder/kept" ] || fail "another user's file was removed"
	rm -r "$folder"
fi

# ---- OpenSM, which reads from an adapter that is gone for ever, ends
"$HEDDLE" live up "$fabric" -q
echo 'force_log_flush TRUE' >conf
manage h0 log -F conf
wait_for 1 'SUBNET UP'
"$HEDDLE" live down
wait "$manager" || true
[ "$(grep -c 'No such device' log)" -le 1000 ] ||
	fail "OpenSM's log has $(wc -l <log) lines"
