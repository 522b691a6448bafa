/* SPDX-License-Identifier: BSD-2-Clause */
#include "workload/opgraph.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <regex.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/rng.h"

static enum hd_status parse(const char *text, struct diag *d, struct opgraph *g)
{
	char *copy = hd_strdup(text);
	FILE *in = fmemopen(copy, strlen(copy), "r");

	*d = (struct diag){ .status = HD_OK };
	enum hd_status status = opgraph_read(in, d, g);

	fclose(in);
	free(copy);
	return status;
}

static struct opgraph good(const char *text)
{
	struct diag d;
	struct opgraph g;

	assert_int_equal(parse(text, &d, &g), HD_OK);
	return g;
}

static const char example[] = "num_ranks 4 // of a grammar\n"
			      "/* ranks may be\n"
			      "   missing */\n"
			      "rank 1 {\n"
			      "l1: calc 1000\n"
			      "l2: send 4096b to 3 tag 7 cpu 2 nic 1\n"
			      "l3: recv 4096b from 2 tag -1\n"
			      "recv 0b from -1\n"
			      "l2 requires l1\n"
			      "l3 irequires l1\n"
			      "}\n"
			      "rank 3 { x: recv 5b from 1 tag 7 }\n";

/*
 * Words may be at any position, also across the boundary of two reads: two ranks with many lines,
 * after 0 to 39 blanks.
 */
static void words_stand_anywhere(void **state)
{
	struct strbuf lines = STRBUF_INIT;

	(void)state;
	strbuf_puts(&lines, "num_ranks 2\nrank 0 {\n");
	for (unsigned i = 0; i < 13000; i++) {
		strbuf_printf(&lines, "l%u: send %ub to 1 tag %u\n", i, i, i);
		if (i)
			strbuf_printf(&lines, "l%u requires l%u\n", i, i - 1);
	}
	strbuf_puts(&lines, "}\n");
	assert_true(lines.len > (size_t)2 << 18);
	for (unsigned blanks = 0; blanks < 40; blanks++) {
		struct strbuf text = STRBUF_INIT;

		strbuf_printf(&text, "%*s%s", (int)blanks, "", lines.text);
		struct opgraph g = good(text.text);

		assert_int_equal(g.n_ops, 13000);
		for (uint32_t i = 0; i < 13000; i++) {
			assert_int_equal(g.ops[i].size, i);
			assert_int_equal(g.ops[i].tag, i);
			assert_int_equal(g.edge_of[i + 1] - g.edge_of[i], i < 12999);
		}
		opgraph_fini(&g);
		strbuf_fini(&text);
	}
	strbuf_fini(&lines);
}

static void reads_a_file_by_its_header(void **state)
{
	struct opgraph g = good(example);

	(void)state;
	assert_int_equal(g.n_ranks, 4);
	assert_int_equal(g.first[0], 0);
	assert_int_equal(g.first[1], 0);
	assert_int_equal(g.first[2], 4);
	assert_int_equal(g.first[3], 4);
	assert_int_equal(g.first[4], 5);
	assert_int_equal(g.ops[0].kind, OP_COMPUTE);
	assert_int_equal(g.ops[0].size, 1000 * 1000);
	assert_int_equal(g.ops[1].kind, OP_SEND);
	assert_int_equal(g.ops[1].peer, 3);
	assert_int_equal(g.ops[1].tag, 7);
	assert_int_equal(g.ops[1].cpu, 2);
	assert_int_equal(g.ops[1].line, 6);
	assert_int_equal(g.ops[2].tag, OP_ANY);
	assert_int_equal(g.ops[3].peer, OP_ANY);
	assert_int_equal(g.ops[3].tag, 0);
	assert_int_equal(g.ops[3].size, 0);
	assert_true(g.has_any);
	assert_int_equal(g.n_edges, 2);
	assert_int_equal(g.edge_of[0], 0);
	assert_int_equal(g.edge_of[1], 2);
	assert_int_equal(g.edges[0], 1);
	assert_int_equal(g.edges[1], 2 | OPGRAPH_STARTED);
	opgraph_fini(&g);
}

