/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <string.h>

#include "qos/admission/admission.h"
#include "subnet/multicast/mcast.h"

struct request_row {
	const char *source, *destination, *reason;
	uint64_t sl;
	struct hd_rate rate, mean;
	bool admitted, by_peak;
	double deadline, bound; /* microseconds; NaN: none */
};

static const struct column request_columns[] = {
	{ "source", NULL, CELL(request_row, source) },
	{ "destination", NULL, CELL(request_row, destination) },
	{ "sl", NULL, CELL(request_row, sl), ORIGIN_COMPUTED },
	{ "rate", "Mb/s", CELL(request_row, rate), ORIGIN_GIVEN, 3 },
	{ "deadline", "us", CELL(request_row, deadline), ORIGIN_GIVEN, 3 },
	{ "bound", "us", CELL(request_row, bound), ORIGIN_COMPUTED, 3 },
	{ "admitted", NULL, CELL(request_row, admitted), ORIGIN_COMPUTED },
	{ "reason", NULL, CELL(request_row, reason), ORIGIN_COMPUTED },
	{ NULL },
};

static const struct column tolerant_columns[] = {
	{ "source", NULL, CELL(request_row, source) },
	{ "destination", NULL, CELL(request_row, destination) },
	{ "sl", NULL, CELL(request_row, sl), ORIGIN_COMPUTED },
	{ "peak", "Mb/s", CELL(request_row, rate), ORIGIN_GIVEN, 3 },
	{ "mean", "Mb/s", CELL(request_row, mean), ORIGIN_GIVEN, 3 },
	{ "admitted", NULL, CELL(request_row, admitted), ORIGIN_COMPUTED },
	{ "by peak", NULL, CELL(request_row, by_peak), ORIGIN_COMPUTED },
	{ "reason", NULL, CELL(request_row, reason), ORIGIN_COMPUTED },
	{ NULL },
};

struct held_job_row {
	const char *job;
	uint64_t sl, hosts, links;
	struct hd_rate rate;
};

static const struct column held_job_columns[] = {
	{ "job", NULL, CELL(held_job_row, job) },
	{ "sl", NULL, CELL(held_job_row, sl), ORIGIN_COMPUTED },
	{ "hosts", NULL, CELL(held_job_row, hosts), ORIGIN_COMPUTED },
	{ "rate per host", "Mb/s", CELL(held_job_row, rate), ORIGIN_COMPUTED, 3 },
	{ "links", NULL, CELL(held_job_row, links), ORIGIN_COMPUTED },
	{ NULL },
};

struct random_row {
	uint64_t tried, established, attempts;
	double load_with_headers;
};

static const struct column random_columns[] = {
	{ "tried", NULL, CELL(random_row, tried) },
	{ "established", NULL, CELL(random_row, established), ORIGIN_COMPUTED },
	{ "attempts", NULL, CELL(random_row, attempts), ORIGIN_COMPUTED },
	{ "load with headers", "%", CELL(random_row, load_with_headers), ORIGIN_COMPUTED, 2 },
	{ NULL },
};

struct group_row {
	const char *group, *tree;
	uint64_t mlid, members, senders_besides;
};

static const struct column group_columns[] = {
	{ "group", NULL, CELL(group_row, group) },
	{ "tree", NULL, CELL(group_row, tree) },
	{ "MLID", NULL, CELL(group_row, mlid), ORIGIN_COMPUTED },
	{ "members", NULL, CELL(group_row, members) },
	{ "senders besides", NULL, CELL(group_row, senders_besides), ORIGIN_COMPUTED },
	{ NULL },
};

struct admission_summary_row {
	uint64_t live;
	const char *fullest_link;
	double reserved_there, mean_reserved;
};

static const struct column summary_columns[] = {
	{ "live", NULL, CELL(admission_summary_row, live), ORIGIN_COMPUTED },
	{ "fullest link", NULL, CELL(admission_summary_row, fullest_link), ORIGIN_COMPUTED },
	{ "reserved there", "%", CELL(admission_summary_row, reserved_there), ORIGIN_COMPUTED, 2 },
	{ "mean reserved", "%", CELL(admission_summary_row, mean_reserved), ORIGIN_COMPUTED, 2 },
	{ NULL },
};

struct violation_row {
	const char *link;
	uint64_t sources;
	double asked, bound, seen, seen_half_width;
};

static const struct column violation_columns[] = {
	{ "link", NULL, CELL(violation_row, link), ORIGIN_COMPUTED },
	{ "sources", NULL, CELL(violation_row, sources), ORIGIN_COMPUTED },
	{ "asked", "%", CELL(violation_row, asked), ORIGIN_GIVEN, 4 },
	{ "bound", "%", CELL(violation_row, bound), ORIGIN_COMPUTED, 4 },
	{ "seen", "%", CELL(violation_row, seen), ORIGIN_SIMULATED, 4 },
	{ "seen +-", "%", CELL(violation_row, seen_half_width), ORIGIN_SIMULATED, 4 },
	{ NULL },
};

