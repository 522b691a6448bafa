# docs/validation.md: agreement with theory today, and tables that follow from the recorded data.
. "$SRC/tests/cli/lib.sh"
status 0 python3 "$SRC/tests/cli/validation.py" "$HEDDLE" "$SRC"
cat out
