# The response functions through the program: reference values, and refusals.
. "$SRC/tests/cli/lib.sh"

# Rmin 1, Rmax 256, nine points: powers of two; 16 rises to 17.448 and falls to 4.
status 0 "$HEDDLE" cc curve fimd --rmin 1 --rmax 256
has out '16.000         17.448          4.000'
status 0 "$HEDDLE" cc curve lipd --rmin 1 --rmax 256 --csv
has out '51.2'

status 3 "$HEDDLE" cc curve pipd --rmin 2 --rmax 512 --unit 2
one_line err
has err 'above 1 in its unit'
status 0 "$HEDDLE" cc curve pipd --rmin 2 --rmax 512 --unit 0.1
has out 'knows only the minimum and the maximum rate'
status 3 "$HEDDLE" cc curve fimd --m 1
status 3 "$HEDDLE" cc curve fimd --rmin 5 --rmax 4
status 2 "$HEDDLE" cc curve fimt
has err "did you mean 'fimd'?"
status 2 "$HEDDLE" cc curve cct

# On the two switches, control gives the victim back several times what
# congestion left it; whoever has no single destination is refused.
status 0 "$HEDDLE" cc compare --measure 40ms --warmup 40ms \
	"$SRC/examples/two-switch-congestion.yaml"
has out 'victim'
awk '$1 == "none" && $2 == "victim" { none = $4 }
     $1 == "cct" && $2 == "victim" { cct = $4 }
     END { exit !(none > 0 && cct > 3 * none) }' out || fail "no relief"
status 3 "$HEDDLE" cc compare --measure 1ms --warmup 1ms \
	"$SRC/examples/quickstart.yaml"
one_line err
has err 'no single destination'
