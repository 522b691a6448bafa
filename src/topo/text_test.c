/* SPDX-License-Identifier: BSD-2-Clause */
/* Files in and out: read.h and write.h against each other and real tools. */
#include "topo/text_for_tests.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "topo/generate.h"

static struct topo_place *copy_place(const struct topo_place *p)
{
	struct topo_place *copy = hd_alloc(1, sizeof(*copy));

	*copy = *p;
	copy->chassis_note = p->chassis_note ? hd_strdup(p->chassis_note) : NULL;
	copy->slot_note = p->slot_note ? hd_strdup(p->slot_note) : NULL;
	return copy;
}

/* Copies the fabric with its nodes in another order in memory. */
static void shuffle(const struct topo *t, uint64_t seed, struct topo *out)
{
	uint32_t *order = hd_alloc(t->n_nodes, sizeof(*order));
	port_id *moved = hd_alloc(t->n_ports, sizeof(*moved));
	struct rng rng;

	for (uint32_t i = 0; i < t->n_nodes; i++)
		order[i] = i;
	rng_init(&rng, seed, 0);
	rng_shuffle(&rng, order, t->n_nodes);
	topo_init(out);
	if (t->as_read)
		out->as_read = hd_alloc(t->n_ports, sizeof(*out->as_read));
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		const struct topo_node *v = &t->nodes[order[i]];
		node_id id = topo_add_node(out, v->kind, v->n_ports, v->name);
		char *name = out->nodes[id].name;
		port_id first = out->nodes[id].first_port;

		out->nodes[id] = *v;
		out->nodes[id].name = name;
		out->nodes[id].first_port = first;
		out->nodes[id].place = v->place ? copy_place(v->place) : NULL;
		for (unsigned n = 0; n <= v->n_ports; n++) {
			moved[v->first_port + n] = first + n;
			out->ports[first + n] = t->ports[v->first_port + n];
			out->ports[first + n].node = id;
			if (t->as_read)
				out->as_read[first + n] = t->as_read[v->first_port + n];
		}
	}
	for (port_id i = 0; i < out->n_ports; i++) {
		if (out->ports[i].peer != TOPO_NONE)
			out->ports[i].peer = moved[out->ports[i].peer];
	}
	out->recipe = t->recipe ? hd_strdup(t->recipe) : NULL;
	out->source = t->source;
	out->source.date = t->source.date ? hd_strdup(t->source.date) : NULL;
	out->chassis = hd_alloc(t->n_chassis, sizeof(*out->chassis));
	out->n_chassis = t->n_chassis;
	for (uint32_t i = 0; i < t->n_chassis; i++) {
		out->chassis[i] = t->chassis[i];
		if (t->chassis[i].hostname)
			out->chassis[i].hostname = hd_strdup(t->chassis[i].hostname);
	}
	free(order);
	free(moved);
}

static void forget_lines(struct topo *t)
{
	for (node_id v = 0; v < t->n_nodes; v++)
		t->nodes[v].line = 0;
}

/* A fabric that was read and shuffled is written unchanged. */
static void check_stable(const char *path, const char *format, bool by_order)
{
	struct strbuf text = STRBUF_INIT;
	struct topo t;

	load(path, &text);
	read_text(text.text, &t);
	assert_string_equal(topo_writer_as_read(&t)->name, format);
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct strbuf out = STRBUF_INIT;
		struct topo other;

		shuffle(&t, seed, &other);
		if (!by_order)
			forget_lines(&other);
		write_as(&other, format, &out);
		assert_string_equal(out.text, text.text);
		strbuf_fini(&out);
		topo_fini(&other);
	}
	topo_fini(&t);
	strbuf_fini(&text);
}

static void real_files_are_written_as_they_were_read(void **state)
{
	(void)state;
	check_stable(FIXTURE("small.ibnetdiscover"), "ibnetdiscover", true);
	check_stable(FIXTURE("chassis.ibnetdiscover"), "ibnetdiscover", true);
	check_stable(FIXTURE("chassis.ibnetdiscover-f"), "ibnetdiscover-f", true);
	check_stable(FIXTURE("chassis.ibnetdiscover-g"), "ibnetdiscover-g", true);
	check_stable(FIXTURE("chassis.ibnetdiscover-fg"), "ibnetdiscover-fg", true);
	check_stable(FIXTURE("quotes.ibnetdiscover-f"), "ibnetdiscover-f", true);
	check_stable(FIXTURE("systems.ibnetdiscover"), "ibnetdiscover", true);
	check_stable(FIXTURE("systems.ibnetdiscover-g"), "ibnetdiscover-g", true);
}

