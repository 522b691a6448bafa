/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/broker.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "qos/classes.h"
#include "qos/tree.h"

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
	};
}

/* Does it travel on a share that every table has from the start? */
static bool is_preferred(const struct broker *b, uint8_t sl)
{
	return sl == b->params.pbe_sl;
}

static bool is_high(const struct broker *b, uint8_t sl)
{
	return b->params.high_sls >> sl & 1;
}

/* The VL that an SL has on an output, whatever the input. */
static uint8_t lane_of(const struct subnet *s, port_id port, uint8_t sl)
{
	const struct topo_port *p = &s->topo->ports[port];
	switch_id sw = s->switch_of_node[p->node];

	if (sw == TOPO_NONE)
		return sl2vl_of(s, port)->vl[sl];
	return sl2vl_at(s, sw, 0, p->number)->vl[sl];
}

/*
 * Puts what is there from the start into one port's low table. Where the
 * routing engine has several lanes for a class, each has its part.
 */
static enum hd_status reserve(struct broker *b, port_id port, uint8_t sl,
			      uint32_t slots)
{
	const struct lane_split *split = &b->subnet->split;
	uint32_t n = split->n_classes ? split->vls : 1;
	enum hd_status status = HD_OK;

	if (sl == BROKER_NO_SL || slots == 0)
		return HD_OK;
	for (uint32_t i = 0; i < n && status == HD_OK; i++) {
		uint32_t vl = split->n_classes ? split->class_of_sl[sl] * n + i
					       : lane_of(b->subnet, port, sl);

		status = vl < b->subnet->vls_of_port[port]
				 ? fill_add(&b->links[port].low, vl,
					    (slots + n - 1) / n)
				 : HD_ERR_UNFIT;
	}
	return status;
}

static enum hd_status init_link(struct broker *b, port_id port, struct diag *d)
{
	struct broker_link *link = &b->links[port];

	if (b->subnet->rate_of_port[port].num == 0)
		return HD_OK;
	link->rate = b->subnet->rate_of_port[port];
	fill_init(&link->high, b->params.mode, b->params.place);
	fill_init(&link->low, b->params.mode, b->params.place);

	uint32_t slots = slots_of_share(b->params.best_effort);
	enum hd_status status = reserve(b, port, b->params.be_sl, slots);

	if (status == HD_OK)
		status = reserve(b, port, b->params.ch_sl, 1);
	if (status == HD_OK && b->params.preferred.num)
		status = reserve(b, port, b->params.pbe_sl,
				 slots_of_share(b->params.preferred));
	if (status != HD_OK)
		return diag_fail(
			d, status,
			"port %u of '%s' has no lane or no room for best-effort and challenged traffic",
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
	free(b->links);
	free(b->connections);
	free(b->changed);
	*b = (struct broker){ 0 };
}

/* Both tables share the link's time, so they share its frame of slots. */
static uint32_t slots_left(const struct broker_link *link)
{
	uint32_t used = link->high.total + link->low.total;

	return used < FRAME_SLOTS ? FRAME_SLOTS - used : 0;
}

static bool sl_has_room(const struct broker *b, const struct broker_link *link,
			uint8_t sl, uint64_t slots, uint32_t *left)
{
	struct hd_ratio share = is_preferred(b, sl) ? b->params.preferred
						    : b->params.sl_share[sl];

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
	b->changed = hd_grow(b->changed, &b->changed_cap, b->n_changed + 1u,
			     sizeof(*b->changed));
	b->changed[b->n_changed++] = port;
	link->changed = true;
}

void broker_forget_changes(struct broker *b)
{
	for (uint32_t i = 0; i < b->n_changed; i++)
		b->links[b->changed[i]].changed = false;
	b->n_changed = 0;
}

/* Takes one link; says why not. */
static bool take(struct broker *b, const struct tree_link *hop,
		 const struct broker_request *r, struct broker_refusal *why)
{
	struct broker_link *link = &b->links[hop->port];
	uint64_t slots = slots_for(r->rate, link->rate);

	*why = (struct broker_refusal){
		.link = hop->port,
		.needed = slots > UINT32_MAX ? UINT32_MAX : (uint32_t)slots,
		.left = slots_left(link),
	};
	if (slots > why->left && !is_preferred(b, r->sl)) {
		why->reason = BROKER_LINK_FULL;
		return false;
	}
	if (!sl_has_room(b, link, r->sl, slots, &why->left)) {
		why->reason = BROKER_SL_FULL;
		return false;
	}
	struct fill *f = is_high(b, r->sl) ? &link->high : &link->low;

	if (!is_preferred(b, r->sl) &&
	    fill_add(f, hop->vl, (uint32_t)slots) != HD_OK) {
		why->reason = BROKER_NO_ENTRY;
		return false;
	}
	link->sl_slots[r->sl] += (uint32_t)slots;
	note_change(b, hop->port);
	return true;
}

static void give_back(struct broker *b, const struct tree_link *hop,
		      const struct broker_request *r)
{
	struct broker_link *link = &b->links[hop->port];
	uint32_t slots = (uint32_t)slots_for(r->rate, link->rate);

	if (!is_preferred(b, r->sl))
		fill_remove(is_high(b, r->sl) ? &link->high : &link->low,
			    hop->vl, slots);
	link->sl_slots[r->sl] -= slots;
	note_change(b, hop->port);
}

static uint32_t record(struct broker *b, const struct broker_request *request)
{
	b->connections = hd_grow(b->connections, &b->cap, b->n_connections + 1,
				 sizeof(*b->connections));
	b->connections[b->n_connections] =
		(struct broker_connection){ *request, true };
	b->n_live++;
	return b->n_connections++;
}

enum hd_status broker_links(const struct broker *b,
			    const struct broker_request *r,
			    struct tree_path *out)
{
	struct path path;

