/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/admission/hose.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "qos/opensm/path.h"

/*
 * Numbers of senders and receivers whose paths use a VL of a port, and the last one counted of
 * each.
 */
struct hose_crossing {
	uint32_t senders, receivers;
	uint32_t last_sender, last_receiver; /* 1 + index */
};

static enum hd_status count_path(const struct subnet *s, const struct broker_hose *h, uint32_t from,
				 uint32_t to, struct hose_crossing *all)
{
	struct path path;
	enum hd_status status =
		path_walk(s, h->hosts[from], s->lid_of_port[h->hosts[to]], h->sl, &path);

	for (uint32_t i = 0; i < path.n_hops && status == HD_OK; i++) {
		struct hose_crossing *c = &all[(size_t)path.port[i] * N_VLS + path.vl[i]];

		c->senders += c->last_sender != from + 1;
		c->last_sender = from + 1;
	}
	return status;
}

/* Counts receivers, destination by destination. */
static void count_receiver(const struct subnet *s, const struct broker_hose *h, uint32_t from,
			   uint32_t to, struct hose_crossing *all)
{
	struct path path;

	if (path_walk(s, h->hosts[from], s->lid_of_port[h->hosts[to]], h->sl, &path) != HD_OK)
		return;
	for (uint32_t i = 0; i < path.n_hops; i++) {
		struct hose_crossing *c = &all[(size_t)path.port[i] * N_VLS + path.vl[i]];

		c->receivers += c->last_receiver != to + 1;
		c->last_receiver = to + 1;
	}
}

static uint32_t collect(const struct hose_crossing *all, size_t n, struct hose_link *out)
{
	uint32_t found = 0;

	for (size_t i = 0; i < n; i++) {
		const struct hose_crossing *c = &all[i];

		if (c->senders == 0)
			continue;
		if (out)
			out[found] = (struct hose_link){
				.port = (port_id)(i / N_VLS),
				.vl = (uint8_t)(i % N_VLS),
				.times = c->senders < c->receivers ? c->senders : c->receivers,
			};
		found++;
	}
	return found;
}

enum hd_status hose_links(const struct subnet *s, const struct broker_hose *h,
			  struct hose_link **out, uint32_t *n, port_id *where)
{
	size_t all = (size_t)s->topo->n_ports * N_VLS;
	struct hose_crossing *crossings = hd_alloc(all, sizeof(*crossings));
	enum hd_status status = HD_OK;

	*out = NULL;
	*n = 0;
	for (uint32_t i = 0; i < h->n * h->n && status == HD_OK; i++) {
		if (i / h->n != i % h->n)
			status = count_path(s, h, i / h->n, i % h->n, crossings);
		if (status != HD_OK)
			*where = h->hosts[i / h->n];
	}
	for (uint32_t i = 0; i < h->n * h->n && status == HD_OK; i++) {
		if (i / h->n != i % h->n)
			count_receiver(s, h, i % h->n, i / h->n, crossings);
	}
	if (status == HD_OK) {
		*n = collect(crossings, all, NULL);
		*out = hd_alloc(*n, sizeof(**out));
		(void)collect(crossings, all, *out);
	}
	free(crossings);
	return status;
}
