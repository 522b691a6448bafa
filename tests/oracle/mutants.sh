#!/bin/sh
# Breaks one rule of the engine at a time, in a copy of the sources, and asks
# the comparison with the oracle, and of parts with the whole: each of these
# engines must be found wrong, and the untouched one right. A mutation whose text is no longer in the
# sources fails too, so that none goes stale unnoticed.
#
#	mutants.sh SOURCE_DIR WORK_DIR [SCENARIOS]
set -eu
source=$(cd "$1" && pwd) work=$2 count=${3:-300}
rm -rf "$work"
mkdir -p "$work"
for part in CMakeLists.txt CMakePresets.json cmake src tests examples man \
	docs share; do
	[ ! -e "$source/$part" ] || cp -R "$source/$part" "$work/"
done
cmake -S "$work" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
	>"$work/log" 2>&1

# Whether the engine in the copy agrees with the oracle.
agrees() {
	cmake --build "$work/build" --target oracle_compare_test \
		sim_parts_test >"$work/log" 2>&1 ||
		{ cat "$work/log"; exit 2; }
	"$work/build/tests/oracle/compare_test" --count "$count" --seed 1 \
		>"$work/said" 2>&1 &&
		"$work/build/src/sim/parts_test" >"$work/said" 2>&1
}

caught=0 missed=0
# mutant FILE FROM TO RULE: literal texts.
mutant() {
	file=$work/src/sim/$1
	cp "$file" "$work/kept"
	FROM=$2 TO=$3 perl -0pi -e 's/\Q$ENV{FROM}\E/$ENV{TO}/' "$file"
	if cmp -s "$file" "$work/kept"; then
		echo "stale: '$2' is not in src/sim/$1"
		missed=$((missed + 1))
	elif agrees; then
		echo "missed: $4"
		missed=$((missed + 1))
	else
		echo "caught: $4"
		caught=$((caught + 1))
	fi
	cp "$work/kept" "$file"
}

agrees || { cat "$work/said"; echo "the engine itself differs"; exit 1; }
mutant parts.c 'from + p->lookahead - 1;' 'from + p->lookahead;' \
	'parts: a window is one picosecond too long'
mutant mail.c 'm->credits[m->n_credits++] = *c;' \
	'm->credits[m->n_credits] = *c;' 'parts: a credit is lost'
mutant partition.c 'least = s->control->rules->ack_delay;' '(void)least;' \
	'parts: an answer is heard in a window that is over'
mutant partition.c 'packet += s->marks || s->choices ? s->routing : s->delay;' \
	'packet += s->delay;' \
	'parts: what waits to be arbitrated is counted a window too late'
mutant parts.c 'late_before(a, b) ? -1' 'late_before(a, b) ? 1' \
	'parts: deliveries are merged in the wrong order'
mutant tell.c 'is_before(t->heap, best->heap)' \
	't->heap->at < best->heap->at' \
	'parts: what observers are told is merged in the wrong order'
mutant source.c 'return a->flow < b->flow;' 'return a < b;' \
	'parts: places in the pool of packets break ties'
mutant parts.c 'if (is_all_dry(p))' 'if (is_all_dry(p) && p->goes_on)' \
	'parts: timers go on when all else has ended'
mutant ../qos/arbiter.h 'a->left[side] <= 0' 'a->left[side] < 0' \
	'T10: an entry goes on with nothing left'
mutant ../qos/arbiter.h 'l->weight[next], moves);' \
	'(uint16_t)(a->left[side] + l->weight[next]), moves);' \
	'T10: what was overdrawn is carried over'
mutant ../qos/arbiter.h 'a->high >= t->limit' 'a->high > t->limit' \
	'T11: the limit expires one block late'
mutant ../qos/arbiter.h 'arbiter_either(a->high, 0, expired & side)' 'a->high' \
	'T11: an expired limit is not counted anew'
mutant voq.h 'uint64_t after = bits >> in >> 1;' \
	'uint64_t after = bits >> in;' \
	'T7: the input granted last goes first again'
mutant hop.h '+ hop_underrun(s, p)' '+ 0 * hop_underrun(s, p)' \
	'T6: a link may run dry inside a packet'
mutant crossbar.c 'end = end > in_end ? end : in_end;' '(void)in_end;' \
	'T9: a transfer ends before its tail has come'
mutant crossbar.c '+ by->num - 1) / by->num' ') / by->num' \
	'T9: the quotient is rounded down'
mutant throttle.c 't->last + gap_of(t)' 't->last + t->took' \
	'C2: a throttle sends as fast as the link'
mutant throttle.c 'f->granted - f->acked < s->control->rules->window' \
	'f->granted - f->acked <= s->control->rules->window' \
	'C2: a window holds one packet more'
mutant throttle.c 'if (nth > f->acked)' 'if (nth == f->acked + 1)' \
	'C6: an acknowledgement is for one packet only'
mutant mark.h 'p->head + s->routing;' 'p->head;' \
	'C3: a copy waits from the arrival of its head on'
mutant mark.c 'L_FAR_END || credits.lanes[vl] >= 2 * blk' \
	'L_FAR_END || credits.lanes[vl] >= blk' \
	'C4: credits for this packet are enough'
mutant answer.c 'marked = false;' '(void)marked;' \
	'C5: an acknowledgement repeats what the CNP says'
echo "$caught caught, $missed missed of $count scenarios each"
[ "$missed" -eq 0 ] && [ "$caught" -ge 12 ]
