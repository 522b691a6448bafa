#!/bin/bash
# Language checks. Each kind has a count that may only fall; ci/words.counts
# records it.
#
#	words.sh                      fail if a count is above its record
#	words.sh --list KIND [PATH]   the places, as FILE:LINE: WHAT
#	words.sh --record             write the counts of now
#
# KIND  spelling  what codespell finds (ci/words.ignore: terms of the field)
#       words     words and phrases of ci/words.list
#       lines     lines of documents above 100 columns; fenced output is exempt
#       structs   definitions of a struct whose name has more than one
#       exports   exported identifiers without a prefix of their module
#                 (ci/words.prefixes)
set -eu
export LC_ALL=C.UTF-8
cd "$(dirname "$0")/.."
kinds='spelling words lines structs exports'
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Text of ours. Fixtures and corpora are input of tests, partly of other tools.
texts() {
	git ls-files src docs web man tests examples papers share ci \
		README.md CONTRIBUTING.md CHANGELOG.md Makefile CMakeLists.txt |
		grep -vE '^ci/words\.|^tests/(fixtures|fuzz/corpus)/|package-lock|\.sums$' |
		grep -vE '\.(png|svg|gz|txt\.in|abi|pcap|pcapng|sql)$'
}

sources() {
	git ls-files 'src/*.c' 'src/*.h' | grep -vE '_test\.c$|_for_tests\.[ch]$'
}

# Tests misspell names on purpose, to see what the program suggests.
list_spelling() {
	local misspelt=colums,halp,lod,priorty,shwo,studdy,topologie,trafic
	texts | grep -vE '^tests/|_test\.c$|^docs/papers\.md$' |
		xargs codespell -q 35 -I ci/words.ignore || true
	texts | grep -E '^tests/|_test\.c$' |
		xargs codespell -q 35 -I ci/words.ignore -L "$misspelt" || true
}

list_words() {
	sed -n 's/^\([a-z ]*[a-z]\)\t.*/\1/p' ci/words.list >"$scratch/list"
	texts | xargs grep -HnoiwF -f "$scratch/list" | grep -v ':is None$' || true
}

list_lines() {
	git ls-files '*.md' | LC_ALL=C xargs awk '
		FNR == 1 { fenced = 0 }
		/^ *```/ { fenced = !fenced }
		fenced { next }
		{
			bytes = $0
			gsub(/[\200-\277]/, "", bytes)
			if (length(bytes) > 100)
				print FILENAME ":" FNR ": " length(bytes) " columns"
		}'
}

list_structs() {
	sources | xargs grep -HnE '^(typedef |static |const )*(struct|union) [a-z_0-9]+ \{' |
		awk -F: '{
			split($3, word, /(struct|union) /)
			name = word[2]
			sub(/ .*/, "", name)
			if (++n[name] > 1) {
				if (n[name] == 2)
					print first[name] ": struct " name
				print $1 ":" $2 ": struct " name
			} else
				first[name] = $1 ":" $2
		}'
}

# Prototypes and objects that headers declare for other files.
list_exports() {
	sources | grep '\.h$' | xargs awk '
	function module_of(path) {
		while (sub("/[^/]*$", "", path))
			if (path in row)
				return path
		return ""
	}
	function check(name, module, prefix) {
		module = module_of(substr(FILENAME, 5))
		for (prefix = name; sub("_[^_]*$", "", prefix); )
			if (owner[prefix "_"] == module)
				return
		if (owner[name "_"] != module)
			print FILENAME ":" FNR ": " name
	}
	FILENAME == "src/modules.txt" {
		if (/^[a-z]/ && $2 != "offers:")
			row[substr($1, 1, length($1) - 1)] = 1
		next
	}
	FILENAME == "ci/words.prefixes" {
		if (!/^[a-z]/)
			next
		module = substr($1, 1, length($1) - 1)
		if (!(module in row))
			print "ci/words.prefixes:" FNR ": src/modules.txt has no " module
		for (i = 2; i <= NF; i++) {
			if ($i in owner)
				print "ci/words.prefixes:" FNR ": " $i " belongs to " owner[$i]
			owner[$i] = module
		}
		next
	}
	FNR == 1 { macro = 0 }
	/^#.*\\$/ { macro = 1 }
	macro { macro = /\\$/; next }
	/^extern/ && match($0, /[a-z_0-9]+(\[[^]]*\])*;/) {
		name = substr($0, RSTART, RLENGTH - 1)
		sub(/\[.*/, "", name)
		check(name)
		next
	}
	/^(static|typedef|extern "C")|^[^a-z]/ { next }
	match($0, /[a-z_][a-z_0-9]*\(/) { check(substr($0, RSTART, RLENGTH - 1)) }
	' src/modules.txt ci/words.prefixes
}

# count KIND: a struct is counted by name, all else by place.
count() {
	case $1 in
	structs) sed 's/.*: struct //' "$scratch/$1" | sort -u | wc -l ;;
	*) wc -l <"$scratch/$1" ;;
	esac
}

is_kind() {
	case " $kinds " in
	*" $1 "*) ;;
	*) echo "words: unknown kind '$1', expected one of: $kinds" >&2; exit 2 ;;
	esac
}

counts() {
	[ -n "$(sources)" ] || { echo "words: nothing to check"; exit 1; }
	for kind in $kinds; do
		"list_$kind" >"$scratch/$kind" &
	done
	wait
	for kind in $kinds; do
		echo "$kind $(count "$kind")"
	done
}

case ${1:-} in
--list)
	is_kind "${2:-}"
	"list_$2" | grep -F -- "${3:-}" || true
	;;
--record)
	counts >"$scratch/counts"
	cp "$scratch/counts" ci/words.counts
	cat ci/words.counts
	;;
'')
	counts >"$scratch/now"
	bad=0
	while read -r kind now; do
		most=$(sed -n "s/^$kind //p" ci/words.counts)
		[ "$now" -le "$most" ] || {
			echo "words: $now places of kind '$kind', recorded are $most:" \
				"see 'ci/words.sh --list $kind'"
			bad=1
		}
	done <"$scratch/now"
	paste -sd ' ' "$scratch/now"
	exit "$bad"
	;;
*)
	echo "usage: words.sh [--list KIND [PATH] | --record]" >&2
	exit 2
	;;
esac
