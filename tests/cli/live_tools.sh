# What OpenSM programs and answers is right by each tool of infiniband-diags.
. "$SRC/tests/cli/lib.sh"
. "$SRC/tests/cli/live_lib.sh"
echo 'force_log_flush TRUE' >conf
"$HEDDLE" live up 'fat-tree --radix 36 --levels 2' >up
has up '648 hosts, 54 switches'
manage h0 log -F conf -D 0x43
wait_for 1 'SUBNET UP'

cp dumps/opensm-lfts.dump planned
. "$SRC/tests/cli/live_ask.sh"
