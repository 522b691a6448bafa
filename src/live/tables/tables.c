/* SPDX-License-Identifier: BSD-2-Clause */
#include "live/tables/tables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "live/live.h"
#include "live/protocol.h"
#include "mgmt/agents/agents.h"
#include "sim/report/perfquery.h"
#include "subnet/tables/path_sls.h"

/* ---- the programmed fabric */

/* SLs of paths as reported by a manager, for path_sls_keep. */
struct sl_answer {
	struct sl_answer *next;
	uint8_t **rows; /* NULL: applications choose the SLs */
	uint32_t n;     /* number of ports */
};

/* State found at a time of the run. */
struct moment {
	struct moment *next;
	hd_time at;
	struct topo topo; /* with LIDs */
	struct agents *agents;
	struct subnet subnet;
	bool *down;
};

struct live_tables {
	const char *name;
	char *dir;
	uint64_t version;
	struct strbuf image;         /* of the first moment */
	struct moment *first, *last; /* empty until a change was found */
	struct strbuf latest;        /* image of the last one */
	/* Answers received, the latest first; NULL: no request yet. */
	struct sl_answer *answers, *first_answer;
	bool needs_manager;
};

/* Context of the callbacks that give a fabric's builder the tables at the start of the run. */
struct programmed {
	struct live_tables *tables;
	struct agents *agents;
	bool is_old; /* the programmed state has changed meanwhile */
};

static enum hd_status load(const struct topo *t, const struct strbuf *image, struct diag *d,
			   struct agents **out)
{
	const struct agents_options options = { 0 };
	const struct agents_events no_events = { 0 };

	*out = agents_new(t, &options, &no_events);
	return agents_load(*out, image->text, image->len, d);
}

static enum hd_status address(void *context, struct topo *t, struct diag *d)
{
	struct programmed *p = context;
	enum hd_status status = load(t, &p->tables->image, d, &p->agents);

	if (status == HD_OK) {
		agents_copy_lids(p->agents, t);
		agents_copy_links(p->agents, t);
	}
	return status;
}

static void note_arrival(void *context, port_id end)
{
	(void)end;
	*(bool *)context = true;
}

/* A host that can reach its subnet manager, and the manager's LID; or NULL. */
static const char *managed_host(const struct agents *a, const struct topo *t, uint16_t *sm_lid)
{
	for (port_id i = 0; i < t->n_ports; i++) {
		bool reaches = false;
		const struct agents_path_observer way = { NULL, note_arrival, &reaches };

		*sm_lid = (uint16_t)agents_port_get(a, i, PORT_SM_LID);
		if (!topo_is_end_port(t, i) || *sm_lid == 0 || t->ports[i].number != 1 ||
		    agents_port_get(a, i, PORT_STATE) != LINK_ACTIVE)
			continue;
		agents_trace(a, i, *sm_lid, 0, &way);
		if (reaches)
			return topo_node_of(t, i)->name;
	}
	return NULL;
}

/* ---- SLs of paths: queried once for each state and stored with it */

static enum hd_status ask_version(const struct live_tables *l, struct diag *d, uint64_t *out)
{
	const char *const words[] = { "version" };
	struct strbuf text = STRBUF_INIT;
	enum hd_status status = live_call(l->dir, words, 1, d, &text);

	*out = status == HD_OK ? strtoull(text.text, NULL, 10) : 0;
	strbuf_fini(&text);
	return status;
}

/* Queries the version and, if it has changed, the state. */
static enum hd_status fetch(const struct live_tables *l, struct strbuf *image, uint64_t *version,
			    struct diag *d)
{
	const char *const all[] = { "image" };
	uint64_t before = *version;
	enum hd_status status = ask_version(l, d, version);

	if (status == HD_OK && *version != before)
		status = live_call(l->dir, all, 1, d, image);
	return status;
}

static bool is_same(const struct strbuf *a, const struct strbuf *b)
{
	return a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
}

/*
 * True if the current state differs from `image`; managers often program unchanged values, which
 * increments the version.
 */
static enum hd_status compare(const struct live_tables *l, const struct strbuf *image,
			      uint64_t *version, struct diag *d, bool *differ)
{
	struct strbuf now = STRBUF_INIT;
	enum hd_status status = fetch(l, &now, version, d);

	*differ = now.len > 0 && !is_same(&now, image);
	strbuf_fini(&now);
	return status;
}

/* State at time `at`, and its version. */
struct found {
	const struct strbuf *image;
	hd_time at;
	uint64_t version;
};

