# The installed module finds its library, needs no compiler, and returns the results of 'heddle sim
# --json', with pandas and without.
. "$SRC/tests/cli/lib.sh"
build=$(dirname "$HEDDLE")
rm -rf stage pandas
DESTDIR=$PWD/stage cmake --install "$build" --prefix /opt/loom >/dev/null
module=$(find "$PWD/stage" -name heddle.py)
folder=${module%/*}
cat >x.yaml <<'END'
fabric: {topology: {kind: star, hosts: 8}, link: {rate: 4x HDR}}
traffic: [{name: a, kind: poisson, load: 50%, payload: 1024}]
goals: [{row: a, p99: 10us}]
run: {measure: 100us}
END
printf 'fabric: {topology: {kind: star}}\ntrafic: []\n' >bad.yaml
# A library with sanitizers needs them loaded first, and Python leaks.
library=$(find "$PWD/stage" -name 'libheddle.so')
sanitizer=
! nm -D "$library" | grep -q __asan_init ||
	sanitizer=$(cc -print-file-name=libasan.so)
# python PATH WORD: the checks, with pandas or without.
python() {
	status 0 env LD_PRELOAD="$sanitizer" ASAN_OPTIONS=detect_leaks=0 \
		PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$1" \
		python3 "$SRC/tests/cli/python.py" "$HEDDLE" "$2"
	has out ok
}

# One that cannot be imported represents none.
mkdir pandas
echo 'raise ImportError("no pandas")' >pandas/pandas.py
python "$folder:$PWD/pandas" none
# Debian's, whichever Python comes first; what it is made of is not for our
# sanitizers.
[ -n "$sanitizer" ] || python "$folder:/usr/lib/python3/dist-packages" some
# The module alone, and another library.
cp "$module" .
status 1 env PYTHONPATH="$PWD" python3 -c 'import heddle'
status 0 env PYTHONPATH="$PWD" HEDDLE_LIBRARY="$library" \
	LD_PRELOAD="$sanitizer" ASAN_OPTIONS=detect_leaks=0 \
	python3 -c 'import heddle; print(heddle.version())'
