/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * State of ports: a link with its ring and VLs; in a cioq switch also the crossbar outputs, in
 * other switches input buffers and readers. The state follows from the setup and the modes of the
 * run, so it is created last. With several processes, each creates the rows of its own ports and of
 * the far ends of their links. Pages that only have rows of other ports take no memory.
 */
#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "sim/core/arbiters.h"
#include "sim/core/update.h"
#include "sim/domains/domains.h"
#include "sim/faults/fault.h"
#include "sim/injection/injection.h"
#include "sim/routing/routes.h"

void *domain_alloc_ports(const struct sim *s, size_t n, size_t size)
{
	return s->rules.world ? hd_alloc_sparse(n, size) : hd_alloc_dense(n, size);
}

void domain_new_ports(struct sim *s)
{
	size_t n = s->setup->n_ports, port_vls = n * s->n_vls;

	assert(n <= SIM_MOST_PORTS);
	s->links = domain_alloc_ports(s, n, sizeof(*s->links));
	s->rings = domain_alloc_ports(s, n, sizeof(*s->rings));
	s->port_vls = domain_alloc_ports(s, port_vls, sizeof(*s->port_vls));
	s->credits = domain_alloc_ports(s, port_vls, sizeof(*s->credits));
	s->outlets = s->links;
	s->outlet_rings = s->rings;
	s->outlet_vls = s->port_vls;
	s->outlet_credits = s->credits;
	if (s->mode.cioq) {
		s->outlets = domain_alloc_ports(s, n, sizeof(*s->outlets));
		s->outlet_rings = domain_alloc_ports(s, n, sizeof(*s->outlet_rings));
		s->outlet_vls = domain_alloc_ports(s, port_vls, sizeof(*s->outlet_vls));
		s->outlet_credits = domain_alloc_ports(s, port_vls, sizeof(*s->outlet_credits));
		s->cross.vl = hd_alloc(n, sizeof(*s->cross.vl));
	}
	s->sums.carries = hd_alloc(port_vls, sizeof(*s->sums.carries));
	s->instant.pending_links.ports = hd_alloc(n, sizeof(uint32_t));
	s->instant.crossed.ports = hd_alloc(n, sizeof(uint32_t));
	s->instant.downed.ports = hd_alloc(n, sizeof(uint32_t));
	s->instant.updating.ports = hd_alloc(n, sizeof(uint32_t));
}

static uint8_t link_flags(const struct sim *s, uint32_t port)
{
	const struct sim_port *sp = &s->setup->ports[port];
	const struct sim_port *far = &s->setup->ports[sp->peer];
	unsigned flags = L_UP;

	if (s->setup->nodes[sp->node].kind == SIM_END)
		flags |= L_END | L_QUEUED;
	else if (s->mode.cioq)
		flags |= L_QUEUED;
	if (s->setup->nodes[far->node].kind == SIM_END)
		flags |= L_FAR_END;
	if (switch_tables_max_vls(s, port) == 1 || s->setup->arbiter == SIM_STRICT)
		flags |= L_LOWEST;
	if (s->tell.granted || fault_affects_link(s, port))
		flags |= L_SLOW_PATH;
	if (injection_port_pulls(s, port))
		flags |= L_PULLS;
	return (uint8_t)flags;
}

static void ring_init(struct sim *s, uint32_t port)
{
	const struct sim_port *sp = &s->setup->ports[port];
	const struct sim_port *far = &s->setup->ports[sp->peer];
	struct ring *r = &s->rings[port];

	r->delay = update_takes(far);
	if (s->mode.exact)
		r->mode = RING_EXACT;
	else if (far->update_loss > 0)
		r->mode = RING_LOSSY;
}

static void link_init(struct sim *s, uint32_t port)
{
	const struct sim_port *sp = &s->setup->ports[port];
	struct sim_output *l = &s->links[port];

	l->wake_at = NEVER;
	l->peer = NONE;
	s->rings[port].spill = NONE;
	if (sp->peer == SIM_NONE)
		return;
	const struct sim_port *far = &s->setup->ports[sp->peer];

	assert(sp->propagation >= 1);
	l->peer = sp->peer;
	l->prop = sp->propagation;
	l->far_node = far->node;
	l->rate = sim_rate_number(s, sp->rate);
	l->flags = link_flags(s, port);
	ring_init(s, port);
	arbiters_begin(s, port);
	for (uint32_t i = 0; i < s->n_vls; i++) {
		struct port_vl *port_vl = &s->port_vls[port * s->n_vls + i];

		credits_set(s, credits_of_link(s, port), i == s->vl15 ? VL_MANAGEMENT : i,
			    i == s->vl15 ? UINT16_MAX : far->in_blocks);
		port_vl->least = UINT16_MAX;
		port_vl->rr = inputs_before(s, port);
		port_vl->solo = NONE;
		if (l->flags & L_QUEUED)
			port_vl->queue.first = port_vl->queue.last = NONE;
	}
}

/* Crossbar output of a port of a cioq switch. */
static void outlet_init(struct sim *s, uint32_t port)
{
	s->outlets[port].wake_at = NEVER;
	s->outlet_rings[port].spill = NONE;
	s->cross.vl[port] = VL_MANAGEMENT;
	for (uint32_t i = 0; i < s->n_vls; i++) {
		struct port_vl *port_vl = &s->outlet_vls[port * s->n_vls + i];

		credits_set(s, credits_of_outlet(s, port), i == s->vl15 ? VL_MANAGEMENT : i,
			    s->setup->ports[port].out_blocks);
		port_vl->rr = inputs_before(s, port);
		port_vl->solo = NONE;
	}
}

static void buffers_init(struct sim *s, uint32_t port)
{
	for (uint32_t i = 0; s->fifos && i < s->n_vls; i++) {
		struct fifo *f = &s->fifos[port * s->n_vls + i];

		f->next = f->last = NONE;
	}
	if (s->n_readers)
		s->cross.release_at[port] = NEVER;
}

/* Where VLs merge, a queue may have a packet without a request bit. */
static void heads_keep(struct sim *s, uint32_t port)
{
	struct port_vl *port_vls = &s->outlet_vls[port * s->n_vls];
	const struct node *n = &s->nodes[s->setup->ports[port].node];

	for (uint32_t i = 0; n->kind != SIM_END && i < s->n_vls; i++)
		heads_take(s, &port_vls[i]);
}

void domain_init_ports(struct sim *s, const struct domain_partition *cut)
{
	for (uint32_t port = 0; port < s->setup->n_ports; port++) {
		if (cut && !cut_has_row(cut, s->setup, port))
			continue;
		link_init(s, port);
		buffers_init(s, port);
		if (s->mode.cioq)
			outlet_init(s, port);
		if (s->mode.merges)
			heads_keep(s, port);
	}
	if (s->mode.merges) {
		memset(s->heads.slots, 0xff, s->heads.n * sizeof(*s->heads.slots));
		s->heads.free = NONE;
	}
	s->run.has_rows = true;
}
