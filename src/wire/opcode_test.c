/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <infiniband/opcode.h>

#include <string.h>

#include "wire/opcode.h"

/* Opcodes equal those of libibverbs. */
static void operations_have_the_numbers_of_libibverbs(void **state)
{
	(void)state;
	assert_int_equal(SERVICE_RC, IBV_OPCODE_RC);
	assert_int_equal(SERVICE_UC, IBV_OPCODE_UC);
	assert_int_equal(SERVICE_RD, IBV_OPCODE_RD);
	assert_int_equal(SERVICE_UD, IBV_OPCODE_UD);
	assert_int_equal(OP_SEND_FIRST, IBV_OPCODE_SEND_FIRST);
	assert_int_equal(OP_SEND_LAST_IMM, IBV_OPCODE_SEND_LAST_WITH_IMMEDIATE);
	assert_int_equal(OP_SEND_ONLY, IBV_OPCODE_SEND_ONLY);
	assert_int_equal(OP_SEND_ONLY_IMM, IBV_OPCODE_SEND_ONLY_WITH_IMMEDIATE);
	assert_int_equal(OP_WRITE_FIRST, IBV_OPCODE_RDMA_WRITE_FIRST);
	assert_int_equal(OP_WRITE_ONLY, IBV_OPCODE_RDMA_WRITE_ONLY);
	assert_int_equal(OP_WRITE_ONLY_IMM, IBV_OPCODE_RDMA_WRITE_ONLY_WITH_IMMEDIATE);
	assert_int_equal(OP_READ_REQUEST, IBV_OPCODE_RDMA_READ_REQUEST);
	assert_int_equal(OP_READ_RESPONSE_FIRST, IBV_OPCODE_RDMA_READ_RESPONSE_FIRST);
	assert_int_equal(OP_READ_RESPONSE_ONLY, IBV_OPCODE_RDMA_READ_RESPONSE_ONLY);
	assert_int_equal(OP_ACK, IBV_OPCODE_ACKNOWLEDGE);
	assert_int_equal(OP_ATOMIC_ACK, IBV_OPCODE_ATOMIC_ACKNOWLEDGE);
	assert_int_equal(OP_CMP_SWAP, IBV_OPCODE_COMPARE_SWAP);
	assert_int_equal(OP_FETCH_ADD, IBV_OPCODE_FETCH_ADD);
	assert_int_equal(OP_SEND_LAST_INV, 0x16);
	assert_int_equal(OP_SEND_ONLY_INV, 0x17);
}

/*
 * Sizes: BTH 12, DETH 8, RETH 16, AETH 4, AtomicETH 28, AtomicAckETH 8, RDETH 4, XRCETH 4, ImmDt
 * 4, IETH 4, FETH 4. The sums are computed by hand.
 */
