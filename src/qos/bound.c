/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/bound.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define NO_LINK UINT32_MAX

/* One flow at one port; all of a port's are consecutive in `use`. */
struct passage {
	uint32_t flow;
	uint32_t hop;
	uint32_t slot; /* index into delay[] */
	uint32_t link; /* the port it came from, NO_LINK at its source */
	double burst;  /* with what its delays so far have added */
	double jitter; /* its delays so far */
};

struct work {
	enum bound_mode mode;
	const struct bound_port *ports;
	uint32_t n_ports;
	const struct bound_flow *flows;
	uint32_t n_flows;
	bool any_order;
	struct passage *passages; /* sorted by port, then by link */
	uint32_t n_passages;
	uint32_t n_delays;
	uint32_t *first; /* [port], n_ports + 1 entries */
	uint32_t *start; /* [flow]: its first place in delay[] */
	double *delay;
};

static double rate_of(const struct bound_flow *f)
{
	return f->burst / f->period;
}

const char *bound_mode_name(enum bound_mode mode)
{
	static const char *const names[BOUND_MODES] = {
		[BOUND_PUBLISHED] = "published",
		[BOUND_BUCKET] = "bucket",
		[BOUND_GROUPED] = "grouped",
		[BOUND_PERIODIC] = "periodic",
	};

	assert(mode < BOUND_MODES);
	return names[mode];
}

struct bound_service bound_wrr_service(const struct bound_port *port,
				       double high_burst, double high_rate)
{
	double free_rate = port->rate - high_rate;
	double own = 64 * port->db_weight * port->min_fill;
	double others =
		64 * port->other_weight + port->n_others * port->max_packet;

	return (struct bound_service){
		.rate = free_rate * own / (own + others),
		.latency = (others + high_burst) / free_rate,
	};
}

/* The class that a flow belongs to at a port. */
static enum bound_class class_at(const struct work *w, uint32_t port,
				 uint32_t flow)
{
	return w->ports[port].merged ? CLASS_DBTS : w->flows[flow].class;
}

/* Sums over the passages of one class at a port. */
struct class_sum {
	double burst, rate;
};

static struct class_sum sum_class(const struct work *w, uint32_t port,
				  enum bound_class class)
{
	struct class_sum sum = { 0, 0 };

	for (uint32_t i = w->first[port]; i < w->first[port + 1]; i++) {
		const struct passage *p = &w->passages[i];
		const struct bound_flow *f = &w->flows[p->flow];

		if (class_at(w, port, p->flow) != class)
			continue;
		sum.burst += p->burst;
		sum.rate += rate_of(f);
	}
	return sum;
}

/*
 * What lower classes can put in front of the high table's packets during a
 * busy period of `high` bytes: one packet, and one more each time the limit
 * runs out.
 */
static double blocking(const struct bound_port *port, double high)
{
	double packets = 1;

	if (port->high_limit == 0)
		packets += ceil(high / 64); /* at most one per high block */
	else if (port->high_limit != HIGH_LIMIT_NONE)
		packets += floor(high / (4096.0 * port->high_limit));
	return packets * port->max_packet + port->management_burst;
}

/* A port serves a class at `rate` after `latency`. */
static struct bound_service service(const struct work *w, uint32_t port,
				    enum bound_class class)
{
	const struct bound_port *p = &w->ports[port];
	struct class_sum high = sum_class(w, port, CLASS_DBTS);

	if (class == CLASS_DBTS)
		return (struct bound_service){
			.rate = p->rate,
			.latency = blocking(p, high.burst) / p->rate,
		};
	if (p->db_weight > 0)
		return bound_wrr_service(p, high.burst + p->management_burst,
					 high.rate);
	double free_rate = p->rate - high.rate;

	return (struct bound_service){
		.rate = free_rate,
		.latency = (p->max_packet + p->management_burst + high.burst) /
			   free_rate,
	};
}

/* Passages of one port that came over one link. */
struct span {
	uint32_t begin, end;
};

/* Bytes of a class that can have come over one link within t. */
static double link_arrivals(const struct work *w, uint32_t port,
			    struct span span, enum bound_class class, double t)
{
	double sum = 0;
	uint32_t link = w->passages[span.begin].link;

	for (uint32_t i = span.begin; i < span.end; i++) {
		const struct passage *p = &w->passages[i];

		if (class_at(w, port, p->flow) == class)
			sum += p->burst + rate_of(&w->flows[p->flow]) * t;
	}
	if (link == NO_LINK)
		return sum;
	const struct bound_port *from = &w->ports[link];

	return fmin(sum, from->rate * t + from->max_packet);
}

/* The passages of `port` from `begin` on that share its link. */
static struct span link_span(const struct work *w, uint32_t port,
			     uint32_t begin)
{
	uint32_t end = begin;

	while (end < w->first[port + 1] &&
	       w->passages[end].link == w->passages[begin].link)
		end++;
	return (struct span){ begin, end };
}

