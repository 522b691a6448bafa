/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/admission/establish.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/rng.h"

#define KBPS UINT64_C(1000)
#define MBPS UINT64_C(1000000)

struct establish_params broker_establish_defaults(void)
{
	return (struct establish_params){
		.seed = 1,
		.tried = UINT32_MAX,
		.retries = 3000,
		.lead = { 1, 10 },
		.lead_count = 8,
		.payload = 4096,
		.overhead = 8,
		.n_classes = 4,
		.classes = {
			{ 0, { { 8 * KBPS, 1 }, { 64 * KBPS, 1 } } },
			{ 1, { { 64 * KBPS, 1 }, { 1550 * KBPS, 1 } } },
			{ 2, { { 64 * KBPS, 1 }, { 64 * MBPS, 1 } } },
			{ 3, { { 64 * MBPS, 1 }, { 300 * MBPS, 1 } } },
		},
	};
}

struct establish_work {
	struct broker *broker;
	const struct establish_params *params;
	struct rng rng;
	port_id *hosts;
	uint32_t n_hosts;
	uint32_t failures[N_SLS]; /* consecutive, per SL */
	double bits;              /* reserved payload, per second */
};

static void collect_hosts(struct establish_work *w)
{
	const struct topo *t = w->broker->subnet->topo;

	w->hosts = hd_alloc(t->n_ports, sizeof(*w->hosts));
	for (port_id p = 0; p < t->n_ports; p++) {
		if (topo_is_end_port(t, p) && topo_node_of(t, p)->kind == NODE_CA)
			w->hosts[w->n_hosts++] = p;
	}
}

/* Draws again until the class is within the allowed lead. */
static uint32_t draw_class(struct establish_work *w, const uint32_t *count)
{
	const struct establish_params *p = w->params;
	uint32_t least = UINT32_MAX;

	for (uint32_t c = 0; c < p->n_classes; c++)
		least = count[c] < least ? count[c] : least;
	for (;;) {
		uint32_t c = (uint32_t)rng_below(&w->rng, p->n_classes);
		uint64_t ahead = count[c] - least;

		if (ahead * p->lead.den <=
		    (uint64_t)least * p->lead.num + (uint64_t)p->lead_count * p->lead.den)
			return c;
	}
}

static struct hd_rate draw_rate(struct establish_work *w, struct hd_rate_range range)
{
	/* The ranges are whole numbers of bits per second. */
	assert(range.low.den == 1 && range.high.den == 1);
	uint64_t span = range.high.num - range.low.num + 1;

	return hd_rate_make(range.low.num + rng_below(&w->rng, span), 1);
}

static bool attempt(struct establish_work *w, uint32_t class)
{
	const struct establish_params *p = w->params;
	struct hd_rate rate = draw_rate(w, p->classes[class].rate);
	uint32_t from = (uint32_t)rng_below(&w->rng, w->n_hosts);
	uint32_t to = (from + 1 + (uint32_t)rng_below(&w->rng, w->n_hosts - 1)) % w->n_hosts;
	const struct topo *t = w->broker->subnet->topo;

	/* LIDs are unique within a subnet only. */
	if (t->ports[w->hosts[from]].subnet != t->ports[w->hosts[to]].subnet) {
		w->failures[class]++;
		return false;
	}
	const struct broker_request request = broker_request_of(
		w->hosts[from], w->broker->subnet->lid_of_port[w->hosts[to]], p->classes[class].sl,
		slots_with_overhead(rate, p->payload, p->overhead));
	struct broker_refusal why;
	uint32_t id;

	if (broker_admit(w->broker, &request, &id, &why) != HD_OK) {
		w->failures[class]++;
		return false;
	}
	w->failures[class] = 0;
	w->bits += hd_rate_bps(rate);
	return true;
}

static void measure_load(const struct establish_work *w, struct establish_result *out)
{
	const struct establish_params *p = w->params;
	double capacity = 0;

	for (uint32_t h = 0; h < w->n_hosts; h++)
		capacity += hd_rate_bps(w->broker->links[w->hosts[h]].rate);
	out->payload_load = w->bits / capacity;
	out->wire_load = out->payload_load * (p->payload + p->overhead) / p->payload;
}

enum hd_status establish(struct broker *b, const struct establish_params *params, struct diag *d,
			 struct establish_result *out)
{
	struct establish_work w = { .broker = b, .params = params };

	assert(params->n_classes > 0);
	collect_hosts(&w);
	if (w.n_hosts < 2) {
		free(w.hosts);
		return diag_fail(d, HD_ERR_UNFIT,
				 "connections need two hosts with a cable, the fabric has %u",
				 w.n_hosts);
	}
	*out = (struct establish_result){ 0 };
	rng_init(&w.rng, params->seed, 0);
	while (out->established < params->tried) {
		uint32_t class = draw_class(&w, out->per_class);

		out->attempts++;
		if (attempt(&w, class)) {
			out->established++;
			out->per_class[class]++;
		} else if (w.failures[class] >= params->retries) {
			break;
		}
	}
	measure_load(&w, out);
	free(w.hosts);
	return HD_OK;
}
