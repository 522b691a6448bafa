/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "subnet/routing/fabric_for_tests.h"
#include "subnet/routing/order.h"
#include "subnet/routing/route.h"
#include "subnet/tables/path_sls.h"

static enum hd_status read_text(struct subnet *s, const char *text, struct diag *d,
				struct path_sls_found *found)
{
	FILE *f = tmpfile();

	assert_non_null(f);
	fputs(text, f);
	rewind(f);
	enum hd_status status = path_sls_read(s, f, d, found);

	fclose(f);
	return status;
}

/* A (source, LID) pair with a record. */
struct pair {
	port_id from;
	lid_t lid;
	uint8_t sl;
};

/* Every pair of end ports with the SL of the engine. */
static struct pair *all_pairs(const struct subnet *s, uint32_t *n)
{
	const struct topo *t = s->topo;
	struct pair *list = NULL;
	size_t cap = 0;

	*n = 0;
	for (port_id p = 0; p < t->n_ports; p++) {
		for (uint32_t lid = 1; lid <= s->top_lid[0]; lid++) {
			port_id to = s->port_of_lid[0][lid];

			if (!topo_is_end_port(t, p) || to == TOPO_NONE || to == p ||
			    !topo_is_end_port(t, to))
				continue;
			list = hd_grow(list, &cap, *n + 1, sizeof(*list));
			list[(*n)++] = (struct pair){ p, (lid_t)lid, path_sl(s, p, (lid_t)lid, 0) };
		}
	}
	return list;
}

static void shuffle_pairs(struct pair *list, uint32_t n, struct rng *r)
{
	for (uint32_t i = n; i > 1; i--) {
		uint32_t k = (uint32_t)rng_below(r, i);
		struct pair x = list[k];

		list[k] = list[i - 1];
		list[i - 1] = x;
	}
}

static void print_saquery(const struct subnet *s, const struct pair *p, struct strbuf *out)
{
	strbuf_printf(out,
		      "PathRecord dump:\n"
		      "\t\tservice_id..............0x0000000000000000\n"
		      "\t\tdlid....................%u\n"
		      "\t\tslid....................%u\n"
		      "\t\thop_flow_raw............0x0\n"
		      "\t\tsl......................0x%x\n"
		      "\t\tmtu.....................0x84\n",
		      p->lid, s->lid_of_port[p->from], p->sl);
}

static void print_plugin(const struct subnet *s, const struct pair *p, port_id *last,
			 struct strbuf *out)
{
	if (p->from != *last)
		strbuf_printf(out,
			      "%sChannel Adapter 0x%016" PRIx64 ", base LID %u, \"%s\", port 1\n"
			      "# LID  : SL : MTU : RATE\n",
			      *last == TOPO_NONE ? "" : "\n", order_port_guid(s->topo, p->from),
			      s->lid_of_port[p->from], topo_node_of(s->topo, p->from)->name);
	*last = p->from;
	strbuf_printf(out, "0x%04X : %-2u : 4   : 17  \n", p->lid, p->sl);
}

static void assert_same(const struct subnet *s, const struct pair *list, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(path_sl(s, list[i].from, list[i].lid, 9), list[i].sl);
}

static void check_engine(const char *engine, struct topo *t, struct rng *r)
{
	static const struct lid_options o = { .sm_port = TOPO_NONE };
	struct diag d = { .status = HD_OK };
	struct path_sls_found found;
	struct strbuf text = STRBUF_INIT;
	port_id last = TOPO_NONE;
	struct subnet s;
	uint32_t n;

	subnet_init(&s, t);
	if (subnet_assign_lids(&s, &o, &d) != HD_OK || subnet_route(&s, engine, NULL, &d) != HD_OK)
		fail_msg("%s", d.message);
	struct pair *list = all_pairs(&s, &n);

	/* The SLs of hosts on one switch may differ, too. */
	for (uint32_t i = 0; i < n; i++)
		list[i].sl = (uint8_t)((list[i].sl + list[i].from % 2) % 16);
	for (uint32_t i = 0; i < n; i++)
		print_plugin(&s, &list[i], &last, &text);
	if (read_text(&s, text.text, &d, &found) != HD_OK)
		fail_msg("%u: %s", d.line, d.message);
	assert_int_equal(found.n_records, n);
	assert_int_equal(found.n_missing, 0);
	assert_same(&s, list, n);
	/* The same from saquery, in any order; some records are lost. */
	strbuf_clear(&text);
	shuffle_pairs(list, n, r);
	for (uint32_t i = 0; i < n - n / 4; i++)
		print_saquery(&s, &list[i], &text);
	if (read_text(&s, text.text, &d, &found) != HD_OK)
		fail_msg("%u: %s", d.line, d.message);
	assert_int_equal(found.n_records, n - n / 4);
	assert_int_equal(found.n_missing, n / 4);
	for (uint32_t i = n - n / 4; i < n; i++)
		list[i].sl = 0;
	assert_same(&s, list, n);
	free(list);
	strbuf_fini(&text);
	subnet_fini(&s);
}

