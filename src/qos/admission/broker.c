/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/admission/broker.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "qos/admission/service.h"
#include "qos/admission/tree.h"
#include "qos/tables/classes.h"
#include "subnet/routing/router.h"
#include "subnet/tables/packet.h"

struct broker_params broker_params_default(void)
{
	const struct hd_rate any = { 1, 1 };

	return (struct broker_params){
		.mode = FILL_STRICT,
		.place = PLACE_FIRST,
		.best_effort = { 1, 5 },
		.preferred = { 0, 1 },
		.be_sl = class_sl(TC_BE, any),
		.ch_sl = class_sl(TC_CH, any),
		.pbe_sl = class_sl(TC_PBE, any),
		.floor_sls = class_floor_sls(),
	};
}

/* Whether the SL has a share that every table has from the start. */
static bool is_preferred(const struct broker *b, uint8_t sl)
{
	return sl == b->params.pbe_sl;
}

static void add_vls(const struct sl2vl *map, unsigned n_vls, uint16_t vls[N_SLS])
{
	for (unsigned sl = 0; sl < N_SLS; sl++) {
		if (map->vl[sl] < n_vls)
			vls[sl] |= (uint16_t)(1u << map->vl[sl]);
	}
}

/* The set of VLs that each SL can have at an output port, over all input ports. */
static void find_vls(const struct subnet *s, port_id port, uint16_t vls[N_SLS])
{
	const struct vl_split *split = &s->split;
	const struct topo_port *p = &s->topo->ports[port];
	switch_id sw = s->switch_of_node[p->node];
	unsigned n_vls = s->vls_of_port[port], block = (1u << split->vls) - 1;
	const struct sl2vl *last = NULL;

	memset(vls, 0, N_SLS * sizeof(*vls));
	/* With route changes, an SL may use any VL of its block. */
	for (unsigned sl = 0; sl < N_SLS && split->n_classes; sl++)
		vls[sl] = (uint16_t)((block << (split->class_of_sl[sl] * split->vls)) &
				     ((1u << n_vls) - 1));
	if (split->n_classes)
		return;
	if (sw == TOPO_NONE) {
		add_vls(sl2vl_of(s, port), n_vls, vls);
		return;
	}
	for (unsigned in = 0; in <= switch_node(s, sw)->n_ports; in++) {
		const struct sl2vl *map = sl2vl_at(s, sw, in, p->number);

		if (map != last)
			add_vls(map, n_vls, vls);
		last = map;
	}
}

static uint16_t vls_of_sls(const uint16_t vls[N_SLS], uint16_t sls)
{
	uint16_t set = 0;

	for (unsigned sl = 0; sl < N_SLS; sl++)
		set |= sls >> sl & 1 ? vls[sl] : 0;
	return set;
}

static uint16_t vls_of_sl(const uint16_t vls[N_SLS], uint8_t sl)
{
	return sl == BROKER_NO_SL ? 0 : vls[sl];
}

static enum hd_status init_link(struct broker *b, port_id port, struct diag *d)
{
	struct broker_link *link = &b->links[port];
	const struct broker_params *p = &b->params;
	uint16_t vls[N_SLS];

	if (b->subnet->rate_of_port[port].num == 0)
		return HD_OK;
	find_vls(b->subnet, port, vls);
	const struct fill_start start = {
		.be_vls = vls_of_sl(vls, p->be_sl),
		.pbe_vls = vls_of_sl(vls, p->pbe_sl),
		.ch_vls = vls_of_sl(vls, p->ch_sl),
		.be = p->best_effort,
		.pbe = p->preferred,
		.floor_vls = vls_of_sls(vls, p->floor_sls),
	};

