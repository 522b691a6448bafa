# Building the program needs only packages that ci/deps.txt lists for it; a package listed for tests
# only is detected, by header and by library.
. "$SRC/tests/cli/lib.sh"
build=$(dirname "$HEDDLE")
status 0 "$SRC/ci/packages.sh" "$build"
if grep -q SKIPPED out; then
	cat out
	exit 0
fi

# below PACKAGE: ci/deps.txt with that package among the tests'.
below() {
	awk -v package="$1" '$1 == package { next } { print }
		/^test:/ { print package }' "$SRC/ci/deps.txt" >list
}
for package in libjansson-dev libyaml-dev; do
	below $package
	status 1 "$SRC/ci/packages.sh" "$build" list
	grep -q "\.c\.o: /usr/include/.* of $package," out ||
		fail "a header of $package was not noticed"
	grep -q "the link line: /usr/lib/.* of $package," out ||
		fail "the library of $package was not noticed"
done
# Packages that others install need not be listed.
below libc6-dev
status 0 "$SRC/ci/packages.sh" "$build" list

# A check without input must fail.
mkdir -p empty
echo 'rule none' >empty/build.ninja
! "$SRC/ci/packages.sh" empty >out 2>err || fail "no program, no complaint"
