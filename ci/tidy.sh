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

lint_one() {
	local file=$1 command=$2 mark log depth
	log=$(mktemp)
	case ${TIDY_DEEP:-}$file in
	1*) depth= ;;
	*_test.c) depth="--checks=-clang-analyzer-*" ;;
	*) depth="--extra-arg=-Xclang --extra-arg=-analyzer-config
		--extra-arg=-Xclang --extra-arg=max-nodes=5000" ;;
	esac
	# The headers of ours it includes, by the compiler's own account, one a
	# line; a blank in a name has a backslash before it.
	local headers
	headers=$(eval "${command% -o *} -MM '$file'" 2>/dev/null |
		sed -E 's/\\$//; s/([^\\]) +/\1\n/g; s/^ +//' | sed 's/\\ / /g' |
		grep -E '\.h$' | grep -v '^/usr' | sort -u)
	mark=$marks/$({ echo "$version"; echo "$command $depth"
		cat .clang-tidy "$file"
		printf '%s' "$headers" | tr '\n' '\0' | xargs -0 -r cat
		} | sha256sum | cut -d' ' -f1)
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

if [ $# -gt 0 ]; then
	list=$(commands | grep -F "$(printf '%s\t\n' "$@")")
else
	list=$(commands)
fi
[ -n "$list" ] || { echo "tidy: nothing to check"; exit 1; }
n=$(echo "$list" | wc -l)
echo "$list" | tr '\t\n' '\0\0' |
	xargs -0 -n 2 -P "${JOBS:-$(nproc)}" bash -c 'lint_one "$@"' tidy
echo "$n files"
