/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How many of a row's connections are refused, by a closed form. There is one
 * where connections come as Poisson streams, where one link decides on all that
 * have anything to do with each other, and where its slots are all that limits:
 * Erlang's if all ask for the same, else Kaufman's and Roberts' recursion. Of
 * holding times only the mean matters to both.
 */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "fabric/fabric_internal.h"
#include "model/loss.h"
#include "qos/admission/broker.h"

/* The connections of a row with admission. */
struct stream {
	uint32_t n;     /* arriving in the run */
	uint32_t group; /* number of one of the group's streams; see find_groups */
	struct hd_rate rate;
	double load; /* erlangs */
	uint8_t sl;
	bool is_preferred, is_greedy;
	const char *why; /* why no closed form applies; NULL: one does */
};

/* The part of a stream that crosses a link. */
struct stream_crossing {
	uint32_t n;
	uint8_t vl;
};

struct network {
	const struct fabric *fabric;
	const struct broker *broker; /* without connections */
	struct stream *streams;      /* per row */
	uint32_t n;
	uint32_t n_ports;
	struct stream_crossing *crossings; /* per stream and port */
};

static struct stream_crossing *crossing(const struct network *w, uint32_t stream, port_id port)
{
	return &w->crossings[(size_t)stream * w->n_ports + port];
}

static bool is_at(const struct network *w, uint32_t stream, uint32_t group, port_id port)
{
	return w->streams[stream].group == group && crossing(w, stream, port)->n > 0;
}

/* ---- who comes -------------------------------------------------------- */

static const char *why_not(const struct fabric *fabric, const struct scn_traffic *t)
{
	const struct scn_arrivals *a = &t->arrivals;

	if (!a->gap || a->holding == HD_TIME_NEVER)
		return "none: they stay";
	if (a->gap_law != SCN_EXPONENTIAL)
		return "none: arrivals are not Poisson";
	if (t->start > 0 || t->stop < fabric->rules.stop)
		return "none: they come for a part of the run";
	return NULL;
}

static void add_stream(struct network *w, uint32_t row, hd_time linger)
{
	const struct scn_traffic *t = &w->fabric->scenario->traffic[row];
	struct stream *x = &w->streams[row];

	*x = (struct stream){ .group = row, .why = why_not(w->fabric, t) };
	if (!x->why)
		x->load = ((double)t->arrivals.holding + (double)linger) / (double)t->arrivals.gap;
}

static void count_flow(struct network *w, uint32_t k, uint32_t flow)
{
	struct stream *x = &w->streams[k];
	const struct broker_request q = fabric_request_of(w->fabric, flow);
	struct tree_path way;

	if (broker_links(w->broker, &q.way, &way) != HD_OK)
		x->why = "none: some find no way";
	if (q.reverse.n)
		x->why = "none: acknowledgements are reserved, too";
	if (x->n && (x->rate.num != q.rate.num || x->rate.den != q.rate.den))
		x->why = "none: they ask for different rates";
	for (uint32_t i = 0; i < way.n; i++) {
		struct stream_crossing *c = crossing(w, k, way.links[i].port);

		if (c->n && c->vl != way.links[i].vl)
			x->why = "none: they have several VLs";
		c->vl = way.links[i].vl;
		c->n++;
	}
	tree_path_fini(&way);
	x->rate = q.rate;
	x->sl = q.way.segment[0].sl;
	x->is_greedy |= q.greedy;
	x->is_preferred = x->sl == w->broker->params.pbe_sl;
	x->n++;
}

static void count_flows(struct network *w)
{
	const struct scenario *s = w->fabric->scenario;

	for (uint32_t i = 0; i < w->fabric->n_flows; i++) {
		uint32_t row = w->fabric->flows[i].row;

		if (scenario_asks(s, &s->traffic[row]))
			count_flow(w, row, i);
	}
}

static void merge(struct network *w, uint32_t a, uint32_t b)
{
	for (uint32_t k = 0; k < w->n; k++) {
		if (w->streams[k].group == b)
			w->streams[k].group = a;
	}
}

/*
 * Streams that cross the same link are in one group. PBE has slots of its own on every link, so its
 * streams are in groups of their own.
 */
static void find_groups(struct network *w)
{
	for (port_id p = 0; p < w->n_ports; p++) {
		uint32_t first[2] = { w->n, w->n };

		for (uint32_t k = 0; k < w->n; k++) {
			const struct stream *x = &w->streams[k];
			uint32_t *f = &first[x->is_preferred];

			if (!crossing(w, k, p)->n)
				continue;
			if (*f == w->n)
				*f = k;
			else
				merge(w, w->streams[*f].group, x->group);
		}
	}
}

