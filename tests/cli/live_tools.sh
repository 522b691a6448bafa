# What OpenSM programs and answers is right by each tool of infiniband-diags.
. "$SRC/tests/cli/lib.sh"
. "$SRC/tests/cli/live_lib.sh"
echo 'force_log_flush TRUE' >conf
. "$SRC/tests/cli/live_size.sh"
"$HEDDLE" live up "$fabric" >up
has up "$size"
manage h0 log -F conf -D 0x43
settle

cp dumps/opensm-lfts.dump planned
. "$SRC/tests/cli/live_ask.sh"
