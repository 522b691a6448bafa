# 'make dist' gives the same bytes whenever and however it runs, with the commit's name inside.
. "$SRC/tests/cli/lib.sh"
[ -e "$SRC/.git" ] && git -C "$SRC" rev-parse -q --verify HEAD >/dev/null || {
	echo "SKIPPED: no git clone" >&2
	exit 0
}
rm -rf one two
status 0 "$SRC/ci/dist.sh" "$PWD/one"
(
	umask 077
	TZ=Pacific/Auckland LC_ALL=C status 0 "$SRC/ci/dist.sh" "$PWD/two"
)
archive=$(cd one && echo *)
cmp "one/$archive" "two/$archive" || fail "two archives of one commit differ"
tar -xOf "one/$archive" "${archive%.tar.gz}/cmake/commit.txt" >commit
grep -qx "$(git -C "$SRC" rev-parse HEAD)" commit || fail "the archive names another commit"
