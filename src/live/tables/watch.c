/* SPDX-License-Identifier: BSD-2-Clause */
#include "live/tables/tables.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "live/live.h"

/*
 * Number of packets that a port of a run refused for their P_Key, and the first of them, which the
 * notice to the subnet manager describes.
 */
struct refusal {
	uint64_t n;
	uint16_t slid, dlid, pkey;
	uint8_t sl;
};

struct live_tables_watch {
	const struct fabric *fabric;
	struct refusal *ports; /* per sim port */
};

static void note(void *context, const struct sim_event_record *e, const struct sim_packet *p)
{
	struct live_tables_watch *w = context;
	const struct sim_setup *u = &w->fabric->setup;
	struct refusal *r = &w->ports[e->where];

	if (e->fate != SIM_LOST_PARTITION || r->n++ > 0)
		return;
	port_id from = u->ports[u->nodes[p->source].first_port + 1].origin;

	r->slid = p->slid ? p->slid : w->fabric->subnet.lid_of_port[from];
	r->dlid = p->dlid;
	r->pkey = p->pkey;
	r->sl = p->sl;
}

struct live_tables_watch *live_tables_watch_new(const struct fabric *fabric, struct sim *s)
{
	struct live_tables_watch *w = hd_alloc(1, sizeof(*w));
	const struct sim_observer o = { .context = w, .ended = note };

	w->fabric = fabric;
	w->ports = hd_alloc(fabric->setup.n_ports, sizeof(*w->ports));
	sim_observe(s, &o);
	return w;
}

void live_tables_watch_free(struct live_tables_watch *w)
{
	if (!w)
		return;
	free(w->ports);
	free(w);
}

/* "refuse PORT N SLID DLID SL P_KEY" */
static enum hd_status notify_one(const char *dir, port_id port, const struct refusal *r,
				 struct diag *d)
{
	struct strbuf text = STRBUF_INIT, out = STRBUF_INIT;

	strbuf_printf(&text, "%u %" PRIu64 " %u %u %u %u", (unsigned)port, r->n, r->slid, r->dlid,
		      r->sl, r->pkey);
	const char *const words[] = { "refuse", text.text };
	enum hd_status status = live_call(dir, words, 2, d, &out);

	strbuf_fini(&text);
	strbuf_fini(&out);
	return status;
}

enum hd_status live_tables_watch_report(const struct live_tables_watch *w, const char *name,
					struct diag *d)
{
	const struct sim_setup *u = &w->fabric->setup;
	char *dir = live_folder(name);
	enum hd_status status = HD_OK;

	for (uint32_t i = 0; i < u->n_ports && status == HD_OK; i++)
		if (w->ports[i].n > 0)
			status = notify_one(dir, u->ports[i].origin, &w->ports[i], d);
	free(dir);
	return status;
}
