#!/bin/sh
# A module of src/ includes its own headers and those of the modules in its row
# of src/modules.txt; of modules with an 'offers' row only the headers listed
# there. Each entry of the list is used. Scenario fields are set by their paths
# (src/scenario/override.h): no source prints YAML. Only src/run opens simulations.
# Tests are exempt.
# docs/architecture.md describes every module, and the functions and structs that
# it names exist.
set -eu
cd "$(dirname "$0")/.."
[ -f src/modules.txt ] || { echo "layers: nothing to check"; exit 1; }
sed -n 's/^\([a-z/]*\):.*/\1/p' src/modules.txt | while read -r module; do
	grep -qF "\`$module\`" docs/architecture.md || {
		echo "layers: docs/architecture.md does not say what $module is"
		exit 1
	}
done
missing=$(grep -oE '`[a-z0-9]+(_[a-z0-9]+)+`' docs/architecture.md | tr -d '`' | sort -u |
	while read -r name; do grep -rqwF "$name" src || echo "$name"; done)
[ -z "$missing" ] || {
	echo "layers: docs/architecture.md names what src does not have:" $missing
	exit 1
}
product() {
	find src -name '*.[ch]' ! -name '*_test.c' ! -name '*_for_tests.h' |
		sort
}
mapping='"[^"]*[{][a-z_]+: '
if product | xargs grep -nE \
	"$mapping"'([^"]|[\]")*%[0-9.]*[a-z]|put[sc]\(.*'"$mapping" /dev/null
then
	echo "layers: print no YAML, set fields by their paths"
	exit 1
fi
if product | grep -v -e '^src/run/' -e '^src/sim/' | xargs grep -n 'sim_new(' /dev/null; then
	echo "layers: only src/run opens a simulation (src/run/run.h)"
	exit 1
fi
product | xargs grep -EH '^#include "' |
	awk '
	# The innermost module that a path is in.
	function module_of(path) {
		while (sub("/[^/]*$", "", path))
			if (path in row)
				return path
		return ""
	}
	FILENAME == "src/modules.txt" {
		if (/^#/ || !/:/)
			next
		if ($2 == "offers:") {
			fenced[$1] = 1
			for (i = 3; i <= NF; i++)
				offered[$1 "/" $i] = wanted[$1 "/" $i] = 1
			next
		}
		module = substr($1, 1, length($1) - 1)
		row[module] = NR
		for (i = 2; i <= NF; i++) {
			if (!($i in row))
				fail("src/modules.txt: " module " uses " $i ", which comes later")
			may[module, $i] = 1
		}
		next
	}
	{
		at = index($0, ":")
		file = substr($0, 1, at - 1)
		split($0, quoted, "\"")
		module = module_of(substr(file, 5))
		used = module_of(quoted[2])
		if (!(file in seen))
			files += seen[file] = 1
		if (!module)
			fail(file ": src/modules.txt has no row for its folder")
		else if (used && used != module && !((module, used) in may))
			fail(file ": src/" module " may not include " quoted[2])
		else if (used != module && (used in fenced) && !(quoted[2] in offered))
			fail(file ": " quoted[2] " is no header that src/" used " offers")
		if (used != module)
			delete wanted[quoted[2]]
		does[module, used] = 1
	}
	function fail(why) {
		print "layers: " why
		bad = 1
	}
	END {
		for (pair in may) {
			split(pair, two, SUBSEP)
			if (!(pair in does))
				fail("src/" two[1] " uses nothing of " two[2])
		}
		for (header in wanted)
			fail("no other module includes " header ", which is offered")
		if (files == 0)
			fail("nothing to check")
		print files " files"
		exit bad
	}' src/modules.txt -
