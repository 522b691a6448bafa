# Words for tests that start programs: after lib.sh. Those whose numbers are in
# $programs end with the test, however it ends; then `leave`, if the test has one.
programs=
end_programs() {
	for program in $programs; do
		! is_ours "$program" || kill -9 "$program" 2>/dev/null || true
		wait "$program" 2>/dev/null || true
	done
	programs=
}
leave() {
	:
}
trap 'end_programs; leave' EXIT
