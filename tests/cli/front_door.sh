# The program prints its version and help, and refuses unknown words.
. "$SRC/tests/cli/lib.sh"
version=$(sed -n 's/^project(heddle VERSION \([0-9.]*\).*/\1/p' \
	"$SRC/CMakeLists.txt")

status 0 "$HEDDLE" --version
grep -qxE "heddle $version \\(commit [0-9a-z ]+, [A-Za-z]+, (GNU|Clang) [0-9.]+\\)" out ||
	fail "version is not $version, with commit and build: $(cat out)"

status 0 "$HEDDLE" --help
has out "Usage: heddle COMMAND"
empty err
cp out help
status 0 "$HEDDLE" help
cmp out help
status 2 "$HEDDLE"
empty out
cmp err help

status 2 "$HEDDLE" halp
one_line err
has err "heddle: unknown command 'halp'"
empty out
status 2 "$HEDDLE" --verison
one_line err
has err "did you mean '--version'?"
status 2 "$HEDDLE" help nonsense
one_line err

# Numbers look the same to every user: the program never asks for a locale.
# (A sanitizer's runtime does.)
case $(nm -D "$HEDDLE") in
*__asan_init*) ;;
*setlocale* | *newlocale*) fail "the program has a locale" ;;
esac
