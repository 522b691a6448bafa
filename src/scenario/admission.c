/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "scenario/checks.h"

bool scenario_admits(const struct scenario *s)
{
	return s->qos.n_classes > 0 && s->qos.classes[0].kind != SCN_NO_KIND;
}

const struct scn_class *scenario_class_of_sl(const struct scenario *s, unsigned sl)
{
	for (size_t i = 0; i < s->qos.n_classes; i++) {
		if (s->qos.classes[i].sl == sl)
			return &s->qos.classes[i];
	}
	return NULL;
}

bool scenario_class_asks(const struct scn_class *c)
{
	return c && c->kind <= TC_PBE;
}

/* The class whose SL a row uses, or NULL. */
static const struct scn_class *class_of(const struct scenario *s, const struct scn_traffic *t)
{
	return scenario_class_of_sl(s, scenario_sl(s, t));
}

bool scenario_asks(const struct scenario *s, const struct scn_traffic *t)
{
	return !t->management && scenario_class_asks(class_of(s, t));
}

uint16_t scenario_promised_sls(const struct scenario *s)
{
	uint16_t sls = 0;

	for (size_t i = 0; i < s->qos.n_classes; i++) {
		if (s->qos.classes[i].kind == TC_DBTS || s->qos.classes[i].kind == TC_DB)
			sls |= (uint16_t)(1u << s->qos.classes[i].sl);
	}
	return sls;
}

uint16_t scenario_controlled_sls(const struct scenario *s)
{
	return s->congestion.sls.sls & (uint16_t)~scenario_promised_sls(s);
}

/* SLs for congestion control must not include those with a guaranteed rate. */
static enum hd_status check_control(const struct scenario *s, struct diag *d)
{
	uint16_t said = s->congestion.sls.sls;
	uint16_t both = said & scenario_promised_sls(s);

	if (said == UINT16_MAX || !both)
		return HD_OK;
	return scenario_refuse(
		s, d, &s->congestion.sls,
		"congestion.cct.sls: SL %d belongs to a class of kind DBTS or DB, whose rate is promised; leave it out of the list",
		__builtin_ctz(both));
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

/* Settings that a kind implies, and combinations that it excludes. */
static enum hd_status check_kind(const struct scenario *s, struct diag *d,
				 const struct scn_class *c)
{
	const struct scn_class *first = s->qos.classes;
	const char *name = c->kind < TC_COUNT ? class_name(c->kind) : NULL;

	if ((c->kind == SCN_NO_KIND) != (first->kind == SCN_NO_KIND))
		return scenario_refuse(
			s, d, &c->kind,
			"of '%s' and '%s' only one has a kind; reservations make the tables of all classes or of none",
			first->name, c->name);
	if (!name)
		return HD_OK;
	if (c->priority == SCN_HIGH && c->kind != TC_DBTS)
		return scenario_refuse(s, d, &c->priority,
				       "class '%s' is of kind %s; only DBTS may use the high table",
				       c->name, name);
	if (c->weight != SCN_WEIGHT_AUTO && c->kind <= TC_DB)
		return scenario_refuse(s, d, &c->weight,
				       "class '%s' is of kind %s, whose weight is what is reserved",
				       c->name, name);
	if (c->weight > 1 && c->kind == TC_CH)
		return scenario_refuse(s, d, &c->weight,
				       "class '%s' is of kind CH, whose weight is 1", c->name);
	for (const struct scn_class *o = first; o < c && c->kind > TC_DB; o++) {
		if (o->kind == c->kind)
			return scenario_refuse(s, d, &c->kind,
					       "a second class of kind %s: '%s' is one", name,
					       o->name);
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

		if (p->high.given || p->low.given || p->high_limit != UINT64_MAX)
			given = p;
	}
	if (given)
		return scenario_refuse(
			s, d, given,
			"tables that are given, and classes with kinds, whose reservations make the tables");
	if (q->admission.fill == FILL_PAPER)
		return scenario_refuse(
			s, d, &q->admission.fill,
			"fill 'paper' has no places in a table, and here tables change while they are used");
	return HD_OK;
}

/* A deadline needs a reservation, and packets with bounded bursts. */
static enum hd_status check_deadline(const struct scenario *s, struct diag *d,
				     const struct scn_traffic *t)
{
	const struct scn_class *c = class_of(s, t);

	if (!t->deadline)
		return HD_OK;
	if (!c || t->management || c->kind > TC_DB)
		return scenario_refuse(
			s, d, &t->deadline,
			"traffic '%s' has a deadline; only classes of kind DBTS and DB are promised one",
			t->name);
	if (t->kind != SIM_CBR || t->transport != SCN_NO_TRANSPORT)
		return scenario_refuse(
			s, d, &t->deadline,
			"traffic '%s' has a deadline; its bursts have no limit (use kind: cbr, without a transport)",
			t->name);
	return HD_OK;
}

/* Required fields of a row if tables only have reservations. */
static enum hd_status check_row(const struct scenario *s, struct diag *d,
				const struct scn_traffic *t)
{
	if (!class_of(s, t) && !t->management)
		return scenario_refuse(
			s, d, t,
			"traffic '%s' travels on SL %u, which no class has; reservations make the tables, and give it no turn",
			t->name, scenario_sl(s, t));
	enum hd_status status = check_deadline(s, d, t);

	if (status != HD_OK || !scenario_asks(s, t) || t->reserve.num)
		return status;
	if (t->kind > SIM_PARETO)
		return scenario_refuse(
			s, d, t,
			"traffic '%s' is of a class that asks admission: it needs a rate, a load or what to reserve",
			t->name);
	return HD_OK;
}

/* Whether a row, or a job before this one, has the SL of a class, too. */
static bool is_shared(const struct scenario *s, unsigned sl, size_t job)
{
	for (size_t i = 0; i < s->n_traffic; i++) {
		if (scenario_sl(s, &s->traffic[i]) == sl)
			return true;
	}
	for (size_t i = 0; i < s->n_jobs; i++) {
		if (i != job && scenario_job_sl(s, &s->jobs[i]) == sl)
			return true;
	}
	return false;
}

/* Whether packets of a step take other paths than those between the hosts of the job. */
static bool leaves_hosts(const struct scn_job *j)
{
	for (size_t k = 0; k < j->n_program; k++) {
		const char *name = j->program[k].algorithm;

		if (j->program[k].to ||
		    (name && (strcmp(name, "multicast") == 0 || strcmp(name, "in-network") == 0)))
			return true;
	}
	return false;
}

/* A job is not paced: its class must be of kind DB, and used by no other row. */
static enum hd_status check_reserve(const struct scenario *s, struct diag *d, size_t job,
				    const struct scn_class *c)
{
	const struct scn_job *j = &s->jobs[job];

	if (c->kind != TC_DB)
		return scenario_refuse(
			s, d, &j->reserve,
			"jobs[%zu] '%s': reserve needs a class of kind DB, and '%s' is not one",
			job, j->name, c->name);
	if (is_shared(s, (unsigned)c->sl, job))
		return scenario_refuse(
			s, d, &j->reserve,
			"jobs[%zu] '%s': class '%s' has other traffic, which the job's bursts delay; give the job a class of its own",
			job, j->name, c->name);
	if (leaves_hosts(j) || j->rails)
		return scenario_refuse(
			s, d, &j->reserve,
			"jobs[%zu] '%s': reserve covers paths between the job's hosts only, not multicast, in-network, 'to' and rails",
			job, j->name);
	return HD_OK;
}

/* A job without `reserve` sends without asking. */
static enum hd_status check_job_class(const struct scenario *s, struct diag *d, size_t job)
{
	const struct scn_job *j = &s->jobs[job];
	unsigned sl = scenario_job_sl(s, j);
	const struct scn_class *c = scenario_class_of_sl(s, sl);
	const void *field = j->service             ? (const void *)&j->service
			    : j->sl != SCN_SL_AUTO ? (const void *)&j->sl
						   : j;

