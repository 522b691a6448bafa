/* SPDX-License-Identifier: BSD-2-Clause */
#include "live/verbs/verbs_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/*
 * The same table by attribute: the transitions that require it (R), permit it (O) or refuse it
 * (-), from Modify QP in the InfiniBand Architecture Specification and as Linux checks them.
 */

enum { CHANGES = 9 };
static const struct {
	enum ibv_qp_state from, to;
} changes[CHANGES] = {
	{ IBV_QPS_RESET, IBV_QPS_INIT }, { IBV_QPS_INIT, IBV_QPS_INIT },
	{ IBV_QPS_INIT, IBV_QPS_RTR },   { IBV_QPS_RTR, IBV_QPS_RTS },
	{ IBV_QPS_RTS, IBV_QPS_RTS },    { IBV_QPS_RTS, IBV_QPS_SQD },
	{ IBV_QPS_SQD, IBV_QPS_RTS },    { IBV_QPS_SQD, IBV_QPS_SQD },
	{ IBV_QPS_SQE, IBV_QPS_RTS },
};

static const enum ibv_qp_type types[] = { IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD, IBV_QPT_XRC_SEND,
					  IBV_QPT_XRC_RECV };
enum { TYPES = sizeof(types) / sizeof(types[0]) };

static const struct {
	int attribute;
	const char *of_type[TYPES];
} table[] = {
	{ IBV_QP_PKEY_INDEX, { "ROO----O-", "ROO----O-", "ROO----O-", "ROO----O-", "ROO----O-" } },
	{ IBV_QP_PORT, { "RO-----O-", "RO-------", "RO-------", "RO-----O-", "RO-----O-" } },
	{ IBV_QP_QKEY, { "---------", "---------", "ROOOO-OOO", "---------", "---------" } },
	{ IBV_QP_ACCESS_FLAGS,
	  { "ROOOO-OO-", "ROOOO-OOO", "---------", "ROOOO-OO-", "ROOOO-OO-" } },
	{ IBV_QP_AV, { "--R----O-", "--R----O-", "---------", "--R----O-", "--R----O-" } },
	{ IBV_QP_PATH_MTU, { "--R------", "--R------", "---------", "--R------", "--R------" } },
	{ IBV_QP_DEST_QPN, { "--R------", "--R------", "---------", "--R------", "--R------" } },
	{ IBV_QP_RQ_PSN, { "--R------", "--R------", "---------", "--R------", "--R------" } },
	{ IBV_QP_MAX_DEST_RD_ATOMIC,
	  { "--R----O-", "---------", "---------", "---------", "--R----O-" } },
	{ IBV_QP_MIN_RNR_TIMER,
	  { "--ROO-OO-", "---------", "---------", "---------", "--ROO-OO-" } },
	{ IBV_QP_SQ_PSN, { "---R-----", "---R-----", "---R-----", "---R-----", "---R-----" } },
	{ IBV_QP_TIMEOUT, { "---R---O-", "---------", "---------", "---R---O-", "---R---O-" } },
	{ IBV_QP_RETRY_CNT, { "---R---O-", "---------", "---------", "---R---O-", "---------" } },
	{ IBV_QP_RNR_RETRY, { "---R---O-", "---------", "---------", "---R---O-", "---------" } },
	{ IBV_QP_MAX_QP_RD_ATOMIC,
	  { "---R---O-", "---------", "---------", "---R---O-", "---------" } },
	{ IBV_QP_PATH_MIG_STATE,
	  { "---OO-OO-", "---OO-OO-", "---------", "---OO-OO-", "---OO-OO-" } },
	{ IBV_QP_EN_SQD_ASYNC_NOTIFY,
	  { "-----O---", "-----O---", "-----O---", "-----O---", "-----O---" } },
};
enum { ATTRIBUTES = sizeof(table) / sizeof(table[0]) };

/* The attributes that a transition requires; 0 if the type has no such transition. */
static int needs(unsigned type, unsigned change)
{
	/* Queue pairs of reliable types do not enter SQE. */
	if (types[type] != IBV_QPT_UC && types[type] != IBV_QPT_UD && change == CHANGES - 1)
		return 0;
	int mask = IBV_QP_STATE;

	for (unsigned i = 0; i < ATTRIBUTES; i++)
		if (table[i].of_type[type][change] == 'R')
			mask |= table[i].attribute;
	return mask;
}

/* Checks a transition with one required attribute missing, or one unpermitted attribute added. */
static void check_attributes(unsigned t, unsigned c, int least)
{
	for (unsigned i = 0; i < ATTRIBUTES; i++) {
		bool may = table[i].of_type[t][c] == 'O';
		int mask = least ^ table[i].attribute;

		if (verbs_qp_transition_is_valid(types[t], changes[c].from, changes[c].to, mask) !=
		    may)
			fail_msg("type %u, %d to %d, 0x%x", t, (int)changes[c].from,
				 (int)changes[c].to, (unsigned)table[i].attribute);
	}
}

static void each_change_takes_its_attributes(void **state)
{
	(void)state;
	for (unsigned t = 0; t < TYPES; t++) {
		for (unsigned c = 0; c < CHANGES; c++) {
			int least = needs(t, c);

			assert_int_equal(verbs_qp_transition_is_valid(types[t], changes[c].from,
								      changes[c].to, least),
					 least != 0);
			if (least)
				check_attributes(t, c, least);
		}
	}
}

static bool is_change(enum ibv_qp_state from, enum ibv_qp_state to)
{
	for (unsigned c = 0; c < CHANGES; c++)
		if (changes[c].from == from && changes[c].to == to)
			return true;
	return false;
}

static void there_are_no_other_changes(void **state)
{
	(void)state;
	for (unsigned t = 0; t < TYPES; t++)
		for (unsigned from = IBV_QPS_RESET; from <= IBV_QPS_ERR; from++)
			for (unsigned to = IBV_QPS_INIT; to < IBV_QPS_ERR; to++)
				if (!is_change(from, to))
					assert_false(verbs_qp_transition_is_valid(
						types[t], from, to, IBV_QP_STATE));
}

static void all_may_end_and_begin_again(void **state)
{
	static const enum ibv_qp_state ends[] = { IBV_QPS_RESET, IBV_QPS_ERR };

	(void)state;
	for (unsigned t = 0; t < TYPES; t++)
		for (unsigned from = IBV_QPS_INIT; from <= IBV_QPS_ERR; from++)
			for (unsigned e = 0; e < 2; e++) {
				assert_true(verbs_qp_transition_is_valid(types[t], from, ends[e],
									 IBV_QP_STATE));
				assert_false(verbs_qp_transition_is_valid(
					types[t], from, ends[e], IBV_QP_STATE | IBV_QP_PKEY_INDEX));
			}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_change_takes_its_attributes),
		cmocka_unit_test(there_are_no_other_changes),
		cmocka_unit_test(all_may_end_and_begin_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
