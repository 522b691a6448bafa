#!/bin/sh
# Installs the packages of ci/deps.txt that are missing.
#
#	deps.sh [build | rxe | aarch64 | fresh | package]
#
# With "build", only those above the line "test:"; with "rxe", "aarch64", "fresh"
# or "package", the packages for building and those below that line. Prints and does
# nothing, offline too, when nothing is missing.
set -eu
cd "$(dirname "$0")/.."

wanted() {
	awk -v only="${1:-}" '
		{ sub(/#.*/, "") }
		$1 ~ /:$/ { part = $1; next }
		part == "" || part == only ":" { if (NF) print $1; next }
		part == "test:" && only != "build" && only != "package" && NF { print $1 }
		' ci/deps.txt
}

if ! command -v dpkg-query >/dev/null; then
	echo "deps: this is no Debian system; install the equivalents of" \
		"ci/deps.txt by hand and continue" >&2
	exit 0
fi

# What installed packages offer besides themselves: Node.js from elsewhere
# brings its own npm and conflicts with Debian's.
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
# shellcheck disable=SC2086 # words of a list
set -- $missing
echo "deps: installing $# packages:$missing"
apt() {
	$as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq "$@" </dev/null
}
# Apt writes "pmstatus:cmake:45.0:Unpacking cmake (amd64)" between its other lines, and
# "dlstatus:" during downloads: printed as "deps: 45 % Unpacking cmake (amd64)".
progress() {
	while IFS= read -r line; do
		printf '%s\n' "$line" >>"$log"
		case $line in
		pmstatus:* | dlstatus:*)
			rest=${line#*:*:}
			share=${rest%%[.:]*}
			[ -t 1 ] || [ "$share" -ge $((shown + 20)) ] || continue
			shown=$share
			printf "$begin"'deps: %3d %% %s'"$end" "$share" "${rest#*:}"
			;;
		esac
	done
	printf "$begin"
}
log=$(mktemp)
trap 'rm -f "$log" "$log.failed"' EXIT
shown=-20 begin='' end='\n'
[ ! -t 1 ] || { begin='\r\033[K' end=''; }
{ { apt update && apt install -y --no-install-recommends "$@" -o APT::Status-Fd=1; } 2>&1 ||
	: >"$log.failed"; } | progress
[ ! -e "$log.failed" ] || {
	tail -n 20 "$log" >&2
	echo "deps: apt could not install$missing" >&2
	exit 1
}
