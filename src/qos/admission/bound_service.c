/* SPDX-License-Identifier: BSD-2-Clause */
/* Rate and latency that a port guarantees to a group of flows: a class, or a VL. */
#include <math.h>

#include "qos/admission/bound_work.h"

struct bound_service bound_wrr_service(const struct bound_port *port, double high_burst,
				       double high_rate)
{
	double free_rate = port->rate - high_rate;
	double own = 64 * port->db_weight * port->min_fill;
	double others = 64 * port->other_weight + port->n_others * port->max_packet;

	return (struct bound_service){
		.rate = free_rate * own / (own + others),
		.latency = (others + high_burst) / free_rate,
	};
}

static double blocks(double bytes)
{
	return ceil(bytes / 64);
}

double bound_fill(struct bound_sizes s)
{
	double fill = 1;

	/* It is worst at the smallest, or just above a whole block. */
	for (unsigned more = 0; more <= 64 && s.smallest + more <= s.largest; more++) {
		double size = s.smallest + more;

		fill = fmin(fill, size / (64 * blocks(size)));
	}
	return fill;
}

/* The most that an entry sends in its turn, in bytes of the link. */
static double entry_most(double weight, struct bound_sizes s)
{
	if (s.smallest >= s.largest)
		return ceil(weight / blocks(s.largest)) * s.largest;
	return 64 * (weight - 1) + s.largest;
}

/* The least that an entry sends while its VL has packets. */
static double entry_least(double weight, struct bound_sizes s)
{
	if (s.smallest >= s.largest)
		return ceil(weight / blocks(s.largest)) * s.largest;
	return 64 * weight * bound_fill(s);
}

struct bound_turn bound_table_turn(const struct vlarb_entry *entries, unsigned n, unsigned vl,
				   const struct bound_sizes sizes[])
{
	double gap[VLARB_MAX], own[VLARB_MAX]; /* entries of other VLs, then an entry of `vl` */
	double before = 0, all_own = 0, all_gaps = 0, lead = 0;
	unsigned k = 0;

	for (unsigned i = 0; i < n; i++) {
		if (entries[i].weight == 0)
			continue;
		if (entries[i].vl != vl) {
			before += entry_most(entries[i].weight, sizes[entries[i].vl]);
			continue;
		}
		gap[k] = before;
		own[k++] = entry_least(entries[i].weight, sizes[vl]);
		all_gaps += before;
		all_own += own[k - 1];
		before = 0;
	}
	if (k == 0)
		return (struct bound_turn){ 0, 0 };
	gap[0] += before; /* around the end of the table */
	all_gaps += before;
	/* From any entry on, how far the other VLs can be ahead of their share. */
	for (unsigned start = 0; start < k; start++) {
		double ahead = 0;

		for (unsigned i = start; i < start + k; i++) {
			ahead += gap[i % k];
			lead = fmax(lead, ahead);
			ahead -= own[i % k] * all_gaps / all_own;
		}
	}
	return (struct bound_turn){ all_own / (all_own + all_gaps), lead };
}

/*
 * The packets of every VL at a port: those of its flows, or any where it has
 * none. No flow is known to be alone on the VL that has it, but reserved VLs
 * carry reserved flows only.
 */
static void sizes_at(const struct bound_work *w, uint32_t port,
		     struct bound_sizes sizes[N_DATA_VLS + 1])
{
	const struct bound_port *p = &w->ports[port];

	for (unsigned vl = 0; vl <= N_DATA_VLS; vl++)
		sizes[vl] = (struct bound_sizes){ 0, 0 };
	for (uint32_t i = w->first[port]; i < w->first[port + 1]; i++) {
		const struct passage *q = &w->passages[i];
		const struct bound_flow *f = &w->flows[q->flow];
		struct bound_sizes its = sizes_of(p, f);
		struct bound_sizes *all = &sizes[f->vls[q->hop]];

		if (all->largest == 0 || its.smallest < all->smallest)
			all->smallest = its.smallest;
		all->largest = fmax(all->largest, its.largest);
	}
	for (unsigned vl = 0; vl <= N_DATA_VLS; vl++) {
		if (sizes[vl].largest == 0)
			sizes[vl] = (struct bound_sizes){ p->max_packet, 64 };
	}
}

/* The group whose service a passage shares, and its priority or its turn in the low table. */
void bound_classify(const struct bound_work *w, uint32_t port, struct passage *p)
{
	const struct bound_port *at = &w->ports[port];

	if (!at->table && !at->strict) {
		p->group = (uint8_t)class_at(w, port, p->flow);
		p->high = p->group == CLASS_DBTS;
		return;
	}
	const struct vlarb *t = at->table;
	uint8_t vl = w->flows[p->flow].vls[p->hop];

	p->group = vl;
	if (at->strict)
		return;
	for (unsigned i = 0; i < t->n_high && !p->high; i++)
		p->high = t->high[i].vl == vl && t->high[i].weight > 0;
	if (!p->high) {
		struct bound_sizes sizes[N_DATA_VLS + 1];

		sizes_at(w, port, sizes);
		p->turn = bound_table_turn(t->low, t->n_low, vl, sizes);
	}
}