	link->rate = b->subnet->rate_of_port[port];
	link->high_vls = vls_of_sls(vls, p->high_sls);
	link->unreserved_vls = vls_of_sls(vls, p->unreserved_sls);
	link->rest_vls = start.be_vls | start.pbe_vls | start.ch_vls;
	fill_init(&link->high, p->mode, p->place);
	fill_init(&link->low, p->mode, p->place);
	if (fill_begin(&link->low, &start) != HD_OK)
		return diag_fail(
			d, HD_ERR_FULL,
			"port %u of '%s' has no room for best-effort and challenged traffic",
			b->subnet->topo->ports[port].number,
			topo_node_of(b->subnet->topo, port)->name);
	return HD_OK;
}

enum hd_status broker_init(struct broker *b, const struct subnet *s,
			   const struct broker_params *params, struct diag *d)
{
	*b = (struct broker){ .subnet = s, .params = *params };
	b->links = hd_alloc(s->topo->n_ports, sizeof(*b->links));
	for (port_id port = 0; port < s->topo->n_ports; port++) {
		enum hd_status status = init_link(b, port, d);

		if (status != HD_OK) {
			broker_fini(b);
			return status;
		}
	}
	return HD_OK;
}

void broker_fini(struct broker *b)
{
	for (uint32_t i = 0; i < b->n_connections; i++)
		free(b->connections[i].holds);
	free(b->links);
	free(b->connections);
	free(b->changed);
	free(b->kept);
	*b = (struct broker){ 0 };
}

/*
 * Slots available to a VL. Both tables share the time of the link and thus its frame of slots.
 * The first reservation of a VL absorbs its floor.
 */
static uint32_t slots_left(const struct broker_link *link, unsigned vl)
{
	uint32_t used = link->high.total + link->low.total;
	uint32_t floor = 1 - fill_needs(broker_fill(link, vl), vl, 1);

	return (used < FRAME_SLOTS ? FRAME_SLOTS - used : 0) + floor;
}

static bool sl_has_room(const struct broker *b, const struct broker_link *link, uint8_t sl,
			uint64_t slots, uint32_t *left)
{
	struct hd_ratio share = is_preferred(b, sl) ? b->params.preferred : b->params.sl_share[sl];

	if (share.den == 0)
		return true;
	uint32_t most = slots_of_share(share);

	*left = most > link->sl_slots[sl] ? most - link->sl_slots[sl] : 0;
	return slots <= *left;
}

static void note_change(struct broker *b, port_id port)
{
	struct broker_link *link = &b->links[port];

	if (link->changed)
		return;
	b->changed = hd_grow(b->changed, &b->changed_cap, b->n_changed + 1u, sizeof(*b->changed));
	b->changed[b->n_changed++] = port;
	link->changed = true;
}

void broker_forget_changes(struct broker *b)
{
	for (uint32_t i = 0; i < b->n_changed; i++)
		b->links[b->changed[i]].changed = false;
	b->n_changed = 0;
}

static struct fill *fill_of(struct broker_link *link, unsigned vl)
{
	return link->high_vls >> vl & 1 ? &link->high : &link->low;
}

static void give_back(struct broker *b, const struct broker_hold *hold)
{
	struct broker_link *link = &b->links[hold->port];

	if (!is_preferred(b, hold->sl))
		fill_remove(fill_of(link, hold->vl), hold->vl, hold->slots);
	link->sl_slots[hold->sl] -= hold->slots;
	link->packets[hold->vl].n--;
	link->packets[hold->vl].n_greedy -= hold->greedy;
	note_change(b, hold->port);
}

static void count_packets(struct broker_packets *p, const struct broker_hold *hold)
{
	if (p->n++ == 0)
		p->least = p->most = hold->most;
	p->least = hold->least < p->least ? hold->least : p->least;
	p->most = hold->most > p->most ? hold->most : p->most;
	p->n_greedy += hold->greedy;
}

