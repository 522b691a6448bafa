/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "report/page.h"
#include "serve/watch_parts.h"

#define BUSIEST 12
#define FAULTY  200 /* limit of rows of errors */

static void put_page_run(struct json *w, const struct results *r)
{
	page_put_run(w, &(struct page_run){ .results = r }, NULL);
}

/* Nothing is programmed before a subnet manager has assigned LIDs. */
void watch_put_picture(const struct fabric_watch *w, struct strbuf *out)
{
	struct results *r = results_new("serve");
	struct diag none = { .status = HD_OK };
	struct topo addressed;
	struct subnet s;
	struct json json;
	enum hd_status status = agents_subnet(w->agents, &none, &addressed, &s);
	struct picture_link *links = hd_alloc(w->n_links + 1, sizeof(*links));

	for (size_t i = 0; i < w->n_links; i++) {
		links[i] = w->links[i];
		links[i].used = links[i].waiting = 0;
	}
	picture_nodes(&s, r);
	picture_links(&addressed, links, w->n_links, r);
	if (status == HD_OK)
		picture_tables(&s, links, w->n_links, r);
	free(links);
	subnet_fini(&s);
	topo_fini(&addressed);
	json_init(&json, out);
	json.compact = true;
	put_page_run(&json, r);
	results_free(r);
}

/* ---- tables of the current state ----------------------------------------- */

struct watch_summary_row {
	const char *name;
	uint64_t hosts, switches, cables, active, down;
	const char *manager;
};

static const struct column summary_columns[] = {
	{ "fabric", NULL, CELL(watch_summary_row, name) },
	{ "hosts", NULL, CELL(watch_summary_row, hosts) },
	{ "switches", NULL, CELL(watch_summary_row, switches) },
	{ "cables", NULL, CELL(watch_summary_row, cables) },
	{ "active", "cables", CELL(watch_summary_row, active), ORIGIN_SIMULATED },
	{ "down", "cables", CELL(watch_summary_row, down), ORIGIN_SIMULATED },
	{ "subnet manager", NULL, CELL(watch_summary_row, manager), ORIGIN_SIMULATED },
	{ NULL },
};

/* Node of the subnet manager, by the first SM LID found in a port. */
static const char *manager_of(const struct fabric_watch *w)
{
	const struct topo *t = &w->topo;
	uint64_t lid = 0;

	for (port_id p = 0; p < t->n_ports && !lid; p++)
		lid = agents_port_get(w->agents, p, PORT_SM_LID);
	for (port_id p = 0; p < t->n_ports && lid; p++) {
		if (topo_is_end_port(t, p) && agents_port_get(w->agents, p, PORT_LID) == lid)
			return topo_node_of(t, p)->name;
	}
	return NULL;
}

static void put_summary(const struct fabric_watch *w, struct results *r)
{
	struct watch_summary_row row = { .name = w->name, .manager = manager_of(w) };
	struct strbuf title = STRBUF_INIT;

	for (node_id v = 0; v < w->topo.n_nodes; v++) {
		row.hosts += w->topo.nodes[v].kind == NODE_CA;
		row.switches += w->topo.nodes[v].kind == NODE_SWITCH;
	}
	for (size_t i = 0; i < w->n_links; i++) {
		uint64_t state = agents_port_get(w->agents, w->links[i].from, PORT_STATE);

		if (w->links[i].from > w->links[i].to)
			continue;
		row.cables++;
		row.active += state == LINK_ACTIVE;
		row.down += state == LINK_DOWN;
	}
	strbuf_printf(&title, "the live fabric '%s'", w->name);
	table_put_row(results_record(r, "summary", title.text, summary_columns), &row);
	strbuf_fini(&title);
}

struct busy_row {
	const char *port;
	double rate, used, waiting;
	uint64_t packets;
};

static const struct column busy_columns[] = {
	{ "port", NULL, CELL(busy_row, port) },
	{ "sends", "Gb/s", CELL_BITS(busy_row, rate), ORIGIN_SIMULATED, 3 },
	{ "used", "%", CELL_SHARE(busy_row, used), ORIGIN_SIMULATED, 1 },
	{ "waiting", "%", CELL_SHARE(busy_row, waiting), ORIGIN_SIMULATED, 1 },
	{ "sent", "packets", CELL(busy_row, packets), ORIGIN_SIMULATED },
	{ NULL },
};

static int by_use(const void *a, const void *b)
{
	const struct picture_link *x = a, *y = b;

	if (x->used + x->waiting != y->used + y->waiting)
		return x->used + x->waiting > y->used + y->waiting ? -1 : 1;
	return (x->from > y->from) - (x->from < y->from);
}

static const char *port_name(const struct fabric_watch *w, port_id p, struct table *t)
{
	struct strbuf name = STRBUF_INIT;

	picture_port_name(&w->topo, p, &name);
	return table_take(t, &name);
}

static void put_busiest(const struct fabric_watch *w, struct results *r)
{
	const size_t packets = prometheus_index("PortXmitPkts");
	struct picture_link *sorted = hd_alloc(w->n_links + 1, sizeof(*sorted));
	struct table *t =
		results_table(r, "ports", "the busiest between the last two looks", busy_columns);

	memcpy(sorted, w->links, w->n_links * sizeof(*sorted));
	qsort(sorted, w->n_links, sizeof(*sorted), by_use);
	for (size_t i = 0; i < w->n_links && i < BUSIEST; i++) {
		const struct picture_link *l = &sorted[i];
		const struct busy_row row = {
			.port = port_name(w, l->from, t),
			.rate = l->used * hd_rate_bps(l->rate),
			.used = l->used,
			.waiting = l->waiting,
			.packets = watch_counter(w->counters, l->from, packets),
		};

		table_put_row(t, &row);
	}
	free(sorted);
}