static void written_files_read_back_the_same(void **state)
{
	struct opgraph g = good(example);
	struct strbuf once = STRBUF_INIT, twice = STRBUF_INIT;

	(void)state;
	opgraph_write(&g, &once);
	opgraph_fini(&g);
	g = good(once.text);
	opgraph_write(&g, &twice);
	opgraph_fini(&g);
	assert_string_equal(once.text, twice.text);
	assert_non_null(strstr(once.text, "l2 irequires l0\n"));
	strbuf_fini(&once);
	strbuf_fini(&twice);
}

static const struct {
	unsigned line;
	const char *text, *says;
} refusals[] = {
	{ 1, "", "num_ranks" },
	{ 1, "num_ranks x", "number of ranks" },
	{ 1, "num_ranks 0", "0" },
	{ 2, "num_ranks 2\nrank 2 {}", "rank" },
	{ 3, "num_ranks 2\nrank 1 {}\nrank 0 {}", "after" },
	{ 3, "num_ranks 2\nrank 0 {\nsend 1b to 0\n}", "itself" },
	{ 3, "num_ranks 2\nrank 0 {\nrecv 1b from 0\n}", "itself" },
	{ 3, "num_ranks 2\nrank 0 {\nsend 1b to -1\n}", "rank" },
	{ 3, "num_ranks 2\nrank 0 {\nsend 1b to 2\n}", "rank" },
	{ 3, "num_ranks 2\nrank 0 {\nsend 1b to 1 tag -1\n}", "tag" },
	{ 3, "num_ranks 2\nrank 0 {\nsend 1099511627777b to 1\n}", "size" },
	{ 3, "num_ranks 2\nrank 0 {\nsend -4b to 1\n}", "size" },
	{ 3, "num_ranks 2\nrank 0 {\ncalc 1.5\n}", "time" },
	{ 3, "num_ranks 2\nrank 0 {\njump 1\n}", "jump" },
	{ 4, "num_ranks 2\nrank 0 {\na: calc 1\na: calc 2\n}", "second" },
	{ 4, "num_ranks 2\nrank 0 {\na: calc 1\na requires b\n}", "'b'" },
	{ 4, "num_ranks 2\nrank 0 {\na: calc 1\na requires a\n}", "itself" },
	{ 5,
	  "num_ranks 2\nrank 0 {\na: calc 1\nb: calc 1\n"
	  "a requires b\nb irequires a\n}",
	  "circle" },
	{ 4, "num_ranks 2\nrank 0 {\ncalc 1\n", "no '}'" },
	{ 2, "num_ranks 2\n/* rank 0 {\n}\n", "comment" },
	{ 2, "num_ranks 2\n/ rank 0 {\n}\n", "comment" },
	{ 1, "Nodes 0\n", "0" },
	{ 3, "Nodes 2\nConnections 1\n0->2 id 1 size 5\n", "2 nodes" },
	{ 3, "Nodes 2\nConnections 1\n1->1 id 1 size 5\n", "itself" },
	{ 3, "Nodes 2\nConnections 1\n0->1 id 1 sized 5\n", "sized" },
	{ 3, "Nodes 2\nConnections 1\n0->1 trigger 1 size 5\n", "describes" },
	{ 2, "Nodes 2\n0->1 start 0 size 5\n", "Connections" },
	{ 4, "Nodes 2\nConnections 2\n0->1 start 0 size 5\n", "1 of the 2 connections" },
	{ 4,
	  "Nodes 2\nConnections 1\n0->1 start 0 size 5\n"
	  "1->0 start 0 size 5\n",
	  "more than the 1" },
	{ 5,
	  "Nodes 2\nConnections 1\nTriggers 1\n"
	  "0->1 start 0 size 5\n",
	  "0 triggers, but" },
	{ 3, "Nodes 2\nConnections 1\n0->1 id 1 start 0\n", "size" },
	{ 3, "Nodes 2\nConnections 1\n0->1 id 1 size 7\n", "start" },
	{ 3, "Nodes 2\nConnections 1\n0->1 size 7 start 0 size 7\n", "twice" },
	{ 5,
	  "Nodes 2\nConnections 1\n0->1 start 0 size 7\n"
	  "trigger id 1 barrier\n",
	  "count" },
	{ 3, "num_ranks 2\nrank 0 {\n1a: calc 1\n}", "'1a' is not a label" },
	{ 4,
	  "Nodes 3\nConnections 2\n0->1 id 1 start 0 size 5 send_done_trigger 1\n"
	  "1->2 id 2 trigger 1 size 5\ntrigger id 1 oneshot\n",
	  "cannot know" },
};

