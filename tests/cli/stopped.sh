# Every example, stopped by SIGINT and SIGTERM at shares of its duration: ends by
# the signal, with the results until then, or has come to its end before.
. "$SRC/tests/cli/lib.sh"
# Prime to 20 instants, 2 signals and 3 ways to run: all of them take turns.
share=37
[ -z "${HD_LONG:-}" ] || share=1
[ "${HD_LIGHT:-0}" = 0 ] || share=113
mkdir -p site
cp "$SRC"/examples/site/site.yaml site
"$HEDDLE" topo gen fat-tree --radix 36 --levels 2 -o site/site.ibnet -q
python3 "$SRC/tests/cli/stopped.py" "$HEDDLE" $share "$SRC"/examples/*.yaml site/site.yaml
