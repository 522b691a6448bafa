/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "qos/opensm.h"

#define OVERHEAD 26 /* LRH, BTH, ICRC, VCRC */

static struct opensm_finding *append(struct opensm_findings *out)
{
	out->items =
		hd_grow(out->items, &out->cap, out->n + 1, sizeof(*out->items));
	return &out->items[out->n++];
}

HD_PRINTF(4, 5)
static void report(struct opensm_findings *out, const char *code, unsigned line,
		   const char *format, ...)
{
	struct opensm_finding *f = append(out);
	struct strbuf text = STRBUF_INIT;
	va_list args;

	va_start(args, format);
	strbuf_vprintf(&text, format, args);
	va_end(args);
	f->line = line;
	snprintf(f->code, sizeof(f->code), "%s", code);
	snprintf(f->message, sizeof(f->message), "%s", text.text);
	strbuf_fini(&text);
}

/* What is wrong with one VLArb list of the file, whatever the port. */
static void lint_list(const struct opensm_list *list, const char *name,
		      const struct opensm_port *port, unsigned mtu,
		      struct opensm_findings *out)
{
	unsigned blocks = (mtu + OVERHEAD + 63) / 64;
	unsigned cap =
		strcmp(name, "high") == 0 ? port->high_cap : port->low_cap;

	if (!list->line)
		return;
	if (list->n > cap)
		report(out, "W7", list->line,
		       "%s table has %u entries, the port takes %u: the rest is dropped",
		       name, list->n, cap);
	for (unsigned i = 0; i < list->n && i < VLARB_MAX; i++) {
		unsigned vl = list->vl[i], weight = list->weight[i];

		if (vl == 15)
			report(out, "W12", list->line,
			       "VL15 in the %s table becomes VL0", name);
		else if (weight && vl >= port->vls)
			report(out, "W3", list->line,
			       "VL%u in the %s table: links have %u lanes, it becomes VL%u",
			       vl, name, port->vls,
			       vl & (port->vls == 15 ? 15 : port->vls - 1));
		if (weight && weight < blocks)
			report(out, "W1", list->line,
			       "VL%u has weight %u in the %s table, a packet of %u bytes takes %u: every lane gets one packet a turn; use multiples of %u",
			       vl, weight, name, mtu, blocks, blocks);
	}
}

static void lint_sl2vl(const struct opensm_list *list,
		       const struct opensm_port *port,
		       struct opensm_findings *out)
{
	if (!list->line)
		return;
	if (list->n < N_SLS)
		report(out, "W2", list->line,
		       "sl2vl has %u values of 16: SL%u and above go to VL0",
		       list->n, list->n);
	for (unsigned sl = 0; sl < list->n && sl < N_SLS; sl++) {
		if (list->vl[sl] != 15 && list->vl[sl] >= port->vls)
			report(out, "W3", list->line,
			       "SL%u goes to VL%u: links have %u lanes, it becomes VL%u",
			       sl, list->vl[sl], port->vls,
			       list->vl[sl] &
				       (port->vls == 15 ? 15 : port->vls - 1));
	}
}

static bool has_weight(const struct opensm_list *list)
{
	for (unsigned i = 0; i < list->n && i < VLARB_MAX; i++) {
		if (list->weight[i])
			return true;
	}
	return false;
}

static void lint_set(const struct opensm_set *set,
		     const struct opensm_port *port, unsigned mtu,
		     struct opensm_findings *out)
{
	lint_list(&set->high, "high", port, mtu, out);
	lint_list(&set->low, "low", port, mtu, out);
	lint_sl2vl(&set->sl2vl, port, out);
	if (set->max_vls_line)
		report(out, "W5", set->max_vls_line,
		       "max_vls has no effect: max_op_vls limits the lanes");
	if (set->high_limit_line && set->high_limit == 255)
		report(out, "W4", set->high_limit_line,
		       "high_limit 255: the high table can starve the low one");
	if (set->high_limit_line && set->high_limit == 0 &&
	    has_weight(&set->high))
		report(out, "W4", set->high_limit_line,
		       "high_limit 0: after each high packet low may send one, whatever the high table's weights");
}

static unsigned weight_of(const struct vlarb_entry *entry, unsigned n,
			  unsigned vl)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += entry[i].vl == vl ? entry[i].weight : 0;
	return sum;
}

/* What only shows once OpenSM's own rules are applied. */
static void lint_effective(const struct opensm_conf *conf,
			   const struct opensm_port *port,
			   struct opensm_findings *out)
{
	struct opensm_tables t;

	opensm_effective(conf, port, &t);
	if (t.vls < 2)
		return; /* one lane: no tables are sent */
	for (unsigned sl = 0; sl < N_SLS; sl++) {
		unsigned vl = t.sl2vl.vl[sl];

		if (vl != 15 && !weight_of(t.vlarb.high, t.vlarb.n_high, vl) &&
		    !weight_of(t.vlarb.low, t.vlarb.n_low, vl))
			report(out, "W8", 0,
			       "SL%u goes to VL%u, which has no weight in either table: it may never send",
			       sl, vl);
	}
}

static void lint_differences(const struct opensm_conf *conf,
			     struct opensm_findings *out)
{
	const struct opensm_list *ca = &conf->set[OPENSM_CA].sl2vl;
	const struct opensm_list *swe = &conf->set[OPENSM_SWE].sl2vl;

	if (ca->line && swe->line &&
	    (ca->n != swe->n || memcmp(ca->vl, swe->vl, sizeof(ca->vl)) != 0))
		report(out, "W10", swe->line,
		       "sl2vl of switches differs from that of adapters: an SL changes lanes on its way");
}

void opensm_lint(const struct opensm_conf *conf, const struct opensm_port *port,
		 unsigned mtu, struct opensm_findings *out)
{
	bool any = false;

	for (unsigned scope = 0; scope < OPENSM_SCOPES; scope++) {
		const struct opensm_set *set = &conf->set[scope];

		lint_set(set, port, mtu, out);
		any |= set->high.line || set->low.line || set->sl2vl.line ||
		       set->high_limit_line;
	}
	if (any && !conf->qos)
		report(out, "W0", conf->qos_line,
		       "qos is not TRUE: OpenSM sends none of these tables");
	for (size_t i = 0; i < conf->n_long_lines; i++)
		report(out, "W9", conf->long_lines[i],
		       "line is longer than %u bytes: OpenSM reads the rest as another line",
		       OPENSM_LINE_MAX - 1);
	lint_differences(conf, out);
	lint_effective(conf, port, out);
}

void opensm_findings_fini(struct opensm_findings *findings)
{
	free(findings->items);
	*findings = (struct opensm_findings){ 0 };
}