static const char *link_name(struct table *t, const struct topo *topo, port_id p)
{
	return table_text(t, "%s[%u]", topo_node_of(topo, p)->name, topo->ports[p].number);
}

static double bound_of(const struct latency *l, uint32_t connection)
{
	double bound = latency_of(l, connection);

	return bound < HUGE_VAL ? bound * 1e6 : (double)NAN;
}

void admission_show_jobs(const struct broker *b, struct results *r)
{
	struct table *t = NULL;

	for (uint32_t i = 0; i < b->params.n_standing; i++) {
		const struct broker_connection *c = &b->connections[i];

		if (!t)
			t = results_table(r, "jobs",
					  "reservations of the scenario's jobs, before any request",
					  held_job_columns);
		const struct held_job_row row = {
			.job = c->request.hose->name,
			.sl = c->request.hose->sl,
			.hosts = c->request.hose->n,
			.rate = c->request.rate,
			.links = c->n_holds,
		};

		table_put_row(t, &row);
	}
}

static void show_answers(const struct admission *a, struct results *r)
{
	bool tolerant = a->params.violations.num > 0;
	struct table *t = results_table(r, "requests", "in the order of the file",
					tolerant ? tolerant_columns : request_columns);
	const bool timed = latency_is_asked(&a->broker);
	struct latency l = { 0 };

	if (timed)
		latency_init(&l, &a->broker, NULL, false);

	for (size_t i = 0; i < a->n_answers; i++) {
		const struct admission_answer *one = &a->answers[i];

		const struct request_row row = {
			.source = one->request->source,
			.destination = one->request->destination,
			.sl = one->request->sl,
			.rate = one->request->rate,
			.mean = one->request->mean,
			.admitted = one->admitted,
			.by_peak = one->by_peak,
			.reason = one->reason,
			.deadline = one->request->latency ? (double)one->request->latency * 1e-6
							  : (double)NAN,
			.bound = one->admitted && timed ? bound_of(&l, one->connection)
							: (double)NAN,
		};

		table_put_row(t, &row);
	}
	latency_fini(&l);
}

static void show_random(const struct admission *a, struct results *r)
{
	struct table *t = results_record(r, "random", "random connections", random_columns);

	const struct random_row row = {
		.tried = a->params.random,
		.established = a->random.established,
		.attempts = a->random.attempts,
		.load_with_headers = 100 * a->random.wire_load,
	};

	table_put_row(t, &row);
}

static void show_groups(const struct admission *a, struct results *r)
{
	struct table *t = results_table(r, "groups", "multicast groups", group_columns);

	const size_t n = a->params.terms.groups.n;

	for (size_t i = 0; i < n; i++) {
		const char *text = a->params.terms.groups.items[i];
		/* The last groups of the subnet: those of a scenario are before them. */
		const struct mcast_group *m = &a->subnet->groups[a->subnet->n_groups - n + i];

		const struct group_row row = {
			.group = table_text(t, "%.*s", (int)strcspn(text, ":"), text),
			.tree = mcast_method_names[m->method],
			.mlid = m->mlid,
			.members = m->n_members,
			.senders_besides = m->n_senders,
		};

		table_put_row(t, &row);
	}
}

static void show_summary(const struct admission *a, struct results *r)
{
	const struct admission_load load = admission_load_of(&a->broker);
	struct table *t = results_record(r, "summary", "after all requests", summary_columns);

	const struct admission_summary_row row = {
		.live = a->broker.n_live,
		.fullest_link = link_name(t, a->subnet->topo, load.fullest),
		.reserved_there = load.most,
		.mean_reserved = load.mean,
	};

	table_put_row(t, &row);
}

/* Links used by more than one source. */
static void show_violations(const struct admission *a, struct results *r)
{
	const struct stat_broker *b = &a->tolerant;
	struct table *t =
		results_table(r, "violations", "how often a link is asked for more than it has",
			      violation_columns);

	for (port_id p = 0; p < a->subnet->topo->n_ports; p++) {
		if (stat_broker_users(b, p) < 2)
			continue;
		const struct violation_row row = {
			.link = link_name(t, a->subnet->topo, p),
			.sources = stat_broker_users(b, p),
			.asked = 100 * b->allowed,
			.bound = 100 * stat_broker_bound(b, p),
			.seen = 100 * a->seen[p].mean,
			.seen_half_width = 100 * a->seen[p].half_width,
		};

		table_put_row(t, &row);
	}
}

void admission_show(const struct admission *a, struct results *r)
{
	admission_show_jobs(&a->broker, r);
	if (a->requests)
		show_answers(a, r);
	if (a->params.random)
		show_random(a, r);
	if (a->params.terms.groups.n)
		show_groups(a, r);
	if (a->params.violations.num > 0)
		show_violations(a, r);
	else
		show_summary(a, r);
}