/* Without the order of the file: ours must be the one of the real tool. */
static void nodes_come_in_the_order_of_discovery(void **state)
{
	(void)state;
	check_stable(FIXTURE("small.ibnetdiscover"), "ibnetdiscover", false);
	check_stable(FIXTURE("chassis.ibnetdiscover"), "ibnetdiscover", false);
	check_stable(FIXTURE("systems.ibnetdiscover"), "ibnetdiscover", false);
	check_stable(FIXTURE("chassis.ibnetdiscover-f"), "ibnetdiscover-f", false);
	check_stable(FIXTURE("quotes.ibnetdiscover-f"), "ibnetdiscover-f", false);
}

/* From a file that is not grouped, the real tool's groups. */
static void check_groups_found(const char *plain, const char *format, const char *grouped)
{
	struct strbuf wanted = STRBUF_INIT, out = STRBUF_INIT;
	struct topo t, other;

	load(grouped, &wanted);
	read_path(plain, &t);
	shuffle(&t, 5, &other);
	write_as(&other, format, &out);
	/* All but the date. */
	assert_string_equal(strstr(out.text, "# Initiated"), strstr(wanted.text, "# Initiated"));
	topo_fini(&t);
	topo_fini(&other);
	strbuf_fini(&wanted);
	strbuf_fini(&out);
}

static void chassis_are_found_as_ibnetdiscover_finds_them(void **state)
{
	(void)state;
	check_groups_found(FIXTURE("chassis.ibnetdiscover"), "ibnetdiscover-g",
			   FIXTURE("chassis.ibnetdiscover-g"));
	check_groups_found(FIXTURE("chassis.ibnetdiscover-f"), "ibnetdiscover-fg",
			   FIXTURE("chassis.ibnetdiscover-fg"));
	check_groups_found(FIXTURE("systems.ibnetdiscover"), "ibnetdiscover-g",
			   FIXTURE("systems.ibnetdiscover-g"));
}

/* The same ports, by GUID and number, are in the same subnets. */
static void assert_same_subnets(const struct topo *a, const struct topo *b)
{
	for (node_id v = 0; v < a->n_nodes; v++) {
		node_id w = 0;

		while (b->nodes[w].guid != a->nodes[v].guid)
			assert_true(++w < b->n_nodes);
		for (unsigned k = 0; k <= a->nodes[v].n_ports; k++)
			assert_int_equal(a->ports[topo_port_of(a, v, k)].subnet,
					 b->ports[topo_port_of(b, w, k)].subnet);
	}
}

/* Written, read, shuffled, written: the second text must be the first. */
static void check_round_trip(const struct topo *t, const char *format)
{
	struct strbuf first = STRBUF_INIT, second = STRBUF_INIT;
	struct strbuf links = STRBUF_INIT, again = STRBUF_INIT;
	struct topo back, other;

	write_as(t, format, &first);
	read_text(first.text, &back);
	shuffle(&back, 3, &other);
	write_as(&other, format, &second);
	assert_string_equal(second.text, first.text);
	write_as(t, "links", &links);
	write_as(&other, "links", &again);
	assert_string_equal(again.text, links.text);
	assert_int_equal(back.n_nodes, t->n_nodes);
	assert_int_equal(back.n_subnets, t->n_subnets);
	assert_same_subnets(t, &back);
	strbuf_fini(&first);
	strbuf_fini(&second);
	strbuf_fini(&links);
	strbuf_fini(&again);
	topo_fini(&back);
	topo_fini(&other);
}

static void every_generated_fabric_survives_every_format(void **state)
{
	static const char *const formats[] = { "ibnetdiscover", "ibnetdiscover-f",
					       "ibnetdiscover-g", "ibnetdiscover-fg", "ibsim" };

	(void)state;
	for (const struct generator *g = topo_generators; g->name; g++) {
		struct diag d = { .status = HD_OK };
		struct topo t;
		char *argv[] = { "--link=12xEDR", "--host-link=4xHDR" };

		assert_int_equal(topo_generate_words(g, 2, argv, 1, &d, &t), HD_OK);
		for (size_t i = 0; i < 5; i++)
			check_round_trip(&t, formats[i]);
		topo_fini(&t);
	}
}

