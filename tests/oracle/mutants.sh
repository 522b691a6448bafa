#!/bin/sh
# Breaks one rule of the engine at a time, in a copy of the sources, and asks
# the comparison with the oracle, and of parts with the whole: each of these
# engines must be found wrong, and the untouched one right. A mutation whose
# text is no longer in the sources fails too, so that none goes stale unnoticed.
#
# A mutant that does not end is not detected: the comparison may have hung before it
# compared anything. It fails unless it is one of hangs(), which says
# why it cannot be otherwise; one of those that ends is stale.
#
#	mutants.sh SOURCE_DIR WORK_DIR [SCENARIOS [RULES [SECONDS]]]
#
# RULES (as D7) takes those only whose rule begins so; SECONDS is when a
# comparison is given up, 600 unless stated.
set -eu
source=$(cd "$1" && pwd) work=$2 count=${3:-300} rules=${4:-} seconds=${5:-600}

# hangs RULE: whether this mutant is known to run for ever, and must.
hangs() {
	case $1 in
	# Nothing is known that hangs; a case here needs its reason.
	*) return 1 ;;
	esac
}

rm -rf "$work"
mkdir -p "$work"
for part in CMakeLists.txt CMakePresets.json cmake src tests examples man \
	docs share; do
	[ ! -e "$source/$part" ] || cp -R "$source/$part" "$work/"
done
cmake -S "$work" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
	>"$work/log" 2>&1

# limited COMMAND...: its status; 124 if it does not end in time.
limited() {
	timeout --kill-after=10 "$seconds" "$@" >"$work/said" 2>&1 || {
		status=$?
		# Killed, since it did not heed the signal.
		[ $status -ne 137 ] || return 124
		return $status
	}
}

# Whether the engine in the copy agrees with the oracle: 0, or 124 if a
# comparison does not end, or else.
agrees() {
	cmake --build "$work/build" --target oracle_compare_test \
		sim_domains_test >"$work/log" 2>&1 ||
		{ cat "$work/log"; exit 2; }
	# shellcheck disable=SC2086 # no words, or two
	limited "$work/build/tests/oracle/compare_test" --count "$count" \
		--seed 1 --brief 1 $only || return $?
	limited "$work/build/src/sim/domains_test"
}

# judge STATUS RULE: of a mutant that agrees() has seen.
judge() {
	if [ "$1" -eq 124 ] && hangs "$2"; then
		echo "caught: $2 (runs for ever, as it must)"
		caught=$((caught + 1))
	elif [ "$1" -eq 124 ]; then
		echo "hangs: $2 (more than $seconds s)"
		hung=$((hung + 1))
	elif hangs "$2"; then
		echo "stale: $2 ends, and is said to hang"
		missed=$((missed + 1))
	elif [ "$1" -eq 0 ]; then
		echo "missed: $2"
		missed=$((missed + 1))
	else
		echo "caught: $2"
		caught=$((caught + 1))
	fi
}

caught=0 missed=0 hung=0
only= # which scenarios, of all
# mutant FILE FROM TO RULE: literal texts.
mutant() {
	case $4 in
	"$rules"*) ;;
	*) return 0 ;;
	esac
	file=$(find "$work/src/sim" "$work/src/qos" -name "$1")
	cp "$file" "$work/kept"
	FROM=$2 TO=$3 perl -0pi -e 's/\Q$ENV{FROM}\E/$ENV{TO}/' "$file"
	if cmp -s "$file" "$work/kept"; then
		echo "stale: '$2' is not in $1"
		missed=$((missed + 1))
	else
		end=0
		agrees || end=$?
		judge "$end" "$4"
	fi
	cp "$work/kept" "$file"
}

agrees || { cat "$work/said"; echo "the engine itself differs"; exit 1; }
mutant domains.c 'from + p->lookahead - 1;' 'from + p->lookahead;' \
	'domains: a window is one picosecond too long'
mutant mailbox.c 'm->credits[m->n_credits++] = *c;' \
	'm->credits[m->n_credits] = *c;' 'domains: a credit is lost'
mutant partition.c 'least = s->control->rules->ack_delay;' '(void)least;' \
	'domains: an answer is received in a window that is over'
