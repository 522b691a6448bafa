/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/pack.h"
#include "mgmt/agents/agents_internal.h"

/* ---- doing */

static void do_send(struct agents *a, const struct deed *d)
{
	mad_send(a, d->port, &d->to, d->mad, d->size, d->now);
}

static void do_run(struct agents *a, const struct deed *d)
{
	flights_run(a, d->now);
	notices_run(a, d->now);
}

static void do_cable(struct agents *a, const struct deed *d)
{
	cable_set(a, d->port, d->value, d->now);
}

static void do_sm(struct agents *a, const struct deed *d)
{
	sm_note(a, d->port, d->value, d->now);
}

static void do_field(struct agents *a, const struct deed *d)
{
	info_set(a, a->ports[d->port].info, (enum port_field)d->which, d->value);
}

static void do_retrain(struct agents *a, const struct deed *d)
{
	link_retrain(a, d->port, d->now);
}

static void do_refused(struct agents *a, const struct deed *d)
{
	violation_note(a, d->port, &d->violation, d->value, d->now);
}

static void do_count(struct agents *a, const struct deed *d)
{
	count_more(a, d->port, d->which, d->value);
}

static void do_error(struct agents *a, const struct deed *d)
{
	error_note(a, d->port, d->which, d->value, d->now);
}

/* What a kind says besides its time. */
enum {
	SAYS_PORT = 1,
	SAYS_WHICH = 2,
	SAYS_VALUE = 4,
	SAYS_MAD = 8,
	SAYS_VIOLATION = 16,
	AT_END_PORT = 32,
	AT_CABLE = 64,
};

static const struct {
	void (*act)(struct agents *a, const struct deed *d);
	unsigned says;
	uint32_t most; /* of `which` */
} kinds[N_DEEDS] = {
	[DEED_SEND] = { do_send, SAYS_PORT | SAYS_MAD | AT_END_PORT, 0 },
	[DEED_RUN] = { do_run, 0, 0 },
	[DEED_CABLE] = { do_cable, SAYS_PORT | SAYS_VALUE | AT_CABLE, 0 },
	[DEED_SM] = { do_sm, SAYS_PORT | SAYS_VALUE | AT_END_PORT, 0 },
	[DEED_FIELD] = { do_field, SAYS_PORT | SAYS_WHICH | SAYS_VALUE, N_PORT_FIELDS - 1 },
	[DEED_RETRAIN] = { do_retrain, SAYS_PORT, 0 },
	[DEED_REFUSED] = { do_refused, SAYS_PORT | SAYS_VALUE | SAYS_VIOLATION, 0 },
	[DEED_COUNT] = { do_count, SAYS_PORT | SAYS_WHICH | SAYS_VALUE, N_PORT_COUNTERS - 1 },
	[DEED_ERROR] = { do_error, SAYS_PORT | SAYS_WHICH | SAYS_VALUE, N_PORT_COUNTERS - 1 },
};

void agents_do(struct agents *a, const struct deed *d)
{
	if (d->now > a->now)
		a->now = d->now;
	if (a->events.noted)
		a->events.noted(a->events.context, d);
	kinds[d->kind].act(a, d);
}

/* ---- the same by name */

void agents_send(struct agents *a, port_id from, const struct mad_address *to, const uint8_t *mad,
		 size_t size, hd_time now)
{
	const struct deed d = {
		.kind = DEED_SEND, .now = now, .port = from, .to = *to, .mad = mad, .size = size
	};

	if (size >= MAD_SIZE || (size > 1 && mad[MAD_CLASS] != 0))
		agents_do(a, &d);
}

hd_time agents_next(const struct agents *a)
{
	hd_time notices = notices_next(a), flights = flights_next(a);

	return notices < flights ? notices : flights;
}

void agents_run(struct agents *a, hd_time now)
{
	const struct deed d = { .kind = DEED_RUN, .now = now };

	if (agents_next(a) <= now)
		agents_do(a, &d);
}

bool agents_set_cable(struct agents *a, port_id port, bool plugged, hd_time now)
{
	const struct deed d = { .kind = DEED_CABLE, .now = now, .port = port, .value = plugged };

	if (a->topo->ports[port].peer == TOPO_NONE)
		return false;
	agents_do(a, &d);
	return true;
}

void agents_set_sm(struct agents *a, port_id port, bool is_sm, hd_time now)
{
	const struct deed d = { .kind = DEED_SM, .now = now, .port = port, .value = is_sm };

	agents_do(a, &d);
}

void agents_port_set(struct agents *a, port_id port, enum port_field f, uint64_t value)
{
	const struct deed d = {
		.kind = DEED_FIELD, .now = a->now, .port = port, .which = f, .value = value
	};

	agents_do(a, &d);
}

void agents_retrain(struct agents *a, port_id port, hd_time now)
{
	const struct deed d = { .kind = DEED_RETRAIN, .now = now, .port = port };

	agents_do(a, &d);
}

void agents_violation(struct agents *a, port_id port, const struct violation *v, uint64_t n,
		      hd_time now)
{
	const struct deed d = {
		.kind = DEED_REFUSED, .now = now, .port = port, .value = n, .violation = *v
	};

	agents_do(a, &d);
}

void agents_count(struct agents *a, port_id port, unsigned counter, uint64_t more)
{
	const struct deed d = {
		.kind = DEED_COUNT, .now = a->now, .port = port, .which = counter, .value = more
	};

	agents_do(a, &d);
}

void agents_error(struct agents *a, port_id port, unsigned counter, uint64_t more, hd_time now)
{
	const struct deed d = {
		.kind = DEED_ERROR, .now = now, .port = port, .which = counter, .value = more
	};

	agents_do(a, &d);
}

/* ---- as bytes */

static const struct pack_member address_members[] = {
	PACK(mad_address, lid),  PACK(mad_address, pkey), PACK(mad_address, qp),
	PACK(mad_address, qkey), PACK(mad_address, sl),
};

static const struct pack_member violation_members[] = {
	PACK(violation, is_qkey), PACK(violation, slid), PACK(violation, dlid),
	PACK(violation, sl),      PACK(violation, key),  PACK(violation, from_qp),
	PACK(violation, to_qp),
};

static void pack_mad(struct pack *p, struct deed *d)
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

void deed_pack(struct pack *p, const struct topo *t, struct deed *d)
{
	uint32_t kind = d->kind;

	pack_u32(p, &kind);
	if (!pack_check(p, kind < N_DEEDS))
		kind = DEED_RUN;
	d->kind = (enum deed_kind)kind;
	unsigned says = kinds[kind].says;

	pack_u64(p, &d->now);
	pack_check(p, d->now < HD_TIME_NEVER / 2);
	if (says & SAYS_PORT)
		pack_u32(p, &d->port);
	if (!pack_check(p, d->port < t->n_ports &&
				   (!(says & AT_END_PORT) || topo_is_end_port(t, d->port)) &&
				   (!(says & AT_CABLE) || t->ports[d->port].peer != TOPO_NONE)))
		return;
	if (says & SAYS_WHICH)
		pack_u32(p, &d->which);
	pack_check(p, d->which <= kinds[kind].most);
	if (says & SAYS_VALUE)
		pack_u64(p, &d->value);
	if (says & SAYS_VIOLATION)
		PACK_STRUCT(p, violation_members, &d->violation);
	if (says & SAYS_MAD)
		pack_mad(p, d);
}
