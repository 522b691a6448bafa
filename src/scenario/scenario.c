/* SPDX-License-Identifier: BSD-2-Clause */
#include "scenario/checks.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/iba.h"
#include "base/map.h"
#include "base/text.h"
#include "subnet/tables/packet.h"
#include "topo/read.h"

enum hd_status scenario_refuse(const struct scenario *s, struct diag *d, const void *field,
			       const char *format, ...)
{
	const struct schema_place *place = schema_place_of(&s->places, field);
	struct strbuf text = STRBUF_INIT;
	va_list args;

	va_start(args, format);
	strbuf_vprintf(&text, format, args);
	va_end(args);
	bool overridden = place && place->label;

	d->file = overridden ? NULL : s->file;
	enum hd_status status = diag_fail_at(
		d, HD_ERR_INPUT, place ? place->line : 0, place ? place->column : 0, "%s%s%s",
		overridden ? place->label : "", overridden ? ": " : "", text.text);

	strbuf_fini(&text);
	return status;
}

enum hd_status scenario_needs_traffic(const struct scenario *s, struct diag *d)
{
	return s->n_traffic || s->n_jobs
		       ? HD_OK
		       : scenario_refuse(s, d, &s->traffic, "missing field 'traffic' (or 'jobs')");
}

enum hd_status scenario_lacks_jobs(const struct scenario *s, const char *who, struct diag *d)
{
	return s->n_jobs ? scenario_refuse(s, d, &s->jobs[0],
					   "%s does not run jobs; use 'heddle sim'", who)
			 : HD_OK;
}

bool scenario_shares(const struct scenario *s)
{
	return s->qos.thresholds.mechanism != SCN_NO_VL_SHARING || s->qos.thresholds.capacity;
}

bool scenario_shares_at_hosts(const struct scenario *s)
{
	return scenario_shares(s) && s->qos.thresholds.ports != SCN_SHARE_SWITCHES;
}

enum hd_status scenario_has_no_capacity(const struct scenario *s, const char *what, struct diag *d)
{
	const uint64_t *capacity = &s->qos.thresholds.capacity;

	return *capacity
		       ? scenario_refuse(
				 s, d, capacity,
				 "%s are not possible with qos.thresholds.capacity, because hosts never refuse their packets",
				 what)
		       : HD_OK;
}

const struct scn_class *scenario_class(const struct scenario *s, const char *name)
{
	for (size_t i = 0; i < s->qos.n_classes; i++) {
		if (strcmp(s->qos.classes[i].name, name) == 0)
			return &s->qos.classes[i];
	}
	return NULL;
}

const struct scn_group *scenario_group(const struct scenario *s, const char *name)
{
	for (size_t i = 0; i < s->fabric.n_groups; i++) {
		if (strcmp(s->fabric.groups[i].name, name) == 0)
			return &s->fabric.groups[i];
	}
	return NULL;
}

static const struct scn_partition *scenario_partition(const struct scenario *s, const char *name)
{
	for (size_t i = 0; i < s->qos.n_partitions; i++) {
		if (strcmp(s->qos.partitions[i].name, name) == 0)
			return &s->qos.partitions[i];
	}
	return NULL;
}

uint16_t scenario_pkey(const struct scenario *s, const char *name)
{
	const struct scn_partition *listed = scenario_partition(s, name);
	const struct partition *of_file =
		s->partitions ? partitions_named(s->partitions, name) : NULL;

	return listed ? (uint16_t)listed->key : of_file ? of_file->key : 0;
}

bool scenario_is_labelled(const struct scenario *s, const struct scn_traffic *t)
{
	return (s->policy || s->partitions) && !t->service && t->sl == SCN_SL_AUTO;
}

unsigned scenario_sl(const struct scenario *s, const struct scn_traffic *t)
{
	if (t->service)
		return (unsigned)scenario_row_class(s, t)->sl;
	return t->sl == SCN_SL_AUTO ? 0 : (unsigned)t->sl;
}

