# The pyverbs tests of rdma-core, which Debian has in python3-pyverbs: what passes and what is
# skipped, and why, is as in the fixture. Another version: PYVERBS_TESTS=FOLDER; its tests must not
# fail, and those that the fixture says pass must pass.
. "$SRC/tests/cli/lib.sh"
. "$SRC/tests/cli/live_lib.sh"
suite=${PYVERBS_TESTS:-/usr/share/doc/rdma-core/tests}
[ -r "$suite/run_tests.py" ] || fail "no pyverbs tests in '$suite'; install python3-pyverbs"
rm -rf suite
mkdir -p suite/tests
# Those of one vendor's devices say nothing here.
for file in "$suite"/*.py "$suite"/*.py.gz; do
	name=${file##*/}
	case $name in
	test_mlx5* | test_efa* | test_cuda* | run_tests.py | '*.py'*) continue ;;
	*.gz) gunzip -c "$file" >"suite/tests/${name%.gz}" ;;
	*) cp "$file" suite/tests ;;
	esac
done
"$HEDDLE" live up 'fat-tree --radix 4 --levels 2' --sm minhop -q
on h0 /usr/bin/python3 "$SRC/tests/cli/live_pyverbs.py" suite --dev heddle0 >lines 2>err ||
	fail "$(tail -n 3 err)"
sort lines >now
! grep ' BAD: ' now || fail "$(grep -c ' BAD: ' now) tests fail"
awk '{ k = $2 == "ok" ? "passed" : "skipped"; n[k]++ }
	END { print "suite:", "rdma-core-pyverbs", NR, n["passed"] + 0, n["skipped"] + 0 }' now
grep ' ok$' "$SRC/tests/fixtures/pyverbs.txt" >wanted
comm -23 wanted now >lost
[ ! -s lost ] || fail "not passed: $(cat lost)"
[ -n "${PYVERBS_TESTS:-}" ] || diff "$SRC/tests/fixtures/pyverbs.txt" now
