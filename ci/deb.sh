#!/bin/bash
# Builds Debian packages of the current commit and checks them: deb.sh FOLDER
# They are made in a scratch folder, from the source archive of ci/dist.sh. lintian's errors fail.
set -eu -o pipefail
cd "$(dirname "$0")/.."
mkdir -p "$1"
out=$(cd "$1" && pwd)
scratch=$(mktemp -d --tmpdir heddle-deb.XXXXXX)
trap 'rm -rf "$scratch"' EXIT
rm -f "$out"/*.deb
archive=$(ci/dist.sh "$scratch")
tar -C "$scratch" -xf "$archive"
tree=${archive%.tar.gz}
version=${tree##*-}
cp -r "$tree/packaging/debian" "$tree/debian"

# Build-Depends are the packages of ci/deps.txt; the archive has the pages that npm would make.
awk '/^test:/ { exit } { sub(/#.*/, "") } NF && $1 !~ /^(nodejs|npm|gcc|make|libc6-dev|libcmocka-dev)$/ {
	printf "%s%s", separator, $1; separator = ", " }' ci/deps.txt >"$scratch/needs"
sed -i "s/@BUILD_DEPENDS@/$(cat "$scratch/needs")/" "$tree/debian/control"
cat >"$tree/debian/changelog" <<END
heddle ($version) unstable; urgency=medium

  * Version $version; /usr/share/doc/heddle/changelog.gz has the changes.

 -- The Heddle authors <heddle@packages.invalid>  $(git log -1 --format=%cD)
END
cd "$tree"
export DEB_BUILD_OPTIONS="parallel=${JOBS:-$(nproc)} noautodbgsym ${DEB_BUILD_OPTIONS:-}"
dpkg-buildpackage -us -uc -b >"$out/build.log" 2>&1 || {
	tail -n 40 "$out/build.log" >&2
	echo "deb: the build failed; all of it is in $out/build.log" >&2
	exit 1
}
cd "$scratch"
lintian --allow-root --fail-on error --no-tag-display-limit ./*.changes >"$out/lintian.log" 2>&1 || {
	cat "$out/lintian.log" >&2
	echo "deb: lintian found errors" >&2
	exit 1
}
mv ./*.deb "$out"
ls "$out"/*.deb
echo "lintian: no errors, $(grep -c '^W:' "$out/lintian.log" || true) warnings"