uint32_t scenario_group_grh(const struct scenario *s)
{
	const struct scn_fabric *f = &s->fabric;
	bool grh = f->multicast_grh == SCN_GRH_YES ||
		   (f->multicast_grh == SCN_GRH_AUTO && f->overhead == PLAIN_OVERHEAD);

	return grh ? GRH_BYTES : 0;
}

uint64_t scenario_overhead(const struct scenario *s, const struct scn_traffic *t)
{
	bool group = t->kind != SIM_TRACE && t->pattern == SCN_GROUP;

	return s->fabric.overhead + (group ? scenario_group_grh(s) : 0);
}

/* Before the fabric is known, the largest that there is. */
static uint64_t mtu_of(const struct scenario *s)
{
	return s->fabric.mtu == SCN_MTU_AUTO ? TOPO_DEFAULT_MTU : s->fabric.mtu;
}

uint32_t scenario_packet_limit(const struct scenario *s)
{
	uint64_t headers = s->fabric.overhead + GRH_BYTES;

	return (uint32_t)(mtu_of(s) + (headers > HEADER_ROOM ? headers : HEADER_ROOM));
}

uint64_t scenario_largest_packet(const struct scenario *s)
{
	uint64_t mtu = mtu_of(s);
	uint64_t most = s->n_traffic && !s->n_jobs ? 0 : mtu + s->fabric.overhead;

	if (scenario_jobs_multicast(s))
		most += GRH_BYTES;
	if (scenario_jobs_over_rc(s))
		most = mtu + MOST_OVERHEAD;
	for (size_t i = 0; i < s->n_traffic; i++) {
		const struct scn_traffic *t = &s->traffic[i];
		uint64_t payload = t->kind == SIM_TRACE || t->payload_scv > 0 ? mtu : t->payload;

		if (payload > mtu)
			payload = mtu;
		payload += scenario_overhead(s, t);
		/* The ends of a queue pair agree on an MTU, not on the payload. */
		if (t->transport)
			payload = mtu + MOST_OVERHEAD;
		if (payload > most)
			most = payload;
	}
	return most;
}

char *scenario_path(const struct scenario *s, char *const *field)
{
	const struct schema_place *place = schema_place_of(&s->places, field);
	bool here = !s->file || (place && place->label);
	const char *slash = here ? NULL : strrchr(s->file, '/');
	const char *name = *field;
	struct strbuf path = STRBUF_INIT;

	if (slash && name[0] != '/' && strcmp(name, "-") != 0)
		strbuf_add(&path, s->file, (size_t)(slash - s->file) + 1);
	strbuf_puts(&path, name);
	return strbuf_detach(&path);
}

/* Names of items of one list differ; `stride` apart, the name first. */
static enum hd_status check_names(const struct scenario *s, struct diag *d, const char *what,
				  const void *items, size_t n, size_t stride)
{
	const char *base = items;
	struct text_map seen = { 0 };
	enum hd_status status = HD_OK;

	for (size_t i = 0; i < n && status == HD_OK; i++) {
		char *const *name = (char *const *)(base + i * stride);

		if (!**name)
			status = scenario_refuse(s, d, name, "a %s without a name", what);
		else if (text_map_put(&seen, *name, strlen(*name), 0) != MAP_NONE)
			status = scenario_refuse(s, d, name, "a second %s of the name '%s'", what,
						 *name);
	}
	text_map_fini(&seen);
	return status;
}

static enum hd_status check_all_names(const struct scenario *s, struct diag *d)
{
	enum hd_status status =
		check_names(s, d, "traffic row", s->traffic, s->n_traffic, sizeof(*s->traffic));

