# No two rooms give one name to two functions: the linker takes whichever room
# it comes to first, and says nothing.
. "$SRC/tests/cli/lib.sh"
# names FOLDER: what the rooms there define for others, those defined twice.
names() {
	find "$1" -name 'libhd_*.a' >rooms
	while read -r room; do
		nm -g --defined-only "$room" 2>/dev/null |
			awk 'NF == 3 { print $3 }' | sort -u
	done <rooms | sort >all
	uniq -d all
}
names "$(dirname "$HEDDLE")/src" >twice
[ "$(wc -l <all)" -gt 1000 ] || fail "no rooms were found"
empty twice

# Two that do are noticed.
mkdir -p src
echo 'int same(void); int same(void) { return 1; }' >same.c
cc -c same.c -o same.o
ar rc src/libhd_a.a same.o
ar rc src/libhd_b.a same.o
names src >twice
has twice same
