# No two modules define functions of one name: the linker would use the first one without a message.
. "$SRC/tests/cli/lib.sh"
# names FOLDER: functions that modules there define twice.
names() {
	find "$1" -name 'libhd_*.a' >modules
	while read -r module; do
		nm -g --defined-only "$module" 2>/dev/null |
			awk 'NF == 3 { print $3 }' | sort -u
	done <modules | sort >all
	uniq -d all
}
names "$(dirname "$HEDDLE")/src" >twice
[ "$(wc -l <all)" -gt 1000 ] || fail "no modules were found"
empty twice

# A duplicate is detected.
mkdir -p src
echo 'int same(void); int same(void) { return 1; }' >same.c
cc -c same.c -o same.o
ar rc src/libhd_a.a same.o
ar rc src/libhd_b.a same.o
names src >twice
has twice same
