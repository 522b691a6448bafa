/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topo/generate.h"
#include "topo/layout.h"
#include "topo/write.h"

static void make(struct topo *t, const char *words)
{
	struct diag d = { .status = HD_OK };

	if (topo_generate_text(words, 1, 0, &d, t) != HD_OK)
		fail_msg("%s: %s", words, d.message);
}

static unsigned count(const char *text, const char *what)
{
	unsigned n = 0;

	for (; (text = strstr(text, what)); text++)
		n++;
	return n;
}

static void every_node_and_link_is_in_the_picture(void **state)
{
	struct strbuf out = STRBUF_INIT;
	struct topo t;

	(void)state;
	make(&t, "mesh --columns 3 --rows 4 --hosts 2 --tcas 1");
	topo_write_svg(&t, &out);
	assert_int_equal(count(out.text, "<rect class=\"switch\""), 12);
	assert_int_equal(count(out.text, "<circle class=\"host\""), 12);
	assert_int_equal(count(out.text, "<circle class=\"tca\""), 12);
	assert_int_equal(count(out.text, "<path class=\"link\""), 17);
	assert_int_equal(count(out.text, "<title>"), 36);
	assert_non_null(strstr(out.text, ">s-2-3</text>"));
	topo_fini(&t);
	strbuf_fini(&out);
}

/* Every value of an attribute is between 0 and `most`; returns their number. */
static unsigned check_range(const char *text, const char *attribute, double most)
{
	unsigned n = 0;

	while ((text = strstr(text, attribute))) {
		text += strlen(attribute);
		double value = strtod(text, NULL);

		assert_true(value >= 0 && value <= most);
		n++;
	}
	return n;
}

static void nothing_is_drawn_outside(void **state)
{
	(void)state;
	for (const struct generator *g = topo_generators; g->name; g++) {
		struct strbuf out = STRBUF_INIT;
		double width, height;
		struct topo t;

		make(&t, g->name);
		topo_write_svg(&t, &out);
		char *size = strstr(out.text, "viewBox=\"0 0 ");

		assert_non_null(size);
		width = strtod(size + strlen("viewBox=\"0 0 "), &size);
		height = strtod(size, NULL);
		assert_true(width > 0 && height > 0);
		const char *drawn = strstr(out.text, "</style>");
		unsigned across = check_range(drawn, " x=\"", width) +
				  check_range(drawn, " cx=\"", width) +
				  check_range(drawn, "d=\"M", width);
		unsigned down =
			check_range(drawn, " y=\"", height) + check_range(drawn, " cy=\"", height);

		assert_true(across > 0 && down > 0);
		strbuf_fini(&out);
		topo_fini(&t);
	}
}

static void too_many_hosts_are_a_number(void **state)
{
	struct strbuf out = STRBUF_INIT;
	struct topo t;

	(void)state;
	make(&t, "star --switches 10 --hosts 100");
	topo_write_svg(&t, &out);
	assert_int_equal(count(out.text, "<circle"), 0);
	assert_int_equal(count(out.text, ">100</text>"), 10);
	topo_fini(&t);
	strbuf_fini(&out);
}

static void names_cannot_break_a_picture(void **state)
{
	struct strbuf svg = STRBUF_INIT, dot = STRBUF_INIT;
	struct topo t;

	(void)state;
	topo_init(&t);
	topo_add_node(&t, NODE_SWITCH, 2, "</title>&\"'\\ \x01 \xff é");
	topo_add_node(&t, NODE_ROUTER, 2, "\"];x");
	topo_link(&t, topo_port_of(&t, 0, 1), topo_port_of(&t, 1, 2));
	topo_write_svg(&t, &svg);
	assert_non_null(strstr(svg.text, "&lt;/title&gt;&amp;\"'\\   ? é"));
	assert_int_equal(count(svg.text, "<title>"), 2);
	assert_int_equal(count(svg.text, "</title>"), 2);
	topo_write_dot(&t, &dot);
	assert_non_null(strstr(dot.text, "label=\"</title>&\\\"'\\\\ "));
	assert_non_null(strstr(dot.text, "label=\"\\\"];x\""));
	assert_non_null(strstr(dot.text, "n0 -- n1 [taillabel=\"1\",headlabel=\"2\""));
	topo_fini(&t);
	strbuf_fini(&svg);
	strbuf_fini(&dot);
}

static void ends_that_do_not_fit_are_red(void **state)
{
	struct strbuf svg = STRBUF_INIT, dot = STRBUF_INIT;
	struct topo t;

	(void)state;
	make(&t, "blrm");
	t.ports[topo_port_of(&t, 0, 1)].speeds = 1 << SPEED_XDR;
	topo_write_svg(&t, &svg);
	topo_write_dot(&t, &dot);
	assert_int_equal(count(svg.text, "<path class=\"bad\""), 1);
	assert_int_equal(count(dot.text, "color=red"), 1);
	topo_fini(&t);
	strbuf_fini(&svg);
	strbuf_fini(&dot);
}

/* No two vertices share a position, and positions are finite. */
static bool are_apart(const struct layout *l, uint32_t v, uint32_t u)
{
	return hypot(l->at[v].x - l->at[u].x, l->at[v].y - l->at[u].y) > 0.3;
}

static void check_places(const char *words)
{
	struct topo t;
	struct shape s;
	struct layout l;

	make(&t, words);
	shape_init(&s, &t);
	layout_init(&l, &t, &s);
	for (uint32_t v = 0; v < s.n; v++) {
		assert_true(isfinite(l.at[v].x) && isfinite(l.at[v].y));
		for (uint32_t u = 0; u < v; u++)
			assert_true(are_apart(&l, v, u));
	}
	layout_fini(&l);
	shape_fini(&s);
	topo_fini(&t);
}

static void no_vertex_hides_another(void **state)
{
	(void)state;
	for (const struct generator *g = topo_generators; g->name; g++)
		check_places(g->name);
	check_places("torus --sizes 3x4x5x2");
	check_places("irregular --switches 300 --degree 3 --hosts 0");
}

static void trees_are_drawn_in_layers(void **state)
{
	struct topo t;
	struct shape s;
	struct layout l;

	(void)state;
	make(&t, "tree --arity 3 --levels 3");
	shape_init(&s, &t);
	layout_init(&l, &t, &s);
	assert_true(l.is_layered);
	for (uint32_t v = 0; v < s.n; v++) {
		for (uint32_t u = 0; u < s.n; u++) {
			unsigned a = t.nodes[s.node[v]].tier;
			unsigned b = t.nodes[s.node[u]].tier;

			if (a == b)
				assert_true(l.at[v].y == l.at[u].y);
			if (a < b)
				assert_true(l.at[v].y < l.at[u].y);
		}
	}
	layout_fini(&l);
	shape_fini(&s);
	topo_fini(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_node_and_link_is_in_the_picture),
		cmocka_unit_test(nothing_is_drawn_outside),
		cmocka_unit_test(too_many_hosts_are_a_number),
		cmocka_unit_test(names_cannot_break_a_picture),
		cmocka_unit_test(ends_that_do_not_fit_are_red),
		cmocka_unit_test(no_vertex_hides_another),
		cmocka_unit_test(trees_are_drawn_in_layers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
