/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/select.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* Two switches with two hosts each, h3 with two ports, one cable between. */
struct fabric {
	struct topo topo;
	struct selector *selector;
};

static int setup(void **state)
{
	static struct fabric fabric;
	struct topo *t = &fabric.topo;

	topo_init(t);
	node_id a = topo_add_node(t, NODE_SWITCH, 4, "leaf1");
	node_id b = topo_add_node(t, NODE_SWITCH, 4, "leaf2");
	node_id h[4];
	static const char *const names[] = { "h0", "h1", "h2", "h3" };

	for (unsigned i = 0; i < 4; i++)
		h[i] = topo_add_node(t, NODE_CA, i == 3 ? 2 : 1, names[i]);
	topo_link(t, topo_port_of(t, a, 1), topo_port_of(t, h[0], 1));
	topo_link(t, topo_port_of(t, a, 2), topo_port_of(t, h[1], 1));
	topo_link(t, topo_port_of(t, b, 1), topo_port_of(t, h[2], 1));
	topo_link(t, topo_port_of(t, b, 2), topo_port_of(t, h[3], 1));
	topo_link(t, topo_port_of(t, b, 3), topo_port_of(t, h[3], 2));
	topo_link(t, topo_port_of(t, a, 4), topo_port_of(t, b, 4));
	t->nodes[b].guid = 0x2b;
	fabric.selector = selector_new(t);
	*state = &fabric;
	return 0;
}

static int teardown(void **state)
{
	struct fabric *fabric = *state;

	selector_free(fabric->selector);
	topo_fini(&fabric->topo);
	return 0;
}

/* "h0 h3:2": what was selected, in order. */
static void spell(const struct fabric *fabric, const struct selection *s, struct strbuf *out)
{
	for (uint32_t i = 0; i < s->n; i++) {
		const struct topo_node *n = topo_node_of(&fabric->topo, s->ports[i]);

		strbuf_printf(out, "%s%s", i ? " " : "", n->name);
		if (n->n_ports > 1)
			strbuf_printf(out, ":%u", fabric->topo.ports[s->ports[i]].number);
	}
}

static void selects_hosts_by_name_number_and_switch(void **state)
{
	static const struct {
		const char *text, *hosts;
	} cases[] = {
		{ "all", "h0 h1 h2 h3:1 h3:2" },
		{ "h2", "h2" },
		{ "h3", "h3:1 h3:2" },
		{ "h3:2", "h3:2" },
		{ "h2, h0", "h2 h0" },
		{ "h0,h0,0", "h0" },
		{ "h1..h3", "h1 h2 h3:1 h3:2" },
		{ "1..3", "h1 h2 h3:1" },
		{ "4", "h3:2" },
		{ "h*", "h0 h1 h2 h3:1 h3:2" },
		{ "?1", "h1" },
		{ "on:leaf2", "h2 h3:1 h3:2" },
		{ "on:leaf*,not:h1", "h0 h2 h3:1 h3:2" },
		{ "not:on:leaf2", "h0 h1" },
		{ "on:0x2b", "h2 h3:1 h3:2" },
		{ "not:on:0x2b", "h0 h1" },
		{ "on:0x2a", NULL },
		{ "100%", "h0 h1 h2 h3:1 h3:2" },
		{ "leaf1,h0", NULL },
	};
	const struct fabric *fabric = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct selection s;
		struct diag d = { .status = HD_OK };
		struct strbuf text = STRBUF_INIT;
		struct rng rng;

		rng_init(&rng, 1, 1);
		enum hd_status status = select_hosts(fabric->selector, cases[i].text, &rng, &d, &s);

		if (!cases[i].hosts) {
			assert_int_not_equal(status, HD_OK);
			continue;
		}
		assert_int_equal(status, HD_OK);
		spell(fabric, &s, &text);
		assert_string_equal(text.text, cases[i].hosts);
		strbuf_fini(&text);
		selection_fini(&s);
	}
}

