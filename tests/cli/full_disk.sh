# Output that did not arrive is an error, not a success.
. "$SRC/tests/cli/lib.sh"
got=0
"$HEDDLE" --help >/dev/full 2>err || got=$?
[ "$got" -eq 4 ] || fail "ended with $got, not 4"
one_line err
has err "cannot write to standard output"
