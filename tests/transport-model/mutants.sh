#!/bin/sh
# Breaks one rule of the transport at a time, in a copy of the sources, and
# asks the tests of this folder: each must be found wrong, and the untouched
# sources right. A mutation whose text is no longer in the sources fails too,
# so that none goes stale unnoticed.
#
#	mutants.sh SOURCE_DIR WORK_DIR [SCHEDULES [RULES]]
#
# RULES, a regular expression, chooses by the last texts below.
set -eu
source=$(cd "$1" && pwd) work=$2 count=${3:-1500} rules=${4:-.}
rm -rf "$work"
mkdir -p "$work"
work=$(cd "$work" && pwd)
for part in CMakeLists.txt CMakePresets.json cmake src tests examples man \
	docs share; do
	[ ! -e "$source/$part" ] || cp -R "$source/$part" "$work/"
done
cmake -S "$work" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
	>"$work/log" 2>&1
tests=$work/build/tests/transport-model

by_hand="single_test requester_rules_test responder_rules_test
	datagram_rules_test longest_rules_test states_rules_test"

# The name of the first test that finds the copy wrong, or nothing.
finder() {
	cmake --build "$work/build" --target transport_model_adversary_test \
		$(printf 'transport_model_%s ' $by_hand) >"$work/log" 2>&1 ||
		{ tail -20 "$work/log" >&2; echo "does not build"; return; }
	if ! timeout 600 "$tests/adversary_test" --count "$count" --seed 1 \
		--brief 1 >"$work/said" 2>&1; then
		sed -n 's/^\([0-9]*\) schedules:.*/schedule \1/p
			s/^schedule 0x[0-9a-f]*: \(.*\)/(\1)/p' "$work/said" |
			sort -r | paste -sd ' '
		return
	fi
	for t in $by_hand; do
		timeout 300 "$tests/$t" >"$work/said" 2>&1 || { echo $t; return; }
	done
}

caught=0 missed=0
# mutant FILE FROM TO RULE: literal texts.
mutant() {
	echo "$4" | grep -qE "$rules" || return 0
	file=$work/src/transport/$1
	cp "$file" "$work/kept"
	FROM=$2 TO=$3 perl -0pi -e 's/\Q$ENV{FROM}\E/$ENV{TO}/' "$file"
	found=$(finder)
	if cmp -s "$file" "$work/kept"; then
		echo "stale: '$2' is not in src/transport/$1"
		missed=$((missed + 1))
	elif [ -z "$found" ] || [ "$found" = "does not build" ]; then
		echo "missed: $4 ${found:+($found)}"
		missed=$((missed + 1))
	else
		echo "caught by $found: $4"
		caught=$((caught + 1))
	fi
	cp "$work/kept" "$file"
}

found=$(finder)
[ -z "$found" ] || { cat "$work/said"; echo "wrong without a mutation: $found"; exit 1; }

# ---- responder
mutant responder.c '	if (ahead < 0) {
		on_duplicate(qp, p);
		return;
	}' '	if (ahead == -1) {
		r->epsn = p->bth.psn;
		ahead = 0;
	} else if (ahead < 0) {
		on_duplicate(qp, p);
		return;
	}' 'the packet before is executed again'
mutant responder.c ' && !r->nak_sent)' ')' 'a NAK for every packet ahead'
mutant responder.c '		if (!qp_early_keep(qp, p) && !r->nak_sent)
			send_nak(qp, AETH_NAK + NAK_PSN_ERROR);
		return;' '		(void)qp_early_keep(qp, p);
		return;' 'no NAK for a gap'
mutant responder.c '!follows(r, p->bth.opcode) || ' '' \
	'operations in any order'
mutant responder.c ' || !is_permitted(qp, op)' '' 'access flags do not count'
mutant responder_rules.c 'r->length == 0 || is_allowed' 'is_allowed' \
	'an empty request needs a key'
mutant responder_rules.c 'r->length == 0 || is_allowed' '1 || is_allowed' \
	'R_Keys do not count'
