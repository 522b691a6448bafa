# docs/validation.md: agreement with theory in this build, and tables derived from the recorded
# data.
. "$SRC/tests/cli/lib.sh"
status 0 python3 "$SRC/tests/cli/validation.py" "$HEDDLE" "$SRC"
cat out
