# Injected faults: a small RPC library over verbs gets each kind of fault at the specified place, in
# the same way in every run.
. "$SRC/tests/cli/lib.sh"
. "$SRC/tests/cli/live_lib.sh"
"$HEDDLE" live up 'fat-tree --radix 4 --levels 2' --sm minhop -q

# rpc: 100 calls, 200 sends.
rpc() {
	on h0 "$RPC" 100 >said 2>&1 || fail "$* $(cat said)"
}
rpc
grep -q 'calls=100 refused=0 failed=0 status=0 events=0 fatal=0' said || fail "$(cat said)"

# WHICH FAULT: a pattern of what the library says; faults of other hosts do not matter.
while IFS='|' read -r fault expected; do
	"$HEDDLE" live fault h0 $fault >added || fail "$fault"
	rpc "$fault"
	grep -Eq "$expected" said || fail "$fault: $(cat said)"
	"$HEDDLE" live fault clear
done <<'ROWS'
complete=REM_ACCESS_ERR after=10|calls=100 .* failed=1 status=10\>
complete=RETRY_EXC_ERR after=10 times=3|calls=100 .* failed=3 status=12\>
complete=RNR_RETRY_EXC_ERR after=199|calls=100 .* failed=1 status=13\>
complete=GENERAL_ERR after=200|calls=100 .* failed=0\>
post=EAGAIN after=4 times=3|calls=100 refused=3 failed=0\>
post=ENOMEM times=7|calls=100 refused=7 failed=0\>
delay=30ms after=2|calls=100 .* longest_ms=([3-9][0-9]|[0-9]{3,})$
rnr=30ms after=2|calls=100 .* failed=0 .* longest_ms=([3-9][0-9]|[0-9]{3,})$
qp-error=QP_FATAL after=6|calls=100 .* failed=1 status=5 events=1 fatal=0
qp-error=QP_ACCESS_ERR after=6 times=2|calls=100 .* failed=2 status=5 events=2 fatal=0
device=DEVICE_FATAL after=20|calls=(9|10) .* fatal=1
complete=REM_OP_ERR process=1|calls=100 .* failed=0\>
complete=REM_OP_ERR qp=1|calls=100 .* failed=0\>
ROWS
"$HEDDLE" live fault h1 complete=GENERAL_ERR >added
rpc
grep -q 'failed=0' said || fail "a fault of another host: $(cat said)"

# By chance: the same seed hits the same requests, another seed others, about one in ten.
for seed in 7 7 8; do
	"$HEDDLE" live fault clear
	"$HEDDLE" live fault h0 complete=REM_OP_ERR chance=0.1 seed=$seed >added
	rpc
	sed 's/ longest.*//' said >"by.$seed.$((n = ${n:-0} + 1))"
	failed=$(sed 's/.*failed=\([0-9]*\).*/\1/' said)
	[ "$failed" -ge 5 ] && [ "$failed" -le 45 ] || fail "by chance: $(cat said)"
done
cmp by.7.1 by.7.2 || fail "the same seed, other faults"

# The list, from a file too; what is wrong is refused with the line.
"$HEDDLE" live fault clear
"$HEDDLE" live fault h0 post=EAGAIN >added
"$HEDDLE" live fault h1 rnr=1ms >added
"$HEDDLE" live fault list >list
[ "$(wc -l <list)" -eq 2 ] || fail "$(cat list)"
"$HEDDLE" live fault clear "$(awk 'NR == 1 { print $1 }' list)"
"$HEDDLE" live fault list >list
grep -q 'h1.*rnr=1ms' list && [ "$(wc -l <list)" -eq 1 ] || fail "$(cat list)"
while IFS='|' read -r fault message; do
	status 3 "$HEDDLE" live fault $fault
	has err "$message"
done <<'ROWS'
h99 post=EAGAIN|no host 'h99'
h0 post=ESRCH|is one of EAGAIN, EINVAL, ENOMEM
h0 post=EAGAIN times=-1|a number from 0
h0 post=EAGAIN chance=2|above 0 and at most 1
h0 post=EAGAIN rnr=1ms x=1|a fault has one action
h0 what=1|is not a part of a fault
ROWS
"$HEDDLE" live down -q
printf '# of the first host\nh0 post=EAGAIN times=5 # five\n\n' >faults
"$HEDDLE" live up 'star --hosts 2' --sm minhop --faults faults -q
rpc
grep -q 'refused=5 ' said || fail "a file of faults: $(cat said)"
"$HEDDLE" live down -q
printf 'h0 post=EAGAIN\nh7 post=EAGAIN\n' >faults
status 3 "$HEDDLE" live up 'star --hosts 2' --faults faults
has err "faults:2: no host 'h7'"