static void keep_answer(struct live_tables *l, uint8_t **rows, uint32_t n)
{
	struct sl_answer *g = hd_alloc(1, sizeof(*g));

	*g = (struct sl_answer){ l->answers, rows, n };
	if (!l->answers)
		l->first_answer = g;
	l->answers = g;
}

/*
 * Queries the manager's SLs for these tables. If the tables change meanwhile, the answer may be
 * for the new tables and is discarded.
 */
static enum hd_status ask_sls(struct live_tables *l, const struct agents *a, const struct subnet *s,
			      const struct found *x, struct diag *d)
{
	uint16_t sm_lid;
	const char *host = managed_host(a, s->topo, &sm_lid);
	uint8_t **rows = NULL;
	uint64_t version = x->version;
	bool differ = false;
	enum hd_status status = host ? live_path_sls(l->dir, host, sm_lid, s, d, &rows) : HD_OK;

	if (status == HD_OK && rows)
		status = compare(l, x->image, &version, d, &differ);
	if (status == HD_OK && !differ && (host || !l->answers))
		keep_answer(l, rows, s->topo->n_ports);
	else
		live_path_sls_free(s->topo, rows);
	return status;
}

static void program_by(const struct agents *a, const struct sl_answer *sls, struct subnet *s)
{
	agents_program(a, s);
	if (sls->rows)
		path_sls_keep(s, sls->rows);
}

static enum hd_status program(void *context, struct subnet *s, struct diag *d)
{
	static const struct sl_answer none;
	struct programmed *p = context;
	struct live_tables *l = p->tables;
	const struct found x = { &l->image, 0, l->version };
	enum hd_status status = HD_OK;

	if (!l->first_answer)
		status = ask_sls(l, p->agents, s, &x, d);
	if (status == HD_ERR_NOT_FOUND && !l->needs_manager) {
		keep_answer(l, NULL, 0);
		status = HD_OK;
	}
	p->is_old = !l->first_answer;
	if (status == HD_OK)
		program_by(p->agents, l->first_answer ? l->first_answer : &none, s);
	return status;
}

static bool is_down(void *context, port_id port)
{
	const struct programmed *p = context;

	return agents_port_get(p->agents, port, PORT_STATE) != LINK_ACTIVE;
}

/*
 * Throttles exist from the start of a run. If the tables at the start have no congestion control,
 * the first later state that has it gives the parameters, with threshold 0: no packet is marked.
 */
static enum hd_status control(void *context, struct scn_congestion *c, struct diag *d)
{
	const struct programmed *p = context;
	enum hd_status status = live_tables_control(p->agents, c, d);

	for (const struct moment *m = p->tables->first;
	     m && status == HD_OK && c->algorithm == SCN_CONTROL_SAME; m = m->next) {
		status = live_tables_control(m->agents, c, d);
		c->threshold = 0;
	}
	return status;
}

static bool throttle(void *context, port_id source, unsigned sl, struct cc_config *c)
{
	const struct programmed *p = context;

	if (live_tables_throttle(p->agents, source, sl, c))
		return true;
	for (const struct moment *m = p->tables->first; m; m = m->next) {
		struct cc_config later = *c;

		if (live_tables_throttle(m->agents, source, sl, &later))
			return live_tables_throttle_or_off(p->agents, source, sl, c);
	}
	return false;
}

static enum hd_status control_then(void *context, struct scn_congestion *c, struct diag *d)
{
	const struct moment *m = context;

	return live_tables_control_or_off(m->agents, c, d);
}

static bool throttle_then(void *context, port_id source, unsigned sl, struct cc_config *c)
{
	const struct moment *m = context;

	return live_tables_throttle_or_off(m->agents, source, sl, c);
}

/* ---- later states */

static void free_moment(struct moment *m)
{
	agents_free(m->agents);
	subnet_fini(&m->subnet);
	topo_fini(&m->topo);
	free(m->down);
	free(m);
}

/* Queries SLs at a later state. Senders keep their SLs while the manager is busy or unreachable. */
static enum hd_status ask_again(struct live_tables *l, const struct moment *m,
				const struct found *x, struct diag *d)
{
	struct diag here = { .status = HD_OK };
	enum hd_status status = ask_sls(l, m->agents, &m->subnet, x, &here);

	if (status == HD_OK || status == HD_ERR_NOT_FOUND)
		return HD_OK;
	*d = here;
	return status;
}