static void records_of_both_shapes_give_the_sls_they_were_made_of(void **state)
{
	static const char *const engines[] = { "lash", "dfsssp", "minhop" };
	static const uint32_t dims[] = { 5, 4 };
	struct topo t;
	struct rng r;

	(void)state;
	rng_init(&r, 7, 0);
	for (unsigned i = 0; i < 9; i++) {
		build_random(&t, 100 + i, 6 + 2 * i, 2 * i);
		check_engine(engines[i % 3], &t, &r);
		topo_fini(&t);
	}
	build_grid(&t, FAMILY_TORUS, 2, dims, 3);
	check_engine("torus", &t, &r);
	topo_fini(&t);
}

static void records_that_do_not_fit_are_refused_with_their_line(void **state)
{
	static const struct {
		const char *text;
		uint32_t line;
		const char *why;
	} cases[] = {
		{ "", 0, "no path records" },
		{ "\n# nothing\n", 0, "no path records" },
		{ "hello\n", 1, "expected path records" },
		{ "PathRecord dump:\n\tslid....1\n\tdlid....2\n", 1, "without slid, dlid or sl" },
		{ "PathRecord dump:\n\tslid....1\n\tdlid....99\n\tsl...0\n", 1,
		  "no port of the fabric has the LID 99" },
		{ "PathRecord dump:\n\tslid....0\n\tdlid....2\n\tsl...0\n", 1,
		  "no port of the fabric has the LID 0" },
		{ "PathRecord dump:\n\tslid....1\n\tdlid....2\n\tsl...0x10\n", 1,
		  "0 to 15, not 16" },
		{ "PathRecord dump:\n\tslid....x\n", 2, "expected a number" },
		{ "PathRecord dump:\n\tslid....1\n\tdlid....2\n\tsl...0\n"
		  "PathRecord dump:\n\tslid....1\n\tdlid....2\n\tsl...1\n",
		  5, "which had SL 0 before" },
		{ "Channel Adapter 0x7, base LID 1\n", 1, "no port of the fabric has the GUID" },
		{ "Channel Adapter me\n", 1, "expected the GUID" },
		{ "Channel Adapter 0x100001, base LID 1\n0x0002 : x\n", 2, "expected an SL" },
		{ "Channel Adapter 0x100001, base LID 1\n0x0002 = 1\n", 2,
		  "expected a path record" },
	};
	static const struct lid_options o = { .sm_port = TOPO_NONE };
	static const uint32_t dims[] = { 3, 1 };
	struct diag d = { .status = HD_OK };
	struct path_sls_found found;
	struct topo t;
	struct subnet s;

	(void)state;
	build_grid(&t, FAMILY_MESH, 2, dims, 1);
	subnet_init(&s, &t);
	assert_int_equal(subnet_assign_lids(&s, &o, &d), HD_OK);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct diag why = { .status = HD_OK };

		if (read_text(&s, cases[i].text, &why, &found) != HD_ERR_INPUT)
			fail_msg("case %zu is taken", i);
		assert_int_equal(why.line, cases[i].line);
		if (!strstr(why.message, cases[i].why))
			fail_msg("case %zu: %s", i, why.message);
		assert_null(s.sl_of_path);
	}
	subnet_fini(&s);
	topo_fini(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_of_both_shapes_give_the_sls_they_were_made_of),
		cmocka_unit_test(records_that_do_not_fit_are_refused_with_their_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
