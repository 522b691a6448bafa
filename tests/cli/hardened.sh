# The released program is hardened: it is loaded at a random address, what the
# loader filled in is read-only before main runs, no stack is executable, and
# overruns of arrays end it (stack protector, checked string functions).
. "$SRC/tests/cli/lib.sh"
export LC_ALL=C
readelf --wide --file-header --segments --dynamic "$HEDDLE" >shape
readelf --wide --dyn-syms "$HEDDLE" >symbols

grep -q 'Type: *DYN' shape || fail "not position independent"
grep -q 'FLAGS_1.* NOW.* PIE' shape || fail "no PIE, or not bound at start"
grep -q 'GNU_RELRO' shape || fail "no RELRO"
grep -q 'GNU_STACK .* RW ' shape || fail "the stack is executable"
for symbol in __stack_chk_fail __memcpy_chk __snprintf_chk; do
	grep -q " $symbol@" symbols || fail "nothing calls $symbol"
done