/* Appends a state on a fabric of the same nodes. */
static enum hd_status add_moment(struct live_tables *l, const struct topo *t, const struct found *x,
				 struct diag *d)
{
	const struct lid_options lids = { .order = LIDS_KEEP };
	struct moment *m = hd_alloc(1, sizeof(*m));

	m->at = x->at;
	topo_copy(t, &m->topo);
	subnet_init(&m->subnet, &m->topo);
	m->down = hd_alloc(t->n_ports, sizeof(*m->down));
	enum hd_status status = load(&m->topo, x->image, d, &m->agents);

	if (status == HD_OK) {
		agents_copy_lids(m->agents, &m->topo);
		subnet_fini(&m->subnet);
		subnet_init(&m->subnet, &m->topo);
		status = subnet_assign_lids(&m->subnet, &lids, d);
	}
	if (status == HD_OK && l->first)
		status = ask_again(l, m, x, d);
	if (status != HD_OK) {
		free_moment(m);
		return status;
	}
	program_by(m->agents, l->first ? l->answers : l->first_answer, &m->subnet);
	for (port_id p = 0; p < t->n_ports; p++)
		m->down[p] = agents_port_get(m->agents, p, PORT_STATE) != LINK_ACTIVE;
	if (l->last)
		l->last->next = m;
	else
		l->first = m;
	l->last = m;
	return HD_OK;
}

/* Creates the first state, which is valid from now on. */
static enum hd_status begin(struct live_tables *l, struct diag *d)
{
	l->version = UINT64_MAX;
	strbuf_clear(&l->image);
	return fetch(l, &l->image, &l->version, d);
}

enum hd_status live_tables_open(const char *name, bool needs_manager, struct diag *d,
				struct live_tables **out)
{
	struct live_tables *l = hd_alloc(1, sizeof(*l));

	*l = (struct live_tables){ .name = name,
				   .dir = live_folder(name),
				   .needs_manager = needs_manager,
				   .latest = STRBUF_INIT,
				   .image = STRBUF_INIT };
	enum hd_status status = begin(l, d);

	if (status == HD_OK)
		*out = l;
	else
		live_tables_free(l);
	return status;
}

void live_tables_free(struct live_tables *l)
{
	if (!l)
		return;
	while (l->first) {
		struct moment *m = l->first;

		l->first = m->next;
		free_moment(m);
	}
	while (l->answers) {
		struct sl_answer *g = l->answers;

		l->answers = g->next;
		for (uint32_t p = 0; g->rows && p < g->n; p++)
			free(g->rows[p]);
		free(g->rows);
		free(g);
	}
	strbuf_fini(&l->image);
	strbuf_fini(&l->latest);
	free(l->dir);
	free(l);
}

bool live_tables_changed(struct live_tables *l)
{
	struct diag d = { .status = HD_OK };
	uint64_t version = l->version;
	bool old;

	if (compare(l, &l->image, &version, &d, &old) != HD_OK || old)
		return true;
	l->version = version;
	return false;
}

enum hd_status live_tables_update(struct live_tables *l, const struct fabric *fabric, hd_time at,
				  struct diag *d, bool *changed)
{
	struct strbuf image = STRBUF_INIT;
	uint64_t version = l->version;
	enum hd_status status = fetch(l, &image, &version, d);

	*changed = status == HD_OK && image.len > 0 &&
		   !is_same(&image, l->first ? &l->latest : &l->image);
	const struct found first = { &l->image, 0, l->version };
	const struct found now = { &image, at, version };

	if (*changed && !l->first)
		status = add_moment(l, &fabric->topo, &first, d);
	if (status == HD_OK && *changed)
		status = add_moment(l, &fabric->topo, &now, d);
	if (status == HD_OK && *changed) {
		struct strbuf before = l->latest;

		l->latest = image;
		image = before;
	}
	if (status == HD_OK)
		l->version = version;
	strbuf_fini(&image);
	return status;
}

/* Applies the states found later, at their times. */
static enum hd_status follow(const struct live_tables *l, struct fabric *fabric, struct diag *d)
{
	enum hd_status status = HD_OK;

	for (const struct moment *was = l->first; was && was->next && status == HD_OK;
	     was = was->next) {
		struct moment *is = was->next;
		const struct fabric_programmer by = { .control = control_then,
						      .throttle = throttle_then,
						      .context = is };
		const struct fabric_tables before = { &was->subnet, was->down, NULL };
		const struct fabric_tables then = { &is->subnet, is->down, &by };

		status = fabric_reprogram(fabric, &before, &then, is->at, d);
	}
	return status;
}

