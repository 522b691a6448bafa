/* SPDX-License-Identifier: BSD-2-Clause */
/* Port counters and link utilization. */
#include <math.h>
#include <string.h>

#include "sim/metrics/metrics.h"
#include "sim/metrics/tally.h"

static void count_sent(const struct sim *s, uint32_t port, struct sim_counters *out)
{
	for (uint32_t i = 0; i < s->n_vls; i++) {
		const struct port_vl *port_vl = &s->port_vls[port * s->n_vls + i];
		unsigned vl = i == s->vl15 ? VL_MANAGEMENT : i;

		out->xmit_bytes_vl[vl] = port_vl->bytes;
		out->xmit_packets_vl[vl] =
			port_vl->packets + ((uint64_t)s->sums.carries[port * s->n_vls + i] << 32);
		out->xmit_bytes += port_vl->bytes;
		out->xmit_packets += out->xmit_packets_vl[vl];
	}
	for (unsigned sl = 0; s->rules.port_metrics && sl < N_SLS; sl++) {
		unsigned vl = s->vl_of_sl[sl];

		if (s->sl_index[sl] == 255)
			continue;
		struct count c = { out->xmit_bytes_vl[vl], out->xmit_packets_vl[vl] };

		if (s->sums.by_sl)
			c = s->sums.by_sl[port * s->n_sls + s->sl_index[sl]];
		out->xmit_bytes_sl[sl] = c.bytes;
		out->xmit_packets_sl[sl] = c.packets;
	}
}

/* Packets that the far end sent, minus those that did not arrive. */
static void count_received(const struct sim *s, uint32_t port, struct sim_counters *out)
{
	const struct count *missed = &s->sums.missed[port * missed_row(s)];
	uint32_t peer = s->setup->ports[port].peer;
	struct sim_counters far = { 0 };

	count_sent(s, peer, &far);
	out->updates_received = s->sums.rare[peer].updates_sent - s->sums.rare[port].missed_updates;
	out->rcv_multicast =
		s->sums.rare[peer].multicast_sent - s->sums.rare[port].missed_multicast;
	for (uint32_t i = 0; i < s->n_vls; i++) {
		unsigned vl = i == s->vl15 ? VL_MANAGEMENT : i;

		out->rcv_bytes_vl[vl] = far.xmit_bytes_vl[vl] - missed[i].bytes;
		out->rcv_packets_vl[vl] = far.xmit_packets_vl[vl] - missed[i].packets;
		out->rcv_bytes += out->rcv_bytes_vl[vl];
		out->rcv_packets += out->rcv_packets_vl[vl];
	}
	for (unsigned sl = 0; sl < N_SLS; sl++) {
		if (s->sl_index[sl] == 255)
			continue;
		const struct count *c = &missed[s->n_vls + s->sl_index[sl]];

		out->rcv_bytes_sl[sl] = far.xmit_bytes_sl[sl] - c->bytes;
		out->rcv_packets_sl[sl] = far.xmit_packets_sl[sl] - c->packets;
	}
}

/* XmitWait includes the current wait. */
static hd_time waited(const struct sim *s, uint32_t port, hd_time until)
{
	const struct sim_output *l = &s->links[port];
	hd_time start = l->busy_until > l->since ? l->busy_until : l->since;

	if (!l->requests || !(l->flags & L_UP) || start >= until)
		return l->waited;
	return l->waited + (until - start);
}

void metrics_port_counters(const struct sim *s, uint32_t port, struct sim_counters *out)
{
	const struct rare_counters *c = &s->sums.rare[port];
	hd_time until = s->now < s->horizon ? s->now : s->horizon;

	*out = (struct sim_counters){ 0 };
	/* The warm-up is not measured; its counts are cleared at its end. */
	if (s->now < s->from)
		return;
	*out = (struct sim_counters){
		.xmit_discards = c->xmit_discards,
		.rcv_errors = c->rcv_errors,
		.rcv_relay_errors = c->rcv_relay_errors,
		.xmit_constraint_errors = c->xmit_constraint_errors,
		.rcv_constraint_errors = c->rcv_constraint_errors,
		.vl15_dropped = c->vl15_dropped,
		.hop_limit_exceeded = c->hop_limit_exceeded,
		.link_lost = c->link_lost,
		.link_downed = c->link_downed,
		.updates_sent = c->updates_sent,
		.xmit_multicast = c->multicast_sent,
	};
	if (!is_plugged(s, port))
		return;
	count_sent(s, port, out);
	out->xmit_wait = waited(s, port, until);
	count_received(s, port, out);
}

