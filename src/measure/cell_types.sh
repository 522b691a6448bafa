# Columns of members that no table can show do not compile, and others do.
# Usage: cell_types.sh COMPILER SRC
cc=$1 src=$2

compiles() { # MEMBER MACRO(S) of struct row, on standard input's behalf
	printf '%s\n' '#include "measure/results.h"' \
		"struct row { $1; };" \
		'extern const struct column columns[];' \
		"const struct column columns[] = { { \"x\", NULL, $2 } };" |
		"$cc" -std=c17 -I"$src" -fsyntax-only -x c - 2>/dev/null
}
good() {
	compiles "$1" "$2" || { echo "$2 of '$1' does not compile"; exit 1; }
}
bad() {
	! compiles "$1" "$2" || { echo "$2 of '$1' compiles"; exit 1; }
}

for type in 'bool x' 'uint8_t x' 'uint64_t x' 'size_t x' 'int x' 'long long x' \
	'double x' 'char *x' 'const char *x' 'char x[9]' 'struct hd_rate x' \
	'enum origin x'; do
	good "$type" 'CELL(row, x)'
done
for type in 'void *x' 'float *x' 'double x[2]' 'uint8_t x[8]' 'struct value x' \
	'const char *const *x'; do
	bad "$type" 'CELL(row, x)'
done
good 'struct { double y[3]; } x' 'CELL(row, x.y[2])'
good 'hd_time x' 'CELL_TIME(row, x)'
good 'double x' 'CELL_TIME(row, x)'
bad 'unsigned x' 'CELL_TIME(row, x)'
bad 'const char *x' 'CELL_TIME(row, x)'
good 'double x' 'CELL_BITS(row, x)'
bad 'uint64_t x' 'CELL_BITS(row, x)'
good 'double x' 'CELL_SHARE(row, x)'
bad 'uint64_t x' 'CELL_SHARE(row, x)'
good 'unsigned x' 'CELL_UNLESS(row, x, 0)'
bad 'double x' 'CELL_UNLESS(row, x, 0)'
bad 'int x' 'CELL_UNLESS(row, x, 0)'
good 'enum origin x' 'CELL_NAME(row, x, NULL)'
bad 'double x' 'CELL_NAME(row, x, NULL)'
# The initialiser after the cell is the origin.
good 'double x' 'CELL(row, x), ORIGIN_COMPUTED, 3'
