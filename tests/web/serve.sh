# 'heddle serve': over HTTP as it should be, collected by a real Prometheus, and
# followed and changed in a real Chromium; a live fabric, too.
. "$SRC/tests/cli/lib.sh"

cat >follow.yaml <<END
title: followed by a test
fabric:
  topology: {kind: fat-tree, radix: 8, levels: 2, link: 4x HDR}
  routing: ftree
qos: {vls: 2, low: "0:64,1:64"}
traffic:
  - {name: all, kind: poisson, payload: 4KiB, load: 40%}
  - {name: video, kind: cbr, payload: 2KiB, load: 5%, sl: 1, pattern: permutation}
run: {warmup: 5us, measure: 200us}
goals: [{row: all, lost: 0}, {row: video, p99: 100us}]
END
seconds=5
[ "${HD_LONG:-}" != 1 ] || seconds=60
python3 "$SRC/tests/web/serve.py" "$HEDDLE" follow.yaml $seconds

skip() {
	echo "SKIPPED: $1" >&2
	exit 77
}
[ ! -e "$WEB/missing" ] || skip "there is no page: $(cat "$WEB/missing")"
command -v chromium >/dev/null || skip "there is no chromium"
[ -d "$WEB/node_modules/playwright-core" ] || skip "there is no playwright"

. "$SRC/tests/web/evil.sh"
servers=
stop() {
	for pid in $servers; do
		! is_ours "$pid" || kill "$pid" 2>/dev/null || :
	done
	"$HEDDLE" live down -q 2>/dev/null || :
	"$HEDDLE" live down -q --name evil 2>/dev/null || :
	rm -rf "$XDG_RUNTIME_DIR"
}
XDG_RUNTIME_DIR=$(mktemp -d /tmp/heddle-live.XXXXXXXX)
export XDG_RUNTIME_DIR
trap stop EXIT
# start WORD...: serves it, and says where in the file 'url'.
start() {
	rm -f url
	"$HEDDLE" serve "$@" --paused --listen 127.0.0.1:0 >url &
	servers="$servers $!"
	while [ ! -s url ]; do sleep 0.1; done
}
start follow.yaml
url=$(cat url)
start evil.yaml
evil=$(cat url)
start "$SRC/examples/jobs.yaml"
jobs=$(cat url)
echo 'fabric: {topology: {kind: fat-tree, radix: 4, levels: 2}}' >live.yaml
"$HEDDLE" live up live.yaml -q --sm ftree
"$HEDDLE" live inject-error h3 SymbolErrorCounter 7
start --live fabric
fabric=$(cat url)
"$HEDDLE" live up evil.ibnet -q --name evil
start --live evil
timeout 300 node "$SRC/web/test/live.mjs" "$WEB" "$PWD" "$WEB/shots-live" "$url" "$evil" "$jobs" "$fabric" "$(cat url)"
"$HEDDLE" live down -q --name evil
rm -rf profile-live
