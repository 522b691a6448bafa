#!/bin/sh
# Installs the packages of ci/deps.txt that are missing.
#
#	deps.sh [build | rxe | aarch64 | fresh]
#
# With "build", only those above the line "test:"; with "rxe", "aarch64" or
# "fresh", also those below that line. Says and does nothing, offline too, when
# nothing is missing.
set -eu
cd "$(dirname "$0")/.."

wanted() {
	awk -v only="${1:-}" '
		{ sub(/#.*/, "") }
		$1 ~ /:$/ { part = $1; next }
		part == "" || part == only ":" { if (NF) print $1; next }
		part == "test:" && only != "build" && NF { print $1 }
		' ci/deps.txt
}

if ! command -v dpkg-query >/dev/null; then
	echo "deps: this is no Debian system; install the equivalents of" \
		"ci/deps.txt by hand and go on" >&2
	exit 0
fi

# What installed packages offer besides themselves: Node.js from elsewhere
# brings its own npm, and Debian's cannot stand beside it.
provided() {
	dpkg-query -W -f='${db:Status-Status} ${Provides}\n' 2>/dev/null |
		sed -n 's/^installed //p' | tr ',' '\n' |
		awk -v package="$1" '$1 == package { found = 1 }
			END { exit !found }'
}

missing=
for package in $(wanted "${1:-}"); do
	dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null |
		grep -qx installed || provided "$package" ||
		missing="$missing $package"
done
[ -n "$missing" ] || exit 0

as_root=
if [ "$(id -u)" -ne 0 ]; then
	command -v sudo >/dev/null || {
		echo "deps: cannot install without root or sudo; ask for:$missing" >&2
		exit 1
	}
	as_root=sudo
fi
echo "deps: installing$missing"
apt() {
	$as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq "$@" </dev/null
}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
{ apt update && apt install -y --no-install-recommends $missing; } \
	>"$log" 2>&1 || {
	tail -n 20 "$log" >&2
	echo "deps: apt could not install$missing" >&2
	exit 1
}