/* Reserves a connection's slots on one link; on failure sets the reason. */
static bool take(struct broker *b, const struct broker_hold *hold, struct broker_refusal *why)
{
	uint32_t slots = hold->slots;
	struct broker_link *link = &b->links[hold->port];
	uint8_t sl = hold->sl;

	*why = (struct broker_refusal){
		.link = hold->port,
		.needed = slots,
		.left = slots_left(link, hold->vl),
	};
	if (link->unreserved_vls >> hold->vl & 1 && !is_preferred(b, sl)) {
		why->reason = BROKER_SHARED_VL;
		why->needed = 0;
		return false;
	}
	if (slots > why->left && !is_preferred(b, sl)) {
		why->reason = BROKER_LINK_FULL;
		return false;
	}
	if (!sl_has_room(b, link, sl, slots, &why->left)) {
		why->reason = BROKER_SL_FULL;
		return false;
	}
	if (!is_preferred(b, sl) && fill_add(fill_of(link, hold->vl), hold->vl, slots) != HD_OK) {
		why->reason = BROKER_NO_ENTRY;
		return false;
	}
	link->sl_slots[sl] += slots;
	count_packets(&link->packets[hold->vl], hold);
	note_change(b, hold->port);
	if (!is_preferred(b, sl))
		why->none = service_lacks(b, hold->port);
	if (why->none) {
		why->reason = BROKER_NO_SERVICE;
		why->needed = 0;
		give_back(b, hold);
	}
	return !why->none;
}

/* ---- ways ---------------------------------------------------------------- */

struct broker_request broker_request_of(port_id source, lid_t dlid, uint8_t sl, struct hd_rate rate)
{
	return (struct broker_request){
		.way = { .segment = { { source, dlid, sl } }, .n = 1 },
		.rate = rate,
	};
}

bool broker_way_between(const struct subnet *s, port_id from, port_id to, const uint8_t *sl,
			struct broker_way *out)
{
	const struct topo *t = s->topo;
	port_id entry = from;
	lid_t dlid = route_dlid(s, from, to);

	for (out->n = 0; dlid && out->n < BROKER_SEGMENTS;) {
		unsigned here = t->ports[entry].subnet;
		port_id at = s->port_of_lid[here][dlid];

		out->segment[out->n++] = (struct broker_segment){ entry, dlid, sl[here] };
		if (here == t->ports[to].subnet)
			return true;
		if (at == TOPO_NONE ||
		    !subnet_router_forward(s, t->ports[at].node, to, &entry, &dlid))
			return false;
	}
	return false;
}

static enum hd_status walk_segment(const struct broker *b, const struct broker_segment *g,
				   struct tree_path *out)
{
	struct path path;

	if (g->dlid >= LID_FIRST_MCAST)
		return tree_walk(b->subnet, g->source, g->dlid, g->sl, out);
	enum hd_status status = path_walk(b->subnet, g->source, g->dlid, g->sl, &path);

	*out = (struct tree_path){ .n = path.n_hops };
	out->links = hd_alloc(path.n_hops, sizeof(*out->links));
	for (uint32_t i = 0; i < path.n_hops; i++)
		out->links[i] = (struct tree_link){ .port = path.port[i],
						    .vl = path.vl[i],
						    .before = i ? i - 1 : TREE_ROOT };
	return status;
}

enum hd_status broker_links(const struct broker *b, const struct broker_way *way,
			    struct tree_path *out)
{
	enum hd_status status = HD_OK;

	*out = (struct tree_path){ .links = NULL };
	for (uint32_t k = 0; k < way->n && status == HD_OK; k++) {
		struct tree_path part;
		uint32_t n = out->n;

		status = walk_segment(b, &way->segment[k], &part);
		out->links = hd_grow(out->links, &out->cap, n + part.n, sizeof(*out->links));
		for (uint32_t i = 0; i < part.n; i++) {
			struct tree_link *link = &out->links[out->n++];

			*link = part.links[i];
			link->sl = way->segment[k].sl;
			if (link->before != TREE_ROOT)
				link->before += n;
			else if (n > 0)
				link->before = n - 1;
		}
		tree_path_fini(&part);
	}
	return status;
}

/* ---- connections --------------------------------------------------------- */