	if (status == HD_OK)
		status = check_names(s, d, "job", s->jobs, s->n_jobs, sizeof(*s->jobs));
	if (status == HD_OK)
		status = check_names(s, d, "class", s->qos.classes, s->qos.n_classes,
				     sizeof(*s->qos.classes));
	if (status == HD_OK)
		status = check_names(s, d, "group", s->fabric.groups, s->fabric.n_groups,
				     sizeof(*s->fabric.groups));
	if (status == HD_OK)
		status = check_names(s, d, "partition", s->qos.partitions, s->qos.n_partitions,
				     sizeof(*s->qos.partitions));
	return status;
}

static enum hd_status check_fabric(const struct scenario *s, struct diag *d)
{
	const struct scn_fabric *f = &s->fabric;

	if (!f->topology.generator && !f->topology.file)
		return scenario_refuse(s, d, &f->topology.file,
				       "fabric.topology has neither a kind nor a file");
	if (f->topology.generator && f->topology.file)
		return scenario_refuse(s, d, &f->topology.file,
				       "fabric.topology has both a kind and a file");
	if (strcmp(f->routing.engine, "file") == 0 && !f->routing.file)
		return scenario_refuse(s, d, &f->routing.engine,
				       "the routing engine 'file' needs fabric.routing.file");
	if (strcmp(f->routing.engine, "file") != 0 && f->routing.file)
		return scenario_refuse(s, d, &f->routing.file,
				       "only the routing engine 'file' takes a file");
	return HD_OK;
}

static enum hd_status check_table(const struct scenario *s, struct diag *d,
				  const struct scn_vlarb *table)
{
	for (unsigned i = 0; i < table->n; i++) {
		if (table->entries[i].vl >= s->qos.vls)
			return scenario_refuse(s, d, table,
					       "VL %u is not in operation; qos.vls is %u",
					       table->entries[i].vl, (unsigned)s->qos.vls);
	}
	return HD_OK;
}

static enum hd_status check_class(const struct scenario *s, struct diag *d,
				  const struct scn_class *c)
{
	const struct scn_sl2vl *map = &s->qos.sl2vl;

	for (const struct scn_class *o = s->qos.classes; o < c; o++) {
		if (o->sl == c->sl)
			return scenario_refuse(s, d, &c->sl, "SL %u has a class already: '%s'",
					       (unsigned)c->sl, o->name);
	}
	if (c->vl == SCN_VL_AUTO)
		return HD_OK;
	if (c->vl >= s->qos.vls)
		return scenario_refuse(s, d, &c->vl, "VL %u is not in operation; qos.vls is %u",
				       (unsigned)c->vl, (unsigned)s->qos.vls);
	if (map->given && map->table.vl[c->sl] != c->vl)
		return scenario_refuse(s, d, &c->vl,
				       "VL %u contradicts qos.sl2vl, which has SL %u on VL %u",
				       (unsigned)c->vl, (unsigned)c->sl, map->table.vl[c->sl]);
	return HD_OK;
}

static enum hd_status check_changes(const struct scenario *s, struct diag *d)
{
	enum hd_status status = HD_OK;

	for (size_t i = 0; i < s->qos.n_changes && status == HD_OK; i++) {
		const struct scn_qos_change *c = &s->qos.changes[i];

		if (!c->high.given && !c->low.given && c->high_limit == UINT64_MAX)
			return scenario_refuse(s, d, c, "a change that changes nothing");
		status = check_table(s, d, &c->high);
		if (status == HD_OK)
			status = check_table(s, d, &c->low);
	}
	return status;
}

static enum hd_status check_qos(const struct scenario *s, struct diag *d)
{
	const struct scn_qos *q = &s->qos;
	enum hd_status status = check_table(s, d, &q->high);

