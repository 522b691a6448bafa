/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/admission/bound_work.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Maximum number of bursts of a busy period that are counted individually. */
#define MOST_BURSTS 512
/* Seconds; a larger delay counts as unbounded. */
#define MOST_DELAY  100.0

const char *const bound_mode_names[] = {
	[BOUND_PUBLISHED] = "published", [BOUND_BUCKET] = "bucket", [BOUND_GROUPED] = "grouped",
	[BOUND_PERIODIC] = "periodic",   [BOUND_MODES] = NULL,
};

/* Passages of one port that arrived over the same link. */
struct span {
	uint32_t begin, end;
};

/* Maximum arrivals of a group over one link within t, in bytes. */
static double link_arrivals(const struct bound_work *w, struct span span, uint8_t group, double t)
{
	double sum = 0;
	uint32_t link = w->passages[span.begin].link;

	for (uint32_t i = span.begin; i < span.end; i++) {
		const struct passage *p = &w->passages[i];

		if (p->group == group)
			sum += p->burst + rate_of(&w->flows[p->flow]) * t;
	}
	if (link == NO_LINK)
		return sum;
	const struct bound_port *from = &w->ports[link];

	return fmin(sum, from->rate * t + from->max_packet);
}

/* The passages of `port` from `begin` on that share its link. */
static struct span link_span(const struct bound_work *w, uint32_t port, uint32_t begin)
{
	uint32_t end = begin;

	while (end < w->first[port + 1] && w->passages[end].link == w->passages[begin].link)
		end++;
	return (struct span){ begin, end };
}

static double arrivals(const struct bound_work *w, uint32_t port, uint8_t group, double t)
{
	double sum = 0;

	for (uint32_t i = w->first[port]; i < w->first[port + 1];) {
		struct span span = link_span(w, port, i);

		sum += link_arrivals(w, span, group, t);
		i = span.end;
	}
	return sum;
}

/* The time at which arrivals over one link are no longer limited by its rate. */
static double break_point(const struct bound_work *w, struct span span, uint8_t group)
{
	uint32_t link = w->passages[span.begin].link;
	double burst = 0, rate = 0;

	if (link == NO_LINK)
		return 0;
	for (uint32_t i = span.begin; i < span.end; i++) {
		const struct passage *p = &w->passages[i];

		if (p->group != group)
			continue;
		burst += p->burst;
		rate += rate_of(&w->flows[p->flow]);
	}
	const struct bound_port *from = &w->ports[link];
	double t = (burst - from->max_packet) / (from->rate - rate);

	return from->rate > rate && t > 0 ? t : 0;
}

/* Concave arrivals against a rate-latency service: the maximum delay is at a break point. */
static double grouped_delay(const struct bound_work *w, uint32_t port, uint8_t group,
			    struct bound_service s)
{
	double worst = arrivals(w, port, group, 0) / s.rate;

	for (uint32_t i = w->first[port]; i < w->first[port + 1];) {
		struct span span = link_span(w, port, i);
		double t = break_point(w, span, group);

		worst = fmax(worst, arrivals(w, port, group, t) / s.rate - t);
		i = span.end;
	}
	return worst + s.latency;
}

/* As grouped_delay, for arrivals over one link only; HUGE_VAL if the link is overloaded. */
static double span_delay(const struct bound_work *w, struct span span, uint8_t group,
			 struct bound_service s)
{
	double t = break_point(w, span, group);
	double rate = (link_arrivals(w, span, group, t + 1) - link_arrivals(w, span, group, t));

	if (rate >= s.rate)
		return HUGE_VAL;
	return s.latency + fmax(link_arrivals(w, span, group, 0) / s.rate,
				link_arrivals(w, span, group, t) / s.rate - t);
}

/* Bytes of whole bursts that can arrive within s of the worst-case start. */
static double periodic_demand(const struct bound_work *w, uint32_t port, uint8_t group, double s)
{
	double sum = 0;

	for (uint32_t i = w->first[port]; i < w->first[port + 1]; i++) {
		const struct passage *p = &w->passages[i];
		const struct bound_flow *f = &w->flows[p->flow];

		/* The tolerance includes a burst due exactly at s. */
		if (p->group == group)
			sum += (floor((s + p->jitter) / f->period + 1e-9) + 1) * f->burst;
	}
	return sum;
}