/* Reservations wanted by a connection, in the order of its paths. */
struct broker_wanted {
	struct broker_hold *list;
	uint32_t n;
};

/* The reservation that a request needs on a link of its path or reverse path. */
static struct broker_hold hold_of(const struct broker *b, const struct broker_request *r,
				  bool reverse, const struct tree_link *at)
{
	uint64_t slots = slots_for(reverse ? r->reverse_rate : r->rate, b->links[at->port].rate);
	struct broker_hold hold = {
		.port = at->port,
		.slots = slots > UINT32_MAX ? UINT32_MAX : (uint32_t)slots,
		.vl = at->vl,
		.sl = at->sl,
		.least = 1,
		.most = 1,
	};

	if (!reverse) {
		hold.least = (uint16_t)blocks_of(r->smallest ? r->smallest : 1);
		hold.most =
			(uint16_t)blocks_of(r->largest ? r->largest : b->params.latency.largest);
		hold.greedy = r->greedy;
	}
	return hold;
}

/* Appends the links of one path; fails if it does not reach the destination. */
static enum hd_status want_way(const struct broker *b, const struct broker_request *r, bool reverse,
			       struct broker_wanted *w, struct broker_refusal *why)
{
	const struct broker_way *way = reverse ? &r->reverse : &r->way;
	struct tree_path links;
	enum hd_status status = broker_links(b, way, &links);

	if (status != HD_OK)
		*why = (struct broker_refusal){
			.reason = status == HD_ERR_UNFIT ? BROKER_NO_VL : BROKER_NO_PATH,
			.link = links.n ? links.links[links.n - 1].port : way->segment[0].source,
		};
	w->list = hd_realloc(w->list, w->n + links.n + 1u, sizeof(*w->list));
	for (uint32_t i = 0; i < links.n && status == HD_OK; i++) {
		const struct tree_link *at = &links.links[i];

		if (b->down && b->down[at->port]) {
			*why = (struct broker_refusal){ .reason = BROKER_LINK_DOWN,
							.link = at->port };
			status = HD_ERR_NOT_FOUND;
		}
		w->list[w->n++] = hold_of(b, r, reverse, at);
	}
	tree_path_fini(&links);
	return status;
}

/* Appends the links of the paths of all pairs of hosts. */
static enum hd_status want_hose(const struct broker *b, const struct broker_request *r,
				struct broker_wanted *w, struct broker_refusal *why)
{
	struct hose_link *links = NULL;
	uint32_t n = 0;
	port_id where = r->hose->hosts[0];
	enum hd_status status = hose_links(b->subnet, r->hose, &links, &n, &where);

	if (status != HD_OK)
		*why = (struct broker_refusal){
			.reason = status == HD_ERR_UNFIT ? BROKER_NO_VL : BROKER_NO_PATH,
			.link = where,
		};
	w->list = hd_realloc(w->list, n + 1u, sizeof(*w->list));
	for (uint32_t i = 0; i < n && status == HD_OK; i++) {
		struct broker_request part = *r;

		part.rate.num *= links[i].times;
		w->list[w->n++] = hold_of(b, &part, false,
					  &(struct tree_link){ .port = links[i].port,
							       .vl = links[i].vl,
							       .sl = r->hose->sl });
		if (b->down && b->down[links[i].port]) {
			*why = (struct broker_refusal){ .reason = BROKER_LINK_DOWN,
							.link = links[i].port };
			status = HD_ERR_NOT_FOUND;
		}
	}
	free(links);
	return status;
}

static bool same_hold(const struct broker_hold *a, const struct broker_hold *b)
{
	return a->port == b->port && a->vl == b->vl && a->sl == b->sl && a->slots == b->slots;
}

/* The hold that covers `want`; n_holds: none. */
static uint32_t find_hold(const struct broker_connection *c, const struct broker_hold *want)
{
	uint32_t i = 0;

	while (i < c->n_holds && (c->holds[i].used || !same_hold(&c->holds[i], want)))
		i++;
	return i;
}

