#!/bin/sh
# Removes what 'make install' installed: uninstall.sh BUILD PREFIX (and DESTDIR, as for the
# installation). Folders of others stay; those that become empty below the prefix are removed.
set -eu
manifest=$1/install_manifest.txt
prefix=${2%/}
[ -s "$manifest" ] || {
	echo "uninstall: no $manifest: 'make install' did not run in this folder" >&2
	exit 1
}
awk -v prefix="$prefix/" 'index($0, prefix) != 1 { exit 1 }' "$manifest" || {
	echo "uninstall: the last installation was to another prefix:" \
		"$(head -n 1 "$manifest")" >&2
	exit 1
}
n=0
while IFS= read -r file || [ -n "$file" ]; do
	file=${DESTDIR:-}$file
	if [ -e "$file" ] || [ -L "$file" ]; then
		rm -f "$file"
		n=$((n + 1))
	fi
	folder=${file%/*}
	while [ "$folder" != "${DESTDIR:-}$prefix" ] && rmdir "$folder" 2>/dev/null; do
		folder=${folder%/*}
	done
done <"$manifest"
echo "removed $n files from ${DESTDIR:-}$prefix"
