/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/opensm/explain.h"
#include "qos/opensm/opensm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct opensm_port eight_vls = {
	.scope = OPENSM_SWE, .vls = 8, .low_cap = 8, .high_cap = 8
};

static struct opensm_conf read_text(const char *text)
{
	struct opensm_conf conf;

	opensm_conf_read(text, &conf);
	return conf;
}

/* OpenSM's defaults, as its manual page lists them, on an 8-VL link. */
static void absent_keys_mean_the_built_in_tables(void **state)
{
	(void)state;
	struct opensm_conf conf = read_text("# nothing\n");
	struct opensm_tables t;

	opensm_effective(&conf, &eight_vls, &t);
	assert_int_equal(t.vls, 8);
	assert_int_equal(t.vlarb.n_high, 8);
	assert_int_equal(t.vlarb.high[0].weight, 4);
	assert_int_equal(t.vlarb.high[1].weight, 0);
	assert_int_equal(t.vlarb.low[0].weight, 0);
	assert_int_equal(t.vlarb.low[7].weight, 4);
	assert_int_equal(t.vlarb.high_limit, 0);
	assert_int_equal(t.sl2vl.vl[8], 0); /* 8 & 7 */
	assert_int_equal(t.sl2vl.vl[15], 7);
	opensm_conf_fini(&conf);
}

static void specific_sets_beat_the_default_one(void **state)
{
	(void)state;
	struct opensm_conf conf = read_text("qos TRUE\n"
					    "qos_high_limit 3\nqos_swe_high_limit 10   # switches\n"
					    "qos_sl2vl 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1\n"
					    "qos_ca_sl2vl 2,2\n"
					    "qos_swe_vlarb_high 2:64,15:1\n");
	struct opensm_tables t;
	struct opensm_port ca = eight_vls;

	opensm_effective(&conf, &eight_vls, &t);
	assert_true(conf.qos);
	assert_int_equal(t.vlarb.high_limit, 10);
	assert_int_equal(t.sl2vl.vl[5], 1);
	assert_int_equal(t.vlarb.n_high, 2);
	assert_int_equal(t.vlarb.high[1].vl, 0); /* 15 modulo 15 */
	ca.scope = OPENSM_CA;
	opensm_effective(&conf, &ca, &t);
	assert_int_equal(t.vlarb.high_limit, 3);
	assert_int_equal(t.sl2vl.vl[1], 2);
	assert_int_equal(t.sl2vl.vl[2], 0); /* padded */
	opensm_conf_fini(&conf);
}

static void vls_are_limited_by_max_op_vls(void **state)
{
	(void)state;
	struct opensm_conf conf = read_text("max_op_vls 3\n"
					    "qos_vlarb_low 5:10\n"
					    "qos_sl2vl 5,15\n");
	struct opensm_tables t;

	opensm_effective(&conf, &eight_vls, &t);
	assert_int_equal(t.vls, 4);
	assert_int_equal(t.vlarb.low[0].vl, 1); /* 5 & 3 */
	assert_int_equal(t.sl2vl.vl[0], 1);
	assert_int_equal(t.sl2vl.vl[1], 15); /* drops */
	opensm_conf_fini(&conf);
}

static bool finds(const struct opensm_findings *f, const char *code, unsigned line)
{
	for (size_t i = 0; i < f->n; i++) {
		if (strcmp(f->items[i].code, code) == 0 && f->items[i].line == line)
			return true;
	}
	return false;
}