static void sum_add(const struct bound_work *w, const struct passage *p, struct class_sum *sum)
{
	sum->burst += p->burst;
	sum->rate += rate_of(&w->flows[p->flow]);
}

struct class_sum bound_sum_group(const struct bound_work *w, uint32_t port, uint8_t group)
{
	struct class_sum sum = { 0, 0 };

	for (uint32_t i = w->first[port]; i < w->first[port + 1]; i++) {
		if (w->passages[i].group == group)
			sum_add(w, &w->passages[i], &sum);
	}
	return sum;
}

/*
 * A VL at a crossbar: one packet a turn, in which every other VL has sent
 * one too, after what was crossing when its turn came. The last term is what
 * two servers of whole packets in a row cost over one.
 */
struct bound_service bound_crossbar_service(const struct bound_port *port)
{
	double least = port->min_packet > 0 ? port->min_packet : 64;
	double others = (port->crossbar_vls - 1) * port->max_packet;
	double rate = port->crossbar_rate * least / (least + others);

	return (struct bound_service){
		.rate = rate,
		.latency = (port->max_packet + port->management_burst) / port->crossbar_rate +
			   port->max_packet / rate,
	};
}

/*
 * Over what goes before the low table at a port, or before a VL in strict
 * order. What has waited for a crossbar comes to the link with a burst that
 * this has added to.
 */
static struct class_sum sum_high(const struct bound_work *w, uint32_t port,
				 const struct passage *own)
{
	const struct bound_port *at = &w->ports[port];
	struct class_sum sum = { 0, 0 };

	for (uint32_t i = w->first[port]; i < w->first[port + 1]; i++) {
		const struct passage *p = &w->passages[i];

		if (at->strict ? p->group >= own->group : !p->high)
			continue;
		sum_add(w, p, &sum);
		if (at->crossbar_rate <= 0)
			continue;
		struct bound_service cross = bound_crossbar_service(at);

		sum.burst +=
			rate_of(&w->flows[p->flow]) *
			(cross.latency + bound_sum_group(w, port, p->group).burst / cross.rate);
	}
	return sum;
}

/*
 * The high table as a whole: one packet of the low one can be in its way, and
 * one more each time that the limit runs out. Those come as long as the high
 * table is busy, not only during the first bursts, and so cost rate.
 */
static struct bound_service high_service(const struct bound_port *port)
{
	uint8_t limit = port->table ? port->table->high_limit : port->high_limit;
	double least = port->min_packet > 0 ? port->min_packet : 64;
	double per_low = limit == 0 ? least : 4096.0 * limit * fill_of(port);
	struct bound_service s = {
		.rate = port->rate,
		.latency = (port->max_packet + port->management_burst) / port->rate,
	};

	if (limit == HIGH_LIMIT_NONE)
		return s;
	/* The limit never runs out between a packet's own begin and its end. */
	s.latency -= fmin(1, least / per_low) * port->max_packet / port->rate;
	s.rate *= per_low / (per_low + port->max_packet);
	return s;
}

/* Rate and latency that the link of a port guarantees to the group of `own`: a class, or a VL. */
static struct bound_service link_service(const struct bound_work *w, uint32_t port,
					 const struct passage *own)
{
	const struct bound_port *p = &w->ports[port];
	struct class_sum high = sum_high(w, port, own);

	if (own->high) {
		struct bound_service s = high_service(p);
		struct class_sum mine = bound_sum_group(w, port, own->group);
		double rate = s.rate - (high.rate - mine.rate);

		/* With a crossbar a little too much: mine has grown too. */
		s.latency = (s.rate * s.latency + high.burst - mine.burst) / rate;
		s.rate = rate;
		return s;
	}
	double free_rate = p->rate - high.rate;
	double first = high.burst + p->management_burst;

	if (p->table)
		return (struct bound_service){
			.rate = free_rate * own->turn.share,
			.latency = (own->turn.lead + first) / free_rate,
		};
	if (p->db_weight > 0)
		return bound_wrr_service(p, first, high.rate);
	return (struct bound_service){
		.rate = free_rate,
		.latency = (p->max_packet + first) / free_rate,
	};
}

/* Rate and latency that crossbar and link in series guarantee to the group of `own`. */
struct bound_service bound_service_at(const struct bound_work *w, uint32_t port,
				      const struct passage *own)
{
	const struct bound_port *p = &w->ports[port];
	struct bound_service s = link_service(w, port, own);

	if (p->crossbar_rate > 0) {
		struct bound_service cross = bound_crossbar_service(p);

		s.latency += cross.latency;
		s.rate = fmin(s.rate, cross.rate);
	}
	return s;
}