	if (status == HD_OK)
		status = check_table(s, d, &q->low);
	for (unsigned sl = 0; sl < N_SLS && status == HD_OK; sl++) {
		unsigned vl = q->sl2vl.table.vl[sl];

		if (q->sl2vl.given && vl >= q->vls && vl != VL_MANAGEMENT)
			status = scenario_refuse(
				s, d, &q->sl2vl,
				"SL %u goes to VL %u, which is not in operation; qos.vls is %u", sl,
				vl, (unsigned)q->vls);
	}
	if (status == HD_OK)
		status = scenario_check_bands(s, d);
	for (size_t i = 0; i < q->n_classes && status == HD_OK; i++)
		status = check_class(s, d, &q->classes[i]);
	if (status == HD_OK)
		status = check_changes(s, d);
	for (size_t i = 0; i < q->n_ports && status == HD_OK; i++) {
		uint64_t vls = q->ports[i].vls;

		if (vls && !are_vls(vls))
			status =
				scenario_refuse(s, d, &q->ports[i].vls,
						"'%u' is not one of 1, 2, 4, 8, 15", (unsigned)vls);
		else if (q->ports[i].from && !q->ports[i].sl2vl.given)
			status = scenario_refuse(
				s, d, &q->ports[i].from,
				"qos.ports[].from selects the input ports of a map; add sl2vl");
	}
	return status;
}

/* Thresholds of one list: of all VLs, or of one. */
static enum hd_status check_level_list(const struct scenario *s, struct diag *d,
				       const struct scn_levels *at)
{
	const struct scn_thresholds *t = &s->qos.thresholds;

	if (t->mechanism == SCN_ET && at->n > 1)
		return scenario_refuse(s, d, at,
				       "an entry threshold is one number; ajt takes several");
	for (unsigned k = 0; t->capacity && k < at->n; k++) {
		if (at->at[k] > t->capacity * (k + 1))
			return scenario_refuse(
				s, d, at,
				"threshold %u is never reached: %u VLs of %u packets hold %u",
				at->at[k], k + 1, (unsigned)t->capacity,
				(unsigned)(t->capacity * (k + 1)));
	}
	return HD_OK;
}

static enum hd_status check_vl_levels(const struct scenario *s, struct diag *d)
{
	const struct scn_thresholds *t = &s->qos.thresholds;
	enum hd_status status = HD_OK;
	unsigned seen = 0;

	for (size_t i = 0; i < t->n_vls && status == HD_OK; i++) {
		const struct scn_vl_levels *v = &t->vls[i];

		if (t->mechanism == SCN_NO_VL_SHARING)
			return scenario_refuse(s, d, &v->vl,
					       "qos.thresholds.vls needs a mechanism, et or ajt");
		if (v->vl >= s->qos.vls)
			return scenario_refuse(s, d, &v->vl,
					       "a VL that is not in operation; qos.vls is %u",
					       (unsigned)s->qos.vls);
		if (seen >> v->vl & 1)
			return scenario_refuse(s, d, &v->vl, "VL %u has thresholds already",
					       (unsigned)v->vl);
		seen |= 1u << v->vl;
		status = check_level_list(s, d, &v->at);
	}
	return status;
}

/* Input queues of packets per output: others have no VL queue at an output (B7). */
static enum hd_status check_share_ports(const struct scenario *s, struct diag *d)
{
	const struct scn_thresholds *t = &s->qos.thresholds;

	if (t->ports == SCN_SHARE_HOSTS)
		return HD_OK;
	if (t->mechanism == SCN_NO_VL_SHARING)
		return scenario_refuse(s, d, &t->ports,
				       "qos.thresholds.ports needs a mechanism, et or ajt");
	if (s->fabric.sw.queueing != SIM_INPUT_QUEUED || s->fabric.sw.order != SIM_VOQ)
		return scenario_refuse(
			s, d, &t->ports,
			"thresholds at switches need fabric.switch.queueing: input and order: voq");
	if (t->ports == SCN_SHARE_SWITCHES && t->capacity)
		return scenario_refuse(
			s, d, &t->capacity,
			"qos.thresholds.capacity is of hosts: it needs ports: hosts or all");
	return HD_OK;
}