/*
 * Restores a link entry by entry: releasing what was taken could leave other entries than
 * before, on which bounds depend.
 */
static void restore(struct broker *b, const struct broker_link *before, port_id port)
{
	b->links[port] = *before;
	b->links[port].changed = true; /* already in the list */
}

/*
 * Reserves the wanted links that the connection does not hold. On failure its holds are
 * unchanged.
 */
static enum hd_status take_wanted(struct broker *b, struct broker_connection *c,
				  const struct broker_wanted *w, struct broker_refusal *why)
{
	struct broker_link *before = hd_alloc(w->n, sizeof(*before));
	uint32_t had = c->n_holds, i;

	c->holds = hd_realloc(c->holds, had + w->n + 1u, sizeof(*c->holds));
	for (i = 0; i < had; i++)
		c->holds[i].used = false;
	for (i = 0; i < w->n; i++) {
		uint32_t at = find_hold(c, &w->list[i]);

		if (at == c->n_holds) {
			before[at - had] = b->links[w->list[i].port];
			if (!take(b, &w->list[i], why))
				break;
			c->holds[c->n_holds++] = w->list[i];
		}
		c->holds[at].used = true;
	}
	bool met = i == w->n && latency_check(b, c, why) == HD_OK;

	while (!met && c->n_holds > had) {
		c->n_holds--;
		restore(b, &before[c->n_holds - had], c->holds[c->n_holds].port);
	}
	free(before);
	return met ? HD_OK : HD_ERR_FULL;
}

/* Reservations needed on the paths of the current routes. */
static enum hd_status want(const struct broker *b, const struct broker_request *r,
			   struct broker_wanted *w, struct broker_refusal *why)
{
	enum hd_status status = r->hose ? want_hose(b, r, w, why) : want_way(b, r, false, w, why);

	if (status == HD_OK && r->reverse.n > 0)
		status = want_way(b, r, true, w, why);
	return status;
}

/* Reserves what the paths of the current routes need; other holds become stale. */
static enum hd_status follow(struct broker *b, struct broker_connection *c, bool *moved,
			     struct broker_refusal *why)
{
	struct broker_wanted w = { .list = NULL };
	uint32_t had = c->n_holds;
	bool was_moving = c->moving;
	enum hd_status status = want(b, &c->request, &w, why);

	c->moving = false;
	if (status == HD_OK)
		status = take_wanted(b, c, &w, why);
	if (status != HD_OK)
		c->moving = was_moving;
	free(w.list);
	*moved = status == HD_OK && c->n_holds > had;
	for (uint32_t i = 0; i < c->n_holds && status == HD_OK; i++) {
		*moved |= c->holds[i].stale == c->holds[i].used;
		c->holds[i].stale = !c->holds[i].used;
	}
	return status;
}

/*
 * As follow(), after releasing all holds kept of ended connections: follow() checks the
 * deadlines for which they were kept. On failure nothing changes.
 */
static enum hd_status replace_kept(struct broker *b, struct broker_connection *c, bool *moved,
				   struct broker_refusal *why)
{
	struct broker_link *before = hd_alloc(b->n_kept + 1u, sizeof(*before));

	for (uint32_t i = 0; i < b->n_kept; i++) {
		before[i] = b->links[b->kept[i].port];
		give_back(b, &b->kept[i]);
	}
	enum hd_status status = follow(b, c, moved, why);

	for (uint32_t i = b->n_kept; status != HD_OK && i-- > 0;)
		restore(b, &before[i], b->kept[i].port);
	if (status == HD_OK)
		b->n_kept = 0;
	free(before);
	return status;
}

static enum hd_status follow_or_replace(struct broker *b, struct broker_connection *c, bool *moved,
					struct broker_refusal *why)
{
	struct broker_refusal second;
	enum hd_status status = follow(b, c, moved, why);

	if (status == HD_OK || b->n_kept == 0)
		return status;
	return replace_kept(b, c, moved, &second) == HD_OK ? HD_OK : status;
}