enum hd_status live_tables_fabric(struct live_tables *l, const char *path,
				  const struct overrides *o, struct diag *d, struct fabric **out)
{
	enum { MOST = 100 };
	struct programmed p;
	const struct fabric_programmer by = { address, program, is_down, control, throttle, &p };
	enum hd_status status = HD_OK;

	for (unsigned tries = 0; status == HD_OK; tries++) {
		p = (struct programmed){ .tables = l };
		status = fabric_read_programmed(path, o, &by, d, out);
		agents_free(p.agents);
		if (status != HD_OK)
			return status;
		if (!p.is_old)
			break;
		fabric_free(*out);
		status =
			tries < MOST
				? begin(l, d)
				: diag_fail(
					  d, HD_ERR_ENV,
					  "the subnet manager keeps changing the tables; wait until the fabric is stable and try again");
	}
	if (status != HD_OK)
		return status;
	status = follow(l, *out, d);
	if (status != HD_OK)
		fabric_free(*out);
	return status;
}

/* ---- counters of the run */

/* Subtracts packets of programs, which the daemon counts itself. */
static void subtract_programs(struct sim_counters *c, const struct sim_counters *programs)
{
	if (!programs)
		return;
	c->xmit_bytes -= programs->xmit_bytes;
	c->rcv_bytes -= programs->rcv_bytes;
	c->xmit_packets -= programs->xmit_packets;
	c->rcv_packets -= programs->rcv_packets;
	c->xmit_multicast -= programs->xmit_multicast;
	c->rcv_multicast -= programs->rcv_multicast;
	for (unsigned i = 0; i < 16; i++) {
		c->xmit_bytes_vl[i] -= programs->xmit_bytes_vl[i];
		c->xmit_packets_vl[i] -= programs->xmit_packets_vl[i];
		c->rcv_bytes_vl[i] -= programs->rcv_bytes_vl[i];
		c->rcv_packets_vl[i] -= programs->rcv_packets_vl[i];
		c->xmit_bytes_sl[i] -= programs->xmit_bytes_sl[i];
		c->xmit_packets_sl[i] -= programs->xmit_packets_sl[i];
		c->rcv_bytes_sl[i] -= programs->rcv_bytes_sl[i];
		c->rcv_packets_sl[i] -= programs->rcv_packets_sl[i];
	}
}

struct perfquery_text {
	const char *dir;
	struct strbuf text;
	port_id port;
	struct diag *d;
};

static enum hd_status flush(struct perfquery_text *c)
{
	const char *const words[] = { "count", c->text.text };
	struct strbuf out = STRBUF_INIT;
	enum hd_status status = HD_OK;

	if (c->text.len > 0)
		status = live_call(c->dir, words, 2, c->d, &out);
	strbuf_clear(&c->text);
	strbuf_fini(&out);
	return status;
}

static void put(void *context, const char *name, uint64_t value)
{
	struct perfquery_text *c = context;
	int counter = agents_counter_named(name);

	if (value > 0 && counter >= 0)
		strbuf_printf(&c->text, "%s%u %d %" PRIu64, c->text.len ? " " : "",
			      (unsigned)c->port, counter, value);
}

enum hd_status live_tables_count(const char *name, const struct fabric *fabric,
				 const struct sim_metrics *m, live_tables_counters_fn *of_programs,
				 struct diag *d)
{
	enum { OF_A_PORT = 80 * 48 }; /* most bytes for a port */
	char *dir = live_folder(name);
	struct perfquery_text c = { .dir = dir, .text = STRBUF_INIT, .d = d };
	enum hd_status status = HD_OK;

	for (uint32_t i = 0; i < fabric->setup.n_ports && status == HD_OK; i++) {
		struct sim_counters counters;

		sim_port_counters(m, i, &counters);
		/* Links that were down before the run are not counted. */
		counters.link_downed = 0;
		c.port = fabric->setup.ports[i].origin;
		if (fabric->setup.ports[i].peer != SIM_NONE) {
			subtract_programs(&counters, of_programs(c.port));
			perfquery_each(fabric, i, &counters, put, &c);
		}
		if (c.text.len + OF_A_PORT > LIVE_TEXT / 2)
			status = flush(&c);
	}
	if (status == HD_OK)
		status = flush(&c);
	strbuf_fini(&c.text);
	free(dir);
	return status;
}