static enum hd_status check_levels(const struct scenario *s, struct diag *d)
{
	const struct scn_thresholds *t = &s->qos.thresholds;
	enum hd_status status = check_share_ports(s, d);

	if (status == HD_OK)
		status = check_vl_levels(s, d);
	if (status != HD_OK)
		return status;
	if (t->mechanism == SCN_NO_VL_SHARING)
		return t->at.n ? scenario_refuse(s, d, &t->at,
						 "qos.thresholds.at needs a mechanism, et or ajt")
			       : HD_OK;
	if (t->at.n == 0 && t->n_vls == 0)
		return scenario_refuse(s, d, &t->mechanism,
				       "qos.thresholds needs thresholds: 'at'");
	return check_level_list(s, d, &t->at);
}

/* Every VL has one role at most, and no priority lends without a user. */
static enum hd_status check_vl_sharing(const struct scenario *s, struct diag *d)
{
	const struct scn_thresholds *t = &s->qos.thresholds;
	const struct scn_vls *sets[] = { &t->high, &t->high_shared, &t->low, &t->low_shared };
	unsigned seen = 0;

	if (t->mechanism != SCN_AJT)
		return HD_OK;
	for (unsigned i = 0; i < 4; i++) {
		if (sets[i]->vls >> s->qos.vls)
			return scenario_refuse(s, d, sets[i],
					       "a VL that is not in operation; qos.vls is %u",
					       (unsigned)s->qos.vls);
		if (sets[i]->vls & seen)
			return scenario_refuse(s, d, sets[i], "a VL that has another role already");
		seen |= sets[i]->vls;
	}
	if (!(t->high.vls && t->high_shared.vls) && !(t->low.vls && t->low_shared.vls))
		return scenario_refuse(
			s, d, &t->mechanism,
			"ajt needs a normal and a shared VL of one priority: high and high_shared, or low and low_shared");
	return HD_OK;
}

static bool is_paced(const struct scn_traffic *t)
{
	return t->kind <= SIM_PARETO;
}

enum hd_status scenario_check_payloads(const struct scenario *s, const char *port, struct diag *d)
{
	for (size_t i = 0; i < s->n_traffic; i++) {
		const struct scn_traffic *t = &s->traffic[i];
		bool is_long = t->transport == SCN_RC || t->transport == SCN_UC ||
			       (t->kind == SIM_BURST && t->transport != SCN_UD);

		if (is_long || t->payload <= mtu_of(s))
			continue;
		return scenario_refuse(
			s, d, &t->payload,
			"traffic '%s': a payload of %llu bytes is more than the MTU of %u%s%s (messages may be longer)",
			t->name, (unsigned long long)t->payload, (unsigned)mtu_of(s),
			port ? " of port " : "", port ? port : "");
	}
	return HD_OK;
}

static enum hd_status check_amounts(const struct scenario *s, struct diag *d,
				    const struct scn_traffic *t)
{
	if (is_paced(t) && t->rate.num == 0 && t->load.num == 0)
		return scenario_refuse(s, d, t, "traffic '%s' needs a rate or a load", t->name);
	if (is_paced(t) && t->rate.num && t->load.num)
		return scenario_refuse(s, d, &t->load, "traffic '%s' has both a rate and a load",
				       t->name);
	if (t->stop <= t->start)
		return scenario_refuse(s, d, &t->stop, "traffic '%s' stops before it starts",
				       t->name);
	return HD_OK;
}

enum hd_status check_partition(const struct scenario *s, struct diag *d, char *const *name)
{
	if (!*name || scenario_pkey(s, *name))
		return HD_OK;
	return scenario_refuse(s, d, name, "no partition '%s' in qos.partitions", *name);
}

enum hd_status scenario_refuse_class(const struct scenario *s, struct diag *d, char *const *service)
{
	const char **names = hd_alloc(s->qos.n_classes, sizeof(*names));