enum hd_status broker_admit(struct broker *b, const struct broker_request *request, uint32_t *id,
			    struct broker_refusal *refusal)
{
	struct broker_connection c = { .request = *request, .live = true };
	bool moved;

	assert(request->rate.num > 0 && request->way.n > 0);
	enum hd_status status = follow_or_replace(b, &c, &moved, refusal);

	if (status != HD_OK) {
		free(c.holds);
		return status;
	}
	b->connections =
		hd_grow(b->connections, &b->cap, b->n_connections + 1, sizeof(*b->connections));
	b->connections[b->n_connections] = c;
	b->has_deadlines |= request->deadline > 0;
	b->n_live++;
	*id = b->n_connections++;
	return HD_OK;
}

enum hd_status broker_admit_standing(struct broker *b, struct diag *d, uint32_t *refused)
{
	for (uint32_t i = 0; i < b->params.n_standing; i++) {
		const struct broker_request *r = &b->params.standing[i];
		struct strbuf reason = STRBUF_INIT;
		struct broker_refusal why;
		uint32_t id;

		if (broker_admit(b, r, &id, &why) == HD_OK)
			continue;
		*refused = i;
		broker_refusal_print(b, &why, &reason);
		enum hd_status status =
			diag_fail(d, HD_ERR_FULL, "the reservation of job '%.80s' is refused: %s",
				  r->hose->name, reason.text);

		strbuf_fini(&reason);
		return status;
	}
	return HD_OK;
}

enum hd_status broker_follow(struct broker *b, uint32_t id, bool *moved,
			     struct broker_refusal *refusal)
{
	return follow_or_replace(b, &b->connections[id], moved, refusal);
}

void broker_abandon(struct broker *b, uint32_t id)
{
	struct broker_connection *c = &b->connections[id];

	for (uint32_t i = 0; i < c->n_holds; i++)
		c->holds[i].stale = true;
}

/* Releases holds if all deadlines are met without them. Otherwise nothing changes. */
static bool drop(struct broker *b, const struct broker_hold *holds, uint32_t n)
{
	struct broker_refusal why;

	if (!latency_is_asked(b)) {
		for (uint32_t i = 0; i < n; i++)
			give_back(b, &holds[i]);
		return true;
	}
	struct broker_link *before = hd_alloc(n, sizeof(*before));

	for (uint32_t i = 0; i < n; i++) {
		before[i] = b->links[holds[i].port];
		give_back(b, &holds[i]);
	}
	bool met = latency_check(b, NULL, &why) == HD_OK;

	for (uint32_t i = n; !met && i-- > 0;)
		restore(b, &before[i], holds[i].port);
	free(before);
	return met;
}

/* Tries to release the kept holds, one after the other. */
static void drop_kept(struct broker *b)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < b->n_kept; i++) {
		if (!drop(b, &b->kept[i], 1))
			b->kept[n++] = b->kept[i];
	}
	b->n_kept = n;
}

void broker_drop_stale(struct broker *b, uint32_t id)
{
	struct broker_connection *c = &b->connections[id];
	uint32_t n = 0, kept = b->n_kept;

	/* Moves the remaining holds to the front. */
	for (uint32_t i = 0; i < c->n_holds; i++) {
		struct broker_hold hold = c->holds[i];

		if (hold.stale)
			continue;
		c->holds[i] = c->holds[n];
		c->holds[n++] = hold;
	}
	if (!drop(b, c->holds + n, c->n_holds - n)) {
		b->n_kept += c->n_holds - n;
		b->kept = hd_grow(b->kept, &b->kept_cap, b->n_kept, sizeof(*b->kept));
		memcpy(b->kept + kept, c->holds + n, (c->n_holds - n) * sizeof(*b->kept));
	}
	c->n_holds = n;
	drop_kept(b);
}