mutant partition.c 'packet += s->marks || s->choices ? s->routing : s->delay;' \
	'packet += s->delay;' \
	'domains: what waits to be arbitrated is counted a window too late'
mutant domains.c 'late_before(a, b) ? -1' 'late_before(a, b) ? 1' \
	'domains: deliveries are merged in the wrong order'
mutant observers.c 'is_before(t->heap, best->heap)' \
	't->heap->at < best->heap->at' \
	'domains: notifications of observers are merged in the wrong order'
mutant source.c 'return a->flow < b->flow;' 'return a < b;' \
	'domains: places in the pool of packets break ties'
mutant domains.c 'if (is_all_dry(p))' 'if (is_all_dry(p) && p->goes_on)' \
	'domains: timers continue when all else has ended'
mutant arbiter.h 'a->left[side] <= 0' 'a->left[side] < 0' \
	'T10: an entry continues with nothing left'
mutant arbiter.h 'l->weight[next], moves);' \
	'(uint16_t)(a->left[side] + l->weight[next]), moves);' \
	'T10: what was overdrawn is carried over'
mutant arbiter.h 'a->high >= t->limit' 'a->high > t->limit' \
	'T11: the limit expires one block late'
mutant arbiter.h 'arbiter_either(a->high, 0, expired & side)' 'a->high' \
	'T11: an expired limit is not counted again'
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
mutant mark.c 'L_FAR_END || credits.of_vl[vl] >= 2 * blk' \
	'L_FAR_END || credits.of_vl[vl] >= blk' \
	'C4: credits for this packet are enough'
mutant ack.c 'marked = false;' '(void)marked;' \
	'C5: an acknowledgement repeats what the CNP says'

only='--adaptive 1'
mutant choose.c '!(x->groups->sls >> p->sl & 1) ||' '' \
	'D1: every SL chooses'
mutant choose.c 'if (!switch_permits(s, n, p, out))' 'if (0)' \
	'D1: ports that do not let a packet pass are candidates'
mutant choose.c 'home = home_among(&all, home == LFT_NO_PORT ? 0 : home);' \
	'home = home_among(&all, 0);' 'D1: the table does not say which is first'
mutant choose.h '.load -= blocks_of(p->bytes);' '.load -= 1;' \
	'D2: what has left counts for all but a block'
mutant choose.c 's->now - down >= s->choices->rules->heal' \
	's->now - down > s->choices->rules->heal' \
	'D3: a link counts a picosecond longer'
mutant choose.c 'return choose(s, n, c, home_among(&c->set, first));' \
	'return choose(s, n, c, home_among(&c->set, 0));' \
	'D3: home is the lowest port that counts'
mutant choose.c 'at->busy = at->load > limit;' 'at->busy = at->load >= limit;' \
	'D4: a threshold is exceeded when it is reached'
mutant choose.c 'at->load + (uint64_t)rules->hysteresis > limit' \
	'at->load > limit' 'D4: no hysteresis'
mutant choose.c 'unsigned turn = s->choices->turns[n->switch_id][c->group], best = 0;' \
	'unsigned turn = 0, best = 0;' 'D4: of equals the lowest port'
mutant choose.c 'while (k-- > 0);' 'while (k-- > 1);' \
	'D4: the second is never drawn'
mutant choose.c 'out = ways[s->choices->rules->choice](s, n, c, home);' \
	'out = ways[s->choices->rules->choice](s, n, c, home);
	if (out == home) return out;' 'D4: home is not remembered as chosen'
mutant choose.c 's->now - way->last <= rules->gap' \
	's->now - way->last < rules->gap' 'D5: a flowlet ends at its gap'
mutant choose.c '(uint64_t)p->dlid << 16 | p->sl;' '(uint64_t)p->dlid << 16;' \
	'D5: flows of all SLs are one'
mutant choose.c '	way->last = s->now;' '	(void)way;' \
	'D5: flowlets last from when they chose'
mutant notice.c 'if (s->from <= now && now < s->until)' \
	'if (s->from <= now)' 'D6: a notice is never taken back'
mutant notice.c '(far == SIM_NONE || !t->told[far]);' '(far == SIM_NONE || 1);' \
	'D6: a notified switch notifies no other'
