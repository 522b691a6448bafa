/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/text.h"
#include "qos/opensm/opensm.h"
#include "subnet/tables/packet.h"

/* Properties of the links. */
struct lint_port {
	const struct opensm_port *port;
	unsigned vls; /* in operation */
	unsigned mtu;
};

void opensm_findings_add(struct opensm_findings *out, const struct opensm_finding *f)
{
	for (size_t i = 0; i < out->n; i++) {
		const struct opensm_finding *known = &out->items[i];

		if (known->line == f->line && strcmp(known->code, f->code) == 0 &&
		    strcmp(known->message, f->message) == 0)
			return;
	}
	out->items = hd_grow(out->items, &out->cap, out->n + 1, sizeof(*out->items));
	out->items[out->n++] = *f;
}

HD_PRINTF(4, 5)
static void report(struct opensm_findings *out, const char *code, unsigned line, const char *format,
		   ...)
{
	struct opensm_finding f = { .line = line };
	struct strbuf text = STRBUF_INIT;
	va_list args;

	va_start(args, format);
	strbuf_vprintf(&text, format, args);
	va_end(args);
	snprintf(f.code, sizeof(f.code), "%s", code);
	snprintf(f.message, sizeof(f.message), "%s", text.text);
	opensm_findings_add(out, &f);
	strbuf_fini(&text);
}

/* Reports numbers that OpenSM interprets in an unexpected way. */
static void lint_numbers(const struct opensm_list *list, const char *name,
			 struct opensm_findings *out)
{
	if (list->octal)
		report(out, "W13", list->line, "%s: a number that begins with 0 is octal to OpenSM",
		       name);
	if (list->malformed)
		report(out, "W13", list->line,
		       "%s is not a list of %s: OpenSM skips what it cannot read and continues, see the tables below",
		       name, strcmp(name, "sl2vl") == 0 ? "VLs" : "VL:weight pairs");
}

static void lint_entry(const struct opensm_list *list, unsigned i, const char *name, unsigned vls,
		       struct opensm_findings *out)
{
	uint32_t vl = list->vl[i], weight = list->weight[i];

	if (vl && vl % 15 == 0)
		report(out, "W12", list->line,
		       "VL%u in the %s table becomes VL0; data VLs are 0 to 14", vl, name);
	else if (weight && vl >= vls && vls > 1)
		report(out, "W3", list->line,
		       "VL%u in the %s table: links have %u VLs, it becomes VL%u; name that", vl,
		       name, vls, opensm_fold(vl, vls));
	if (weight > 255)
		report(out, "W13", list->line,
		       "VL%u has weight %u in the %s table, of which OpenSM sends %u (modulo 256)",
		       vl, weight, name, weight & 255);
}

/* Number of VLs with a weight; the weights of a single VL have no effect. */
static unsigned vls_in(const struct opensm_list *list, unsigned vls)
{
	unsigned n_vls = 0;

	for (unsigned i = 0; i < list->n && i < VLARB_MAX; i++) {
		if (list->weight[i] & 255)
			n_vls |= 1u << opensm_fold(list->vl[i], vls);
	}
	return (unsigned)__builtin_popcount(n_vls);
}

/* Reports errors of one VLArb list. */
static void lint_list(const struct opensm_list *list, const char *name,
		      const struct lint_port *port, struct opensm_findings *out)
{
	unsigned blocks = blocks_of(port->mtu + PLAIN_OVERHEAD);
	unsigned cap = strcmp(name, "high") == 0 ? port->port->high_cap : port->port->low_cap;

	if (!list->line)
		return;
	lint_numbers(list, strcmp(name, "high") == 0 ? "vlarb_high" : "vlarb_low", out);
	if (list->n > cap)
		report(out, "W7", list->line,
		       "%s table has %u entries, the port takes %u: the rest is dropped; put several of a VL into one of up to 255",
		       name, list->n, cap);
	bool competes = vls_in(list, port->vls) > 1;

	for (unsigned i = 0; i < list->n && i < VLARB_MAX; i++) {
		unsigned weight = list->weight[i] & 255;

		lint_entry(list, i, name, port->vls, out);
		if (competes && weight && weight < blocks)
			report(out, "W1", list->line,
			       "VL%u has weight %u in the %s table, a packet of %u bytes takes %u: every VL gets one packet a turn; use multiples of %u",
			       list->vl[i], weight, name, port->mtu, blocks, blocks);
	}
}