port_id broker_cut(const struct broker *b, uint32_t id)
{
	const struct broker_connection *c = &b->connections[id];

	for (uint32_t i = 0; b->down && i < c->n_holds; i++) {
		if (!c->holds[i].stale && b->down[c->holds[i].port])
			return c->holds[i].port;
	}
	return TOPO_NONE;
}

/* Whether a connection holds all links of its path. */
static bool holds_path(const struct broker *b, struct broker_connection *c)
{
	struct broker_wanted w = { .list = NULL };
	struct broker_refusal why;
	bool holds = want(b, &c->request, &w, &why) == HD_OK;

	for (uint32_t i = 0; i < c->n_holds; i++)
		c->holds[i].used = c->holds[i].stale;
	for (uint32_t i = 0; i < w.n && holds; i++) {
		uint32_t at = find_hold(c, &w.list[i]);

		holds = at < c->n_holds;
		if (holds)
			c->holds[at].used = true;
	}
	free(w.list);
	return holds;
}

void broker_set_routes(struct broker *b, const struct subnet *s, const bool *down)
{
	bool changed = b->subnet != s;

	b->subnet = s;
	b->down = down;
	for (uint32_t i = 0; changed && i < b->n_connections; i++) {
		struct broker_connection *c = &b->connections[i];

		c->moving = c->live && !holds_path(b, c);
	}
}

enum hd_status broker_release(struct broker *b, uint32_t id)
{
	if (id >= b->n_connections || !b->connections[id].live)
		return HD_ERR_NOT_FOUND;
	broker_abandon(b, id);
	broker_drop_stale(b, id);
	free(b->connections[id].holds);
	b->connections[id].holds = NULL;
	b->connections[id].live = false;
	b->n_live--;
	return HD_OK;
}

void broker_tables(const struct broker *b, port_id port, struct vlarb *out)
{
	const struct broker_link *link = &b->links[port];

	fill_table(&link->high, out->high, &out->n_high);
	fill_table(&link->low, out->low, &out->n_low);
	service_scale(b, port, out);
}

void broker_all_tables(const struct broker *b, struct vlarb *out)
{
	for (port_id p = 0; p < b->subnet->topo->n_ports; p++) {
		out[p] = (struct vlarb){ .high_limit = b->params.latency.high_limit };
		if (b->links[p].rate.num)
			broker_tables(b, p, &out[p]);
	}
}

static uint8_t copy_places(const struct fill *f, struct vlarb_entry *out)
{
	uint8_t n = 0;

	for (uint8_t i = 0; i < FRAME_ENTRIES; i++) {
		/* A free entry loses its VL. */
		out[i] = f->entry[i].weight ? f->entry[i] : (struct vlarb_entry){ 0, 0 };
		if (out[i].weight)
			n = (uint8_t)(i + 1);
	}
	return n;
}

void broker_image(const struct broker *b, port_id port, struct vlarb *out)
{
	const struct broker_link *link = &b->links[port];

	assert(b->params.mode != FILL_PAPER);
	out->n_high = copy_places(&link->high, out->high);
	out->n_low = copy_places(&link->low, out->low);
	service_scale(b, port, out);
}

static bool same_link(const struct broker_link *a, const struct broker_link *b)
{
	return memcmp(a->high.slots, b->high.slots, sizeof(a->high.slots)) == 0 &&
	       memcmp(a->low.slots, b->low.slots, sizeof(a->low.slots)) == 0 &&
	       memcmp(a->sl_slots, b->sl_slots, sizeof(a->sl_slots)) == 0;
}

enum hd_status broker_audit(const struct broker *b, struct diag *d)
{
	struct broker fresh;
	enum hd_status status = broker_init(&fresh, b->subnet, &b->params, d);

