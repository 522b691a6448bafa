/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/pack.h"
#include "mgmt/agents/agents_internal.h"

/* ---- effects */

static void do_send(struct agents *a, const struct agent_change *d)
{
	agents_mad_send(a, d->port, &d->to, d->mad, d->size, d->now);
}

static void do_run(struct agents *a, const struct agent_change *d)
{
	agents_timed_run(a, d->now);
	agents_notices_run(a, d->now);
}

static void do_cable(struct agents *a, const struct agent_change *d)
{
	agents_cable_plug(a, d->port, d->value, d->now);
}

static void do_sm(struct agents *a, const struct agent_change *d)
{
	agents_sm_set(a, d->port, d->value, d->now);
}

static void do_field(struct agents *a, const struct agent_change *d)
{
	info_set(a, a->ports[d->port].info, (enum port_field)d->which, d->value);
}

static void do_retrain(struct agents *a, const struct agent_change *d)
{
	agents_link_retrain(a, d->port, d->now);
}

static void do_violation(struct agents *a, const struct agent_change *d)
{
	agents_violation_add(a, d->port, &d->violation, d->value, d->now);
}

static void do_count(struct agents *a, const struct agent_change *d)
{
	agents_counter_add(a, d->port, d->which, d->value);
}

static void do_error(struct agents *a, const struct agent_change *d)
{
	agents_error_add(a, d->port, d->which, d->value, d->now);
}

/* Members of a change besides its kind and time. */
enum {
	HAS_PORT = 1,
	HAS_WHICH = 2,
	HAS_VALUE = 4,
	HAS_MAD = 8,
	HAS_VIOLATION = 16,
	AT_END_PORT = 32,
	AT_CABLE = 64,
};

static const struct {
	void (*act)(struct agents *a, const struct agent_change *d);
	unsigned members;
	uint32_t most; /* largest `which` */
} kinds[N_AGENT_CHANGES] = {
	[AGENT_CHANGE_SEND] = { do_send, HAS_PORT | HAS_MAD | AT_END_PORT, 0 },
	[AGENT_CHANGE_RUN] = { do_run, 0, 0 },
	[AGENT_CHANGE_CABLE] = { do_cable, HAS_PORT | HAS_VALUE | AT_CABLE, 0 },
	[AGENT_CHANGE_SM] = { do_sm, HAS_PORT | HAS_VALUE | AT_END_PORT, 0 },
	[AGENT_CHANGE_FIELD] = { do_field, HAS_PORT | HAS_WHICH | HAS_VALUE, N_PORT_FIELDS - 1 },
	[AGENT_CHANGE_RETRAIN] = { do_retrain, HAS_PORT, 0 },
	[AGENT_CHANGE_VIOLATION] = { do_violation, HAS_PORT | HAS_VALUE | HAS_VIOLATION, 0 },
	[AGENT_CHANGE_COUNT] = { do_count, HAS_PORT | HAS_WHICH | HAS_VALUE, N_PORT_COUNTERS - 1 },
	[AGENT_CHANGE_ERROR] = { do_error, HAS_PORT | HAS_WHICH | HAS_VALUE, N_PORT_COUNTERS - 1 },
};

void agents_apply(struct agents *a, const struct agent_change *d)
{
	if (d->now > a->now)
		a->now = d->now;
	if (a->events.before_change)
		a->events.before_change(a->events.context, d);
	kinds[d->kind].act(a, d);
}

/* ---- wrappers */

void agents_send(struct agents *a, port_id from, const struct mad_address *to, const uint8_t *mad,
		 size_t size, hd_time now)
{
	const struct agent_change d = { .kind = AGENT_CHANGE_SEND,
					.now = now,
					.port = from,
					.to = *to,
					.mad = mad,
					.size = size };

	if (size >= MAD_SIZE || (size > 1 && mad[MAD_CLASS] != 0))
		agents_apply(a, &d);
}

hd_time agents_next(const struct agents *a)
{
	hd_time notices = agents_notices_next(a), transits = agents_timed_next(a);

	return notices < transits ? notices : transits;
}

void agents_run(struct agents *a, hd_time now)
{
	const struct agent_change d = { .kind = AGENT_CHANGE_RUN, .now = now };

	if (agents_next(a) <= now)
		agents_apply(a, &d);
}