void sim_port_counters(const struct sim_metrics *m, uint32_t port, struct sim_counters *out)
{
	metrics_port_counters(m->sim, port, out);
}

uint64_t sim_checksum(const struct sim_metrics *m)
{
	enum { WORDS = sizeof(struct sim_counters) / sizeof(uint64_t) };
	uint64_t sum = mix_bits(mix_bits(m->checksum ^ m->from) ^ m->to);

	for (uint32_t i = 0; i < m->n_ports; i++) {
		struct sim_counters c;
		uint64_t words[WORDS];

		_Static_assert(sizeof(words) == sizeof(c), "no padding");
		sim_port_counters(m, i, &c);
		memcpy(words, &c, sizeof(c));
		for (unsigned k = 0; k < WORDS; k++)
			sum = mix_bits(sum ^ words[k]);
	}
	return sum;
}

/* Time the link has been sending packets granted until now. */
static double sending(const struct sim *s, uint32_t port, const struct sim_counters *c)
{
	hd_time end = s->links[port].busy_until, to = s->outcome.metrics->to;
	uint64_t bytes = c->xmit_bytes + (s->mode.exact ? 6 * c->updates_sent : 0);
	double time = 8e12 * (double)bytes / hd_rate_bps(s->setup->ports[port].rate) +
		      (double)s->sums.carried[port];

	return fmax(end > to ? time - (double)(end - to) : time, 0);
}

void metrics_port_use(struct sim *s, uint32_t port, struct sim_port_use *out)
{
	const struct sim_port *sp = &s->setup->ports[port];
	struct sim_counters c;
	double time = (double)(s->outcome.metrics->to - s->outcome.metrics->from);

	*out = (struct sim_port_use){ 0 };
	if (time <= 0 || !is_plugged(s, port))
		return;
	uint32_t far = sp->peer, least = sp->in_blocks;

	for (uint32_t i = 0; i < s->vl15; i++) {
		const struct port_vl *port_vl = &s->port_vls[far * s->n_vls + i];

		least = port_vl->least < least ? port_vl->least : least;
	}

	metrics_port_counters(s, port, &c);
	out->utilisation = sending(s, port, &c) / time;
	out->wait = (double)c.xmit_wait / time;
	out->depth = (double)s->rings[far].area / time;
	out->depth_max = sp->in_blocks - least;
}

void sim_port_times(const struct sim_metrics *m, uint32_t port, double *sent, double *waiting)
{
	const struct sim *s = m->sim;
	struct sim_counters c = { .updates_sent = s->sums.rare[port].updates_sent };

	*sent = *waiting = 0;
	if (!is_plugged(s, port))
		return;
	count_sent(s, port, &c);
	*sent = sending(s, port, &c);
	*waiting = (double)waited(s, port, m->to);
}

void metrics_port_restart(struct sim *s, uint32_t port)
{
	struct sim_output *l = &s->links[port];

	l->waited = 0;
	if (l->since < s->now)
		l->since = s->now;
	s->rings[port].area = 0;
	for (uint32_t i = 0; i < s->n_vls; i++) {
		struct port_vl *port_vl = &s->port_vls[port * s->n_vls + i];

		port_vl->bytes = port_vl->packets = 0;
		port_vl->least = UINT16_MAX;
	}
	if (l->busy_until > s->now && !sim_of_port(s, port)->mail.is_elsewhere)
		s->sums.carried[port] = l->busy_until - s->now;
}