/* The first instant after s at which another burst can arrive. */
static double next_burst(const struct bound_work *w, uint32_t port, uint8_t group, double s)
{
	double next = INFINITY;

	for (uint32_t i = w->first[port]; i < w->first[port + 1]; i++) {
		const struct passage *p = &w->passages[i];
		const struct bound_flow *f = &w->flows[p->flow];

		if (p->group != group)
			continue;
		double k = floor((s + p->jitter) / f->period + 1e-9) + 1;

		next = fmin(next, k * f->period - p->jitter);
	}
	return next;
}

static double periodic_delay(const struct bound_work *w, uint32_t port, uint8_t group,
			     struct bound_service sv)
{
	double worst = 0, s = 0;

	/* The busy period ends when the queue becomes empty before the next burst. */
	for (unsigned bursts = 0; bursts < MOST_BURSTS; bursts++) {
		double backlog_end = sv.latency + periodic_demand(w, port, group, s) / sv.rate;

		worst = fmax(worst, backlog_end - s);
		s = next_burst(w, port, group, s);
		if (s > backlog_end)
			return worst;
	}
	/* Very long busy period: the leaky-bucket bound is valid, too, and needs no enumeration. */
	return sv.latency + bound_sum_group(w, port, group).burst / sv.rate;
}

/* Longest busy period of a group: no packet waits longer, in any order of service. */
static double busy_period(const struct bound_work *w, uint32_t port, uint8_t group,
			  struct bound_service sv)
{
	double s = 0;

	for (unsigned bursts = 0; bursts < MOST_BURSTS; bursts++) {
		double end = sv.latency + periodic_demand(w, port, group, s) / sv.rate;

		s = next_burst(w, port, group, s);
		if (s > end)
			return end;
	}
	return HUGE_VAL;
}

static double group_delay(const struct bound_work *w, uint32_t port, const struct passage *own)
{
	struct bound_service s = bound_service_at(w, port, own);

	switch (w->mode) {
	case BOUND_GROUPED:
		return grouped_delay(w, port, own->group, s);
	case BOUND_PERIODIC:
		return periodic_delay(w, port, own->group, s);
	default:
		return s.latency + bound_sum_group(w, port, own->group).burst / s.rate;
	}
}

/* Paper 003: bursts of the other flows and one packet, at the rate of the link. */
static double published_delay(const struct bound_work *w, uint32_t port, const struct passage *own)
{
	const struct bound_port *p = &w->ports[port];
	enum bound_class class = class_at(w, port, own->flow);
	double bytes = p->max_packet;

	for (uint32_t i = w->first[port]; i < w->first[port + 1]; i++) {
		uint32_t other = w->passages[i].flow;

		if (other != own->flow && class_at(w, port, other) <= class)
			bytes += w->flows[other].burst;
	}
	return bytes / p->rate;
}

/* Any order of service: the service left by the other flows of the group. */
static double leftover_delay(const struct bound_work *w, uint32_t port, const struct passage *own,
			     struct bound_service s)
{
	struct class_sum all = bound_sum_group(w, port, own->group);
	double rate = s.rate - (all.rate - rate_of(&w->flows[own->flow]));

	return (s.latency * s.rate + all.burst) / rate;
}

/*
 * Round robin among inputs, one packet each: while an input has packets, each of them waits for
 * at most one packet of every other input. The latency includes one more packet, which may have
 * blocked the port when the first packet of the input arrived.
 */
static double turns_delay(const struct bound_work *w, uint32_t port, struct span input,
			  const struct passage *own, struct bound_service s)
{
	const struct bound_port *p = &w->ports[port];
	double least = HUGE_VAL, others = 0;

	for (uint32_t i = w->first[port]; i < w->first[port + 1];) {
		struct span span = link_span(w, port, i);
		double largest = 0;

		for (; i < span.end; i++) {
			const struct passage *q = &w->passages[i];
			struct bound_sizes its = sizes_of(p, &w->flows[q->flow]);

			if (q->group != own->group)
				continue;
			largest = fmax(largest, its.largest);
			if (span.begin == input.begin)
				least = fmin(least, its.smallest);
		}
		others += span.begin == input.begin ? 0 : largest;
	}
	const struct bound_service turn = {
		.rate = s.rate * least / (least + others),
		.latency = s.latency + p->max_packet / p->rate,
	};

	return span_delay(w, input, own->group, turn);
}

