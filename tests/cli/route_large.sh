# Tables of any length are written and read line by line: in the memory that
# the fabric itself takes, whatever the length of the file.
. "$SRC/tests/cli/lib.sh"
radix=20 limit=49152 # KiB; the file has 80 MB
[ "${HD_LONG:-0}" = 0 ] || radix=36 limit=163840 # 1.4 GB
fabric="fat-tree --radix $radix --levels 3"

# A sanitizer needs more room than any limit; the bytes are compared all the
# same.
if ! (ulimit -v $limit && "$HEDDLE" --version >/dev/null 2>&1); then
	limit=unlimited
fi
bounded() {
	(ulimit -v $limit && "$HEDDLE" "$@")
}
bounded route "$fabric" --dump opensm | cksum >wanted
bounded route "$fabric" --dump opensm |
	bounded route "$fabric" --engine file --routes - --dump opensm |
	cksum >got
cmp wanted got || fail "the tables did not come back as they went"
[ $limit = unlimited ] ||
	[ "$(cut -d ' ' -f 2 wanted)" -gt $((limit * 1024)) ] ||
	fail "the file is too small to show anything"
# To a file, too, which is whole or not there.
bounded route "$fabric" --dump opensm -o tables
cksum <tables | cmp - wanted || fail "the file differs"
# One line of a gigabyte is refused before it is held.
if head -c 100000000 /dev/zero | tr '\0' 'x' |
	bounded route "$fabric" --engine file --routes - 2>err; then
	fail "an endless line was taken"
fi
one_line err
has err "standard input:1: a line of more than"
