# HEDDLE_LIVE=OFF leaves the live fabric out: no object of src/live or src/mgmt
# is built, no test has the label 'live', and all other commands are there.
. "$SRC/tests/cli/lib.sh"
cmake -S "$SRC" -B off -G Ninja -DCMAKE_BUILD_TYPE=Release -DHEDDLE_LIVE=OFF >log 2>&1 ||
	{ cat log >&2; fail "HEDDLE_LIVE=OFF does not configure"; }
ninja -C off -t commands product >plan
has plan 'src/cli/CMakeFiles/heddle.dir/without_live.c.o'
lacks plan 'src/live/'
lacks plan 'src/mgmt/'
(cd off && ctest -N -L '^live$') >labelled
has labelled 'Total Tests: 0'
(cd off && ctest -N) >tests
lacks tests 'cli.live'
has tests 'cli.sim'
(cd "$(dirname "$HEDDLE")" && ctest -N -L '^live$') >labelled
has labelled 'cli.live_sm'
has labelled 'mgmt_sm.sm_test'
lacks labelled 'cli.sim'

# A build takes minutes of processor time: in long runs only.
[ "${HD_LONG:-}" = 1 ] || exit 0
ninja -C off product >log 2>&1 || { tail -n 30 log >&2; fail "HEDDLE_LIVE=OFF does not build"; }
HEDDLE=$PWD/off/heddle
cat >x.yaml <<'END'
fabric: {topology: {kind: star, hosts: 4}, link: {rate: 4x HDR}}
traffic: [{name: a, kind: poisson, load: 50%, payload: 1024}]
run: {measure: 10us}
END
status 0 "$HEDDLE" sim x.yaml
status 0 "$HEDDLE" route 'fat-tree --radix 4 --levels 2'
status 0 "$HEDDLE" --help
for words in 'live up mesh' 'live' 'serve --live fabric'; do
	status 4 "$HEDDLE" $words
	has err 'built without the live fabric'
done
