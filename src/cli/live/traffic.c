/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdlib.h>

#include "agent/agents.h"
#include "cli/live/live.h"
#include "live/protocol.h"
#include "sim/perfquery.h"

/* ---- the fabric as it is programmed */

struct programmed {
	const char *dir;
	struct strbuf image;
	struct agents *agents;
};

static void nothing_arrives(void *context, port_id port,
			    const struct mad_address *from, const uint8_t *mad,
			    size_t size)
{
	(void)context;
	(void)port;
	(void)from;
	(void)mad;
	(void)size;
}

static enum hd_status address(void *context, struct topo *t, struct diag *d)
{
	const struct agents_options options = { 0 };
	const struct agents_events events = { nothing_arrives, NULL };
	struct programmed *p = context;

	p->agents = agents_new(t, &options, &events);
	enum hd_status status =
		agents_load(p->agents, p->image.text, p->image.len, d);

	if (status == HD_OK)
		agents_take_lids(p->agents, t);
	return status;
}

/* A host with a manager that it knows of, and the manager's LID. */
static const char *managed_host(const struct programmed *p,
				const struct topo *t, uint16_t *sm_lid)
{
	for (port_id i = 0; i < t->n_ports; i++) {
		*sm_lid = (uint16_t)agents_port_get(p->agents, i, PORT_SM_LID);
		if (topo_is_end_port(t, i) && *sm_lid != 0 &&
		    t->ports[i].number == 1 &&
		    agents_port_get(p->agents, i, PORT_STATE) == LINK_ACTIVE)
			return topo_node_of(t, i)->name;
	}
	return NULL;
}

static enum hd_status program(void *context, struct subnet *s, struct diag *d)
{
	const struct programmed *p = context;
	uint16_t sm_lid;
	const char *host = managed_host(p, s->topo, &sm_lid);

	agents_program(p->agents, s);
	return host ? live_path_sls(p->dir, host, sm_lid, s, d) : HD_OK;
}

static bool is_down(void *context, port_id port)
{
	const struct programmed *p = context;

	return agents_port_get(p->agents, port, PORT_STATE) != LINK_ACTIVE;
}

static enum hd_status control(void *context, struct scn_congestion *c,
			      struct diag *d)
{
	const struct programmed *p = context;

	return live_control(p->agents, c, d);
}

static bool throttle(void *context, port_id source, unsigned sl,
		     struct cc_config *c)
{
	const struct programmed *p = context;

	return live_throttle(p->agents, source, sl, c);
}

enum hd_status live_fabric_read(const char *name, const char *path,
				const struct overrides *o, struct diag *d,
				struct fabric **out)
{
	const char *const words[] = { "image" };
	char *dir = live_folder(name);
	struct programmed p = { .dir = dir, .image = STRBUF_INIT };
	const struct fabric_programmer by = { address, program,  is_down,
					      control, throttle, &p };
	enum hd_status status = live_call(dir, words, 1, d, &p.image);

	if (status == HD_OK)
		status = fabric_read_programmed(path, o, &by, d, out);
	agents_free(p.agents);
	strbuf_fini(&p.image);
	free(dir);
	return status;
}

/* ---- what it counted */

struct counts {
	const char *dir;
	struct strbuf text;
	port_id port;
	struct diag *d;
};

static enum hd_status flush(struct counts *c)
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
	struct counts *c = context;
	int counter = agents_counter_named(name);

	if (value > 0 && counter >= 0)
		strbuf_printf(&c->text, "%s%u %d %" PRIu64,
			      c->text.len ? " " : "", (unsigned)c->port,
			      counter, value);
}

enum hd_status live_count(const char *name, const struct fabric *f,
			  const struct sim_metrics *m, struct diag *d)
{
	enum { OF_A_PORT = 80 * 48 }; /* bytes, at most */
	char *dir = live_folder(name);
	struct counts c = { .dir = dir, .text = STRBUF_INIT, .d = d };
	enum hd_status status = HD_OK;

	for (uint32_t i = 0; i < f->setup.n_ports && status == HD_OK; i++) {
		struct sim_counters counters;

		sim_port_counters(m, i, &counters);
		/* Links that were down before are no news. */
		counters.link_downed = 0;
		c.port = f->setup.ports[i].origin;
		if (f->setup.ports[i].peer != SIM_NONE)
			perfquery_each(f, i, &counters, put, &c);
		if (c.text.len + OF_A_PORT > LIVE_TEXT / 2)
			status = flush(&c);
	}
	if (status == HD_OK)
		status = flush(&c);
	strbuf_fini(&c.text);
	free(dir);
	return status;
}
