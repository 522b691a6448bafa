/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/domains/domains.h"

#include <assert.h>

#include "sim/core/engine.h"
#include "sim/core/update.h"
#include "sim/metrics/metrics.h"
#include "sim/metrics/observers.h"
#include "sim/routing/routes.h"

#define UPDATE_BYTES  6
#define REFRESH_BYTES 65536
#define MODULUS       4096

static struct flow_control *fc_at(struct sim *s, uint32_t port, unsigned vl)
{
	return &s->fc[port * s->n_vls + vl];
}

static void refresh_schedule(struct sim *s, uint32_t port, hd_time when)
{
	eventq_push(&s->q, when, event_key(EV_REFRESH, port, 0, 0));
	s->background++;
}

hd_time update_takes(const struct sim_port *from)
{
	return from->propagation + hd_rate_duration(from->rate, UPDATE_BYTES);
}

void updates_init(struct sim *s)
{
	const struct sim_setup *setup = s->setup;

	for (uint32_t port = 0; port < setup->n_ports; port++) {
		const struct sim_port *sp = &setup->ports[port];
		struct rare_port *c = rare_at(s, port);

		c->update_vl = 15;
		if (sp->peer == NONE)
			continue;
		c->update_time = hd_rate_duration(sp->rate, UPDATE_BYTES);
		const struct sim_port *far = &setup->ports[sp->peer];

		if (s->mode.exact || sp->update_loss > 0) {
			c->refresh = hd_rate_duration(sp->rate, REFRESH_BYTES);
			refresh_schedule(s, port, c->refresh);
		}
		for (uint32_t vl = 0; s->fc && vl < switch_tables_max_vls(s, port); vl++) {
			fc_at(s, port, vl)->limit = (uint16_t)far->in_blocks;
			fc_at(s, port, vl)->offer = (uint16_t)sp->in_blocks;
		}
	}
}

void update_credits(struct sim *s, uint32_t port, uint32_t port_vl)
{
	const struct flow_control *fc = &s->fc[port * s->n_vls + port_vl];
	uint32_t credits = (uint32_t)(fc->limit - fc->sent) & (MODULUS - 1);

	/*
	 * T5: a difference above half of the modulus means that the sender is ahead of its
	 * limit.
	 */
	credits_set(s, credits_of_link(s, port), port_vl, credits <= MODULUS / 2 ? credits : 0);
}

void update_arrive(struct sim *s, uint32_t port, unsigned vl, uint32_t content)
{
	struct flow_control *fc = fc_at(s, port, vl);

	if (s->mode.exact)
		fc->abr = (content >> 12) & (MODULUS - 1);
	fc->limit = content & (MODULUS - 1);
	update_credits(s, port, vl);
	if (s->links[port].requests >> vl & 1)
		link_request(s, port);
}

static void update_notify(struct sim *s, uint32_t port, unsigned vl, uint32_t content, bool lost)
{
	const struct sim_update u = {
		.vl = (uint8_t)vl,
		.fctbs = (content >> 12) & (MODULUS - 1),
		.fccl = content & (MODULUS - 1),
		.lost = lost,
	};

	observers_updated(s, port, &u);
}

/* Counts an update, draws whether it is lost, and otherwise sends it to the far end. */
static void update_launch(struct sim *s, uint32_t port, unsigned vl, uint32_t content)
{
	struct rare_port *c = rare_at(s, port);
	double loss = s->setup->ports[port].update_loss;
	hd_time when = s->now + s->links[port].prop + c->update_time;

	bool lost = loss > 0 && rng_uniform(&c->losses) < loss;

	s->sums.rare[port].updates_sent++;
	lost = lost || c->next_down <= when;
	if (s->tell.updated && s->mode.exact)
		update_notify(s, port, vl, content, lost);
	uint32_t peer = s->links[port].peer;
	uint64_t key = event_key(EV_UPDATE, peer, vl, content);

	if (lost || when > s->horizon)
		count_one(&s->sums.rare[peer].missed_updates);
	if (lost)
		return;
	if (port_is_remote(s, peer))
		mail_event(s, when, key);
	else
		eventq_push(&s->q, when, key);
}

void update_send(struct sim *s, uint32_t port)
{
	struct sim_output *l = &s->links[port];
	struct rare_port *c = rare_at(s, port);
	unsigned vl = bits_after(c->pending, c->update_vl);
	const struct flow_control *fc = fc_at(s, port, vl);
	uint32_t free_blocks = s->setup->ports[port].in_blocks - fc->held;

	link_waited(s, l);
	c->pending &= (uint16_t) ~(1u << vl);
	c->update_vl = (uint8_t)vl;
	l->busy_until = s->now + c->update_time;
	update_launch(s, port, vl,
		      (uint32_t)fc->sent << 12 | ((fc->abr + free_blocks) & (MODULUS - 1)));
	if (l->requests || c->pending)
		link_request(s, port);
}

void updates_flush(struct sim *s, uint32_t port)
{
	struct rare_port *c = rare_at(s, port);

	for (; c->pending; c->pending &= (uint16_t)(c->pending - 1)) {
		unsigned vl = (unsigned)__builtin_ctz(c->pending);

		update_launch(s, port, vl, fc_at(s, port, vl)->offer);
	}
}

/* These VLs have an update for the far end of `port`'s link. */
static void updates_pend(struct sim *s, uint32_t port, uint32_t vls)
{
	struct rare_port *c = rare_at(s, port);

	if (!(s->links[port].flags & L_UP))
		return;
	if (!s->mode.exact && !c->pending)
		port_list_add(&s->instant.updating, port);
	c->pending |= (uint16_t)vls;
	if (s->mode.exact)
		link_request(s, port);
}

void update_refresh(struct sim *s, uint32_t port)
{
	s->background--;
	updates_pend(s, port, (1u << vls_of(s, port, s->now)) - 1);
	refresh_schedule(s, port, s->now + rare_at(s, port)->refresh);
}

void update_space_freed(struct sim *s, uint32_t in_port, unsigned vl, uint32_t blk)
{
	if (vl == VL_MANAGEMENT) {
		struct rare_port *c = rare_at(s, in_port);

		c->vl15_held = (uint16_t)(c->vl15_held - blk);
		return;
	}
	struct flow_control *fc = fc_at(s, in_port, vl);

	fc->offer = (fc->offer + blk) & (MODULUS - 1);
	if (s->mode.exact) {
		assert(fc->held >= blk);
		fc->held = (uint16_t)(fc->held - blk);
	}
	updates_pend(s, in_port, 1u << vl);
}

void update_head_arrived(struct sim *s, uint32_t port, struct packet_record *p)
{
	uint32_t in_port = s->links[port].peer;
	uint32_t blk = blocks_of(p->bytes);

	if (p->vl == VL_MANAGEMENT) {
		struct rare_port *c = rare_at(s, in_port);

		if (c->vl15_held + blk > s->setup->ports[in_port].vl15_blocks) {
			metrics_lost(s, p, (struct ending){ SIM_LOST_VL15, in_port, s->now },
				     &s->sums.rare[in_port].vl15_dropped);
			metrics_packet_missed(s, port, p);
			packet_free(s, p);
			return;
		}
		c->vl15_held = (uint16_t)(c->vl15_held + blk);
	} else if (s->mode.exact) {
		struct flow_control *fc = fc_at(s, in_port, p->vl);

		fc->abr = (fc->abr + blk) & (MODULUS - 1);
		fc->held = (uint16_t)(fc->held + blk);
		assert(fc->held <= s->setup->ports[in_port].in_blocks);
	}
	hop_arrive_at(s, port, p);
}
