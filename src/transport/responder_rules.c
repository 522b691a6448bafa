/* SPDX-License-Identifier: BSD-2-Clause */
#include "transport/responder_rules.h"

#include <assert.h>

const struct responder_refusal *responder_refusal(enum responder_verdict verdict)
{
	static const struct responder_refusal refusals[] = {
		[RESPONDER_BAD_REQUEST] = { NAK_INVALID_REQUEST, WC_LOC_QP_OP_ERR, true,
					    QP_EVENT_REQ_ERR },
		[RESPONDER_BAD_LENGTH] = { NAK_INVALID_REQUEST, WC_LOC_LEN_ERR, false,
					   QP_EVENT_REQ_ERR },
		[RESPONDER_BAD_ACCESS] = { NAK_REMOTE_ACCESS, WC_LOC_ACCESS_ERR, true,
					   QP_EVENT_ACCESS_ERR },
		[RESPONDER_BAD_BUFFER] = { NAK_REMOTE_OPERATION, WC_LOC_PROT_ERR, false,
					   QP_EVENT_REQ_ERR },
	};

	assert(verdict >= RESPONDER_BAD_REQUEST);
	return &refusals[verdict];
}

enum wc_status responder_nak_status(unsigned nak)
{
	static const enum wc_status statuses[] = {
		[NAK_INVALID_REQUEST] = WC_REM_INV_REQ_ERR,
		[NAK_REMOTE_ACCESS] = WC_REM_ACCESS_ERR,
		[NAK_REMOTE_OPERATION] = WC_REM_OP_ERR,
	};

	assert(nak >= NAK_INVALID_REQUEST && nak <= NAK_REMOTE_OPERATION);
	return statuses[nak];
}

bool responder_takes_receive(enum wr_kind kind)
{
	return kind == WR_SEND || kind == WR_SEND_IMM || kind == WR_SEND_INV ||
	       kind == WR_WRITE_IMM;
}

enum responder_verdict responder_check_receive(uint64_t bytes, uint64_t room, bool is_allowed)
{
	if (bytes > room)
		return RESPONDER_BAD_LENGTH;
	return is_allowed ? RESPONDER_ACCEPTS : RESPONDER_BAD_BUFFER;
}

unsigned responder_access(enum wr_kind kind)
{
	static const unsigned access[] = {
		[WR_WRITE] = ACCESS_REMOTE_WRITE,      [WR_WRITE_IMM] = ACCESS_REMOTE_WRITE,
		[WR_READ] = ACCESS_REMOTE_READ,        [WR_CMP_SWAP] = ACCESS_REMOTE_ATOMIC,
		[WR_FETCH_ADD] = ACCESS_REMOTE_ATOMIC,
	};

	return access[kind];
}

bool responder_permits(unsigned access, enum wr_kind kind)
{
	unsigned needed = responder_access(kind);

	return (access & needed) == needed;
}

static bool is_atomic(enum wr_kind kind)
{
	return kind == WR_CMP_SWAP || kind == WR_FETCH_ADD;
}

enum responder_verdict responder_check_remote(const struct responder_request *r, bool is_allowed)
{
	bool has_answer = r->kind == WR_READ || is_atomic(r->kind);

	if ((has_answer && r->outstanding >= r->max_outstanding) || r->length > WR_MAX_LENGTH ||
	    (is_atomic(r->kind) && r->va % sizeof(uint64_t) != 0))
		return RESPONDER_BAD_REQUEST;
	return r->length == 0 || is_allowed ? RESPONDER_ACCEPTS : RESPONDER_BAD_ACCESS;
}

uint64_t responder_atomic(const struct atomiceth *operands, bool is_compare, uint64_t old)
{
	if (!is_compare)
		return old + operands->swap_add;
	return old == operands->compare ? operands->swap_add : old;
}
