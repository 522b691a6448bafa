/* SPDX-License-Identifier: BSD-2-Clause */
#include "scenario/checks.h"

bool scenario_admits(const struct scenario *s)
{
	return s->qos.n_classes > 0 && s->qos.classes[0].kind != SCN_NO_KIND;
}

/* The class whose SL a row uses, or NULL. */
static const struct scn_class *class_of(const struct scenario *s,
					const struct scn_traffic *t)
{
	unsigned sl = scenario_sl(s, t);

	for (size_t i = 0; i < s->qos.n_classes; i++) {
		if (s->qos.classes[i].sl == sl)
			return &s->qos.classes[i];
	}
	return NULL;
}

bool scenario_asks(const struct scenario *s, const struct scn_traffic *t)
{
	const struct scn_class *c = class_of(s, t);

	return c && !t->management &&
	       (c->kind == TC_DBTS || c->kind == TC_DB || c->kind == TC_PBE);
}

uint64_t scenario_weight(const struct scn_class *c)
{
	static const uint64_t initial[] = {
		[TC_DBTS] = 0,
		[TC_DB] = 0,
		[TC_PBE] = FRAME_SLOTS / 10,
		[TC_BE] = FRAME_SLOTS / 5,
		[TC_CH] = 1,
		[SCN_NO_KIND] = 65, /* a packet of 4 KiB with its headers */
	};

	return c->weight == SCN_WEIGHT_AUTO ? initial[c->kind] : c->weight;
}

/* What a kind settles, and what it may not stand beside. */
static enum hd_status check_kind(const struct scenario *s, struct diag *d,
				 const struct scn_class *c)
{
	const struct scn_class *first = s->qos.classes;
	const char *name =
		c->kind < TC_COUNT ? traffic_class_name(c->kind) : NULL;

	if ((c->kind == SCN_NO_KIND) != (first->kind == SCN_NO_KIND))
		return scenario_refuse(
			s, d, &c->kind,
			"of '%s' and '%s' only one has a kind; reservations "
			"make the tables of all classes or of none",
			first->name, c->name);
	if (!name)
		return HD_OK;
	if (c->priority == SCN_HIGH && c->kind != TC_DBTS)
		return scenario_refuse(s, d, &c->priority,
				       "class '%s' is of kind %s; only DBTS "
				       "stands in the high table",
				       c->name, name);
	if (c->weight != SCN_WEIGHT_AUTO && c->kind <= TC_DB)
		return scenario_refuse(s, d, &c->weight,
				       "class '%s' is of kind %s, whose weight "
				       "is what is reserved",
				       c->name, name);
	if (c->weight > 1 && c->kind == TC_CH)
		return scenario_refuse(s, d, &c->weight,
				       "class '%s' is of kind CH, whose weight "
				       "is 1",
				       c->name);
	for (const struct scn_class *o = first; o < c && c->kind > TC_DB; o++) {
		if (o->kind == c->kind)
			return scenario_refuse(
				s, d, &c->kind,
				"a second class of kind %s: '%s' "
				"is one",
				name, o->name);
	}
	return HD_OK;
}

/* Tables have one owner. */
static enum hd_status check_tables(const struct scenario *s, struct diag *d)
{
	const struct scn_qos *q = &s->qos;
	const void *given = q->high.given  ? (const void *)&q->high
			    : q->low.given ? (const void *)&q->low
			    : q->n_changes ? (const void *)q->changes
					   : NULL;

	for (size_t i = 0; i < q->n_ports && !given; i++) {
		const struct scn_qos_port *p = &q->ports[i];

		if (p->high.given || p->low.given ||
		    p->high_limit != UINT64_MAX)
			given = p;
	}
	if (given)
		return scenario_refuse(s, d, given,
				       "tables that are given, and classes "
				       "with kinds, whose reservations make "
				       "the tables");
	if (q->admission.fill == FILL_PAPER)
		return scenario_refuse(
			s, d, &q->admission.fill,
			"fill 'paper' has no places in a table, and here "
			"tables change while they are used");
	return HD_OK;
}

/* What a row must say where tables hold what is reserved and no more. */
static enum hd_status check_row(const struct scenario *s, struct diag *d,
				const struct scn_traffic *t)
{
	if (!class_of(s, t) && !t->management)
		return scenario_refuse(s, d, t,
				       "traffic '%s' travels on SL %u, which "
				       "no class has; reservations make the "
				       "tables, and give it no turn",
				       t->name, scenario_sl(s, t));
	if (!scenario_asks(s, t) || t->reserve.num)
		return HD_OK;
	if (t->kind > SIM_PARETO)
		return scenario_refuse(
			s, d, t,
			"traffic '%s' is of a class that asks admission: it "
			"needs a rate, a load or what to reserve",
			t->name);
	return HD_OK;
}

static bool draws_pairs(enum scn_pattern p)
{
	return p == SCN_UNIFORM || p == SCN_HOTSPOT || p == SCN_INCAST ||
	       p == SCN_GROUP;
}

static enum hd_status check_arrivals(const struct scenario *s, struct diag *d,
				     const struct scn_traffic *t)
{
	if (t->kind == SIM_TRACE)
		return HD_OK;
	if (!t->arrivals.gap)
		return t->arrivals.holding == HD_TIME_NEVER
			       ? HD_OK
			       : scenario_refuse(
					 s, d, &t->arrivals.holding,
					 "traffic '%s' has a holding time, but "
					 "no arrivals",
					 t->name);
	if (t->connections)
		return scenario_refuse(s, d, &t->connections,
				       "traffic '%s' has both arrivals and a "
				       "number of connections",
				       t->name);
	if (!draws_pairs(t->pattern))
		return scenario_refuse(
			s, d, &t->pattern,
			"traffic '%s': arrivals need the pattern "
			"uniform, hotspot, incast or group",
			t->name);
	return HD_OK;
}

enum hd_status check_admission(const struct scenario *s, struct diag *d)
{
	enum hd_status status = HD_OK;
	bool admits = scenario_admits(s);

	for (size_t i = 0; i < s->qos.n_classes && status == HD_OK; i++)
		status = check_kind(s, d, &s->qos.classes[i]);
	if (status == HD_OK && admits)
		status = check_tables(s, d);
	for (size_t i = 0; i < s->n_traffic && status == HD_OK; i++) {
		status = check_arrivals(s, d, &s->traffic[i]);
		if (status == HD_OK && admits)
			status = check_row(s, d, &s->traffic[i]);
	}
	return status;
}
