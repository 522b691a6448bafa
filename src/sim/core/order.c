/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks that packets arrive once and in order of creation. The last packet of each source,
 * destination and VL is recorded, and each arrival is compared with it.
 */
#include <assert.h>

#include "base/alloc.h"
#include "sim/domains/domains.h"
#include "sim/metrics/tally.h"

#define MAX_PAIRS (1u << 20) /* above this, pairs share HASHED_PAIRS places */

void metrics_order_init(struct sim *s)
{
	struct metrics_tally *t = s->outcome.tally;

	if (!s->rules.check_order || (s->n_flows == 0 && !(s->rules.injects && s->setup->adaptive)))
		return;
	t->end_number = hd_alloc(s->setup->n_nodes, sizeof(*t->end_number));
	for (uint32_t i = 0; i < s->setup->n_nodes; i++) {
		if (s->nodes[i].kind == SIM_END)
			t->end_number[i] = t->n_ends++;
	}
	/* A shared VL holds for one link only; order across links is not defined. */
	t->by_sl = s->mode.mixes && !s->setup->vl_sharing.on;
	t->n_kinds = t->by_sl ? s->n_sls + 1 : s->n_vls;
	uint64_t n = (uint64_t)t->n_ends * t->n_ends * t->n_kinds;
	t->hashed = n > MAX_PAIRS;
	if (t->hashed)
		n = HASHED_PAIRS;
	t->pairs = hd_alloc(n, sizeof(*t->pairs));
	t->m.checks.pairs = t->hashed ? 0 : n;
}

static uint32_t order_kind(const struct sim *s, const struct packet_record *p)
{
	if (!s->outcome.tally->by_sl)
		return index_of_vl(s, p->vl);
	return p->vl == VL_MANAGEMENT ? s->n_sls : s->sl_index[p->sl];
}

static bool is_throttled(const struct sim *s, uint32_t flow)
{
	const struct sim_control *c = s->setup->control;

	return c && flow < c->n_flows && c->throttle_of_flow[flow] != SIM_NONE;
}

/*
 * Whether the packet and one of `flow` must keep their order. Behind a router, an SL may carry
 * packets of several original SLs, even of one trace flow.
 */
static bool keeps_order(const struct sim *s, const struct packet_record *p, uint32_t flow)
{
	bool same = flow == p->flow;

	/* Senders are served in turns, so only flows without a throttle share an order (T13p). */
	if (is_throttled(s, p->flow) || is_throttled(s, flow))
		return same;
	if (!s->mode.routers)
		return same || p->dlid < LID_FIRST_MCAST;
	return same && s->flows[p->flow].kind != SIM_TRACE;
}

/* The record of (source, destination, VL or SL); *key: its key. */
static struct order_pair *pair_of(const struct sim *s, struct metrics_tally *t,
				  const struct packet_record *p, uint32_t node, uint64_t *key)
{
	uint32_t from =
		s->pool.extras ? s->pool.extras[packet_id(s, p)].source : s->flows[p->flow].source;

	*key = ((uint64_t)t->end_number[from] * t->n_ends + t->end_number[node]) * t->n_kinds +
	       order_kind(s, p);
	return &t->pairs[t->hashed ? mix_bits(*key) % HASHED_PAIRS : *key];
}

void metrics_order_check(struct sim *s, const struct packet_record *p, uint32_t node)
{
	struct metrics_tally *t = s->outcome.tally;
	uint64_t key;
	struct order_pair *pair = pair_of(s, t, p, node, &key);
	bool multicast = p->dlid >= LID_FIRST_MCAST;

	if (pair->key == key + 1) {
		bool same = pair->flow == p->flow;
		/* Another tree is another path, whose packets do not wait behind these. */
		bool comparable = keeps_order(s, p, pair->flow) && (same || !pair->multicast);

		if (same && pair->sequence == p->sequence)
			t->m.checks.duplicates++;
		else if (comparable &&
			 (pair->born > p->born || (same && pair->sequence > p->sequence)))
			t->m.checks.out_of_order++;
	}
	*pair = (struct order_pair){ .born = p->born,
				     .flow = p->flow,
				     .sequence = p->sequence,
				     .key = key + 1,
				     .multicast = multicast };
	/* With route changes, copies on the old and the new tree may reach the same port. */
	assert(t->m.checks.duplicates == 0 || s->routes);
	/*
	 * Reordering is legal with shared VLs (B6), route changes (T11r), VL changes (T11l) and
	 * adaptive routing (D4).
	 */
	assert(t->m.checks.out_of_order == 0 || s->sharing || s->routes || s->mode.vls_change ||
	       s->choices);
}

static bool is_of_endpoint(const struct sim *s, const struct packet_record *p)
{
	return s->pool.extras && p->flow == NONE && p->dlid < LID_FIRST_MCAST &&
	       s->pool.extras[packet_id(s, p)].endpoint;
}

void metrics_order_check_endpoint(struct sim *s, const struct packet_record *p, uint32_t node)
{
	if (!is_of_endpoint(s, p))
		return;
	struct metrics_tally *t = s->outcome.tally;
	const struct packet_extra *x = &s->pool.extras[packet_id(s, p)];
	uint64_t key;
	struct order_pair *pair = pair_of(s, t, p, node, &key);
	struct order_pair now = { .born = p->born,
				  .flow = p->flow,
				  .sequence = p->sequence,
				  .key = key + 1,
				  .endpoint = x->endpoint,
				  .turn = x->turn };

	if (pair->key == now.key && pair->endpoint == now.endpoint) {
		bool ahead = pair->born > now.born;

		if (pair->born == now.born)
			ahead = pair->turn != now.turn ? pair->turn > now.turn
						       : pair->sequence > now.sequence;
		t->m.checks.out_of_order += ahead;
	}
	*pair = now;
}