static void each_mistake_is_found_on_its_line(void **state)
{
	(void)state;
	static const struct {
		const char *text, *code;
		unsigned line;
	} cases[] = {
		{ "qos_vlarb_low 0:64\n", "W0", 0 },
		{ "qos TRUE\n\nqos_vlarb_low 0:32,1:64\n", "W1", 3 },
		{ "qos TRUE\nqos_sl2vl 0,1,2,3\n", "W2", 2 },
		{ "qos TRUE\nqos_sl2vl 9\n", "W3", 2 },
		{ "qos TRUE\nqos_vlarb_high 9:64\n", "W3", 2 },
		{ "qos TRUE\nqos_high_limit 255\n", "W4", 2 },
		{ "qos_max_vls 8\n", "W5", 1 },
		{ "qos TRUE\nqos_vlarb_low 0:64,1:64,2:64,3:64,4:64,5:64,6:64,7:64,0:64\n", "W7",
		  2 },
		{ "qos TRUE\nqos_vlarb_low 0:64\nqos_vlarb_high 0:64\n", "W8", 0 },
		{ "qos TRUE\nqos_ca_sl2vl 1\nqos_swe_sl2vl 2\n", "W10", 3 },
		{ "qos TRUE\nqos_vlarb_high 15:64\n", "W12", 2 },
		{ "qos true\nqos_vlarb_low 0:64\n", "W0", 1 },
		{ "qos FALSE\n", "W0", 1 },
		{ "qos TRUE\nqos_ca_sl2vl 1\n", "W10", 2 },
		{ "qos TRUE\nqos_sl2vl 1\nqos_ca_sl2vl 2\n", "W10", 3 },
		{ "qos TRUE\nqos_vlarb_hihg 0:64\n", "W14", 2 },
		{ "qos TRUE\nno_such_key 1\n", "W14", 2 },
		{ "qos TRUE\nqos_sl2vl 0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7,0,1\n", "W2", 2 },
		{ "qos TRUE\nqos_vlarb_low 0:300\n", "W13", 2 },
		{ "qos TRUE\nqos_vlarb_low 0:064\n", "W13", 2 },
		{ "qos TRUE\nqos_vlarb_low 0:64,x\n", "W13", 2 },
		{ "qos TRUE\nqos_high_limit 300\n", "W13", 2 },
		{ "qos TRUE\nqos_high_limit many\n", "W13", 2 },
		{ "qos TRUE\nmax_op_vls 9\n", "W13", 2 },
		{ "qos TRUE\nqos_sl2vl 16\n", "W3", 2 },
		{ "qos TRUE\nlog_flags 3\nqos TRUE\n", "W19", 3 },
		{ "qos_vlarb_low 0:64\nqos TRUE\nqos_vlarb_low 0:32\n", "W19", 3 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct opensm_conf conf = read_text(cases[i].text);
		struct opensm_findings f = { 0 };

		opensm_lint(&conf, &eight_vls, 2048, &f);
		assert_true(finds(&f, cases[i].code, cases[i].line));
		opensm_findings_fini(&f);
		opensm_conf_fini(&conf);
	}
}

static void texts_describe_the_outcome(void **state)
{
	(void)state;
	static const struct {
		const char *text, *says;
	} cases[] = {
		/* Modulo 15, then masked: not 16 & 7. */
		{ "qos TRUE\nqos_vlarb_low 16:64\n", "it becomes VL1" },
		{ "qos TRUE\nqos_sl2vl 17\n", "it becomes VL1" },
		{ "qos TRUE\nqos_vlarb_hihg 0:64\n", "'qos_vlarb_high'" },
		{ "qos TRUE\nmax_op_vls 3\nqos_vlarb_low 5:64\n",
		  "links have 4 VLs, it becomes VL1" },
		{ "qos TRUE\nqos_vlarb_low 0:300\n", "sends 44" },
		{ "qos true\n", "capitals only" },
		{ "qos TRUE\nqos_high_limit 4\nqos_high_limit 5\n", "replaces line 2" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct opensm_conf conf = read_text(cases[i].text);
		struct opensm_findings f = { 0 };
		bool said = false;

		opensm_lint(&conf, &eight_vls, 2048, &f);
		for (size_t k = 0; k < f.n; k++)
			said |= strstr(f.items[k].message, cases[i].says) != NULL;
		assert_true(said);
		opensm_findings_fini(&f);
		opensm_conf_fini(&conf);
	}
}

/* Reported once, not for each entry or SL. */
static void a_mistake_is_said_once(void **state)
{
	(void)state;
	struct opensm_conf conf = read_text("qos TRUE\n"
					    "qos_vlarb_high 0:64\n"
					    "qos_vlarb_low 1:4,0:4,1:4,0:4,1:4\n"
					    "qos_sl2vl 0,1,2,2,2,2,2,2,2,2,2,2,2,2,3,3\n");
	struct opensm_findings f = { 0 };
	unsigned weights = 0, mute = 0;

	opensm_lint(&conf, &eight_vls, 2048, &f);
	for (size_t i = 0; i < f.n; i++) {
		weights += strcmp(f.items[i].code, "W1") == 0;
		mute += strcmp(f.items[i].code, "W8") == 0;
	}
	assert_int_equal(weights, 2);
	assert_int_equal(mute, 2);
	assert_non_null(strstr(f.items[f.n - 1].message, "VL3, of SL14,15,"));
	opensm_findings_fini(&f);
	opensm_conf_fini(&conf);
}

static void a_long_line_is_cut_and_said(void **state)
{
	(void)state;
	struct strbuf text = STRBUF_INIT;
	struct opensm_findings f = { 0 };

	strbuf_puts(&text, "qos TRUE\ncc_cct 0:0");
	while (text.len < 1100)
		strbuf_puts(&text, ",1:16383");
	strbuf_putc(&text, '\n');
	struct opensm_conf conf = read_text(text.text);

	opensm_lint(&conf, &eight_vls, 2048, &f);
	assert_true(finds(&f, "W9", 2));
	opensm_findings_fini(&f);
	opensm_conf_fini(&conf);
	strbuf_fini(&text);
}

/* Exported files read back as the same tables, without findings. */
static void exports_read_back_clean(void **state)
{
	(void)state;
	struct opensm_tables t = { .vls = 4 }, back;
	struct strbuf text = STRBUF_INIT;
	struct opensm_findings f = { 0 };
	struct opensm_port port = { OPENSM_DEFAULT, 4, 64, 64 };

	t.vlarb.high_limit = 12;
	t.vlarb.high[0] = (struct vlarb_entry){ 0, 66 };
	t.vlarb.n_high = 1;
	for (unsigned i = 0; i < 6; i++)
		t.vlarb.low[i] =
			(struct vlarb_entry){ (uint8_t)(1 + i % 3), (uint8_t)(33 * (i + 1)) };
	t.vlarb.n_low = 6;
	for (unsigned sl = 0; sl < N_SLS; sl++)
		t.sl2vl.vl[sl] = (uint8_t)(sl % 4);
	opensm_export(OPENSM_DEFAULT, &t, &text);
	struct opensm_conf conf = read_text(text.text);

	opensm_effective(&conf, &port, &back);
	assert_int_equal(back.vls, 4);
	assert_memory_equal(&back.sl2vl, &t.sl2vl, sizeof(t.sl2vl));
	assert_memory_equal(&back.vlarb, &t.vlarb, sizeof(t.vlarb));
	opensm_lint(&conf, &port, 2048, &f);
	assert_int_equal(f.n, 0);
	opensm_findings_fini(&f);
	opensm_conf_fini(&conf);
	strbuf_fini(&text);
}

/* Seen on OpenSM 3.3.23 with ibsim, read back by smpquery (8 + 8 entries). */
static void odd_values_are_read_as_opensm_reads_them(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		uint8_t low_vl[4], low_weight[4], vl[6];
	} cases[] = {
		{ "qos_vlarb_low 0:300,1:010\nqos_sl2vl 0,17,0x12,020,5x,1\n",
		  { 0, 1 },
		  { 44, 8 },
		  { 0, 1, 2, 0, 5, 0 } },
		{ "qos_vlarb_low 0:64,1:\"2\"\nqos_sl2vl \"3,2,1\"\n",
		  { 0, 1, 2 },
		  { 64, 0, 0 },
		  { 3, 2, 1, 0, 0, 0 } },
		{ "qos_vlarb_low 0:64 , 1:32;2:7\nqos_sl2vl\n",
		  { 0, 0, 2, 7 },
		  { 64, 1, 2, 0 },
		  { 0, 0, 0, 0, 0, 0 } },
		{ "qos_vlarb_low -1:-1,18446744073709551616:1\n"
		  "qos_sl2vl 3,3,3,-1 # 1,1\n",
		  { 0, 0 },
		  { 255, 1 },
		  { 3, 3, 3, 15, 0, 0 } },
		{ "qos_vlarb_low 1:9\nqos_vlarb_low (null)\n"
		  "qos_sl2vl 7,7\nqos_sl2vl (null)\n",
		  { 0, 1, 2, 3 },
		  { 0, 4, 4, 4 },
		  { 0, 1, 2, 3, 4, 5 } },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct opensm_conf conf = read_text(cases[i].text);
		struct opensm_tables t;

		opensm_effective(&conf, &eight_vls, &t);
		for (unsigned e = 0; e < 4; e++) {
			assert_int_equal(t.vlarb.low[e].vl, cases[i].low_vl[e]);
			assert_int_equal(t.vlarb.low[e].weight, cases[i].low_weight[e]);
		}
		assert_memory_equal(t.sl2vl.vl, cases[i].vl, 6);
		opensm_conf_fini(&conf);
	}
}

/* "Invalid Cached Option: qos_high_limit=300: Using Default: 0" */
static void limits_out_of_range_are_the_default(void **state)
{
	(void)state;
	struct opensm_conf conf = read_text("qos_high_limit 300\n");
	struct opensm_tables t;

	opensm_effective(&conf, &eight_vls, &t);
	assert_int_equal(t.vlarb.high_limit, 0);
	opensm_conf_fini(&conf);
	conf = read_text("qos_high_limit 010\nqos_swe_high_limit 256\n");
	opensm_effective(&conf, &eight_vls, &t);
	assert_int_equal(t.vlarb.high_limit, 8);
	opensm_conf_fini(&conf);
}

static const struct explain_view view = {
	.mtu = 4096,
	.overhead = 26,
	.entries = 64,
	.vls = 8,
	.rate = { 100000000000, 1 },
};

static void findings_are_shown_with_the_tables_of_a_port(void **state)
{
	(void)state;
	struct opensm_port port = { .scope = OPENSM_SWE, .vls = 8, .low_cap = 64, .high_cap = 64 };
	struct results *r = results_new("test");
	struct opensm_conf conf;

	opensm_conf_read("qos TRUE\nqos_sl2vl 0,1,2,3\n", &conf);
	assert_false(opensm_lint_show(&conf, &port, &view, NULL, r));
	const struct table *found = results_find(r, "findings");
	const struct table *vls = results_find(r, "VLs");

	assert_true(found->n_cells >= found->n_columns);
	assert_int_equal(vls->n_cells, N_SLS * vls->n_columns);
	/* SLs that the list omits map to VL0. */
	for (unsigned sl = 0; sl < N_SLS; sl++)
		assert_int_equal(vls->cells[sl * vls->n_columns + 1].u, sl < 4 ? sl : 0);
	assert_int_equal(r->n_remarks, 0);
	results_free(r);
	opensm_conf_fini(&conf);
	/* A file without any QoS key is reported, because it may be the wrong one. */
	r = results_new("test");
	opensm_conf_read("log_file /var/log/opensm.log\n", &conf);
	(void)opensm_lint_show(&conf, &port, &view, NULL, r);
	assert_int_equal(r->n_remarks, 1);
	results_free(r);
	opensm_conf_fini(&conf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(absent_keys_mean_the_built_in_tables),
		cmocka_unit_test(specific_sets_beat_the_default_one),
		cmocka_unit_test(vls_are_limited_by_max_op_vls),
		cmocka_unit_test(each_mistake_is_found_on_its_line),
		cmocka_unit_test(texts_describe_the_outcome),
		cmocka_unit_test(a_mistake_is_said_once),
		cmocka_unit_test(a_long_line_is_cut_and_said),
		cmocka_unit_test(exports_read_back_clean),
		cmocka_unit_test(odd_values_are_read_as_opensm_reads_them),
		cmocka_unit_test(limits_out_of_range_are_the_default),
		cmocka_unit_test(findings_are_shown_with_the_tables_of_a_port),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
