# Development tools work with programs that use adapters: limits of address space, memcheck,
# AddressSanitizer, ThreadSanitizer, gdb, strace, exec.
. "$SRC/tests/cli/lib.sh"
. "$SRC/tests/cli/live_lib.sh"
. "$SRC/tests/cli/verbs_lib.sh"
"$HEDDLE" live up 'fat-tree --radix 4 --levels 2' --sm minhop -q

# A limit holds for both ends: each maps the other's memory, too.
with='ulimit -v 2000000; exec "$@"'
between h0 h5 ibv_rc_pingpong -c -n 100
has client '100 iters'
with='ulimit -v 800000; exec "$@"'
between h0 h5 ibv_srq_pingpong -c -e -n 100
has client 'iters'
if command -v valgrind >/dev/null; then
	with='exec valgrind -q --error-exitcode=9 "$@"'
	between h0 h5 ibv_rc_pingpong -c -n 20
	has client '20 iters'
fi
if command -v strace >/dev/null; then
	with='exec strace -ff -qq -o trace -e trace=process_vm_writev "$@"'
	between h0 h5 ibv_rc_pingpong -c -n 20
	grep -q process_vm_writev trace.* || fail "strace sees no message"
fi
if command -v gdb >/dev/null; then
	on h0 gdb -q --batch -ex 'set breakpoint pending on' -ex 'break ibv_open_device' -ex run -ex bt ibv_devinfo >gdb 2>&1 ||
		fail "$(cat gdb)"
	grep -q '#0 .*ibv_open_device' gdb || fail "$(cat gdb)"
fi
cc -fsanitize=address -g -o windows.asan "$SRC/tests/cli/verbs_windows.c" -libverbs
on h0 ./windows.asan >said 2>&1 || fail "AddressSanitizer: $(cat said)"
on h0 "$VERBS_THREADS" >said 2>&1 || fail "threads: $(cat said)"
cc -fsanitize=thread -g -o threads.tsan "$SRC/tests/cli/verbs_threads.c" -libverbs
on h0 ./threads.tsan >said 2>&1 || fail "ThreadSanitizer: $(cat said)"
has said '1200 messages'
# A program that becomes another with its adapter open: the other has one of its own.
on h0 "$VERBS_THREADS" ./threads.tsan ibv_devinfo >said 2>&1 || fail "exec: $(cat said)"
has said PORT_ACTIVE

# The machine's name is the simulated host's where that is asked for.
[ "$(on h0 hostname)" = "$(hostname)" ] || fail "another name without --hostname"
"$HEDDLE" live exec --hostname h5 -- sh -c 'hostname; uname -n' >names
printf 'h5\nh5\n' | cmp - names || fail "$(cat names)"