	if (r->dlid >= LID_FIRST_MCAST)
		return tree_walk(b->subnet, r->source, r->dlid, r->sl, out);
	enum hd_status status =
		path_walk(b->subnet, r->source, r->dlid, r->sl, &path);

	*out = (struct tree_path){ .n = path.n_hops };
	out->links = hd_alloc(path.n_hops, sizeof(*out->links));
	for (uint32_t i = 0; i < path.n_hops; i++)
		out->links[i] =
			(struct tree_link){ .port = path.port[i],
					    .vl = path.vl[i],
					    .before = i ? i - 1 : TREE_ROOT };
	return status;
}

/* All links or none. */
static enum hd_status take_all(struct broker *b, const struct tree_path *links,
			       const struct broker_request *r,
			       struct broker_refusal *why)
{
	for (uint32_t i = 0; i < links->n; i++) {
		if (take(b, &links->links[i], r, why))
			continue;
		while (i-- > 0)
			give_back(b, &links->links[i], r);
		return HD_ERR_FULL;
	}
	return HD_OK;
}

enum hd_status broker_admit(struct broker *b,
			    const struct broker_request *request, uint32_t *id,
			    struct broker_refusal *refusal)
{
	struct tree_path links;
	enum hd_status status = broker_links(b, request, &links);

	assert(request->rate.num > 0);
	if (status != HD_OK) {
		uint32_t last = links.n ? links.n - 1 : 0;

		*refusal = (struct broker_refusal){
			.reason = status == HD_ERR_UNFIT ? BROKER_NO_LANE
							 : BROKER_NO_PATH,
			.link = links.n ? links.links[last].port
					: request->source,
		};
	} else {
		status = take_all(b, &links, request, refusal);
	}
	tree_path_fini(&links);
	if (status == HD_OK)
		*id = record(b, request);
	return status;
}

enum hd_status broker_release(struct broker *b, uint32_t id)
{
	struct tree_path links;

	if (id >= b->n_connections || !b->connections[id].live)
		return HD_ERR_NOT_FOUND;
	struct broker_request *r = &b->connections[id].request;
	enum hd_status status = broker_links(b, r, &links);

	assert(status == HD_OK); /* routes do not change under a broker */
	(void)status;
	for (uint32_t i = 0; i < links.n; i++)
		give_back(b, &links.links[i], r);
	tree_path_fini(&links);
	b->connections[id].live = false;
	b->n_live--;
	return HD_OK;
}

void broker_tables(const struct broker *b, port_id port, struct vlarb *out)
{
	const struct broker_link *link = &b->links[port];

	fill_table(&link->high, out->high, &out->n_high);
	fill_table(&link->low, out->low, &out->n_low);
}

static uint8_t copy_places(const struct fill *f, struct vlarb_entry *out)
{
	uint8_t n = 0;

	for (uint8_t i = 0; i < FRAME_ENTRIES; i++) {
		/* Whose a free place was is forgotten. */
		out[i] = f->entry[i].weight ? f->entry[i]
					    : (struct vlarb_entry){ 0, 0 };
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
}

static bool same_link(const struct broker_link *a, const struct broker_link *b)
{
	return memcmp(a->high.slots, b->high.slots, sizeof(a->high.slots)) ==
		       0 &&
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
		struct broker_refusal why;
		uint32_t id;

		if (b->connections[i].live &&
		    broker_admit(&fresh, &b->connections[i].request, &id,
				 &why) != HD_OK)
			status = diag_fail(d, HD_ERR_INPUT,
					   "connection %u does not fit", i);
	}
	for (port_id p = 0; status == HD_OK && p < b->subnet->topo->n_ports;
	     p++) {
		if (!same_link(&b->links[p], &fresh.links[p]))
			status = diag_fail(
				d, HD_ERR_INPUT,
				"port %u of '%s': reservations do not add up",
				b->subnet->topo->ports[p].number,
				topo_node_of(b->subnet->topo, p)->name);
	}
	broker_fini(&fresh);
	return status;
}

void broker_refusal_print(const struct broker *b,
			  const struct broker_refusal *refusal,
			  struct strbuf *out)
{
	static const char *const reasons[] = {
		[BROKER_NO_PATH] = "leads nowhere",
		[BROKER_NO_LANE] = "has no lane for this SL",
		[BROKER_SL_FULL] = "has no more for this SL",
		[BROKER_LINK_FULL] = "is full",
		[BROKER_NO_ENTRY] = "has no free table entry",
	};
	const struct topo *t = b->subnet->topo;
	const struct topo_port *p = &t->ports[refusal->link];

	strbuf_printf(out, "link '%s'[%u]",
		      topo_node_of(t, refusal->link)->name, p->number);
	if (p->peer != TOPO_NONE)
		strbuf_printf(out, " -> '%s'[%u]",
			      topo_node_of(t, p->peer)->name,
			      t->ports[p->peer].number);
	strbuf_printf(out, " %s", reasons[refusal->reason]);
	if (refusal->needed)
		strbuf_printf(out, ": needs %u slots, has %u", refusal->needed,
			      refusal->left);
}