/* Subnets of several switches, cables without a switch, GUIDs in any order. */
static void build_subnets(struct topo *t, struct rng *r)
{
	unsigned n = 2 + (unsigned)rng_below(r, 6);
	char name[16];

	topo_init(t);
	for (unsigned i = 0; i < 3 * n; i++) {
		snprintf(name, sizeof(name), "n%u", i);
		topo_add_node(t, i % 3 < 2 ? NODE_SWITCH : NODE_CA, i % 3 < 2 ? 6 : 2, name);
	}
	for (unsigned i = 0; i < n; i++) {
		node_id a = 3 * i, b = a + 1, host = a + 2;

		topo_link(t, topo_port_of(t, a, 1), topo_port_of(t, b, 1));
		topo_link(t, topo_port_of(t, host, 1), topo_port_of(t, b, 2));
	}
	for (unsigned i = 0; i + 1 < n; i++) {
		snprintf(name, sizeof(name), "r%u", i);
		node_id v = topo_add_node(t, NODE_ROUTER, 2, name);

		topo_link(t, topo_port_of(t, v, 1), topo_port_of(t, 3 * i, 3));
		topo_link(t, topo_port_of(t, v, 2), topo_port_of(t, 3 * (i + 1) + 1, 4));
	}
	topo_link(t, topo_port_of(t, 2, 2), topo_port_of(t, 5, 2));
	/* All descriptions differ: the number of the node is in the low bits. */
	for (node_id v = 0; v < t->n_nodes; v++) {
		t->nodes[v].guid = (1 + rng_below(r, 1000)) << 20 | v << 8;
		t->nodes[v].system_guid = t->nodes[v].guid;
		for (unsigned k = 0; k <= t->nodes[v].n_ports; k++)
			t->ports[topo_port_of(t, v, k)].guid = t->nodes[v].guid + k;
	}
	topo_number_subnets(t);
}

static void subnets_keep_their_numbers_in_files(void **state)
{
	struct rng r;

	(void)state;
	rng_init(&r, 11, 0);
	for (unsigned i = 0; i < 200; i++) {
		struct strbuf text = STRBUF_INIT;
		struct topo t, back, other;

		build_subnets(&t, &r);
		write_as(&t, i % 2 ? "ibnetdiscover" : "ibsim", &text);
		read_text(text.text, &back);
		assert_same_subnets(&t, &back);
		shuffle(&back, i, &other);
		topo_number_subnets(&other);
		assert_same_subnets(&t, &other);
		strbuf_fini(&text);
		topo_fini(&t);
		topo_fini(&back);
		topo_fini(&other);
	}
}

/* Properties that the text lacks are restored by generating the fabric again. */
static void families_survive_files(void **state)
{
	static const char *const formats[] = { "ibnetdiscover", "ibsim" };

	(void)state;
	for (const struct generator *g = topo_generators; g->name; g++) {
		struct diag d = { .status = HD_OK };
		char *argv[] = { "--mtu=1024", "--host-vls=4" };
		struct topo t, back;

		assert_int_equal(topo_generate_words(g, 2, argv, 7, &d, &t), HD_OK);
		for (size_t f = 0; f < 2; f++) {
			struct strbuf text = STRBUF_INIT;

			write_as(&t, formats[f], &text);
			read_text(text.text, &back);
			assert_int_equal(back.family, t.family);
			assert_string_equal(back.recipe, t.recipe);
			assert_memory_equal(back.dims, t.dims, sizeof(t.dims));
			assert_int_equal(back.n_dims, t.n_dims);
			assert_int_equal(back.ports[1].mtu, 1024);
			topo_fini(&back);
			strbuf_fini(&text);
		}
		topo_fini(&t);
	}
}

static void a_recipe_that_no_longer_fits_is_dropped(void **state)
{
	static const char *const lies[] = { "mesh --columns=3 --rows=2",
					    "mesh --columns=2 --rows=2",
					    "mesh --columns=60000 --rows=60000",
					    "mesh --columns",
					    "mehs",
					    "",
					    "irregular --switches=6 --degree=5 --hosts=0" };
	struct diag d = { .status = HD_OK };
	struct topo t, back;

	(void)state;
	assert_int_equal(topo_generate_text("mesh --columns=2 --rows=3", 1, 0, &d, &t), HD_OK);
	for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
		struct strbuf text = STRBUF_INIT;

		free(t.recipe);
		t.recipe = hd_strdup(lies[i]);
		write_as(&t, "ibnetdiscover", &text);
		read_text(text.text, &back);
		assert_null(back.recipe);
		assert_int_equal(back.family, FAMILY_NONE);
		topo_fini(&back);
		strbuf_fini(&text);
	}
	topo_fini(&t);
}