mutant responder_rules.c 'r->va % sizeof(uint64_t)' 'r->va % 4' \
	'atomics aligned to 4'
mutant responder_rules.c 'if (bytes > room)' 'if (0)' \
	'a message may be longer than its buffer'
mutant responder.c '(ends_message(p->bth.opcode) && end != r->write.dma_len)' \
	'0' 'a WRITE may be shorter than DMALen'
mutant responder.c 'r->epsn = psn_add(r->epsn, n - 1);' '(void)n;' \
	'a READ takes one PSN'
mutant responder.c 'send_ack(qp, psn_add(qp->resp.epsn, PSN_MASK))' \
	'send_ack(qp, qp->resp.epsn)' 'a duplicate acknowledges the next PSN'
mutant responder.c '	if (!responder_take(qp))
			return not_ready(qp);' '	if (!responder_take(qp))
			return true;' 'a SEND without receive request is swallowed'
mutant responder.c '	const struct resource *res = recall(&qp->resp, p->bth.psn, true);

	if (!res)
		return;' '	const struct resource *res = recall(&qp->resp, p->bth.psn, true);

	if (!res)
		return;
	(void)qp->owner->atomic(qp->owner->context, &p->atomiceth, false);' \
	'a repeated atomic is executed again'
mutant responder.c '.value = res->value' '.value = res->value + 1' \
	'a repeated atomic answers another value'
mutant responder.c 'is_plain_ack(answer_at(r, r->answer_tail - 1))' \
	'answer_at(r, r->answer_tail - 1)->kind != ANSWER_CNP' \
	'an ACK replaces the answer before it'