mutant notice.c 'hd_time known = later(since[port], setup->adaptive->heal);' \
	'hd_time known = since[port];' \
	'D6: neighbours are notified before the switch itself knows'

only='--around 1'
mutant choose.c '	       least_load(s, n, &o->around) + s->choices->rules->around;' \
	'	       least_load(s, n, &o->around) + s->choices->rules->around - 1;' \
	'D7: the margin is one block less'
mutant choose.c 'least_load(s, n, &o->minimal) >' \
	'least_load(s, n, &o->minimal) >=' \
	'D7: a margin that is reached is exceeded'
mutant choose.c 'goes_around(s, n, o) ? &o->around : &o->minimal;' \
	'goes_around(s, n, o) ? &o->minimal : &o->around;' \
	'D7: the set that is not taken is chosen from'
mutant choose.c 'o->around.group = w.around;' \
	'o->around.group = w.around == ADAPTIVE_NO_GROUP ? w.around : w.minimal;' \
	'D7: ways around are those of the minimal group'
mutant choose.c 'return s->setup->ports[n->first_port + p->in].origin;' \
	'return TOPO_NONE;' 'D7: who has gone around may do so again'
mutant choose.c 'p->out_vl = switch_vl(s, n, p, out);' '' \
	'D7: the VL is the one toward the first port'
mutant choose.c 'return o->minimal.n == 0;' 'return false;' \
	'D7: no packet goes around where no minimal way is left'
mutant choose.c 'return o->minimal.n + o->around.n > 0;' \
	'return o->minimal.n > 0;' 'D7: only minimal ways make a choice'
mutant choose.c '	if (alive.minimal.n + alive.around.n > 0)' \
	'	if (alive.minimal.n > 0)' \
	'D7: what is left around does not count for minimal ways that are down'
mutant choose.c 'struct port_set all = all_of(o);' \
	'struct port_set all = o->minimal.set;' \
	'D7: a flow does not keep to a way around'

only='--sharing 1'
mutant vl_sharing.c 'jobs >= r->thresholds[vl][k]' 'jobs > r->thresholds[vl][k]' \
	'B3: a threshold that is reached is not'
mutant vl_sharing.c 'k < r->n_thresholds[vl] && jobs >= r->thresholds[vl][k]' \
	'k < r->n_thresholds[0] && jobs >= r->thresholds[0][k]' \
	'B3: every VL has the thresholds of VL 0'
mutant vl_sharing.c '		    jobs_of(b, v) == 0)' '		    true)' \
	'B3: a VL with jobs of its own is free'
mutant vl_sharing.c '		vls_release(s, b, u, s->now);' '' 'B7: nothing is released'
mutant vl_sharing.c '	waiters_serve(s, b, s->now);
' '' 'B7: the queue for VLs has no order'
mutant vl_sharing.c 'holder != NO_USER && b->users[holder].waiting > 0 ? holder : vl;' \
	'holder != NO_USER && b->users[vl].waiting == 0 ? holder : vl;' \
	'B8: an acquired VL sends its own packets first'
mutant hop.h '		in = hop_pick_input(s, port, port_vl, *credits);' \
	'		in = hop_pick_input(s, port, port_vl, s->credits[port_vl - s->port_vls]);' \
	"B8: the credits of the user's VL count"
mutant hop.h 'IS_NOT_GENERAL ? vl : p->out_vl, IS_NOT_GENERAL' \
	'vl, IS_NOT_GENERAL' 'B8: a packet is marked as one of the acquired VL'
mutant hop.h 'injection_take(s, port, port_vl, *credits)' \
	'injection_take(s, port, port_vl, s->credits[port_vl - s->port_vls])' \
	"B9: the credits of the user's VL count at hosts"
mutant injection.c '			link_request(s, p->out); /* B9' '			(void)0; /* B9' \
	'B9: a packet behind others of its sender acquires no VL'
mutant throttle.c '	if (s->sharing && t->offers == NONE)' '	if (s->sharing)' \
	'B9: a throttle that changes its offer has two jobs'
echo "$caught caught, $missed missed, $hung hang, of $count scenarios each"
[ "$missed" -eq 0 ] && [ "$hung" -eq 0 ] && { [ -n "$rules" ] || [ "$caught" -ge 40 ]; }