static void lint_sl2vl(const struct opensm_list *list, const struct lint_port *port,
		       struct opensm_findings *out)
{
	if (!list->line)
		return;
	lint_numbers(list, "sl2vl", out);
	if (list->n < N_SLS)
		report(out, "W2", list->line,
		       "sl2vl has %u values of 16: SL%u and above go to VL0; say all 16", list->n,
		       list->n);
	if (list->n > N_SLS)
		report(out, "W2", list->line,
		       "sl2vl has %u values: there are 16 SLs, the rest is dropped; take it out",
		       list->n);
	for (unsigned sl = 0; sl < list->n && sl < N_SLS; sl++) {
		uint32_t vl = list->vl[sl];

		if (vl > 15 && (vl & 15) == 15)
			report(out, "W3", list->line,
			       "SL%u goes to VL%u, of which OpenSM keeps 4 bits: VL15, it is dropped",
			       sl, vl);
		else if (vl != 15 && vl >= port->vls && port->vls > 1)
			report(out, "W3", list->line,
			       "SL%u goes to VL%u: links have %u VLs, it becomes VL%u; name that",
			       sl, vl, port->vls, opensm_fold(vl & 15, port->vls));
	}
}

/* Whether a weight exceeds one packet, which a limit of 0 does not allow. */
static bool has_burst(const struct opensm_list *list, unsigned mtu)
{
	unsigned blocks = blocks_of(mtu + PLAIN_OVERHEAD);

	for (unsigned i = 0; i < list->n && i < VLARB_MAX; i++) {
		if ((list->weight[i] & 255) > blocks)
			return true;
	}
	return false;
}

static void lint_set(const struct opensm_set *set, bool general, const struct lint_port *port,
		     struct opensm_findings *out)
{
	lint_list(&set->high, "high", port, out);
	lint_list(&set->low, "low", port, out);
	lint_sl2vl(&set->sl2vl, port, out);
	if (set->max_vls_line)
		report(out, "W5", set->max_vls_line,
		       "max_vls has no effect: max_op_vls limits the VLs; use that (1 to 5 for 1, 2, 4, 8, 15)");
	if (set->high_limit_line && set->high_limit_malformed)
		report(out, "W13", set->high_limit_line,
		       "high_limit is not a number from 0 to 255: OpenSM takes %s",
		       set->high_limit >= 0 || general
			       ? set->high_limit > 0 ? "what it can read of it" : "0"
			       : "that of qos_high_limit");
	if (set->high_limit_line && set->high_limit == 255)
		report(out, "W4", set->high_limit_line,
		       "high_limit 255: the high table can starve the low one; use 0 to 254, times 4096 bytes");
	if (set->high_limit_line && set->high_limit == 0 && has_burst(&set->high, port->mtu))
		report(out, "W4", set->high_limit_line,
		       "high_limit 0: after each high packet low may send one, whatever the high table's weights; use 1 to 254, times 4096 bytes");
}

static unsigned weight_of(const struct vlarb_entry *entry, unsigned n, unsigned vl)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += entry[i].vl == vl ? entry[i].weight : 0;
	return sum;
}

static unsigned weight_of_vl(const struct opensm_tables *t, unsigned vl)
{
	return weight_of(t->vlarb.high, t->vlarb.n_high, vl) +
	       weight_of(t->vlarb.low, t->vlarb.n_low, vl);
}

static bool vl_is_mapped(const struct opensm_tables *t, unsigned vl)
{
	return memchr(t->sl2vl.vl, (int)vl, N_SLS) != NULL;
}

