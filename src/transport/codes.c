/* SPDX-License-Identifier: BSD-2-Clause */
#include "transport/codes.h"

#include <assert.h>
#include <stddef.h>

#include "transport/work.h"

/*
 * From 2 on, even codes are powers of two and odd ones lie half way between:
 * code 2k is 2^k, code 2k + 1 is 3 * 2^(k - 1).
 */
static uint32_t staircase(unsigned code)
{
	unsigned k = code / 2;

	if (code < 2)
		return code;
	return code % 2 ? UINT32_C(3) << (k - 1) : UINT32_C(1) << k;
}

uint32_t qp_credit_count(unsigned code)
{
	assert(code < CREDITS_NONE);
	return staircase(code);
}

unsigned qp_credit_code(uint32_t count)
{
	unsigned code = CREDITS_NONE - 1;

	while (qp_credit_count(code) > count)
		code--;
	return code;
}

/* The same steps in units of 10 us, except that 0 is the top step. */
hd_time qp_rnr_delay(unsigned code)
{
	assert(code < 32);
	return staircase(code ? code : 32) * 10 * HD_US;
}

hd_time qp_ack_timeout(unsigned timeout)
{
	assert(timeout < 32);
	return timeout ? (4096 * HD_NS) << timeout : HD_TIME_NEVER;
}

const char *qp_wc_status_name(unsigned status)
{
	static const char *const names[] = {
		[WC_SUCCESS] = "SUCCESS",
		[WC_LOC_LEN_ERR] = "LOC_LEN_ERR",
		[WC_LOC_QP_OP_ERR] = "LOC_QP_OP_ERR",
		[WC_LOC_PROT_ERR] = "LOC_PROT_ERR",
		[WC_WR_FLUSH_ERR] = "WR_FLUSH_ERR",
		[WC_MW_BIND_ERR] = "MW_BIND_ERR",
		[WC_BAD_RESP_ERR] = "BAD_RESP_ERR",
		[WC_LOC_ACCESS_ERR] = "LOC_ACCESS_ERR",
		[WC_REM_INV_REQ_ERR] = "REM_INV_REQ_ERR",
		[WC_REM_ACCESS_ERR] = "REM_ACCESS_ERR",
		[WC_REM_OP_ERR] = "REM_OP_ERR",
		[WC_RETRY_EXC_ERR] = "RETRY_EXC_ERR",
		[WC_RNR_RETRY_EXC_ERR] = "RNR_RETRY_EXC_ERR",
	};

	return status < sizeof(names) / sizeof(*names) ? names[status] : NULL;
}