static void draws_shares_by_seed(void **state)
{
	const struct fabric *fabric = *state;
	unsigned times[5] = { 0 };

	for (uint64_t seed = 0; seed < 500; seed++) {
		struct selection s;
		struct diag d = { .status = HD_OK };
		struct rng rng;

		rng_init(&rng, seed, 0);
		assert_int_equal(select_hosts(fabric->selector, "40%", &rng, &d, &s), HD_OK);
		assert_int_equal(s.n, 2);
		for (uint32_t i = 0; i < s.n; i++) {
			const struct selection *all = selector_hosts(fabric->selector);

			for (uint32_t k = 0; k < all->n; k++)
				times[k] += all->ports[k] == s.ports[i];
		}
		selection_fini(&s);
	}
	/* Each of 5 is drawn with probability 0.4: 200 +- 5 sigma. */
	for (unsigned k = 0; k < 5; k++)
		assert_in_range(times[k], 145, 255);
}

static void refuses_hosts_that_are_not_there(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{ "h9", "no host 'h9' (did you mean 'h0'?)" },
		{ "unknown", "no host 'unknown'" },
		{ "5", "no host number 5; there are 5, from 0" },
		{ "0..5", "no host number 5; there are 5, from 0" },
		{ "h2..h5", "no host 'h4' (did you mean 'h0'?)" },
		{ "h3..h1", "'h3..h1' is not a rising range (expected e.g. 0..7 or h0..h7)" },
		{ "h1..x2", "'h1..x2' is not a rising range (expected e.g. 0..7 or h0..h7)" },
		{ "", "an empty item between commas" },
		{ "h1,,h2", "an empty item between commas" },
		{ "150%", "'150%' is more than all hosts" },
		{ "not:all", "'not:all' selects nothing" },
		{ "on:spine", "no host on a switch 'spine'" },
		{ "h0:7", "no host 'h0:7' (did you mean 'h0'?)" },
	};
	const struct fabric *fabric = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct selection s;
		struct diag d = { .status = HD_OK };
		struct rng rng;

		rng_init(&rng, 1, 1);
		assert_int_not_equal(select_hosts(fabric->selector, cases[i].text, &rng, &d, &s),
				     HD_OK);
		assert_string_equal(d.message, cases[i].message);
	}
}

static void selects_ports_of_the_fabric(void **state)
{
	static const struct {
		const char *text, *ports;
	} cases[] = {
		{ "leaf1:4", "leaf1:4" },
		{ "leaf1", "leaf1:1 leaf1:2 leaf1:4" },
		{ "trunks", "leaf1:4 leaf2:4" },
		{ "hosts", "h0 h1 h2 h3:1 h3:2" },
		{ "leaf*:4,h0", "leaf1:4 leaf2:4 h0" },
		{ "leaf1,not:leaf1:2", "leaf1:1 leaf1:4" },
	};
	const struct fabric *fabric = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct selection s;
		struct diag d = { .status = HD_OK };
		struct strbuf text = STRBUF_INIT;

		assert_int_equal(select_ports(fabric->selector, cases[i].text, &d, &s), HD_OK);
		spell(fabric, &s, &text);
		assert_string_equal(text.text, cases[i].ports);
		strbuf_fini(&text);
		selection_fini(&s);
	}
}

static void one_port_must_be_one(void **state)
{
	const struct fabric *fabric = *state;
	struct diag d = { .status = HD_OK };
	port_id p;

	assert_int_equal(select_port(fabric->selector, "h0", &d, &p), HD_OK);
	assert_string_equal(topo_node_of(&fabric->topo, p)->name, "h0");
	assert_int_equal(select_port(fabric->selector, "leaf1:3", &d, &p), HD_ERR_NOT_FOUND);
	assert_string_equal(d.message, "'leaf1' has no cable in port 3");
	d = (struct diag){ .status = HD_OK };
	assert_int_equal(select_port(fabric->selector, "leaf1", &d, &p), HD_ERR_INPUT);
	assert_string_equal(d.message, "'leaf1' means 3 ports; say which (NODE:PORT)");
	d = (struct diag){ .status = HD_OK };
	assert_int_equal(select_port(fabric->selector, "leaf3:1", &d, &p), HD_ERR_NOT_FOUND);
	assert_string_equal(d.message, "no node 'leaf3' (did you mean 'leaf1'?)");
}