static void lengths_are_the_sums_of_the_standards_headers(void **state)
{
	(void)state;
	static const struct {
		uint8_t opcode;
		size_t size;
	} rows[] = {
		{ 0x00, 12 },      /* RC SEND_FIRST */
		{ 0x03, 12 + 4 },  /* with immediate */
		{ 0x06, 12 + 16 }, /* WRITE_FIRST: RETH */
		{ 0x07, 12 },      /* WRITE_MIDDLE */
		{ 0x09, 12 + 4 },  /* WRITE_LAST_IMM */
		{ 0x0B, 12 + 16 + 4 },
		{ 0x0C, 12 + 16 }, /* READ_REQUEST */
		{ 0x0D, 12 + 4 },  /* READ_RESPONSE_FIRST: AETH */
		{ 0x0E, 12 },      /* READ_RESPONSE_MIDDLE: none */
		{ 0x11, 12 + 4 },
		{ 0x12, 12 + 4 + 8 },
		{ 0x13, 12 + 28 },
		{ 0x17, 12 + 4 },              /* IETH */
		{ 0x1C, 12 + 4 + 16 },         /* FETH, RETH */
		{ 0x1D, 12 + 16 },             /* ATOMIC_WRITE */
		{ 0x24, 12 },                  /* UC SEND_ONLY */
		{ 0x44, 12 + 4 + 8 },          /* RD SEND_ONLY: RDETH, DETH */
		{ 0x4B, 12 + 4 + 8 + 16 + 4 }, /* RD WRITE_ONLY_IMM */
		{ 0x51, 12 + 4 + 4 },          /* RD ACK: RDETH, AETH */
		{ 0x55, 12 + 4 + 8 },          /* RD RESYNC */
		{ 0x64, 12 + 8 },              /* UD SEND_ONLY */
		{ 0x65, 12 + 8 + 4 },          /* with immediate */
		{ 0x80, 12 },                  /* CNP */
		{ 0x81, 12 },                  /* CNP of RoCEv2 */
		{ 0xA4, 12 + 4 },              /* XRC SEND_ONLY */
		{ 0xB1, 12 + 4 },              /* XRC ACK: no XRCETH */
		{ 0xB3, 12 + 4 + 28 },         /* XRC CMP_SWAP */
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_int_equal(header_set_size(opcode_headers(rows[i].opcode)), rows[i].size);
}

static bool is_known(unsigned opcode)
{
	unsigned op = opcode & 31;

	switch (opcode >> 5) {
	case 0: /* RC: 0 to 0x14, invalidates, FLUSH, ATOMIC_WRITE */
		return op <= 0x14 || op == 0x16 || op == 0x17 || op == 0x1C || op == 0x1D;
	case 1: /* UC: sends and writes */
		return op <= 0x0B;
	case 2: /* RD: no invalidates, but RESYNC */
		return op <= 0x15;
	case 3: /* UD */
		return op == 4 || op == 5;
	case 4:
		return op <= 1;
	case 5: /* XRC */
		return op <= 0x14 || op == 0x16 || op == 0x17;
	default:
		return false;
	}
}

static void nothing_else_is_known(void **state)
{
	(void)state;
	for (unsigned opcode = 0; opcode < 256; opcode++) {
		uint8_t op = (uint8_t)opcode;

		assert_int_equal(opcode_is_known(op), is_known(opcode));
		if (is_known(opcode))
			continue;
		assert_int_equal(opcode_headers(op), 0);
		assert_int_equal(opcode_flags(op), 0);
		assert_string_equal(opcode_operation_name(op), "?");
	}
}

static bool ends_with(const char *text, const char *end)
{
	size_t a = strlen(text), b = strlen(end);

	return a >= b && strcmp(text + a - b, end) == 0;
}

static bool has(uint8_t opcode, enum header h)
{
	return opcode_headers(opcode) & HEADER_BIT(h);
}

static void check_row(uint8_t op)
{
	unsigned flags = opcode_flags(op);
	unsigned place = flags & (OPCODE_FIRST | OPCODE_MIDDLE | OPCODE_LAST | OPCODE_ONLY);
	bool request = flags & OPCODE_REQUEST;
	unsigned service = op & SERVICE_MASK;
	const char *name = opcode_operation_name(op);

	assert_true(has(op, HEADER_BTH));
	assert_true(!has(op, HEADER_LRH) && !has(op, HEADER_GRH));
	/* Every opcode has exactly one position in a message. */
	assert_true(place && (place & (place - 1)) == 0);
	assert_int_not_equal(request, (flags & OPCODE_RESPONSE) != 0);
	/*
	 * Immediate data and invalidation appear in the name and exclude each other; both occur at
	 * the end of a message only.
	 */
	assert_int_equal(has(op, HEADER_IMMDT), ends_with(name, "_IMM"));
	assert_int_equal(has(op, HEADER_IETH), ends_with(name, "_INV"));
	if (has(op, HEADER_IMMDT) || has(op, HEADER_IETH))
		assert_true(flags & (OPCODE_LAST | OPCODE_ONLY));
	/* RD always has RDETH; DETH and XRCETH are in requests only. */
	assert_int_equal(has(op, HEADER_RDETH), service == SERVICE_RD);
	assert_int_equal(has(op, HEADER_DETH),
			 service == SERVICE_UD || (service == SERVICE_RD && request));
	assert_int_equal(has(op, HEADER_XRCETH), service == SERVICE_XRC && request);
	/* All responses have an AETH, except middle ones. */
	assert_int_equal(has(op, HEADER_AETH), !request && !(flags & OPCODE_MIDDLE));
}

static bool begins_with(const char *text, const char *begin)
{
	return strncmp(text, begin, strlen(begin)) == 0;
}

/* Headers that the operation's name implies. */
static void check_memory(uint8_t op)
{
	const char *name = opcode_operation_name(op);
	bool begins = opcode_flags(op) & (OPCODE_FIRST | OPCODE_ONLY);
	bool atomic = strcmp(name, "CMP_SWAP") == 0 || strcmp(name, "FETCH_ADD") == 0;
	bool flush = strcmp(name, "FLUSH") == 0;

	assert_int_equal(has(op, HEADER_RETH), flush || strcmp(name, "ATOMIC_WRITE") == 0 ||
						       strcmp(name, "READ_REQUEST") == 0 ||
						       (begins_with(name, "WRITE_") && begins));
	assert_int_equal(has(op, HEADER_FETH), flush);
	assert_int_equal(has(op, HEADER_ATOMICETH), atomic);
	assert_int_equal(has(op, HEADER_ATOMICACKETH), strcmp(name, "ATOMIC_ACK") == 0);
	/* Only data that is sent, written or read is payload. */
	assert_int_equal((opcode_flags(op) & OPCODE_PAYLOAD) != 0,
			 begins_with(name, "SEND_") || begins_with(name, "WRITE_") ||
				 begins_with(name, "READ_RESPONSE_") ||
				 strcmp(name, "ATOMIC_WRITE") == 0 || strcmp(name, "CNP") == 0);
}

static void rows_obey_the_rules_of_the_transport(void **state)
{
	(void)state;
	for (unsigned op = 0; op < 256; op++) {
		if (!opcode_is_known((uint8_t)op))
			continue;
		check_row((uint8_t)op);
		check_memory((uint8_t)op);
	}
}

/* Operations of RD and XRC have RC's headers and the service's own. */
static void services_share_their_operations(void **state)
{
	(void)state;
	const header_set added =
		HEADER_BIT(HEADER_RDETH) | HEADER_BIT(HEADER_DETH) | HEADER_BIT(HEADER_XRCETH);
	static const uint8_t others[] = { SERVICE_UC, SERVICE_RD, SERVICE_UD, SERVICE_XRC };

	for (size_t i = 0; i < sizeof(others); i++) {
		for (unsigned op = 0; op <= OP_MASK; op++) {
			uint8_t mine = (uint8_t)(others[i] | op);
			uint8_t rc = (uint8_t)op;

			if (!is_known(mine) || !is_known(rc))
				continue;
			assert_int_equal(opcode_headers(mine) & ~added, opcode_headers(rc));
			assert_int_equal(opcode_flags(mine), opcode_flags(rc));
			assert_string_equal(opcode_operation_name(mine), opcode_operation_name(rc));
		}
	}
}

static void names_are_unique(void **state)
{
	(void)state;
	for (unsigned a = 0; a < 256; a++) {
		for (unsigned b = 0; b < a; b++) {
			if (!is_known(a) || !is_known(b) || (a | b) == 0x81)
				continue;
			bool same = strcmp(opcode_service_name((uint8_t)a),
					   opcode_service_name((uint8_t)b)) == 0 &&
				    strcmp(opcode_operation_name((uint8_t)a),
					   opcode_operation_name((uint8_t)b)) == 0;

			assert_false(same);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operations_have_the_numbers_of_libibverbs),
		cmocka_unit_test(lengths_are_the_sums_of_the_standards_headers),
		cmocka_unit_test(nothing_else_is_known),
		cmocka_unit_test(rows_obey_the_rules_of_the_transport),
		cmocka_unit_test(services_share_their_operations),
		cmocka_unit_test(names_are_unique),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
