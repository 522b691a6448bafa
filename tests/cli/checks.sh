# Checks of the repository fail if they find nothing to check, and if they find an error: they are
# run on a small tree with errors.
. "$SRC/tests/cli/lib.sh"

# A jq filter on an empty file is false.
: >nothing
! jq -e . nothing || fail "jq finds something in an empty file"
! jq -e . <nothing >said || fail "jq finds something in an empty file"
echo '{"a": 1}' >something
jq -e '.a == 1' something >said || fail "jq finds nothing"
! jq -ce '.a == 2' something >said || fail "jq finds too much"

# Tests end the processes that they started, but no other process that has got
# the number of one of them since: here a child of this test is the other one.
sleep 300 &
other=$!
sh -eu -c '. "$SRC/tests/cli/lib.sh"
	. "$SRC/tests/cli/end_lib.sh"
	sleep 300 &
	echo $! >own
	programs="$1 $!"' ends "$other"
kill -0 $other || fail "a test ends a process of another"
kill $other
! kill -0 "$(cat own)" 2>/dev/null || fail "a test leaves something behind"

rm -rf tree
mkdir -p tree/ci tree/build/man
cp "$SRC"/ci/*.sh "$SRC"/ci/words.[!s]* tree/ci
cp "$SRC/.clang-format" tree
cd tree
git init -q .
git add ci .clang-format

for check in format headers cppcheck layers draws words; do
	status 1 ci/$check.sh
done
status 1 ci/man.sh build
status 1 ci/fuzz.sh smoke
status 1 ci/bench.sh build
echo '[]' >build/compile_commands.json
status 1 ci/tidy.sh build

# A man page that groff only warns about.
printf '.TH X 1\n.SH NAME\nx \\- y\n.SH SYNOPSIS\n.NOSUCH\n' >build/man/x.1
status 1 ci/man.sh build
has out "NOSUCH"
sed -i /NOSUCH/d build/man/x.1
status 0 ci/man.sh build

# A header that needs another one first.
mkdir -p src/base
echo '/* SPDX-License-Identifier: BSD-2-Clause */' >src/base/x.h
echo 'void f(uint32_t x);' >>src/base/x.h
git add src
status 123 ci/headers.sh
has out "src/base/x.h does not compile alone"

# A module that includes a higher one, a dependency without a use, a private
# header of another module, a folder without a row or absent from the document, a
# function in the document that does not exist.
mkdir -p src/wire docs
printf 'base:\nwire: base\n' >src/modules.txt
echo '`base`' >docs/architecture.md
status 1 ci/layers.sh
has out 'layers: docs/architecture.md does not say what wire is'
echo '`wire`' >>docs/architecture.md
echo '#include "wire/y.h"' >src/base/z.c
echo '#include "base/x.h"' >src/wire/y.h
status 1 ci/layers.sh
has out 'layers: src/base/z.c: src/base may not include wire/y.h'
echo '#include "base/x.h"' >src/base/z.c
status 0 ci/layers.sh
echo 'base offers: w.h' >>src/modules.txt
status 1 ci/layers.sh
has out 'layers: src/wire/y.h: base/x.h is no header that src/base offers'
has out 'layers: no other module includes base/w.h, which is offered'
sed -i 's/w.h/x.h/' src/modules.txt
status 0 ci/layers.sh
echo '`no_such` `wire`' >>docs/architecture.md
status 1 ci/layers.sh
has out 'layers: docs/architecture.md names what src does not have: no_such'
sed -i /no_such/d docs/architecture.md
echo '#include "wire/y.h"' >src/wire/y.h
status 1 ci/layers.sh
has out 'layers: src/wire uses nothing of base'
echo 'base:' >src/modules.txt
status 1 ci/layers.sh
has out 'src/wire/y.h: src/modules.txt has no row for its folder'
rm -r src/wire src/modules.txt docs
git add src