/* All switches of a site may have one name. */
static void a_node_is_found_by_its_guid(void **state)
{
	struct fabric *fabric = *state;
	struct diag d = { .status = HD_OK };
	port_id p;

	fabric->topo.nodes[1].guid = UINT64_C(0xe41d2d0300001020);
	assert_int_equal(select_port(fabric->selector, "0xe41d2d0300001020:4", &d, &p), HD_OK);
	assert_int_equal(p, topo_port_of(&fabric->topo, 1, 4));
	assert_int_equal(select_port(fabric->selector, "0xe41d2d0300001020:9", &d, &p),
			 HD_ERR_NOT_FOUND);
	assert_non_null(strstr(d.message, "has no cable in port 9"));
	d = (struct diag){ .status = HD_OK };
	assert_int_equal(select_port(fabric->selector, "0xe41d2d0300001021:4", &d, &p),
			 HD_ERR_NOT_FOUND);
	assert_non_null(strstr(d.message, "no node '0xe41d2d0300001021'"));
}

/* Both leaves are "leaf1" and h2 is "h1": a selection of one of them is rejected. */
static void a_name_of_two_is_refused_where_one_is_meant(void **state)
{
	static const struct {
		const char *text;
		bool refused;
	} cases[] = {
		{ "h1", true },         { "h0..h1", true },  { "h0,h1", true },
		{ "h1:1", true },       { "not:h1", true },  { "on:leaf1", true },
		{ "h0", false },        { "h*", false },     { "on:leaf*", false },
		{ "0..3", false },      { "all", false },    { "0x12", false },
		{ "h3:2", false },      { "not:h3", false }, { "h?", false },
		{ "not:h*,h0", false },
	};
	struct fabric *fabric = *state;
	struct rng rng = { 0 };

	for (node_id v = 0; v < fabric->topo.n_nodes; v++)
		fabric->topo.nodes[v].guid = 0x10 + v;
	fabric->topo.nodes[1].name[4] = '1';
	fabric->topo.nodes[4].name[1] = '1';
	selector_free(fabric->selector);
	fabric->selector = selector_new(&fabric->topo);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct diag d = { .status = HD_OK };
		struct selection s = { 0 };
		enum hd_status status = select_hosts(fabric->selector, cases[i].text, &rng, &d, &s);

		if ((status != HD_OK) != cases[i].refused)
			fail_msg("'%s': %s", cases[i].text, d.message);
		if (cases[i].refused)
			assert_non_null(strstr(
				d.message,
				i == 5 ? "'leaf1' is the name of 0x0000000000000010 and 0x0000000000000011"
				       : "'h1' is the name of 0x0000000000000013 and 0x0000000000000014"));
		selection_fini(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(selects_hosts_by_name_number_and_switch, setup,
						teardown),
		cmocka_unit_test_setup_teardown(draws_shares_by_seed, setup, teardown),
		cmocka_unit_test_setup_teardown(refuses_hosts_that_are_not_there, setup, teardown),
		cmocka_unit_test_setup_teardown(selects_ports_of_the_fabric, setup, teardown),
		cmocka_unit_test_setup_teardown(one_port_must_be_one, setup, teardown),
		cmocka_unit_test_setup_teardown(a_node_is_found_by_its_guid, setup, teardown),
		cmocka_unit_test_setup_teardown(a_name_of_two_is_refused_where_one_is_meant, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