	for (size_t i = 0; i < s->qos.n_classes; i++)
		names[i] = s->qos.classes[i].name;
	const char *nearest = text_nearest(*service, names, s->qos.n_classes);

	free(names);
	return scenario_refuse(s, d, service, "no class '%s' in qos.classes%s", *service,
			       text_hint(nearest).text);
}

/* Rejects options that queue pairs do not support, or handle themselves. */
static enum hd_status check_transport(const struct scenario *s, struct diag *d,
				      const struct scn_traffic *t)
{
	const struct {
		bool is_asked;
		const void *field;
		const char *what;
	} others[] = {
		{ t->pattern == SCN_GROUP, &t->pattern, "a group" },
		{ t->management, &t->management, "VL15" },
		{ t->payload_scv > 0, &t->payload_scv, "random sizes" },
		{ t->reserve.num > 0 && !scenario_asks(s, t), &t->reserve, "admission" },
		{ t->control != SCN_CONTROL_SAME, &t->control, "an algorithm of its own" },
		{ t->rate_steps > 0, &t->rate_steps, "rates of its own" },
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		if (others[i].is_asked)
			return scenario_refuse(
				s, d, others[i].field,
				"traffic '%s': a transport and %s do not go together", t->name,
				others[i].what);
	}
	return HD_OK;
}

static enum hd_status check_traffic(const struct scenario *s, struct diag *d,
				    const struct scn_traffic *t)
{
	if (scenario_check_row_class(s, d, t) != HD_OK)
		return d->status;
	if (t->service && t->sl != SCN_SL_AUTO)
		return scenario_refuse(s, d, &t->sl, "traffic '%s' has both a class and an SL",
				       t->name);
	if (check_partition(s, d, &t->partition) != HD_OK)
		return d->status;
	if (t->pattern == SCN_GROUP && !t->group)
		return scenario_refuse(s, d, t, "traffic '%s' needs a group", t->name);
	if (t->group && !scenario_group(s, t->group))
		return scenario_refuse(s, d, &t->group, "no group '%s' in fabric.groups", t->group);
	if (t->pattern == SCN_GROUP && t->connections)
		return scenario_refuse(s, d, &t->connections,
				       "connections go to single hosts, not to a group");
	if (t->kind == SIM_TRACE && !t->file)
		return scenario_refuse(s, d, t, "traffic '%s' needs a file", t->name);
	enum hd_status status = t->transport ? check_transport(s, d, t) : HD_OK;

	return status == HD_OK ? check_amounts(s, d, t) : status;
}

static bool asks_nothing(const struct scn_goal *g)
{
	return !g->mean && !g->p50 && !g->p99 && !g->p999 && !g->max && !g->delivered.num &&
	       !g->throughput.num && !g->fairness.num && g->lost == SCN_UNLIMITED &&
	       g->blocking.num == SCN_ANY && g->broken == SCN_UNLIMITED && !g->completion &&
	       !g->slowdown.num;
}

static enum hd_status check_goals(const struct scenario *s, struct diag *d)
{
	struct text_map rows = { 0 };
	enum hd_status status = HD_OK;

	for (uint32_t i = 0; i < s->n_traffic; i++)
		text_map_put(&rows, s->traffic[i].name, strlen(s->traffic[i].name), i);
	for (size_t i = 0; i < s->n_goals && status == HD_OK; i++) {
		const struct scn_goal *g = &s->goals[i];

		if (asks_nothing(g))
			status = scenario_refuse(s, d, g, "a goal that asks for nothing");
		else if (g->row && text_map_get(&rows, g->row, strlen(g->row)) == MAP_NONE)
			status = scenario_refuse(s, d, &g->row, "no traffic row '%s'", g->row);
		else
			status = check_job_goal(s, d, g);
	}
	text_map_fini(&rows);
	return status;
}