# A phrase of the list, a misspelt word, a long line of a document, a struct
# name of two structs, an export without its module's prefix.
printf 'base:\n' >src/modules.txt
: >src/base/a.c
git add src
sed -i '/^base:/!d' ci/words.prefixes
status 0 ci/words.sh --record
status 0 ci/words.sh
rises() { # KIND FILE TEXT PLACE
	printf '%b\n' "$3" >"$2"
	git add "$2"
	status 1 ci/words.sh
	has out "places of kind '$1', recorded are"
	status 0 ci/words.sh --list "$1"
	has out "$4"
	git rm -qf "$2"
	mkdir -p src/base
}
rises words src/base/b.c '/*\n * It goes'' on. */' 'src/base/b.c:2:goes'' on'
rises spelling src/base/b.c '/* reci''eve */' 'src/base/b.c:1: reci''eve ==> receive'
rises lines x.md "$(printf '%0101d' 0)\n\`\`\`\n$(printf '%0101d' 0)" 'x.md:1: 101 columns'
rises structs src/base/b.c 'struct a {\n};\nstruct a {\n};' 'src/base/b.c:3: struct a'
rises exports src/base/b.h 'void hd_x(void);\nvoid y(void);' 'src/base/b.h:2: y'
git rm -qf src/base/a.c src/modules.txt

# Tests that draw other cases each time, and one that does not.
draw() { # FILE TEXT
	mkdir -p "$(dirname "$1")"
	printf '%s\n' "$2" >"$1"
	git add "$1"
	status 1 ci/draws.sh
	has out "$1:1:$2"
	git rm -qf "$1"
}
for call in 'x = time(NULL);' 'seed = clock_gettime(0, &t);' 'f(getpid());' \
	'if (getenv("SEED"))' 'rand();' 'open("/dev/urandom", 0);'; do
	draw src/base/x_test.c "$call"
done
draw tests/cli/x.sh 'port=$((2000 + $$))'
draw tests/cli/x.sh 'seed=$RANDOM'
draw tests/cli/x.sh 'seed=$(date +%s)'
draw tests/cli/x.sh 'timeout 30 "$HEDDLE" sim x.yaml'
draw tests/cli/x.sh 'timeout 120 "$HEDDLE" sim x.yaml'
draw tests/cli/x.sh 'sleep 60 >console &'
draw tests/cli/x.sh 'opensm -f log &'
draw tests/cli/x.sh 'on h3 saquery -p >paths'
draw tests/cli/x.sh '[ "$tries" -lt 100 ] || fail "no answer"'
draw web/test/x.mjs 'const seed = Math.random();'
draw tests/x.py 'x = random.random()'
echo 'rng_init(&rng, 1, 0); /* no time to lose */' >src/base/x_test.c
git add src
status 0 ci/draws.sh

# A harness that covers less than before.
mkdir -p build/fuzz/tests/fuzz tests/fuzz/corpus/x
printf '#!/bin/sh\necho "#1 DONE cov: 94 ft: 1 lim: 4 exec/s: 0" >&2\n' \
	>build/fuzz/tests/fuzz/fuzz_x
chmod +x build/fuzz/tests/fuzz/fuzz_x
echo 'x 100' >tests/fuzz/edges.txt
status 1 ci/fuzz.sh smoke
has out "x: covers too little: 94 of 100 edges"
echo 'x 98' >tests/fuzz/edges.txt
status 0 ci/fuzz.sh smoke
has out "x: 94 edges covered, 98 recorded"
status 0 ci/fuzz.sh same
# A harness with other inputs in each run.
cat >build/fuzz/tests/fuzz/fuzz_x <<'END'
#!/bin/sh
[ ! -e again ] || echo "#1 NEW cov: 94 ft: 1 lim: 4 exec/s: 0" >&2
: >again
echo "#2 DONE cov: 94 ft: 1 lim: 4 exec/s: 0" >&2
END
status 1 ci/fuzz.sh same
has out "x: other inputs"