static void refusals_name_the_line(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refusals) / sizeof(*refusals); i++) {
		struct diag d;
		struct opgraph g;

		if (parse(refusals[i].text[0] ? refusals[i].text : " ", &d, &g) == HD_OK)
			fail_msg("accepted: %s", refusals[i].text);
		if (d.line != refusals[i].line || !strstr(d.message, refusals[i].says))
			fail_msg("%s\n%u: %s", refusals[i].text, d.line, d.message);
	}
}

/* Labels of the grammar: a letter, then letters, digits and _. */
static void labels_are_those_of_the_grammar(void **state)
{
	static const char letters[] = "azAZ019__-.>:{}$'";
	unsigned n_labels = 0;
	struct rng draws;
	regex_t grammar;

	(void)state;
	assert_int_equal(regcomp(&grammar, "^[A-Za-z][A-Za-z0-9_]*$", REG_EXTENDED | REG_NOSUB), 0);
	rng_init(&draws, 7, 1);
	for (unsigned n = 0; n < 3000; n++) {
		size_t len = 1 + rng_below(&draws, 5);
		char label[8] = "", text[80];
		struct opgraph g;
		struct diag d;

		for (size_t i = 0; i < len; i++)
			label[i] = letters[rng_below(&draws, sizeof(letters) - 1)];
		bool is_one = regexec(&grammar, label, 0, NULL, 0) == 0;

		snprintf(text, sizeof(text), "num_ranks 1\nrank 0 {\n%s: calc 1\n}\n", label);
		if ((parse(text, &d, &g) == HD_OK) != is_one)
			fail_msg("'%s': %s", label, d.message);
		if (is_one)
			opgraph_fini(&g);
		else
			assert_int_equal(d.line, 3);
		n_labels += is_one;
	}
	regfree(&grammar);
	assert_in_range(n_labels, 200, 2800);
}

/* Draws connections between nodes, some after the previous one. */
static void draw_matrix(struct rng *draws, struct strbuf *out)
{
	unsigned n = 1 + (unsigned)rng_below(draws, 8), n_triggers = 0;
	unsigned nodes = 2 + (unsigned)rng_below(draws, 5), node = 0;
	struct strbuf lines = STRBUF_INIT;
	bool waits = false;

	for (unsigned i = 0; i < n; i++) {
		unsigned to = (node + 1) % nodes;
		bool pulls = i + 1 < n && rng_below(draws, 2);

		strbuf_printf(&lines, "%u->%u id %u ", node, to, i + 1);
		if (waits)
			strbuf_printf(&lines, "trigger %u ", n_triggers);
		else
			strbuf_printf(&lines, "start %u ", 1000 * i);
		if (pulls)
			strbuf_printf(&lines, "recv_done_trigger %u ", ++n_triggers);
		strbuf_printf(&lines, "size %u\n", 1 + (unsigned)rng_below(draws, 90000));
		waits = pulls;
		node = to;
	}
	for (unsigned i = 1; i <= n_triggers; i++)
		strbuf_printf(&lines, "trigger id %u %s\n", i,
			      rng_below(draws, 2) ? "oneshot" : "barrier count 1");
	strbuf_printf(out, "Nodes %u\nConnections %u\n", nodes, n);
	if (n_triggers || rng_below(draws, 2))
		strbuf_printf(out, "Triggers %u\n", n_triggers);
	strbuf_puts(out, lines.text);
	strbuf_fini(&lines);
}

