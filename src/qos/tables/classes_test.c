/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/tables/classes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "qos/tables/vls.h"
#include "topo/read.h"

static struct hd_rate kbps(uint64_t n)
{
	return hd_rate_make(n * 1000, 1);
}

/* Limits are inclusive, as in paper 000, 4.1. */
static void bands_end_where_the_paper_says(void **state)
{
	(void)state;
	assert_int_equal(class_band(kbps(64)), 0);
	assert_int_equal(class_band(hd_rate_make(64001, 1)), 1);
	assert_int_equal(class_band(kbps(1550)), 1);
	assert_int_equal(class_band(kbps(1551)), 2);
	assert_int_equal(class_band(kbps(64000)), 2);
	assert_int_equal(class_band(kbps(64001)), 3);
}

static void every_sl_knows_its_class(void **state)
{
	(void)state;
	static const uint64_t rates[] = { 10, 1000, 10000, 100000 };

	for (unsigned c = 0; c < TC_COUNT; c++) {
		enum traffic_class parsed;

		assert_int_equal(class_parse(class_name((enum traffic_class)c), &parsed), HD_OK);
		assert_int_equal(parsed, c);
		for (int i = 0; i < 4; i++) {
			uint8_t sl = class_sl((enum traffic_class)c, kbps(rates[i]));

			assert_int_equal(class_of_sl(sl), c);
			assert_int_equal(class_sls_of(TC_DBTS) >> sl & 1, c == TC_DBTS);
		}
	}
}

static void folding_uses_the_vls_and_reports_losses(void **state)
{
	(void)state;
	static const unsigned vls[] = { 1, 2, 4, 8, 15 };

	for (size_t i = 0; i < 5; i++) {
		struct strbuf lost = STRBUF_INIT;
		struct sl2vl map = class_fold(vls[i], &lost);

		for (unsigned sl = 0; sl < N_SLS; sl++)
			assert_true(map.vl[sl] < vls[i]);
		assert_int_equal(lost.len == 0, vls[i] == 15);
		strbuf_fini(&lost);
	}
}

/* Paper 003: with two VLs DBTS and DB go together, and so do BE and CH. */
static void two_vls_fold_as_the_paper_says(void **state)
{
	(void)state;
	struct strbuf lost = STRBUF_INIT;
	struct sl2vl map = class_fold(2, &lost);

	for (unsigned sl = 0; sl < 8; sl++)
		assert_int_equal(map.vl[sl], 0);
	assert_int_equal(map.vl[8], 1);
	assert_int_equal(map.vl[9], 1);
	assert_non_null(strstr(lost.text, "latency bound"));
	strbuf_fini(&lost);
}

/* For all inputs, including packets of the switch itself. */
static void every_link_has_the_fold_of_its_vls(void **state)
{
	struct diag d = { .status = HD_OK };
	struct strbuf lost = STRBUF_INIT;
	struct subnet s;
	struct topo t;

	(void)state;
	assert_int_equal(
		topo_open("star --switches=2 --hosts=2 --vls=8 --host-vls=4", 0, NULL, &d, &t),
		HD_OK);
	subnet_init(&s, &t);
	qos_vls_program(&s, class_plan());
	for (port_id p = 0; p < t.n_ports; p++) {
		node_id v = t.ports[p].node;
		struct sl2vl fold = class_fold(s.vls_of_port[p], &lost);

		if (t.ports[p].peer == TOPO_NONE)
			continue;
		if (!topo_is_switch(&t, v)) {
			assert_memory_equal(sl2vl_of(&s, p), &fold, sizeof(fold));
			continue;
		}
		for (unsigned in = 0; in <= t.nodes[v].n_ports; in++)
			assert_memory_equal(
				sl2vl_at(&s, s.switch_of_node[v], in, t.ports[p].number), &fold,
				sizeof(fold));
	}
	strbuf_fini(&lost);
	subnet_fini(&s);
	topo_fini(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bands_end_where_the_paper_says),
		cmocka_unit_test(every_sl_knows_its_class),
		cmocka_unit_test(folding_uses_the_vls_and_reports_losses),
		cmocka_unit_test(two_vls_fold_as_the_paper_says),
		cmocka_unit_test(every_link_has_the_fold_of_its_vls),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
