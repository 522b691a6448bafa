# Programs of others find the installed library, see nothing of it but what
# heddle.h has, and get the numbers of 'heddle sim'.
. "$SRC/tests/cli/lib.sh"
build=$(dirname "$HEDDLE")
rm -rf stage
DESTDIR=$PWD/stage cmake --install "$build" --prefix /opt/loom >/dev/null
top=$PWD/stage/opt/loom

# Every function of the header is there, and nothing else.
lib=$(dirname "$(find "$top" -name libheddle.so)")
sed -n 's/^HD_API .*[ *]\(hd_[a-z_]*\)(.*/\1/p' "$SRC/src/api/heddle.h" |
	LC_ALL=C sort >wanted
nm -D --defined-only "$lib/libheddle.so" | awk '$2 != "A" {
	sub("@.*", "", $3); print $3 }' | LC_ALL=C sort >seen
[ -s wanted ] && cmp -s wanted seen || {
	diff wanted seen >&2 || true
	fail "other symbols than those of heddle.h"
}
abi=$(sed -n 's/^#define HD_ABI //p' "$SRC/src/api/heddle.h")
readelf -d "$lib/libheddle.so" | grep -q "SONAME.*\[libheddle.so.$abi\]" ||
	fail "its name has not the number of its interface"

# The examples, as their first lines say.
export PKG_CONFIG_PATH="$lib/pkgconfig"
sanitized=
! nm -D "$lib/libheddle.so" | grep -q __asan_init ||
	sanitized=-fsanitize=address,undefined
for name in loads token; do
	# Where a folder's name has blanks, pkg-config says them as a shell does.
	eval "cc -std=c11 -Wall -Wextra -Werror $sanitized \
		\"\$top/share/doc/heddle/examples/lib/$name.c\" -o $name \
		$(pkg-config --cflags --libs heddle)"
done
# CMake finds it, in this version and in no later one.
mkdir -p project
cp "$top/share/doc/heddle/examples/lib/token.c" project
cat >project/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.21)
project(token C)
find_package(heddle ${WANTED} REQUIRED)
add_executable(token token.c)
target_link_libraries(token heddle::heddle)
END
version=$("$HEDDLE" --version | cut -d ' ' -f 2)
cmake -S project -B by-cmake -DCMAKE_PREFIX_PATH="$top" -DWANTED="$version" \
	-DCMAKE_C_FLAGS="$sanitized" >/dev/null
cmake --build by-cmake >/dev/null
status 1 cmake -S project -B refused -DCMAKE_PREFIX_PATH="$top" -DWANTED=99.1
has err 'with requested version "99.1"'
# C++ reads the header, too.
echo '#include <heddle.h>' >only.cc
if command -v c++ >/dev/null; then
	c++ -Wall -Wextra -Werror -fsyntax-only -I"$top/include" only.cc
fi
export LD_LIBRARY_PATH="$lib"

cat >x.yaml <<'END'
fabric: {topology: {kind: star, hosts: 8}, link: {rate: 4x HDR}}
traffic: [{name: a, kind: poisson, load: 50%, payload: 1024}]
run: {measure: 100us}
END
status 0 ./loads x.yaml 20% 60%
mv out ours
for load in 20% 60%; do
	"$HEDDLE" sim x.yaml --set traffic.0.load=$load --json |
		jq -r '.tables.traffic.rows[0].p99' |
		awk -v load=$load '{ printf "%s %.3f us\n", load, $1 }'
done >theirs
cmp -s ours theirs || fail "the program gives other numbers than its library"

# 8 messages of 4 KiB take 274,880 ps each on a star, and 7 hosts wait 1 us.
status 0 ./token "$SRC/examples/jobs.yaml" 4096
grep -q '^32 hosts, ' out || fail "a token did not go around"
echo 'fabric: {topology: {kind: star, hosts: 8}, link: {rate: 4x HDR}}' >star.yaml
for program in ./token by-cmake/token; do
	status 0 $program star.yaml 4096
	has out '8 hosts, 9199040 ps'
done

status 3 ./loads nowhere.yaml 20%
has err 'loads: nowhere.yaml: cannot be read'
status 2 ./loads x.yaml wrong
has err "setting traffic.0.load"
empty out
