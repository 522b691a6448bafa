#!/bin/bash
# clang-tidy over every C file of a build's compile database.
# Usage: tidy.sh BUILD [FILE...]
# A file that passed is not linted again until it, a header of ours that it
# includes, its flags, or the rules change: build/tidy keeps a mark named by
# the hash of all those.
# The analyzer, which takes nearly all the time, looks at a few thousand states
# of a function, and not at tests, which run under sanitizers anyway; with
# TIDY_DEEP=1 (make test-long) at everything.
set -eu
cd "$(dirname "$0")/.."
database=$1/compile_commands.json
shift
marks=build/tidy
mkdir -p "$marks"

# "file<TAB>command" of every C file that git knows.
commands() {
	jq -r --arg top "$PWD/" '.[] | select((.file | startswith($top)) and
		(.file | startswith($top + "build/") | not)) |
		[(.file | ltrimstr($top)), .command] | @tsv' "$database" |
		sort -u -k 1,1 -t "$(printf '\t')"
}

# "file<TAB>header header..." of every C file: the headers of ours that it
# includes, and those that these include.
headers() {
	git ls-files -co --exclude-standard '*.[ch]' |
		xargs grep -H -e '^#include "' -e '^/\* SPDX' | awk -F '[:"]' '
		{ by[$1] = by[$1] " " $3 }
		function visit(file, n, names, i, to) {
			n = split(by[file], names, " ")
			for (i = 1; i <= n; i++) {
				to = file
				sub("[^/]*$", names[i], to)
				if (!(to in by))
					to = "src/" names[i]
				# What the build makes is as what makes it.
				if (to in seen || !(to in by))
					continue
				seen[to]
				list = list " " to
				visit(to)
			}
		}
		END {
			for (file in by) {
				split("", seen)
				list = ""
				visit(file)
				if (file ~ /c$/)
					print file "\t" list
			}
		}'
}

lint_one() {
	local file=$1 command=$2 headers=$3 mark log depth
	log=$(mktemp)
	case ${TIDY_DEEP:-}$file in
	1*) depth= ;;
	*_test.c) depth="--checks=-clang-analyzer-*" ;;
	*) depth="--extra-arg=-Xclang --extra-arg=-analyzer-config
		--extra-arg=-Xclang --extra-arg=max-nodes=5000" ;;
	esac
	mark=$({ echo "$version $command $depth"
		# shellcheck disable=SC2086
		cat .clang-tidy "$file" $headers; } | sha256sum)
	mark=$marks/${mark%% *}
	[ ! -e "$mark" ] || return 0
	set -f # the checks hold a star
	if clang-tidy -p "$database" --quiet $depth "$file" >"$log" 2>&1; then
		: >"$mark"
		rm -f "$log"
		return 0
	fi
	grep -v 'warnings generated' "$log"
	rm -f "$log"
	return 1
}
export -f lint_one
version=$(clang-tidy --version)
export database marks version

list=$(join -t "$(printf '\t')" <(commands) <(headers | sort -k 1,1 -t "$(printf '\t')"))
[ $# -eq 0 ] || list=$(echo "$list" | grep -F "$(printf '%s\t\n' "$@")")
[ -n "$list" ] || { echo "tidy: nothing to check"; exit 1; }
n=$(echo "$list" | wc -l)
echo "$list" | tr '\t\n' '\0\0' |
	xargs -0 -n 3 -P "${JOBS:-$(nproc)}" bash -c 'lint_one "$@"' tidy
echo "$n files"