mutant responder.c 'r->msn = psn_add(r->msn, 1);
	if (imm) {' 'r->msn = psn_add(r->msn, imm);
	if (imm) {' 'a plain WRITE does not count as a message'
mutant responder.c 'wc.kind = WC_RECV_WRITE_IMM;' ';' \
	'a WRITE with immediate completes as a SEND'
mutant responder.c '.solicited = p->bth.se,' '' 'no solicited events'
mutant responder.c '|| reth->va < res->va ||
	    reth->va + reth->dma_len != res->va + res->length' '' \
	'a repeated READ may read elsewhere'
mutant responder.c '.outstanding = qp->resp.fresh,' '' 'reads without limit'
mutant responder.c 'if (!qp->attr.credits || qp->params.shared_recv)' \
	'if (!qp->attr.credits)' 'credits with a shared queue'
mutant responder.c '	if (r->has_recv)
		responder_complete(qp, &wc, WC_WR_FLUSH_ERR);
	while' '	while' 'the receive request under way is not flushed first'

# ---- requester
mutant requester.c 'r->since_ack = 0;' 'r->since_ack = 0; out->bth.psn = psn_add(out->bth.psn, 0x800000 >> 23 & 0);
	if (k > 6) out->bth.ack_req = false;' \
	'no acknowledgement asked late in a message'
mutant requester_answers.c 'r->offset = into > (int32_t)item->done ? (uint32_t)into : item->done;' \
	'r->offset = 0;' 'going back starts the message again'
mutant requester.c '.va = wr->remote_addr + skip,' '.va = wr->remote_addr,' \
	'a resumed READ reads from the start'
mutant requester.c '.dma_len = (uint32_t)(item->length - skip),' \
	'.dma_len = (uint32_t)item->length,' 'a resumed READ reads too much'
mutant requester_answers.c '		if (needs_answer(item)) {
			if (moved)' '		if (needs_answer(item) && item->wr.kind != WR_READ) {
			if (moved)' 'an ACK answers a READ'
mutant requester_answers.c 'if (!r->implied)
				retry' 'retry' 'every answer behind a hole costs a retry'
mutant requester_answers.c 'if (psn_diff(psn, oldest_psn(r)) < 0) {' \
	'if (psn_diff(psn, oldest_psn(r)) < -64) {' 'old answers count'
mutant requester_answers.c 'psn_diff(psn, r->next_psn) >= 0' '0' \
	'answers to what was never sent count'
mutant requester.c 'if (item->wr.flags & WR_FENCE && r->rd_out)
		return false;' '' 'fences do not hold'
mutant requester.c 'r->rd_out >= qp->attr.max_rd' 'r->rd_out > qp->attr.max_rd' \
	'one read too many'
mutant requester.c 'if (qp->state == QPS_SQD)
		return false;' '' 'SQD starts new requests'
mutant requester.c 'if (status != WC_SUCCESS || wanted)' 'if (wanted)' \
	'silent requests are flushed in silence'
mutant requester.c 'if (item->wrong && r->next != r->head)
			return false;' '' 'a local fault overtakes those before it'
mutant requester.c '!sg_allows(qp, wr->sge, wr->n_sge, access)' '0' \
	'own keys do not count'
mutant requester.c 'wr->kind >= WR_READ ? ACCESS_LOCAL_WRITE : 0' '0' \
	'data lands where it may not be written'
mutant requester_answers.c 'if (r->rnr_left != INFINITE_RNR)
		r->rnr_left--;' 'if (r->rnr_left)
		r->rnr_left--;' 'rnr_retry 7 ends'
mutant requester.c 'return r->rnr_until && now < r->rnr_until;' \
	'(void)now;
	return r->rnr_until == 1;' 'requests leave during an RNR wait'
mutant requester_answers.c 'qp->req.retry_left == 0' 'qp->req.retry_left <= 1' \
	'one retry too few'
mutant requester.c 'copy_inline(wr, item->data, qp);' \
	'item->wr.flags &= ~(unsigned)WR_INLINE;' \
	'inline data is read when it is sent'
mutant requester.c 'to->qkey >> 31 ? qp->attr.qkey : to->qkey' 'to->qkey' \
	'Q_Keys with bit 31 go out as they are'
mutant requester_answers.c 'psn_diff(limit, r->lsn) > 0' '0' 'credits are not taken'
mutant requester.c 'if (needs_answer(item) || item->wr.kind == WR_WRITE)
		r->lsn' 'if (0)
		r->lsn' 'a READ uses up a credit'

# ---- UC, UD, common
mutant unreliable.c 'if (p->bth.psn != r->epsn)
		forget_message(r);' '' 'UC joins messages over a gap'
mutant unreliable.c 'if (p->deth.qkey != qp->attr.qkey) {' 'if (0) {' \
	'Q_Keys do not count'
mutant unreliable.c 'sg_write(qp, list, GRH_SIZE,' 'sg_write(qp, list, GRH_SIZE - 4,' \
	'36 bytes before a datagram'
mutant unreliable.c 'responder_check_sge(qp, p->payload_len, first)' 'RESPONDER_ACCEPTS' \
	'UC writes behind the buffer'
mutant unreliable.c 'return responder_permits(qp->attr.access, WR_WRITE) &&' 'return' \
	'UC: access flags do not count'
mutant ../base/iba.h '((a | b) & PKEY_FULL)' '1' \
	'two limited members may talk'
mutant qp.c 'p->lrh.slid != a->dlid || ' '' 'any source may send'
mutant qp.c 'list->addr + offset, from, part' 'list->addr, from, part' \
	'every packet goes to the start of its piece'
mutant qp.c 'list->addr + offset, to, part' 'list->addr, to, part' \
	'every packet comes from the start of its piece'
mutant qp.c 'p->bth.tver != 0' '0' 'the version is not checked'
mutant qp.c 'requester_drained(qp);' '' 'an idle queue is never drained'
mutant psn.h '(int32_t)((a - b) << 8) >> 8' '(int32_t)(a - b)' \
	'sequence numbers do not wrap'
echo "$caught caught, $missed missed"
[ "$missed" -eq 0 ] && { [ "$rules" != . ] || [ "$caught" -ge 50 ]; }