static const struct opensm_list *own_or_general(const struct opensm_conf *conf,
						enum opensm_scope scope)
{
	const struct opensm_list *own = &conf->set[scope].sl2vl;

	return own->line ? own : &conf->set[OPENSM_DEFAULT].sl2vl;
}

/* Reports a VL that can never send although SLs map to it. */
static void report_mute(const struct opensm_tables *t, unsigned vl, struct opensm_findings *out)
{
	struct strbuf sls = STRBUF_INIT;

	for (unsigned sl = 0; sl < N_SLS; sl++) {
		if (t->sl2vl.vl[sl] == vl)
			strbuf_printf(&sls, "%s%u", sls.len ? "," : "", sl);
	}
	if (sls.len)
		report(out, "W8", 0,
		       "VL%u, of SL%s, has no weight in either table: it may never send; give the VL a weight",
		       vl, sls.text);
	strbuf_fini(&sls);
}

/*
 * Reports dropped SLs if a VL with a weight has no SL, which suggests an error in the list. Dropped
 * SLs alone are no fault, except SL 0.
 */
static void report_dropped(const struct opensm_conf *conf, const struct opensm_tables *t,
			   struct opensm_findings *out)
{
	const struct opensm_list *list = own_or_general(conf, OPENSM_SWE);
	bool idle = false;

	for (unsigned vl = 0; vl < t->vls; vl++)
		idle |= !vl_is_mapped(t, vl) && weight_of_vl(t, vl);
	for (unsigned sl = 0; sl < N_SLS; sl++) {
		if (t->sl2vl.vl[sl] != 15 || (sl && !idle) || sl >= list->n || list->vl[sl] != 15)
			continue;
		report(out, "W8", list->line,
		       "SL%u goes to VL15: its packets are dropped%s; name a data VL", sl,
		       sl ? ", and a VL with a weight has no SL"
			  : ", those of all programs that set no SL");
	}
}

/* Reports effects that only OpenSM's rules reveal. */
static void lint_effective(const struct opensm_conf *conf, const struct opensm_port *port,
			   struct opensm_findings *out)
{
	struct opensm_tables t;

	opensm_effective(conf, port, &t);
	if (t.vls < 2)
		return; /* one VL: OpenSM sends no tables */
	for (unsigned vl = 0; vl < N_DATA_VLS; vl++) {
		if (!weight_of_vl(&t, vl))
			report_mute(&t, vl, out);
	}
	report_dropped(conf, &t, out);
}

/* Compares the effective tables of adapters and switches, whatever their origin. */
static void lint_differences(const struct opensm_conf *conf, const struct opensm_port *port,
			     struct opensm_findings *out)
{
	const struct opensm_list *ca = own_or_general(conf, OPENSM_CA);
	const struct opensm_list *swe = own_or_general(conf, OPENSM_SWE);
	struct opensm_port adapter = *port, external = *port;
	struct opensm_tables a, b;

	adapter.scope = OPENSM_CA;
	external.scope = OPENSM_SWE;
	opensm_effective(conf, &adapter, &a);
	opensm_effective(conf, &external, &b);
	if (memcmp(&a.sl2vl, &b.sl2vl, sizeof(a.sl2vl)) != 0)
		report(out, "W10", swe->line > ca->line ? swe->line : ca->line,
		       "sl2vl of switches differs from that of adapters: an SL changes VLs on its way; say one qos_sl2vl for both");
}

static void lint_keys(const struct opensm_conf *conf, struct opensm_findings *out)
{
	for (size_t i = 0; i < conf->n_unknown; i++) {
		const struct opensm_unknown *u = &conf->unknown[i];
		size_t n = 0;

		while (opensm_keys[n])
			n++;
		const char *near = text_nearest(u->key, opensm_keys, n);

		report(out, "W14", u->line, "OpenSM knows no key '%s' and passes it over%s", u->key,
		       text_hint(near).text);
	}
	for (size_t i = 0; i < conf->n_repeats; i++) {
		const struct opensm_repeat *r = &conf->repeats[i];

		report(out, "W19", r->line,
		       "%s replaces line %u, which has no effect; remove one of them", r->key,
		       r->earlier);
	}
	if (conf->max_op_vls_line && conf->max_op_vls_said != (long)conf->max_op_vls)
		report(out, "W13", conf->max_op_vls_line,
		       "max_op_vls %ld is not a code: 1 to 5 are 1, 2, 4, 8 and 15 VLs; nothing is limited; use one of them",
		       conf->max_op_vls_said);
}

