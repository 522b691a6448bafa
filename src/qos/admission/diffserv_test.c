/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/admission/diffserv.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Paper 003's four classes on four VLs. */
static void four_vls_have_the_papers_map(void **state)
{
	(void)state;
	struct diffserv_map m = diffserv_map_for(4);

	assert_int_equal(m.sl[46], 0); /* EF */
	for (uint8_t class = 1; class <= 4; class ++) {
		for (uint8_t drop = 1; drop <= 3; drop++)
			assert_int_equal(m.sl[class << 3 | drop << 1], 1);
	}
	assert_int_equal(m.sl[0], 2);
	assert_int_equal(m.sl[1], 3);
	for (unsigned sl = 0; sl < 4; sl++)
		assert_int_equal(m.vls.vl[sl], sl);
	assert_int_equal(m.class[46], TC_DBTS);
	assert_int_equal(m.class[10], TC_DB);
	assert_int_equal(m.class[0], TC_BE);
	assert_int_equal(m.class[1], TC_CH);
}

static void eight_vls_keep_af_classes_apart(void **state)
{
	(void)state;
	struct diffserv_map m = diffserv_map_for(8);
	unsigned seen = 0;

	for (uint8_t class = 1; class <= 4; class ++) {
		uint8_t sl = m.sl[class << 3 | 2];

		assert_int_equal(m.class[class << 3 | 2], TC_DB);
		assert_int_equal(m.vls.vl[sl], sl);
		seen |= 1u << sl;
	}
	assert_int_equal(seen, 0x1e); /* SLs 1 to 4, each once */
}

/* The SL written by a router for a mark is the SL that the mark came from. */
static void sl_and_mark_agree_in_both_directions(void **state)
{
	(void)state;
	static const unsigned vls[] = { 1, 2, 4, 8, 15 };

	for (size_t i = 0; i < 5; i++) {
		struct diffserv_map m = diffserv_map_for(vls[i]);
		uint8_t last = m.separate_af ? 6 : 3;

		for (uint8_t sl = 0; sl <= last; sl++)
			assert_int_equal(m.sl[diffserv_tclass(&m, sl) >> 2], sl);
		for (unsigned sl = 0; sl < N_SLS; sl++)
			assert_true(m.vls.vl[sl] < vls[i]);
	}
}

static void two_vls_merge_as_the_paper_says(void **state)
{
	(void)state;
	struct diffserv_map m = diffserv_map_for(2);

	assert_int_equal(m.vls.vl[0], m.vls.vl[1]); /* DBTS with DB */
	assert_int_equal(m.vls.vl[2], m.vls.vl[3]); /* BE with CH */
	assert_int_not_equal(m.vls.vl[1], m.vls.vl[2]);
}

static void names_are_those_of_the_field(void **state)
{
	(void)state;
	static const struct {
		uint8_t dscp;
		const char *name;
	} cases[] = { { 46, "EF" },   { 10, "AF11" }, { 22, "AF23" },
		      { 38, "AF43" }, { 40, "CS5" },  { 0, "default" },
		      { 1, "LE" },    { 11, "11" },   { 47, "47" } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct strbuf s = STRBUF_INIT;

		diffserv_name(cases[i].dscp, &s);
		assert_string_equal(s.text, cases[i].name);
		strbuf_fini(&s);
	}
}

/* RFC 2474, 4.2.2.2: code points 11x000 are served better than default. */
static void network_control_is_better_than_default(void **state)
{
	static const unsigned vls[] = { 2, 4, 8, 15 };

	(void)state;
	for (size_t i = 0; i < sizeof(vls) / sizeof(vls[0]); i++) {
		struct diffserv_map m = diffserv_map_for(vls[i]);

		for (uint8_t dscp = 48; dscp < 64; dscp += 8) {
			assert_int_equal(m.class[dscp], TC_DB);
			assert_int_not_equal(m.vls.vl[m.sl[dscp]], m.vls.vl[m.sl[DSCP_DEFAULT]]);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(four_vls_have_the_papers_map),
		cmocka_unit_test(eight_vls_keep_af_classes_apart),
		cmocka_unit_test(sl_and_mark_agree_in_both_directions),
		cmocka_unit_test(two_vls_merge_as_the_paper_says),
		cmocka_unit_test(names_are_those_of_the_field),
		cmocka_unit_test(network_control_is_better_than_default),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