	if (!c)
		return scenario_refuse(
			s, d, field,
			"jobs[%zu] '%s' travels on SL %u, which no class has; give the job a class",
			job, j->name, sl);
	if (j->reserve.num)
		return check_reserve(s, d, job, c);
	if (scenario_class_asks(c))
		return scenario_refuse(
			s, d, field,
			"jobs[%zu] '%s': class '%s' asks admission; give the job `reserve` or another class",
			job, j->name, c->name);
	return HD_OK;
}

static bool draws_pairs(enum scn_pattern p)
{
	return p == SCN_UNIFORM || p == SCN_HOTSPOT || p == SCN_INCAST || p == SCN_GROUP;
}

static enum hd_status check_arrivals(const struct scenario *s, struct diag *d,
				     const struct scn_traffic *t)
{
	if (t->kind == SIM_TRACE)
		return HD_OK;
	if (!t->arrivals.gap)
		return t->arrivals.holding == HD_TIME_NEVER
			       ? HD_OK
			       : scenario_refuse(s, d, &t->arrivals.holding,
						 "traffic '%s' has a holding time, but no arrivals",
						 t->name);
	if (t->connections)
		return scenario_refuse(s, d, &t->connections,
				       "traffic '%s' has both arrivals and a number of connections",
				       t->name);
	if (!draws_pairs(t->pattern))
		return scenario_refuse(
			s, d, &t->pattern,
			"traffic '%s': arrivals need the pattern uniform, hotspot, incast or group",
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
	if (status == HD_OK && admits)
		status = check_control(s, d);
	for (size_t i = 0; i < s->n_traffic && status == HD_OK; i++) {
		status = check_arrivals(s, d, &s->traffic[i]);
		if (status == HD_OK && admits)
			status = check_row(s, d, &s->traffic[i]);
		else if (status == HD_OK)
			status = check_deadline(s, d, &s->traffic[i]);
	}
	for (size_t i = 0; i < s->n_jobs && status == HD_OK && admits; i++)
		status = check_job_class(s, d, i);
	return status;
}
