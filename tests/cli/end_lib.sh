# Functions for tests that start processes; sourced after lib.sh. Processes listed in $programs end
# with the test in any case; then `leave` is called, if the test defines it.
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