static const char *const odd_names[] = {
	"plain",
	"with blanks  inside",
	" blanks around ",
	"quo\"ted",
	"\"all quoted\"",
	"\"",
	"\"\"\"",
	"it's",
	"Zürich-ß-東京-🧵",
	"# remark",
	"a=b s=9 w=9",
	"at@home#1",
	"x lid 7 4xHDR",
	"x\" lid 7 4xHDR",
	"x base port 0 lid 7 lmc 0",
	"x\" base port 0 lid 7 lmc 0",
	"S-0000000000200001",
	"[1]",
	"{curly} LID:",
	"",
	"same",
	"same",
};

#define N_NAMES (sizeof(odd_names) / sizeof(*odd_names))

/* Connects switches and adapters alternately in a chain. */
static void make_chain(struct topo *t)
{
	topo_init(t);
	for (unsigned i = 0; i < N_NAMES; i++) {
		node_id v = topo_add_node(t, i % 2 ? NODE_CA : NODE_SWITCH, 2, odd_names[i]);

		t->nodes[v].guid = 0x1000 + 16 * i;
		t->nodes[v].line = i + 1;
		for (unsigned n = 0; n <= 2; n++)
			t->ports[topo_port_of(t, v, n)].guid = t->nodes[v].guid + n;
		if (v)
			topo_link(t, topo_port_of(t, v - 1, 1), topo_port_of(t, v, 2));
	}
}

static void check_names(const char *format, bool has_empty)
{
	struct strbuf text = STRBUF_INIT;
	struct topo t, back;

	make_chain(&t);
	write_as(&t, format, &text);
	read_text(text.text, &back);
	assert_int_equal(back.n_nodes, N_NAMES);
	for (node_id v = 0; v < back.n_nodes; v++) {
		const char *name = odd_names[(back.nodes[v].guid - 0x1000) / 16];

		if (*name || has_empty)
			assert_string_equal(back.nodes[v].name, name);
	}
	topo_fini(&t);
	topo_fini(&back);
	strbuf_fini(&text);
}

static void names_survive(void **state)
{
	(void)state;
	check_names("ibnetdiscover", true);
	check_names("ibnetdiscover-fg", true);
	check_names("ibsim", false);
}

static void a_line_break_in_a_name_cannot_break_a_file(void **state)
{
	struct strbuf text = STRBUF_INIT;
	struct topo t, back;

	(void)state;
	topo_init(&t);
	topo_add_node(&t, NODE_CA, 1, "bad\nSwitch 3 \"x\"\x7f");
	t.nodes[0].guid = 1;
	write_as(&t, "ibnetdiscover", &text);
	read_text(text.text, &back);
	assert_int_equal(back.n_nodes, 1);
	assert_string_equal(back.nodes[0].name, "bad Switch 3 \"x\" ");
	topo_fini(&t);
	topo_fini(&back);
	strbuf_fini(&text);
}

static void windows_line_ends_are_no_trouble(void **state)
{
	struct strbuf unix_text = STRBUF_INIT, text = STRBUF_INIT;
	struct strbuf out = STRBUF_INIT;
	struct topo t;

	(void)state;
	load(FIXTURE("chassis.ibnetdiscover-fg"), &unix_text);
	for (size_t i = 0; i < unix_text.len; i++) {
		if (unix_text.text[i] == '\n')
			strbuf_putc(&text, '\r');
		strbuf_putc(&text, unix_text.text[i]);
	}
	read_text(text.text, &t);
	write_as(&t, "ibnetdiscover-fg", &out);
	assert_string_equal(out.text, unix_text.text);
	topo_fini(&t);
	strbuf_fini(&out);
	strbuf_fini(&text);
	strbuf_fini(&unix_text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(real_files_are_written_as_they_were_read),
		cmocka_unit_test(nodes_come_in_the_order_of_discovery),
		cmocka_unit_test(chassis_are_found_as_ibnetdiscover_finds_them),
		cmocka_unit_test(every_generated_fabric_survives_every_format),
		cmocka_unit_test(subnets_keep_their_numbers_in_files),
		cmocka_unit_test(families_survive_files),
		cmocka_unit_test(a_recipe_that_no_longer_fits_is_dropped),
		cmocka_unit_test(names_survive),
		cmocka_unit_test(a_line_break_in_a_name_cannot_break_a_file),
		cmocka_unit_test(windows_line_ends_are_no_trouble),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