static bool is_stated(const struct scenario *s, const hd_time *time)
{
	const struct schema_place *p = schema_place_of(&s->places, time);

	return p && p->field == time && p->size == sizeof(*time);
}

/* A subnet manager must detect changes by sweeps, traps or both. */
static enum hd_status check_manager(const struct scenario *s, struct diag *d)
{
	const struct scn_sm *m = &s->sm;

	/* "never" may be intended, as --explain prints it. */
	if (!schema_place_of(&s->places, m) || is_stated(s, &m->sweep) || is_stated(s, &m->trap))
		return HD_OK;
	return scenario_refuse(
		s, d, m, "the subnet manager detects no change: set sm.sweep, sm.trap or both");
}

static enum hd_status check(const struct scenario *s, struct diag *d)
{
	enum hd_status status = check_all_names(s, d);

	if (status == HD_OK)
		status = check_fabric(s, d);
	if (status == HD_OK)
		status = check_qos(s, d);
	if (status == HD_OK)
		status = check_levels(s, d);
	if (status == HD_OK)
		status = check_vl_sharing(s, d);
	if (status == HD_OK)
		status = check_manager(s, d);
	for (size_t i = 0; i < s->n_traffic && status == HD_OK; i++)
		status = check_traffic(s, d, &s->traffic[i]);
	if (status == HD_OK)
		status = scenario_check_payloads(s, NULL, d);
	if (status == HD_OK)
		status = check_jobs(s, d);
	if (status == HD_OK)
		status = check_admission(s, d);
	return status == HD_OK ? check_goals(s, d) : status;
}

enum hd_status scenario_parse(const char *text, size_t len, const char *file,
			      const struct overrides *overrides, struct diag *d,
			      struct scenario *out)
{
	struct document doc;

	*out = (struct scenario){ .file = file, .text = hd_strndup(text, len) };
	d->file = file;
	enum hd_status status = document_load(text, len, "the scenario", d, &doc);

	if (status != HD_OK && topo_format_detect(out->text, strlen(out->text)) != FORMAT_UNKNOWN) {
		*d = (struct diag){ .file = file };
		return diag_fail(
			d, HD_ERR_INPUT,
			"a topology, not a scenario; a scenario names it as 'fabric: {topology: FILE}'");
	}
	if (status != HD_OK)
		return status;
	status = schema_read(scenario_fields, &doc, overrides, d, out, &out->places);
	document_fini(&doc);
	if (status == HD_OK) {
		scenario_fill_bands(out);
		status = scenario_read_opensm(out, d);
	}
	return status == HD_OK ? check(out, d) : status;
}

enum hd_status scenario_read(const char *path, const struct overrides *overrides, struct diag *d,
			     struct scenario *out)
{
	struct strbuf text = STRBUF_INIT;
	enum hd_status status = file_read(path, SCENARIO_LIMIT, d, &text);

	*out = (struct scenario){ 0 };
	if (status == HD_OK)
		status = scenario_parse(text.text, text.len, path, overrides, d, out);
	strbuf_fini(&text);
	return status;
}

void scenario_fini(struct scenario *s)
{
	schema_release(scenario_fields, s);
	scenario_forget_opensm(s);
	free(s->places.items);
	free(s->text);
	*s = (struct scenario){ 0 };
}

void scenario_explain(const struct scenario *s, struct strbuf *out)
{
	schema_print(scenario_fields, s, true, out);
}

enum hd_status scenario_find_row(const struct scenario *s, const char *name, const char *option,
				 struct diag *d, uint32_t *out)
{
	*out = UINT32_MAX;
	for (uint32_t i = 0; name && i < s->n_traffic; i++) {
		if (strcmp(s->traffic[i].name, name) == 0)
			*out = i;
	}
	if (name && *out == UINT32_MAX)
		return diag_fail(d, HD_ERR_NOT_FOUND, "option %s: no traffic row '%s'", option,
				 name);
	return HD_OK;
}