bool agents_set_cable(struct agents *a, port_id port, bool plugged, hd_time now)
{
	const struct agent_change d = {
		.kind = AGENT_CHANGE_CABLE, .now = now, .port = port, .value = plugged
	};

	if (a->topo->ports[port].peer == TOPO_NONE)
		return false;
	agents_apply(a, &d);
	return true;
}

void agents_set_sm(struct agents *a, port_id port, bool is_sm, hd_time now)
{
	const struct agent_change d = {
		.kind = AGENT_CHANGE_SM, .now = now, .port = port, .value = is_sm
	};

	agents_apply(a, &d);
}

void agents_port_set(struct agents *a, port_id port, enum port_field f, uint64_t value)
{
	const struct agent_change d = {
		.kind = AGENT_CHANGE_FIELD, .now = a->now, .port = port, .which = f, .value = value
	};

	agents_apply(a, &d);
}

void agents_retrain(struct agents *a, port_id port, hd_time now)
{
	const struct agent_change d = { .kind = AGENT_CHANGE_RETRAIN, .now = now, .port = port };

	agents_apply(a, &d);
}

void agents_refuse(struct agents *a, port_id port, const struct key_violation *v, uint64_t n,
		   hd_time now)
{
	const struct agent_change d = { .kind = AGENT_CHANGE_VIOLATION,
					.now = now,
					.port = port,
					.value = n,
					.violation = *v };

	agents_apply(a, &d);
}

void agents_count(struct agents *a, port_id port, unsigned counter, uint64_t more)
{
	const struct agent_change d = { .kind = AGENT_CHANGE_COUNT,
					.now = a->now,
					.port = port,
					.which = counter,
					.value = more };

	agents_apply(a, &d);
}

void agents_error(struct agents *a, port_id port, unsigned counter, uint64_t more, hd_time now)
{
	const struct agent_change d = { .kind = AGENT_CHANGE_ERROR,
					.now = now,
					.port = port,
					.which = counter,
					.value = more };

	agents_apply(a, &d);
}

/* ---- packing */

static const struct pack_member address_members[] = {
	PACK(mad_address, lid),  PACK(mad_address, pkey), PACK(mad_address, qp),
	PACK(mad_address, qkey), PACK(mad_address, sl),
};

static const struct pack_member violation_members[] = {
	PACK(key_violation, is_qkey), PACK(key_violation, slid), PACK(key_violation, dlid),
	PACK(key_violation, sl),      PACK(key_violation, key),  PACK(key_violation, from_qp),
	PACK(key_violation, to_qp),
};

static void pack_mad(struct pack *p, struct agent_change *d)
{
	PACK_STRUCT(p, address_members, &d->to);
	d->size = pack_count(p, d->size);
	if (!p->reads) {
		pack_bytes(p, (void *)d->mad, d->size);
	} else {
		d->mad = p->in;
		p->in += d->size;
		p->left -= d->size;
	}
}

void agent_change_pack(struct pack *p, const struct topo *t, struct agent_change *d)
{
	uint32_t kind = d->kind;

	pack_u32(p, &kind);
	if (!pack_check(p, kind < N_AGENT_CHANGES))
		kind = AGENT_CHANGE_RUN;
	d->kind = (enum agent_change_kind)kind;
	unsigned members = kinds[kind].members;

	pack_u64(p, &d->now);
	pack_check(p, d->now < HD_TIME_NEVER / 2);
	if (members & HAS_PORT)
		pack_u32(p, &d->port);
	if (!pack_check(p, d->port < t->n_ports &&
				   (!(members & AT_END_PORT) || topo_is_end_port(t, d->port)) &&
				   (!(members & AT_CABLE) || t->ports[d->port].peer != TOPO_NONE)))
		return;
	if (members & HAS_WHICH)
		pack_u32(p, &d->which);
	pack_check(p, d->which <= kinds[kind].most);
	if (members & HAS_VALUE)
		pack_u64(p, &d->value);
	if (members & HAS_VIOLATION)
		PACK_STRUCT(p, violation_members, &d->violation);
	if (members & HAS_MAD)
		pack_mad(p, d);
}
