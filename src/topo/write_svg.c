/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SVG picture. Switches are boxes. Hosts are dots at their switch, or a number if there are too
 * many. Names are shown if there is room, and always under the pointer.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "topo/layout.h"
#include "topo/write.h"

#define MAX_DOTS   600 /* hosts drawn one by one */
#define PICTURE    1400.0
#define LEAST_UNIT 6.0
#define MOST_UNIT  96.0
#define MARGIN     60.0

struct picture {
	const struct topo *t;
	const struct shape *s;
	const struct layout *l;
	struct strbuf *out;
	double unit; /* pixels per unit of the layout */
	double box;  /* half the height of a switch, in pixels */
	bool labels, dots;
	double height;
};

static double px(const struct picture *p, double x)
{
	return MARGIN + (x - p->l->low.x) * p->unit;
}

static double py(const struct picture *p, double y)
{
	return p->height - MARGIN - (y - p->l->low.y) * p->unit;
}

void topo_write_xml_text(const char *text, struct strbuf *out)
{
	while (*text) {
		size_t len = utf8_length(text);

		if (len == 0)
			strbuf_putc(out, '?');
		else if (*text == '<')
			strbuf_puts(out, "&lt;");
		else if (*text == '>')
			strbuf_puts(out, "&gt;");
		else if (*text == '&')
			strbuf_puts(out, "&amp;");
		else
			strbuf_add(out, text, len);
		text += len ? len : 1;
	}
}

/* ---- links ---- */

static const char *class_of(const struct topo *t, port_id port)
{
	struct topo_link_state state;

	return topo_link_state(t, port, &state) == HD_OK ? "link" : "bad";
}

/* A port of `v` with a cable to `u`. */
static port_id port_towards(const struct picture *p, uint32_t v, uint32_t u)
{
	const struct topo_node *node = &p->t->nodes[p->s->node[v]];

	for (unsigned n = 1; n <= node->n_ports; n++) {
		port_id peer = p->t->ports[node->first_port + n].peer;

		if (peer != TOPO_NONE && p->s->vertex_of[p->t->ports[peer].node] == u)
			return node->first_port + n;
	}
	return TOPO_NONE;
}

/* Links between positions that are not adjacent are curved. */
static void put_link(const struct picture *p, uint32_t v, uint32_t u, unsigned cables)
{
	struct point a = p->l->at[v], b = p->l->at[u];
	double x1 = px(p, a.x), y1 = py(p, a.y);
	double x2 = px(p, b.x), y2 = py(p, b.y);
	double length = hypot(b.x - a.x, b.y - a.y);
	port_id port = port_towards(p, v, u);

	strbuf_printf(p->out, "<path class=\"%s\" d=\"M%.1f %.1f",
		      port == TOPO_NONE ? "link" : class_of(p->t, port), x1, y1);
	if (p->l->has_wraps && length > 1.5) {
		/* Curves pass on one side, by a tenth of the distance. */
		double bend = 0.12 * p->unit;

		strbuf_printf(p->out, "Q%.1f %.1f %.1f %.1f",
			      (x1 + x2) / 2 - (y2 - y1) * 0.12 + bend,
			      (y1 + y2) / 2 + (x2 - x1) * 0.12 + bend, x2, y2);
	} else {
		strbuf_printf(p->out, "L%.1f %.1f", x2, y2);
	}
	strbuf_puts(p->out, "\"");
	if (cables > 1)
		strbuf_printf(p->out, " stroke-width=\"%.1f\"", 1 + log2(cables));
	strbuf_puts(p->out, "/>\n");
}

static void put_links(const struct picture *p)
{
	const struct shape *s = p->s;

	strbuf_puts(p->out, "<g class=\"links\">\n");
	for (uint32_t v = 0; v < s->n; v++) {
		for (uint32_t e = s->start[v]; e < s->start[v + 1]; e++) {
			if (v < s->to[e])
				put_link(p, v, s->to[e], s->cables[e]);
		}
	}
	strbuf_puts(p->out, "</g>\n");
}

/* ---- nodes ---- */

static void put_title(const struct picture *p, node_id node)
{
	const struct topo_node *v = &p->t->nodes[node];

	strbuf_puts(p->out, "<title>");
	topo_write_xml_text(v->name, p->out);
	strbuf_printf(p->out, ", 0x%016" PRIx64 ", %u ports</title>", v->guid, v->n_ports);
}

/* Direction of host i of n: around the switch in a grid, otherwise away from neighbours. */
static double direction(const struct picture *p, uint32_t vertex, uint32_t i, uint32_t n)
{
	struct point away = { 0, 0 }, at = p->l->at[vertex];

	for (uint32_t e = p->s->start[vertex]; e < p->s->start[vertex + 1] && !p->l->is_grid; e++) {
		away.x += at.x - p->l->at[p->s->to[e]].x;
		away.y += at.y - p->l->at[p->s->to[e]].y;
	}
	if (hypot(away.x, away.y) < 0.3)
		return 6.283185307179586 * (i + 0.25) / n;
	return atan2(away.y, away.x) + fmin(0.6, 3.6 / n) * (i - (n - 1) / 2.0);
}

