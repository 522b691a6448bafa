# --memory is obeyed at every limit, however small: a run takes no more, or ends
# with status 4 and one line.
. "$SRC/tests/cli/lib.sh"
python3 "$SRC/tests/cli/memory_small.py" "$HEDDLE" "$SRC/examples"
