/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes that each job sent over each link. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "sim/jobs/jobs_internal.h"

struct job_link_row {
	const char *job, *link, *to;
	uint64_t bytes;
	double share, used;
};

static const struct column link_columns[] = {
	{ "job", NULL, CELL(job_link_row, job) },
	{ "link", NULL, CELL(job_link_row, link) },
	{ "to", NULL, CELL(job_link_row, to) },
	{ "bytes", NULL, CELL(job_link_row, bytes), ORIGIN_SIMULATED },
	{ "share", "%", CELL_SHARE(job_link_row, share), ORIGIN_SIMULATED, 2 },
	{ "of time", "%", CELL_SHARE(job_link_row, used), ORIGIN_SIMULATED, 2 },
	{ NULL },
};

struct link_use {
	uint32_t port;
	uint64_t bytes;
};

static int by_bytes(const void *a, const void *b)
{
	const struct link_use *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return x->port < y->port ? -1 : x->port > y->port;
}

/* Lists the ports used by the job, by descending bytes; returns their number. */
static uint32_t order_links(const struct placed_job *p, struct link_use *links)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->fabric->setup.n_ports; i++) {
		if (p->link_bytes[i])
			links[n++] = (struct link_use){ i, p->link_bytes[i] };
	}
	if (n)
		qsort(links, n, sizeof(*links), by_bytes);
	return n;
}

static void put_link(struct table *t, const struct placed_job *p, uint32_t port,
		     const struct sim_metrics *m)
{
	const struct sim_port *at = &p->fabric->setup.ports[port];
	uint64_t bytes = p->link_bytes[port];
	double ps = (double)(m->to - m->from);
	struct sim_counters c;

	sim_port_counters(m, port, &c);
	const struct job_link_row row = {
		.job = p->scn->name,
		.link = job_port_name(t, p, port),
		.to = job_port_name(t, p, at->peer),
		.bytes = bytes,
		.share = (double)bytes / (double)c.xmit_bytes,
		/*
		 * The last packet may still be on the link: all its bytes count, but only the
		 * time until now.
		 */
		.used = fmin(8e12 * (double)bytes / hd_rate_bps(at->rate) / ps,
			     m->ports[port].utilisation),
	};

	table_put_row(t, &row);
}

void jobs_link_table(const struct jobs *jobs, const struct sim_metrics *m, bool all,
		     struct results *r)
{
	struct table *t = results_table(
		r, "job links",
		all ? "what jobs sent over links, of all that these carried, and of the time"
		    : "what jobs sent over links, of all that these carried, and of the time: the most; --all shows all",
		link_columns);

	for (uint32_t i = 0; i < jobs->n; i++) {
		const struct placed_job *p = &jobs->placed[i];
		struct link_use *links = hd_alloc(p->fabric->setup.n_ports, sizeof(*links));
		uint32_t n = order_links(p, links);

		for (uint32_t k = 0; k < n && (all || k < FEW_LINKS); k++)
			put_link(t, p, links[k].port, m);
		free(links);
	}
}
