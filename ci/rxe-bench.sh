# shellcheck shell=sh
# Runs in the guest of ci/rxe.sh, with heddle=PATH set in front of it: every
# test of heddle bench, briefly, on rxe0. A document stands between the lines
# "json TEST" and "end TEST"; what the device cannot do is named with the
# reason.
brief() {
	case $1 in
	qps-* | fairness-bw) echo "--values 1,4" ;;
	*-create | *-modify | *-destroy) echo "--values 16,64" ;;
	mr-*) echo "--size 4KiB..64KiB --step 16" ;;
	*-lat | *-bw | *-bidir) echo "--size 8..4KiB --step 512" ;;
	esac
}

# Those that keep many queue pairs or both threads busy for long are left out:
# two emulated processors take minutes for them.
tests=$("$heddle" bench list --csv |
	sed -n 's/^\([a-z][a-z0-9-]*\),\(non-data\|data\|beyond\),.*/\1/p' |
	grep -vE '^(cpu|qps-.*|fairness-bw|load-bw|.*sl-lat|multicast-lat|partition)$')
for test in $tests; do
	if [ "$(cut -d. -f1 /proc/uptime)" -gt "${deadline:-240}" ]; then
		echo "left out for lack of time: $test"
		continue
	fi
	status=0
	timeout 60 "$heddle" bench "$test" --device rxe0 -n 10 $(brief "$test") \
		--quiet --json -o /tmp/out.json 2>/tmp/err || status=$?
	if [ $status -eq 0 ]; then
		echo "json $test"
		cat /tmp/out.json
		echo "end $test"
	else
		echo "FAILED $test: status $status $(cat /tmp/err)"
		failed=1
	fi
	rm -f /tmp/out.json
done

# Between two processes, and by what the user sees.
"$heddle" bench --device rxe0 --listen 127.0.0.1:18515 >/tmp/listener 2>&1 &
sleep 2
"$heddle" bench send-lat --device rxe0 --connect 127.0.0.1:18515 \
	--size 8..4KiB --step 8 -n 50 --quiet || failed=1
wait
echo "bench ended, up $(cut -d' ' -f1 /proc/uptime) s"
