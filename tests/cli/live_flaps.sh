# Cables are removed and reconnected repeatedly during OpenSM's sweeps. In the end the fabric is
# complete, all links are active, and switches have OpenSM's routes.
. "$SRC/tests/cli/lib.sh"
. "$SRC/tests/cli/live_lib.sh"
flaps=30
[ -z "${HD_LONG:-}" ] || flaps=1000
echo 'force_log_flush TRUE' >conf
"$HEDDLE" live up 'fat-tree --radix 4 --levels 3' -q
manage h0 log -F conf -D 0x43
wait_for 1 'SUBNET UP'
i=0
while [ $i -lt $flaps ]; do
	cable=s1-$((i % 8)):$((3 + i / 8 % 2))
	before=$(grep -c 'SUBNET UP' log)
	"$HEDDLE" live link $cable down
	wait_for $((before + 1)) 'SUBNET UP'
	before=$(grep -c 'SUBNET UP' log)
	"$HEDDLE" live link $cable up
	wait_for $((before + 1)) 'SUBNET UP'
	i=$((i + 1))
done

# ---- it has nothing more to do when it has swept no more for a second
before=0
until [ "$(grep -c 'SUBNET UP' log)" -eq $before ]; do
	before=$(grep -c 'SUBNET UP' log)
	sleep 1
done
[ $before -ge $((2 * flaps)) ] || fail "only $before sweeps"
[ "$("$HEDDLE" live show --csv | grep -c ',active,')" -eq 116 ] ||
	fail "not all of 20 + 96 ports are active"
on h3 dump_fts | routes >got
routes <dumps/opensm-lfts.dump >wanted
[ "$(wc -l <wanted)" -eq 720 ] || fail "OpenSM's dump"
cmp wanted got || fail "dump_fts differs from OpenSM's dump"
on h3 saquery -t 300000 -p >paths
[ "$(grep -c 'PathRecord' paths)" -eq 1296 ] || fail "not all 36 x 36 paths"
# Each trap is repressed: no node repeats one.
no_more 'num:128'
