# What tables count is what the trace shows, and looking on (a database, more
# threads) changes nothing: counted.py has the cases, and says which one failed.
. "$SRC/tests/cli/lib.sh"

CASES=25
[ -z "${HD_LONG:-}" ] || CASES=500

python3 "$SRC/tests/cli/counted.py" "$HEDDLE" "$CASES" >out || fail "$(cat out)"