static double any_order_delay(const struct bound_work *w, uint32_t port, struct span input,
			      const struct passage *own)
{
	struct bound_service s = bound_service_at(w, port, own);
	double delay = fmin(leftover_delay(w, port, own, s), turns_delay(w, port, input, own, s));

	return w->mode == BOUND_PERIODIC ? fmin(delay, busy_period(w, port, own->group, s)) : delay;
}

/* Computes the delays of all passages of a port; returns true if any has changed. */
static bool update_port(struct bound_work *w, uint32_t port)
{
	double by_group[BOUND_GROUPS];
	struct span input = { 0, 0 };
	bool changed = false;

	for (unsigned g = 0; g < BOUND_GROUPS; g++)
		by_group[g] = -1;
	for (uint32_t i = w->first[port]; i < w->first[port + 1]; i++) {
		struct passage *p = &w->passages[i];
		double delay;

		if (w->mode == BOUND_PUBLISHED) {
			delay = published_delay(w, port, p);
		} else if (w->any_order && p->link != NO_LINK) {
			if (i >= input.end)
				input = link_span(w, port, i);
			delay = any_order_delay(w, port, input, p);
		} else {
			if (by_group[p->group] < 0)
				by_group[p->group] = group_delay(w, port, p);
			delay = by_group[p->group];
		}
		delay += w->ports[port].fixed;
		if (fabs(delay - w->delay[p->slot]) > 1e-12 * delay)
			changed = true;
		w->delay[p->slot] = delay;
	}
	return changed;
}

/* Branches of multicasts have the delays of their trunks. */
static void copy_trunks(struct bound_work *w)
{
	for (uint32_t f = 0; f < w->n_flows; f++) {
		const struct bound_flow *flow = &w->flows[f];

		for (uint32_t h = 0; h < flow->n_trunk; h++)
			w->delay[w->start[f] + h] = w->delay[w->start[flow->trunk] + h];
	}
}

/* Sum of the delays of the flows that precede this flow. */
static double delay_before(const struct bound_work *w, uint32_t flow)
{
	double sum = 0;

	for (uint32_t f = w->flows[flow].after, n = 0; f && n <= w->n_flows;
	     f = w->flows[f - 1].after, n++) {
		for (uint32_t h = 0; h < w->flows[f - 1].n_hops; h++)
			sum += w->delay[w->start[f - 1] + h];
	}
	return sum;
}

/* Computes bursts and jitter at every port from the delays before it. */
static void carry_forward(struct bound_work *w)
{
	copy_trunks(w);
	for (uint32_t i = 0; i < w->n_passages; i++) {
		struct passage *p = &w->passages[i];
		const struct bound_flow *f = &w->flows[p->flow];
		double before = delay_before(w, p->flow);

		for (uint32_t h = 0; h < p->hop; h++)
			before += w->delay[p->slot - p->hop + h];
		p->jitter = before;
		p->burst = f->burst + rate_of(f) * before;
	}
}

/* Fails if the group of a passage sends more than its guaranteed service. */
static enum hd_status check_group(const struct bound_work *w, uint32_t port,
				  const struct passage *p, struct diag *d)
{
	double asked = bound_sum_group(w, port, p->group).rate;
	double given = bound_service_at(w, port, p).rate;

	if (given >= asked)
		return HD_OK;
	if (w->ports[port].crossbar_rate > 0 &&
	    bound_crossbar_service(&w->ports[port]).rate <= asked)
		return diag_fail(d, HD_ERR_UNFIT,
				 "port %u: %g B/s of one VL, of the crossbar it is sure of %g",
				 port, asked, bound_crossbar_service(&w->ports[port]).rate);
	if (w->ports[port].table && !p->high && p->turn.share <= 0)
		return diag_fail(d, HD_ERR_UNFIT, "port %u: VL%u has no entry in a table", port,
				 p->group);
	return diag_fail(d, HD_ERR_UNFIT, "port %u: %g B/s of %s, its weight is worth %g", port,
			 asked, p->high ? "the high table" : "DB", given);
}

static enum hd_status check_rates(const struct bound_work *w, struct diag *d)
{
	enum hd_status status = HD_OK;

	for (uint32_t port = 0; port < w->n_ports; port++) {
		double reserved = 0;

		for (uint32_t i = w->first[port]; i < w->first[port + 1]; i++)
			reserved += rate_of(&w->flows[w->passages[i].flow]);
		if (reserved >= w->ports[port].rate)
			return diag_fail(d, HD_ERR_UNFIT, "port %u: %g B/s reserved of %g", port,
					 reserved, w->ports[port].rate);
		if (w->mode == BOUND_PUBLISHED)
			continue;
		for (uint32_t i = w->first[port]; i < w->first[port + 1] && status == HD_OK; i++)
			status = check_group(w, port, &w->passages[i], d);
		if (status != HD_OK)
			return status;
	}
	return HD_OK;
}