struct error_row {
	const char *port, *counter;
	uint64_t value;
};

static const struct column error_columns[] = {
	{ "port", NULL, CELL(error_row, port) },
	{ "counter", NULL, CELL(error_row, counter) },
	{ "value", NULL, CELL(error_row, value), ORIGIN_SIMULATED },
	{ NULL },
};

/* Error counters, as ibqueryerrors shows them. */
static void put_errors(const struct fabric_watch *w, struct results *r)
{
	static const char *const errors[] = {
		"SymbolErrorCounter",
		"LinkErrorRecoveryCounter",
		"LinkDownedCounter",
		"PortRcvErrors",
		"PortRcvRemotePhysicalErrors",
		"PortRcvSwitchRelayErrors",
		"PortXmitDiscards",
		"PortXmitConstraintErrors",
		"PortRcvConstraintErrors",
		"LocalLinkIntegrityErrors",
		"ExcessiveBufferOverrunErrors",
		"VL15Dropped",
	};
	struct table *t = results_table(r, "errors", "that ports have counted", error_columns);

	for (size_t k = 0; k < sizeof(errors) / sizeof(errors[0]); k++) {
		const size_t index = prometheus_index(errors[k]);

		for (port_id p = 0; p < w->topo.n_ports; p++) {
			uint64_t n = watch_counter(w->counters, p, index);

			if (!n || table_rows(t) >= FAULTY)
				continue;
			const struct error_row row = { port_name(w, p, t), errors[k], n };

			table_put_row(t, &row);
		}
	}
}

static const struct column sample_columns[] = {
	{ "time", "s", CELL(watch_sample, time), ORIGIN_GIVEN, 1 },
	{ "sent by hosts", "Gb/s", CELL_BITS(watch_sample, rate), ORIGIN_SIMULATED, 3 },
	{ NULL },
};

static void put_samples(const struct fabric_watch *w, struct results *r)
{
	struct table *t =
		results_series(r, "traffic over time", "since the page was served", sample_columns);

	for (size_t i = 0; i < w->n_samples; i++)
		table_put_row(t, &w->samples[i]);
}

/* ---- the state ----------------------------------------------------------- */

static double used_of(const struct picture_link *l)
{
	return l->used;
}

static double waiting_of(const struct picture_link *l)
{
	return l->waiting;
}

/* In units of 0.1 %. */
static void put_shares(const struct fabric_watch *w, struct json *json, const char *key,
		       double (*share)(const struct picture_link *l))
{
	json_key(json, key);
	json_begin_array(json);
	for (size_t i = 0; i < w->n_links; i++)
		json_uint(json, (uint64_t)lround(1000 * share(&w->links[i])));
	json_end(json);
}

static void put_down(const struct fabric_watch *w, struct json *json)
{
	json_key(json, "down");
	json_begin_array(json);
	for (size_t i = 0; i < w->n_links; i++) {
		if (agents_port_get(w->agents, w->links[i].from, PORT_STATE) == LINK_DOWN)
			json_uint(json, i);
	}
	json_end(json);
}

static void put_changes(const struct fabric_watch *w, struct json *json)
{
	json_key(json, "changes");
	json_begin_array(json);
	for (size_t i = 0; i < w->n_notes; i++) {
		json_begin_object(json);
		json_key(json, "at");
		json_double(json, w->notes[i].at * 1e6);
		json_put_text(json, "what", w->notes[i].words);
		json_end(json);
	}
	json_end(json);
}

void watch_put_state(const struct fabric_watch *w, struct strbuf *out)
{
	struct results *r = results_new("serve");
	struct json json;

	put_summary(w, r);
	put_busiest(w, r);
	put_errors(w, r);
	put_samples(w, r);
	json_init(&json, out);
	json.compact = true;
	json_begin_object(&json);
	json_put_text(&json, "state", "live");
	json_key(&json, "now");
	json_double(&json, (w->looked - w->began) * 1e6);
	json_put_uint(&json, "version", w->drawn);
	put_changes(w, &json);
	put_shares(w, &json, "used", used_of);
	put_shares(w, &json, "waiting", waiting_of);
	put_down(w, &json);
	json_key(&json, "run");
	put_page_run(&json, r);
	json_end(&json);
	results_free(r);
}

/* ---- for Prometheus ------------------------------------------------------ */

void watch_put_metrics(const struct fabric_watch *w, struct strbuf *out)
{
	struct prometheus_port *ports = hd_alloc(w->n_links + 1, sizeof(*ports));

	for (size_t i = 0; i < w->n_links; i++) {
		port_id p = w->links[i].from;

		ports[i] = (struct prometheus_port){
			.device = topo_node_of(&w->topo, p)->name,
			.number = w->topo.ports[p].number,
			.state = (unsigned)agents_port_get(w->agents, p, PORT_STATE),
			.physical = (unsigned)agents_port_get(w->agents, p, PORT_PHYSICAL),
			.rate = w->links[i].rate,
		};
		for (size_t k = 0; k < N_PROMETHEUS_COUNTERS; k++)
			ports[i].counters[k] = w->counters[(size_t)p * N_PROMETHEUS_COUNTERS + k];
	}
	prometheus_ports(ports, w->n_links, out);
	free(ports);
}
