#!/bin/bash
# Checks that the packages above the line "test:" of ci/deps.txt suffice to build
# the program: every system header of its objects and every library on its link
# line belongs to one of them, or to a package that one of them depends on.
# Tests may need more packages, and so may libheddle-mpi.so, which is loaded at
# run time.
#
#	packages.sh BUILD [LIST]
#
# BUILD has the program built by Ninja; LIST replaces ci/deps.txt.
set -eu -o pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "$1" && pwd)
list=${2:-$top/ci/deps.txt}
command -v dpkg-query >/dev/null || {
	echo "SKIPPED: no Debian system, no packages"
	exit 0
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The objects that make up the program, and what the compiler read for each:
# "object<TAB>header", for headers of the system.
headers() {
	ninja -C "$build" -t inputs heddle | grep '\.o$' >"$scratch/objects"
	ninja -C "$build" -t deps | awk -v objects="$scratch/objects" '
		BEGIN { while ((getline name < objects) > 0) ours[name] = 1 }
		/^[^ ].*: #deps/ { sub(/: #deps.*/, ""); object = $0; next }
		object in ours && /^ +\/usr\// { print object "\t" $1 }'
}

# "the link line<TAB>library", for libraries of the system.
libraries() {
	local word
	ninja -C "$build" -t commands heddle | grep -- ' -o heddle ' |
		tr ' ' '\n' | grep -E '^(-l.|/usr/.*\.(so|a)$)' | sort -u |
		while read -r word; do
			case $word in
			-l*) word=$(library_file "${word#-l}") ;;
			esac
			printf 'the link line\t%s\n' "$word"
		done
}

# library_file NAME: what the linker takes for -lNAME.
library_file() {
	local ending file
	for ending in so a; do
		file=$(cc -print-file-name="lib$1.$ending")
		case $file in
		/*) realpath -s "$file" && return ;;
		esac
	done
	echo "lib$1"
}

# "package<TAB>file" for each file on standard input that a package owns.
owners() {
	xargs dpkg-query -S 2>/dev/null |
		sed -nE 's/^([^:, ]+)(:[^:, ]+)?(, .*)?: (\/.*)$/\1\t\4/p' || true
}

# The packages that LIST names for building, and what installing them brings:
# of alternatives the first that is there.
closure() {
	awk '/^test:/ { exit } { sub(/#.*/, "") } NF { print $1 }' "$list" \
		>"$scratch/named"
	dpkg-query -W -f '${Package}\t${Pre-Depends}, ${Depends}\t${Provides}\n' |
		awk -F '\t' -v named="$scratch/named" '
		function bare(text) {
			gsub(/\([^)]*\)|:[a-z0-9]+|[ \t]/, "", text)
			return text
		}
		function there(name) {
			return name in needs ? name : provider[name]
		}
		function reach(name, n, i, m, j, terms, choices) {
			name = there(name)
			if (name == "" || name in reached)
				return
			reached[name] = 1
			print name
			n = split(needs[name], terms, ",")
			for (i = 1; i <= n; i++) {
				m = split(terms[i], choices, "|")
				for (j = 1; j <= m; j++)
					if (there(bare(choices[j])) != "") {
						reach(bare(choices[j]))
						break
					}
			}
		}
		{
			needs[$1] = $2
			n = split($3, offers, ",")
			for (i = 1; i <= n; i++)
				provider[bare(offers[i])] = $1
		}
		END { while ((getline name < named) > 0) reach(name) }'
}

{ headers; libraries; } >"$scratch/uses"
cut -f 2 "$scratch/uses" | sort -u >"$scratch/files"
owners <"$scratch/files" >"$scratch/owners"
closure >"$scratch/allowed"
awk -F '\t' -v allowed="$scratch/allowed" -v owners="$scratch/owners" '
	BEGIN {
		while ((getline line < allowed) > 0) ok[line] = 1
		while ((getline line < owners) > 0) {
			split(line, field, "\t")
			owner[field[2]] = field[1]
		}
	}
	{ used[$2]++ }
	used[$2] == 1 && !(owner[$2] in ok) {
		package = owner[$2] == "" ? "no package" : owner[$2]
		printf "%s: %s is of %s, which no package above test: brings\n",
			$1, $2, package
		bad = 1
	}
	{ kinds[$1 == "the link line"] += used[$2] == 1 }
	END {
		printf "%d headers and %d libraries\n", kinds[0], kinds[1]
		exit bad || !kinds[0] || !kinds[1]
	}' "$scratch/uses"