static void lint_qos(const struct opensm_conf *conf, bool any, struct opensm_findings *out)
{
	if (conf->qos || !(any || conf->qos_line))
		return;
	if (strcasecmp(conf->qos_value, "TRUE") == 0)
		report(out, "W0", conf->qos_line,
		       "qos '%s' is not TRUE to OpenSM, which knows capitals only: it sends no tables",
		       conf->qos_value);
	else
		report(out, "W0", conf->qos_line,
		       "qos is not TRUE: OpenSM sends %s; say 'qos TRUE'",
		       any ? "none of these tables" : "no tables");
}

void opensm_lint(const struct opensm_conf *conf, const struct opensm_port *port, unsigned mtu,
		 struct opensm_findings *out)
{
	struct opensm_tables t;
	bool any = false;

	opensm_effective(conf, port, &t);
	const struct lint_port at = { port, t.vls, mtu };

	for (unsigned scope = 0; scope < OPENSM_SCOPES; scope++) {
		const struct opensm_set *set = &conf->set[scope];

		lint_set(set, scope == OPENSM_DEFAULT, &at, out);
		any |= set->high.line || set->low.line || set->sl2vl.line ||
		       (set->high_limit_line && set->high_limit >= 0);
	}
	lint_qos(conf, any, out);
	lint_keys(conf, out);
	for (size_t i = 0; i < conf->n_long_lines; i++)
		report(out, "W9", conf->long_lines[i],
		       "line is longer than %u bytes: OpenSM reads the rest as another line; shorten it",
		       OPENSM_LINE_MAX - 1);
	lint_differences(conf, port, out);
	lint_effective(conf, port, out);
}

/* Bit set of the SLs that the policy gives to any connection. */
static unsigned given_sls(const struct policy *p)
{
	const struct policy_level *other = policy_default_level(p);
	unsigned sls = other ? 1u << (other->sl & 15) : 0;

	if (p->default_sl != POLICY_NO_SL)
		sls |= 1u << (p->default_sl & 15);
	for (size_t i = 0; i < p->n_rules; i++) {
		const struct policy_level *l = policy_find_level(p, p->rules[i].level);

		sls |= l ? 1u << (l->sl & 15) : 0;
	}
	for (size_t i = 0; i < p->n_ulps; i++)
		sls |= 1u << (p->ulps[i].sl & 15);
	return sls;
}

void opensm_lint_policy(const struct opensm_conf *conf, const struct opensm_port *port,
			const struct policy *policy, struct opensm_findings *out)
{
	unsigned given = given_sls(policy), mapped[N_DATA_VLS] = { 0 };
	struct opensm_tables t;

	if (policy->setup_line)
		report(out, "W6", policy->setup_line,
		       "qos-setup of the policy is read over: tables are what opensm.conf says; take it out");
	opensm_effective(conf, port, &t);
	for (unsigned sl = 0; sl < N_SLS; sl++) {
		if (t.sl2vl.vl[sl] < N_DATA_VLS)
			mapped[t.sl2vl.vl[sl]] |= 1u << sl;
	}
	for (unsigned vl = 0; vl < t.vls && t.vls > 1; vl++) {
		if (mapped[vl] && !(mapped[vl] & given) && weight_of_vl(&t, vl))
			report(out, "W11", 0,
			       "VL%u has weight, and no rule of the policy gives an SL of it (SL%d is one): add a rule, or let applications ask for it",
			       vl, __builtin_ctz(mapped[vl]));
	}
}

void opensm_findings_fini(struct opensm_findings *findings)
{
	free(findings->items);
	*findings = (struct opensm_findings){ 0 };
}
