#!/bin/sh
# Runs in the guest of ci/rxe.sh: our own benchmarks on rxe0, by threads and
# between processes. HEDDLE is the program; JSON goes out between two lines.
heddle=${HEDDLE:?}
echo "json begin"
"$heddle" bench send-lat write-lat read-lat atomic-lat ud-lat event-lat send-bw \
	write-bw send-bidir connect cq-create mr-register post-send poll-empty \
	--device rxe0 --size 64..4KiB --step 8 -n 20 --quiet --json ||
	exit 1
echo "json end"
"$heddle" bench --device rxe0 --listen 127.0.0.1:18515 &
sleep 2
"$heddle" bench send-lat --device rxe0 --connect 127.0.0.1:18515 --size 64 \
	-n 20 --quiet || exit 1
wait