/* At every offset; the original length of the last number is unknown. */
static void check_cuts(char *text)
{
	for (size_t len = (size_t)(strrchr(text, ' ') - text); len > 0; len--) {
		struct opgraph g;
		struct diag d;

		text[len] = '\0';
		if (parse(text, &d, &g) == HD_OK)
			fail_msg("accepted: %s", text);
		assert_int_equal(d.status, HD_ERR_INPUT);
		assert_true(d.line > 0);
	}
}

static void a_matrix_that_is_cut_short_is_refused(void **state)
{
	struct rng draws;

	(void)state;
	rng_init(&draws, 3, 1);
	for (unsigned n = 0; n < 60; n++) {
		struct strbuf text = STRBUF_INIT;

		draw_matrix(&draws, &text);
		struct opgraph g = good(text.text);

		opgraph_fini(&g);
		check_cuts(text.text);
		strbuf_fini(&text);
	}
}

static void a_matrix_becomes_operations(void **state)
{
	struct opgraph g = good("Nodes 3\nConnections 3\nTriggers 1\n"
				"0->1 id 1 start 5000 size 100 recv_done_trigger 9\n"
				"0->2 id 2 start 2000 size 200\n"
				"1->2 id 3 trigger 9 size 300\n"
				"trigger id 9 oneshot\n");

	(void)state;
	/* Two sends, and a clock with two ticks of 2 and 3 ns. */
	assert_int_equal(g.first[1], 4);
	assert_int_equal(g.ops[0].kind, OP_SEND);
	assert_int_equal(g.ops[0].size, 100);
	assert_int_equal(g.ops[2].size, 2000);
	assert_int_equal(g.ops[3].size, 3000);
	assert_int_equal(g.edges[g.edge_of[2]], 1);
	assert_int_equal(g.edges[g.edge_of[2] + 1], 3);
	assert_int_equal(g.edges[g.edge_of[3]], 0);
	/* Sends of node 1 wait for its receives. */
	assert_int_equal(g.ops[4].kind, OP_RECV);
	assert_int_equal(g.ops[5].kind, OP_SEND);
	assert_int_equal(g.edges[g.edge_of[4]], 5);
	assert_int_equal(g.n_ops, 8);
	opgraph_fini(&g);
}

/* Words and comments may lie across the pieces in which a file is read. */
static void long_files_are_read_whole(void **state)
{
	struct strbuf text = STRBUF_INIT;
	unsigned n = 40000;

	(void)state;
	strbuf_puts(&text, "num_ranks 2\nrank 0 {\n");
	for (unsigned i = 0; i < n; i++) {
		strbuf_printf(&text, "label%u: send %ub to 1 tag %u /* %u */\n", i, i, i % 7, i);
		if (i)
			strbuf_printf(&text, "label%u requires label%u\n", i, i - 1);
	}
	strbuf_puts(&text, "}\n");
	struct opgraph g = good(text.text);

	assert_int_equal(g.n_ops, n);
	assert_int_equal(g.n_edges, n - 1);
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(g.ops[i].size, i);
		assert_int_equal(g.ops[i].tag, i % 7);
		if (i)
			assert_int_equal(g.edges[g.edge_of[i - 1]], i);
	}
	opgraph_fini(&g);
	strbuf_fini(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_a_file_by_its_header),
		cmocka_unit_test(words_stand_anywhere),
		cmocka_unit_test(written_files_read_back_the_same),
		cmocka_unit_test(refusals_name_the_line),
		cmocka_unit_test(labels_are_those_of_the_grammar),
		cmocka_unit_test(a_matrix_that_is_cut_short_is_refused),
		cmocka_unit_test(a_matrix_becomes_operations),
		cmocka_unit_test(long_files_are_read_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