/* ---- what a link has for them ----------------------------------------- */

static uint32_t size_at(const struct network *w, uint32_t stream, port_id port)
{
	uint64_t slots = slots_for(w->streams[stream].rate, w->broker->links[port].rate);

	/* More than all slots is never admitted. */
	return slots > FRAME_SLOTS ? FRAME_SLOTS + 1 : (uint32_t)slots;
}

/* Needs of a group in one of a link's two tables. */
struct need {
	uint32_t vls;    /* set of those that it has there */
	uint32_t wasted; /* those that may leave a part of one entry free */
	const struct fill *fill;
};

static unsigned n_vls(const struct need *n)
{
	return (unsigned)__builtin_popcount(n->vls);
}

static void add_need(const struct network *w, uint32_t k, port_id port, struct need need[2])
{
	const struct broker_link *link = &w->broker->links[port];
	uint8_t vl = crossing(w, k, port)->vl;
	struct need *n = &need[link->high_vls >> vl & 1];
	bool is_whole = size_at(w, k, port) % ENTRY_SLOTS == 0;

	n->fill = broker_fill(link, vl);
	if (!is_whole || fill_reserved(n->fill, vl))
		n->wasted |= 1u << vl;
	n->vls |= 1u << vl;
}

/* Entries for the group if one of its VLs sends: its other VLs may be at their floors. */
static uint32_t entries_left(const struct need *n)
{
	bool floors = (n->fill->floors & n->vls) != 0;

	return FRAME_ENTRIES - n->fill->n_entries + floors;
}

/* Slots that one VL can have, in what it has begun, too. */
static uint32_t room_of_vl(const struct need *n)
{
	unsigned vl = (unsigned)__builtin_ctz(n->vls);
	uint32_t has = fill_reserved(n->fill, vl);

	return entries_left(n) * ENTRY_SLOTS + entries_for(has) * ENTRY_SLOTS - has;
}

/*
 * Reduces the slots of a link to what its entries allow; false: that depends on the distribution
 * over VLs. Each VL wastes less than one entry.
 */
static bool cut_to_entries(struct need need[2], uint32_t *places)
{
	const struct need *only = !need[0].vls ? &need[1] : !need[1].vls ? &need[0] : NULL;

	if (only && !only->fill)
		return true; /* no connection of this kind */
	if (only && (n_vls(only) == 1 || (!only->wasted && !(only->fill->floors & only->vls)))) {
		uint32_t room =
			n_vls(only) == 1 ? room_of_vl(only) : entries_left(only) * ENTRY_SLOTS;

		*places = room < *places ? room : *places;
		return true;
	}
	for (int t = 0; t < 2; t++) {
		const struct need *n = &need[t];
		uint32_t most =
			*places + (uint32_t)__builtin_popcount(n->wasted) * (ENTRY_SLOTS - 1);

		if (n->vls && most / ENTRY_SLOTS > entries_left(n))
			return false;
	}
	return true;
}