static double longest(const struct bound_work *w)
{
	double most = 0;

	for (uint32_t i = 0; i < w->n_delays; i++)
		most = fmax(most, w->delay[i]);
	return most;
}

static enum hd_status iterate(struct bound_work *w, struct diag *d)
{
	/*
	 * Without cycles, delays converge in as many rounds as the longest path has hops. With
	 * cycles, they converge or diverge.
	 */
	const unsigned most_rounds = 1000;

	for (unsigned round = 0; round < most_rounds; round++) {
		bool changed = false;

		carry_forward(w);
		for (uint32_t port = 0; port < w->n_ports; port++)
			changed |= update_port(w, port);
		if (!changed)
			return HD_OK;
		if (longest(w) > MOST_DELAY)
			break;
	}
	return diag_fail(d, HD_ERR_UNFIT, "delays on a cycle of ports grow without end");
}

static int by_link(const void *a, const void *b)
{
	const struct passage *x = a, *y = b;

	if (x->link != y->link)
		return x->link < y->link ? -1 : 1;
	return (x->flow > y->flow) - (x->flow < y->flow);
}

/* The first hop at which a flow is counted. */
static uint32_t first_own(const struct bound_flow *f)
{
	return f->n_paced > f->n_trunk ? f->n_paced : f->n_trunk;
}

/* The port over which a flow arrives at hop h. */
static uint32_t link_before(const struct bound_work *w, const struct bound_flow *f, uint32_t h)
{
	if (h > 0)
		return f->path[h - 1];
	if (!f->joins || w->flows[f->after - 1].n_hops == 0)
		return NO_LINK;
	const struct bound_flow *before = &w->flows[f->after - 1];

	return before->path[before->n_hops - 1];
}

/* Sorts the hops of all flows by port (counting sort). */
static void build(struct bound_work *w)
{
	w->first = hd_alloc(w->n_ports + 2, sizeof(*w->first));
	w->start = hd_alloc(w->n_flows, sizeof(*w->start));
	for (uint32_t f = 0; f < w->n_flows; f++) {
		const struct bound_flow *flow = &w->flows[f];

		assert(flow->n_trunk == 0 || flow->trunk < f);
		for (uint32_t h = first_own(flow); h < flow->n_hops; h++)
			w->first[flow->path[h] + 2]++;
		w->n_passages += flow->n_hops - first_own(flow);
		w->start[f] = w->n_delays;
		w->n_delays += flow->n_hops;
	}
	for (uint32_t p = 2; p < w->n_ports + 2; p++)
		w->first[p] += w->first[p - 1];
	w->passages = hd_alloc(w->n_passages, sizeof(*w->passages));

	for (uint32_t f = 0; f < w->n_flows; f++) {
		const struct bound_flow *flow = &w->flows[f];

		for (uint32_t h = first_own(flow); h < flow->n_hops; h++)
			w->passages[w->first[flow->path[h] + 1]++] = (struct passage){
				.flow = f,
				.hop = h,
				.slot = w->start[f] + h,
				.link = link_before(w, flow, h),
			};
	}
	for (uint32_t p = 0; p < w->n_ports; p++) {
		for (uint32_t i = w->first[p]; i < w->first[p + 1]; i++)
			bound_classify(w, p, &w->passages[i]);
		qsort(&w->passages[w->first[p]], w->first[p + 1] - w->first[p],
		      sizeof(*w->passages), by_link);
	}
}

static struct bound_work work_of(enum bound_mode mode, const struct bound_network *network)
{
	return (struct bound_work){ .mode = mode,
				    .ports = network->ports,
				    .n_ports = network->n_ports,
				    .flows = network->flows,
				    .n_flows = network->n_flows,
				    .any_order = network->any_order };
}

static void work_fini(struct bound_work *w)
{
	free(w->delay);
	free(w->passages);
	free(w->first);
	free(w->start);
}

enum hd_status bound_delays(enum bound_mode mode, const struct bound_network *network,
			    struct diag *d, double *delay)
{
	struct bound_work w = work_of(mode, network);