static double arrivals(const struct work *w, uint32_t port,
		       enum bound_class class, double t)
{
	double sum = 0;

	for (uint32_t i = w->first[port]; i < w->first[port + 1];) {
		struct span span = link_span(w, port, i);

		sum += link_arrivals(w, port, span, class, t);
		i = span.end;
	}
	return sum;
}

/* Where the arrivals over one link stop being limited by the link. */
static double break_point(const struct work *w, uint32_t port, struct span span,
			  enum bound_class class)
{
	uint32_t link = w->passages[span.begin].link;
	double burst = 0, rate = 0;

	if (link == NO_LINK)
		return 0;
	for (uint32_t i = span.begin; i < span.end; i++) {
		const struct passage *p = &w->passages[i];

		if (class_at(w, port, p->flow) != class)
			continue;
		burst += p->burst;
		rate += rate_of(&w->flows[p->flow]);
	}
	const struct bound_port *from = &w->ports[link];
	double t = (burst - from->max_packet) / (from->rate - rate);

	return from->rate > rate && t > 0 ? t : 0;
}

/* Concave arrivals against rate-latency service: worst at a break point. */
static double grouped_delay(const struct work *w, uint32_t port,
			    enum bound_class class, struct bound_service s)
{
	double worst = arrivals(w, port, class, 0) / s.rate;

	for (uint32_t i = w->first[port]; i < w->first[port + 1];) {
		struct span span = link_span(w, port, i);
		double t = break_point(w, port, span, class);

		worst = fmax(worst, arrivals(w, port, class, t) / s.rate - t);
		i = span.end;
	}
	return worst + s.latency;
}

/* Bytes of whole bursts that can have come within s of the worst start. */
static double periodic_demand(const struct work *w, uint32_t port,
			      enum bound_class class, double s)
{
	double sum = 0;

	for (uint32_t i = w->first[port]; i < w->first[port + 1]; i++) {
		const struct passage *p = &w->passages[i];
		const struct bound_flow *f = &w->flows[p->flow];

		/* The tolerance keeps a burst due exactly now in the sum. */
		if (class_at(w, port, p->flow) == class)
			sum += (floor((s + p->jitter) / f->period + 1e-9) + 1) *
			       f->burst;
	}
	return sum;
}

/* The first instant after s at which another burst can come. */
static double next_burst(const struct work *w, uint32_t port,
			 enum bound_class class, double s)
{
	double next = INFINITY;

	for (uint32_t i = w->first[port]; i < w->first[port + 1]; i++) {
		const struct passage *p = &w->passages[i];
		const struct bound_flow *f = &w->flows[p->flow];

		if (class_at(w, port, p->flow) != class)
			continue;
		double k = floor((s + p->jitter) / f->period + 1e-9) + 1;

		next = fmin(next, k * f->period - p->jitter);
	}
	return next;
}

static double periodic_delay(const struct work *w, uint32_t port,
			     enum bound_class class, struct bound_service sv)
{
	double worst = 0, s = 0;

	/* Over once the queue has run empty before the next burst. */
	for (;;) {
		double backlog_end =
			sv.latency +
			periodic_demand(w, port, class, s) / sv.rate;

		worst = fmax(worst, backlog_end - s);
		s = next_burst(w, port, class, s);
		if (s > backlog_end)
			return worst;
	}
}

static double class_delay(const struct work *w, uint32_t port,
			  enum bound_class class)
{
	struct bound_service s = service(w, port, class);

	switch (w->mode) {
	case BOUND_GROUPED:
		return grouped_delay(w, port, class, s);
	case BOUND_PERIODIC:
		return periodic_delay(w, port, class, s);
	default:
		return s.latency + sum_class(w, port, class).burst / s.rate;
	}
}

/* Paper 003: the other flows' bursts and one packet, at the link's rate. */
static double published_delay(const struct work *w, uint32_t port,
			      const struct passage *own)
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

/* Served in any order: what the others of the class leave. */
static double leftover_delay(const struct work *w, uint32_t port,
			     const struct passage *own)
{
	enum bound_class class = class_at(w, port, own->flow);
	struct bound_service s = service(w, port, class);
	struct class_sum all = sum_class(w, port, class);
	double rate = s.rate - (all.rate - rate_of(&w->flows[own->flow]));

	return (s.latency * s.rate + all.burst) / rate;
}