/* Host number i of n of a vertex: a dot below it or around it. */
static void put_dot(const struct picture *p, uint32_t vertex, node_id host, uint32_t i, uint32_t n)
{
	double x = px(p, p->l->at[vertex].x), y = py(p, p->l->at[vertex].y);
	double cx, cy, r = fmin(4, fmax(1.5, p->unit / 14));

	if (p->l->is_layered) {
		cx = x + ((i + 0.5) / n - 0.5) * p->unit * 0.9;
		cy = y + p->box + fmax(18, p->unit * 0.4);
	} else {
		double angle = direction(p, vertex, i, n);
		double far = fmax(p->box * 2.6, p->unit * 0.36);

		cx = x + far * cos(angle);
		cy = y - far * sin(angle);
	}
	strbuf_printf(
		p->out,
		"<path class=\"cord\" d=\"M%.1f %.1fL%.1f %.1f\"/><circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\">",
		x, y, cx, cy, p->t->nodes[host].is_tca ? "tca" : "host", cx, cy, r);
	put_title(p, host);
	strbuf_puts(p->out, "</circle>\n");
}

static void put_dots(const struct picture *p)
{
	uint32_t *drawn = hd_alloc(p->s->n, sizeof(*drawn));

	for (node_id v = 0; v < p->t->n_nodes; v++) {
		uint32_t vertex = p->s->vertex_of[v];

		if (p->s->node[vertex] == v)
			continue;
		put_dot(p, vertex, v, drawn[vertex]++, p->s->weight[vertex]);
	}
	free(drawn);
}

static void put_label(const struct picture *p, uint32_t vertex)
{
	const struct topo_node *v = &p->t->nodes[p->s->node[vertex]];
	double x = px(p, p->l->at[vertex].x), y = py(p, p->l->at[vertex].y);

	if (p->labels) {
		strbuf_printf(p->out, "<text x=\"%.1f\" y=\"%.1f\">", x, y + 3.5);
		topo_write_xml_text(v->name, p->out);
		strbuf_puts(p->out, "</text>\n");
	}
	if (!p->dots && p->s->weight[vertex] && v->kind == NODE_SWITCH && p->unit >= 18)
		strbuf_printf(p->out, "<text class=\"count\" x=\"%.1f\" y=\"%.1f\">%u</text>\n", x,
			      y + p->box + 10, p->s->weight[vertex]);
}

static void put_vertex(const struct picture *p, uint32_t vertex)
{
	static const char *const classes[] = {
		[NODE_CA] = "host", [NODE_SWITCH] = "switch", [NODE_ROUTER] = "router"
	};
	node_id node = p->s->node[vertex];
	const struct topo_node *v = &p->t->nodes[node];
	double x = px(p, p->l->at[vertex].x), y = py(p, p->l->at[vertex].y);
	double wide = p->box;

	if (p->labels)
		wide = fmin(p->unit * 0.46, fmax(wide, 3.2 * (double)strlen(v->name) + 5));
	strbuf_printf(
		p->out,
		"<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"%.1f\">",
		classes[v->kind], x - wide, y - p->box, 2 * wide, 2 * p->box,
		v->kind == NODE_SWITCH ? 2 : p->box);
	put_title(p, node);
	strbuf_puts(p->out, "</rect>\n");
	put_label(p, vertex);
}

/* ---- the whole ---- */

static void put_head(struct picture *p)
{
	double width = (p->l->high.x - p->l->low.x) * p->unit + 2 * MARGIN;

	strbuf_printf(
		p->out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n"
		"<style>\n"
		"text{font:%s sans-serif;text-anchor:middle;fill:#123}\n"
		".count{font-size:9px;fill:#456}\n"
		".note{text-anchor:start;font-size:12px;fill:#456}\n"
		".link{fill:none;stroke:#68a;stroke-opacity:%.2f}\n"
		".bad{fill:none;stroke:#c22}\n"
		".cord{stroke:#bbb}\n"
		".switch{fill:#dde9f5;stroke:#357}\n"
		".router{fill:#fbe3c0;stroke:#a60}\n"
		".host{fill:#8b8;stroke:#464}\n"
		".tca{fill:#db7;stroke:#864}\n"
		"</style>\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
		fmax(width, 320), p->height, fmax(width, 320), p->height,
		p->unit > 60 ? "10px" : "8px", p->s->n_cables > 2000 ? 0.25 : 0.8);
}

static void put_note(const struct picture *p)
{
	uint32_t count[3] = { 0, 0, 0 }, cables = 0;

	for (node_id v = 0; v < p->t->n_nodes; v++)
		count[p->t->nodes[v].kind]++;
	for (port_id i = 0; i < p->t->n_ports; i++)
		cables += p->t->ports[i].peer != TOPO_NONE;
	strbuf_printf(
		p->out,
		"<text class=\"note\" x=\"12\" y=\"20\">switches %u, hosts %u, routers %u, links %u</text>\n",
		count[NODE_SWITCH], count[NODE_CA], count[NODE_ROUTER], cables / 2);
}

void topo_write_svg(const struct topo *t, struct strbuf *out)
{
	struct shape s;
	struct layout l;

	shape_init(&s, t);
	layout_init(&l, t, &s);
	double extent = fmax(l.high.x - l.low.x, l.high.y - l.low.y);
	double unit = extent > 0 ? PICTURE / extent : MOST_UNIT;
	struct picture p = { .t = t, .s = &s, .l = &l, .out = out };

	p.unit = fmin(MOST_UNIT, fmax(LEAST_UNIT, unit));
	p.box = fmin(9, fmax(2, p.unit * 0.16));
	p.labels = p.unit >= 34;
	p.dots = t->n_nodes - s.n <= MAX_DOTS;
	p.height = (l.high.y - l.low.y) * p.unit + 2 * MARGIN;
	put_head(&p);
	put_links(&p);
	if (p.dots)
		put_dots(&p);
	for (uint32_t v = 0; v < s.n; v++)
		put_vertex(&p, v);
	put_note(&p);
	strbuf_puts(out, "</svg>\n");
	layout_fini(&l);
	shape_fini(&s);
}