/* Slots that one SL may use if it is the only one on the link. */
static bool cut_to_share(const struct network *w, uint32_t group, port_id port, uint32_t *places)
{
	uint16_t sls = 0, limited = 0;

	for (uint32_t k = 0; k < w->n; k++) {
		const struct stream *x = &w->streams[k];
		struct hd_ratio share = w->broker->params.sl_share[x->sl];

		if (!is_at(w, k, group, port))
			continue;
		sls |= (uint16_t)(1u << x->sl);
		if (!share.den)
			continue;
		limited |= (uint16_t)(1u << x->sl);
		uint32_t most = slots_of_share(share);

		*places = most < *places ? most : *places;
	}
	return !limited || (sls & (sls - 1)) == 0;
}

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
	while (b) {
		uint32_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* Slots that a group's streams share on a link; or why these are not all. */
static const char *places_of(const struct network *w, uint32_t group, port_id port,
			     uint32_t *places)
{
	const struct broker_link *link = &w->broker->links[port];
	struct need need[2] = { { 0 } };
	bool is_preferred = false, is_greedy = false;
	uint32_t unit = 0;

	for (uint32_t k = 0; k < w->n; k++) {
		if (!is_at(w, k, group, port))
			continue;
		is_preferred = w->streams[k].is_preferred;
		is_greedy |= w->streams[k].is_greedy;
		add_need(w, k, port, need);
		unit = common_divisor(unit, size_at(w, k, port));
	}
	if (is_preferred) {
		*places = slots_of_share(w->broker->params.preferred);
		return NULL;
	}
	if (link->unreserved_vls || (is_greedy && n_vls(&need[0]) + n_vls(&need[1]) > 1))
		return "none: what switches serve limits, too";
	*places = FRAME_SLOTS - link->high.total - link->low.total;
	/* The rest of a unit cannot be reserved. */
	*places -= unit ? *places % unit : 0;
	if (!cut_to_share(w, group, port, places))
		return "none: an SL has a share of its own";
	if (w->broker->params.mode == FILL_ET)
		return "none: entries are kept for those to come";
	if (w->broker->params.mode == FILL_STRICT && !cut_to_entries(need, places))
		return "none: table entries limit, too";
	return NULL;
}

/* ---- the link that decides -------------------------------------------- */

/* NULL if connections accepted by this link are rejected by no other link; otherwise the reason. */
static const char *decides(const struct network *w, uint32_t group, port_id port, uint32_t *places)
{
	const char *why = places_of(w, group, port, places);

	for (port_id p = 0; !why && p < w->n_ports; p++) {
		bool is_used = false;
		uint32_t there = 0;

		for (uint32_t k = 0; k < w->n; k++) {
			if (!is_at(w, k, group, p))
				continue;
			is_used = true;
			if (size_at(w, k, p) > size_at(w, k, port))
				return "none: no single link decides";
		}
		if (is_used)
			why = places_of(w, group, p, &there);
		if (is_used && there < *places)
			return "none: no single link decides";
	}
	return why;
}

static bool has_all(const struct network *w, uint32_t group, port_id port)
{
	for (uint32_t k = 0; k < w->n; k++) {
		if (w->streams[k].group == group && crossing(w, k, port)->n != w->streams[k].n)
			return false;
	}
	return true;
}

static const char *find_link(const struct network *w, uint32_t group, port_id *port,
			     uint32_t *places)
{
	const char *why = "none: no single link decides";

	for (port_id p = 0; p < w->n_ports; p++) {
		if (!has_all(w, group, p))
			continue;
		why = decides(w, group, p, places);
		*port = p;
		if (!why)
			return NULL;
	}
	return why;
}

static void compute(struct network *w, uint32_t group, port_id port, uint32_t places,
		    struct fabric_loss *out)
{
	struct loss_class *classes = hd_alloc(w->n, sizeof(*classes));
	double *lost = hd_alloc(w->n, sizeof(*lost));
	uint32_t n = 0;
	bool alike = true;

	for (uint32_t k = 0; k < w->n; k++) {
		if (w->streams[k].group != group)
			continue;
		classes[n] = (struct loss_class){ size_at(w, k, port), w->streams[k].load };
		alike &= classes[n].size == classes[0].size;
		n++;
	}
	loss_shared(places, classes, n, lost);
	n = 0;
	for (uint32_t k = 0; k < w->n; k++) {
		if (w->streams[k].group == group)
			out[k] = (struct fabric_loss){ lost[n++],
						       alike ? "Erlang B" : "Kaufman-Roberts" };
	}
	free(classes);
	free(lost);
}

static void judge(struct network *w, uint32_t group, struct fabric_loss *out)
{
	const char *why = NULL;
	port_id port = TOPO_NONE;
	uint32_t places = 0;

	for (uint32_t k = 0; k < w->n; k++) {
		if (w->streams[k].group == group && w->streams[k].why)
			why = "none: another row on its links has none";
	}
	if (!why)
		why = find_link(w, group, &port, &places);
	if (!why) {
		compute(w, group, port, places, out);
		return;
	}
	for (uint32_t k = 0; k < w->n; k++) {
		const struct stream *x = &w->streams[k];

		if (x->group == group)
			out[k].form = x->why ? x->why : why;
	}
}

void fabric_build_losses(struct fabric *fabric, const struct broker *broker, hd_time linger)
{
	const struct scenario *s = fabric->scenario;
	struct network w = { .fabric = fabric,
			     .broker = broker,
			     .n = (uint32_t)s->n_traffic,
			     .n_ports = fabric->topo.n_ports };

	fabric->losses = fabric_keep(fabric, w.n, sizeof(*fabric->losses));
	w.streams = hd_alloc(w.n, sizeof(*w.streams));
	for (uint32_t row = 0; row < w.n; row++) {
		fabric->losses[row] = (struct fabric_loss){ NAN, "" };
		add_stream(&w, row, linger);
	}
	w.crossings = hd_alloc((size_t)w.n * w.n_ports, sizeof(*w.crossings));
	count_flows(&w);
	find_groups(&w);
	for (uint32_t k = 0; k < w.n; k++) {
		if (w.streams[k].n && w.streams[k].group == k)
			judge(&w, k, fabric->losses);
	}
	free(w.crossings);
	free(w.streams);
}