/* Gives every passage of a port its delay; true if any of them changed. */
static bool update_port(struct work *w, uint32_t port)
{
	double by_class[BOUND_CLASSES] = { -1, -1 };
	bool changed = false;

	for (uint32_t i = w->first[port]; i < w->first[port + 1]; i++) {
		struct passage *p = &w->passages[i];
		enum bound_class class = class_at(w, port, p->flow);
		double delay;

		if (w->mode == BOUND_PUBLISHED) {
			delay = published_delay(w, port, p);
		} else if (w->any_order) {
			delay = leftover_delay(w, port, p);
		} else {
			if (by_class[class] < 0)
				by_class[class] = class_delay(w, port, class);
			delay = by_class[class];
		}
		delay += w->ports[port].fixed;
		if (fabs(delay - w->delay[p->slot]) > 1e-12 * delay)
			changed = true;
		w->delay[p->slot] = delay;
	}
	return changed;
}

/* Branches have the delays of their trunks. */
static void copy_trunks(struct work *w)
{
	for (uint32_t f = 0; f < w->n_flows; f++) {
		const struct bound_flow *flow = &w->flows[f];

		for (uint32_t h = 0; h < flow->n_trunk; h++)
			w->delay[w->start[f] + h] =
				w->delay[w->start[flow->trunk] + h];
	}
}

/* Bursts and jitter at every port, from the delays before it. */
static void carry_forward(struct work *w)
{
	copy_trunks(w);
	for (uint32_t i = 0; i < w->n_passages; i++) {
		struct passage *p = &w->passages[i];
		const struct bound_flow *f = &w->flows[p->flow];
		double before = 0;

		for (uint32_t h = 0; h < p->hop; h++)
			before += w->delay[p->slot - p->hop + h];
		p->jitter = before;
		p->burst = f->burst + rate_of(f) * before;
	}
}

static enum hd_status check_rates(const struct work *w, struct diag *d)
{
	for (uint32_t port = 0; port < w->n_ports; port++) {
		double high = sum_class(w, port, CLASS_DBTS).rate;
		double low = sum_class(w, port, CLASS_DB).rate;
		double reserved = high + low;

		if (reserved >= w->ports[port].rate)
			return diag_fail(d, HD_ERR_UNFIT,
					 "port %u: %g B/s reserved of %g", port,
					 reserved, w->ports[port].rate);
		if (low > 0 && w->ports[port].db_weight > 0 &&
		    low > service(w, port, CLASS_DB).rate)
			return diag_fail(
				d, HD_ERR_UNFIT,
				"port %u: %g B/s of DB, its weight is worth %g",
				port, low, service(w, port, CLASS_DB).rate);
	}
	return HD_OK;
}

static enum hd_status iterate(struct work *w, struct diag *d)
{
	/*
	 * Without cycles the delays settle after as many rounds as the
	 * longest path has hops. With cycles they settle or grow for ever.
	 */
	const unsigned most_rounds = 1000;

	for (unsigned round = 0; round < most_rounds; round++) {
		bool changed = false;

		carry_forward(w);
		for (uint32_t port = 0; port < w->n_ports; port++)
			changed |= update_port(w, port);
		if (!changed)
			return HD_OK;
	}
	return diag_fail(d, HD_ERR_UNFIT,
			 "delays on a cycle of ports grow without end");
}

static int by_link(const void *a, const void *b)
{
	const struct passage *x = a, *y = b;

	if (x->link != y->link)
		return x->link < y->link ? -1 : 1;
	return (x->flow > y->flow) - (x->flow < y->flow);
}

/* The first hop at which a flow counts. */
static uint32_t first_own(const struct bound_flow *f)
{
	return f->n_paced > f->n_trunk ? f->n_paced : f->n_trunk;
}

/* Sorts the hops of all flows by port, counting first. */
static void build(struct work *w)
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
			w->passages[w->first[flow->path[h] + 1]++] =
				(struct passage){
					.flow = f,
					.hop = h,
					.slot = w->start[f] + h,
					.link = h ? flow->path[h - 1] : NO_LINK,
				};
	}
	for (uint32_t p = 0; p < w->n_ports; p++)
		qsort(&w->passages[w->first[p]], w->first[p + 1] - w->first[p],
		      sizeof(*w->passages), by_link);
}

enum hd_status bound_delays(enum bound_mode mode,
			    const struct bound_network *network, struct diag *d,
			    double *delay)
{
	struct work w = { .mode = mode,
			  .ports = network->ports,
			  .n_ports = network->n_ports,
			  .flows = network->flows,
			  .n_flows = network->n_flows,
			  .any_order = network->any_order };

	build(&w);
	w.delay = hd_alloc(w.n_delays, sizeof(*w.delay));
	carry_forward(&w);
	enum hd_status status = check_rates(&w, d);

	if (status == HD_OK)
		status = iterate(&w, d);
	copy_trunks(&w);
	if (status == HD_OK)
		memcpy(delay, w.delay, w.n_delays * sizeof(*delay));
	free(w.delay);
	free(w.passages);
	free(w.first);
	free(w.start);
	return status;
}