	build(&w);
	w.delay = hd_alloc(w.n_delays, sizeof(*w.delay));
	carry_forward(&w);
	enum hd_status status = check_rates(&w, d);

	if (status == HD_OK)
		status = iterate(&w, d);
	copy_trunks(&w);
	if (status == HD_OK)
		memcpy(delay, w.delay, w.n_delays * sizeof(*delay));
	work_fini(&w);
	return status;
}

/* Whether a passage waits for an excluded flow, whose traffic has no bound. */
static bool waits_for(const struct bound_work *w, uint32_t port, const struct passage *p,
		      const struct passage *other)
{
	if (p->group == other->group)
		return true;
	return w->ports[port].strict ? other->group < p->group : other->high;
}

static bool exclude_at(const struct bound_work *w, uint32_t port, bool *excluded, bool *starved,
		       uint32_t *where)
{
	struct diag why = { .status = HD_OK };
	bool changed = false;

	for (uint32_t i = w->first[port]; i < w->first[port + 1]; i++) {
		const struct passage *p = &w->passages[i];
		bool out = excluded[p->flow];

		for (uint32_t k = w->first[port]; k < w->first[port + 1] && !out; k++)
			out = excluded[w->passages[k].flow] &&
			      waits_for(w, port, p, &w->passages[k]);
		if (excluded[p->flow])
			continue;
		if (out || check_group(w, port, p, &why) != HD_OK) {
			excluded[p->flow] = changed = true;
			starved[p->flow] = !out;
			where[p->flow] = port;
		}
	}
	return changed;
}

/* Excludes flows that start at the end of an excluded flow, or are branches of one. */
static bool exclude_followers(const struct bound_work *w, bool *excluded, uint32_t *where)
{
	bool changed = false;

	for (uint32_t f = 0; f < w->n_flows; f++) {
		const struct bound_flow *flow = &w->flows[f];
		uint32_t other = flow->after ? flow->after - 1 : flow->trunk;

		if (excluded[f] || !(flow->after || flow->n_trunk) || !excluded[other])
			continue;
		excluded[f] = changed = true;
		where[f] = where[other];
	}
	return changed;
}

void bound_exclude(const struct bound_network *network, bool *excluded, bool *starved,
		   uint32_t *where)
{
	struct bound_work w = work_of(BOUND_BUCKET, network);
	bool changed = true;

	build(&w);
	w.delay = hd_alloc(w.n_delays, sizeof(*w.delay));
	while (changed) {
		changed = exclude_followers(&w, excluded, where);
		for (uint32_t port = 0; port < w.n_ports; port++)
			changed |= exclude_at(&w, port, excluded, starved, where);
	}
	work_fini(&w);
}

/* Contribution of one flow to the buffer at the far end of its hop h. */
static double standing(const struct bound_network *n, const struct bound_flow *f, uint32_t h,
		       const double *delay)
{
	const struct bound_port *port = &n->ports[f->path[h]];
	double away = 2 * port->fixed + 64 / port->rate;

	for (uint32_t i = 0; i <= h + 1; i++)
		away += delay[i];
	return (f->burst + rate_of(f) * away) / fill_of(port);
}

void bound_buffers(const struct bound_network *network, enum bound_side side, const double *delay,
		   double *bytes)
{
	size_t first = 0;

	memset(bytes, 0, (size_t)network->n_ports * BOUND_GROUPS * sizeof(*bytes));
	for (uint32_t f = 0; f < network->n_flows; f++) {
		const struct bound_flow *flow = &network->flows[f];

		/* The destination consumes packets as they arrive. */
		for (uint32_t h = 0; h + 1 < flow->n_hops; h++) {
			uint32_t at = side == BOUND_OUTPUT ? h + 1 : h;
			uint32_t port = flow->path[at];
			const struct bound_port *p = &network->ports[port];
			unsigned group = p->table || p->strict ? flow->vls[at] : 0;
			double *sum = &bytes[(size_t)port * BOUND_GROUPS + group];

			*sum += standing(network, flow, h, delay + first);
		}
		first += flow->n_hops;
	}
	for (uint32_t p = 0; p < network->n_ports; p++) {
		for (unsigned g = 0; g < BOUND_GROUPS; g++) {
			double *sum = &bytes[(size_t)p * BOUND_GROUPS + g];

			if (*sum > 0)
				*sum = fmax(*sum, 2 * network->ports[p].max_packet);
		}
	}
}
