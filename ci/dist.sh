#!/bin/bash
# Writes a source archive of the current commit: dist.sh FOLDER
# FOLDER/heddle-VERSION.tar.gz has the files of the commit, its name in cmake/commit.txt, and the
# web pages ready made, so that a build from it needs neither git nor npm. The same commit gives
# the same bytes: order, owners, modes and times of the entries come from git.
set -eu -o pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C TZ=UTC
out=$1
git rev-parse --verify -q HEAD >/dev/null ||
	{ echo "dist: this folder is no git clone" >&2; exit 1; }
git diff --quiet HEAD || echo "dist: changes that are not committed are left out" >&2
version=$(git show HEAD:CMakeLists.txt | sed -n 's/^project(heddle VERSION \([0-9.]*\).*/\1/p')
name=heddle-$version
mkdir -p "$out"

# The pages of this commit's web/, if they are built.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
pages=()
ci/web.sh "$PWD/build/web"
if [ ! -e build/web/missing ] && git diff --quiet HEAD -- web; then
	install -m 644 build/web/page.c "$scratch/page.c"
	install -m 644 build/web/made "$scratch/page.made"
	pages=(--prefix="$name/web/" --add-file="$scratch/page.c" --add-file="$scratch/page.made")
else
	echo "dist: the archive has no web pages: its build needs npm" >&2
fi
git -c tar.umask=022 archive --format=tar "${pages[@]}" --prefix="$name/" HEAD |
	gzip -9n >"$scratch/$name.tar.gz"
mv "$scratch/$name.tar.gz" "$out/"
echo "$out/$name.tar.gz"