	if (status != HD_OK)
		return status;
	for (uint32_t i = 0; status == HD_OK && i < b->n_connections; i++) {
		const struct broker_connection *c = &b->connections[i];
		struct broker_refusal why;

		for (uint32_t k = 0; k < c->n_holds; k++) {
			if (!take(&fresh, &c->holds[k], &why))
				status =
					diag_fail(d, HD_ERR_INPUT, "connection %u does not fit", i);
		}
	}
	for (uint32_t i = 0; status == HD_OK && i < b->n_kept; i++) {
		struct broker_refusal why;

		if (!take(&fresh, &b->kept[i], &why))
			status = diag_fail(d, HD_ERR_INPUT, "what is kept does not fit");
	}
	for (port_id p = 0; status == HD_OK && p < b->subnet->topo->n_ports; p++) {
		if (!same_link(&b->links[p], &fresh.links[p]))
			status = diag_fail(
				d, HD_ERR_INPUT,
				"port %u of '%s': its reserved slots are not the sum of its connections' slots; report this as a bug",
				b->subnet->topo->ports[p].number,
				topo_node_of(b->subnet->topo, p)->name);
	}
	broker_fini(&fresh);
	return status;
}

static void print_link(const struct topo *t, port_id link, struct strbuf *out)
{
	const struct topo_port *p = &t->ports[link];

	strbuf_printf(out, "link '%s'[%u]", topo_node_of(t, link)->name, p->number);
	if (p->peer != TOPO_NONE)
		strbuf_printf(out, " -> '%s'[%u]", topo_node_of(t, p->peer)->name,
			      t->ports[p->peer].number);
}

/* Prints the deadline that fails, with its bound or the reason why the bound is unknown. */
static void print_deadline(const struct broker *b, const struct broker_refusal *r,
			   struct strbuf *out)
{
	const struct topo *t = b->subnet->topo;

	if (r->connection == BROKER_NEWEST) {
		strbuf_puts(out, "its deadline");
	} else {
		const struct broker_way *way = &b->connections[r->connection].request.way;
		const struct broker_segment *last = &way->segment[way->n - 1];
		uint32_t there = t->ports[last->source].subnet;

		strbuf_printf(out, "the deadline of '%s' -> ",
			      topo_node_of(t, way->segment[0].source)->name);
		if (last->dlid >= LID_FIRST_MCAST)
			strbuf_printf(out, "group 0x%x", last->dlid);
		else
			strbuf_printf(
				out, "'%s'",
				topo_node_of(t, b->subnet->port_of_lid[there][last->dlid])->name);
	}
	strbuf_printf(out, " of %.3f us would be missed: ", r->deadline * 1e6);
	if (r->none)
		strbuf_printf(out, "there is no bound (%s), at ", r->none);
	else
		strbuf_printf(out, "bound %.3f us, most of it at ", r->bound * 1e6);
	print_link(t, r->link, out);
}

const char *broker_reason_name(enum broker_reason reason)
{
	static const char *const names[] = {
		[BROKER_NO_PATH] = "leads nowhere",
		[BROKER_LINK_DOWN] = "is down",
		[BROKER_NO_VL] = "has no VL for this SL",
		[BROKER_SHARED_VL] = "sends unreserved packets on the VL of this SL",
		[BROKER_SL_FULL] = "has no more for this SL",
		[BROKER_LINK_FULL] = "is full",
		[BROKER_NO_ENTRY] = "has no free table entry",
		[BROKER_NO_SERVICE] = "cannot keep the promise",
		[BROKER_DEADLINE] = "makes a bound exceed its deadline",
	};

	return names[reason];
}

void broker_refusal_print(const struct broker *b, const struct broker_refusal *refusal,
			  struct strbuf *out)
{
	if (refusal->reason == BROKER_DEADLINE) {
		print_deadline(b, refusal, out);
		return;
	}
	print_link(b->subnet->topo, refusal->link, out);
	strbuf_printf(out, " %s", broker_reason_name(refusal->reason));
	if (refusal->reason == BROKER_NO_SERVICE)
		strbuf_printf(out, ": %s", refusal->none);
	if (refusal->needed)
		strbuf_printf(out, ": needs %u slots, has %u", refusal->needed, refusal->left);
}
