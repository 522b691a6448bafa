/* SPDX-License-Identifier: BSD-2-Clause */
#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "sim/checkpoint/checkpoint_state.h"
#include "sim/core/vl_sharing.h"
#include "sim/metrics/metrics.h"
#include "sim/routing/routes.h"

/*
 * VL sharing (docs/timing-rules.md, B1 to B9).
 *
 * At end ports, a packet of the user moves to the head of the queue of the acquired VL and then
 * counts as one of that VL. Grants since the last update are derived from the VL counters: a port
 * is updated before each of its arbitrations and sends one packet at a time. A departure is
 * therefore noticed late, but accounted at its own time.
 *
 * At outputs of switches, and at end ports of runs with senders, packets stay in the queues of
 * their VL; a grant of an acquired VL takes them from there (vl_sharing_queue).
 */

#define NO_USER      255
#define WINDOW_TURNS 64 /* longest packets per window of the mean */

/* A number of packets over time, with its mean per window. */
struct level {
	uint32_t n, most;
	hd_time since, window_ends;
	double area; /* integral over this window so far */
	struct batch_means means;
};

/* A VL in its role as a user with packets to send. */
struct user {
	uint32_t waiting; /* packets of this user in queues of any VL */
	uint8_t n_held;
	uint8_t held[SIM_MAX_ACQUIRED]; /* acquired VLs, in order of acquisition */
	bool waits;
	struct level jobs;
	struct batch_means blocking, stay;
	uint64_t offered, blocked, sent, acquired, refused;
	hd_time waits_since, waited;
	hd_time busy[SIM_MAX_ACQUIRED + 1], busy_since;
	uint64_t sent_with[SIM_MAX_ACQUIRED + 1];
};

/* A VL in its role as a resource. */
struct shared_vl {
	uint8_t holder;     /* user that acquired it, or NO_USER */
	uint32_t of_holder; /* packet of the holder, first in the queue; or NONE */
	uint32_t packets;   /* sent, at the last update */
	hd_time born;       /* of the first packet, at the last update */
};

struct sharing_port {
	struct user *users;
	struct shared_vl *port_vls;
	uint8_t n;                              /* data VLs in operation; 0: VLs are not shared */
	bool at_grants;                         /* B7, B8 hold, and not B1, B2, B4, B5 */
	uint8_t sending;                        /* user whose packet is on the link, or NO_USER */
	uint8_t waiters[N_DATA_VLS], n_waiters; /* users that wait for a VL, in order */
};

struct vl_sharing {
	struct sharing_port *ports; /* per sim port */
	hd_time window;
	const struct sim_vl_sharing *rules;
};

/* ---- mean levels ----------------------------------------------------------- */

static void level_start(struct level *l, hd_time now, hd_time window)
{
	l->since = now;
	l->window_ends = now + window;
	l->area = 0;
	l->most = l->n;
	batch_means_init(&l->means);
}

static void level_set(struct level *l, hd_time when, hd_time window, uint32_t n)
{
	while (when >= l->window_ends) {
		l->area += (double)l->n * (double)(l->window_ends - l->since);
		batch_means_add(&l->means, l->area / (double)window);
		l->area = 0;
		l->since = l->window_ends;
		l->window_ends += window;
	}
	l->area += (double)l->n * (double)(when - l->since);
	l->since = when;
	l->n = n;
	l->most = n > l->most ? n : l->most;
}

/* ---- users --------------------------------------------------------------- */

static uint32_t jobs_of(const struct sharing_port *b, unsigned u)
{
	return b->users[u].waiting + (b->sending == u);
}

/* B3: number of VLs that a user with `jobs` packets is entitled to. */
static unsigned entitled(const struct sim_vl_sharing *r, unsigned vl, uint32_t jobs)
{
	unsigned k = 0;

	while (k < r->n_thresholds[vl] && jobs >= r->thresholds[vl][k])
		k++;
	return k;
}

/* Accounts up to `when`. Call before the packets or VLs of a user change. */
static void user_count(struct user *u, hd_time when)
{
	if (u->jobs.n > 0 && when > u->busy_since)
		u->busy[u->n_held] += when - u->busy_since;
	if (when > u->busy_since)
		u->busy_since = when;
}

static void jobs_changed(struct sim *s, struct sharing_port *b, unsigned u, hd_time when)
{
	user_count(&b->users[u], when);
	level_set(&b->users[u].jobs, when, s->sharing->window, jobs_of(b, u));
}

static void waiters_remove(struct sharing_port *b, unsigned u, hd_time when)
{
	struct user *user = &b->users[u];
	unsigned kept = 0;

	if (!user->waits)
		return;
	for (unsigned i = 0; i < b->n_waiters; i++) {
		if (b->waiters[i] != u)
			b->waiters[kept++] = b->waiters[i];
	}
	b->n_waiters = (uint8_t)kept;
	user->waits = false;
	user->waited += when - user->waits_since;
}

/* ---- VLs --------------------------------------------------------------- */

/* B3: the first VL that `u` may acquire, or NO_USER. */
static unsigned vl_free(const struct sim *s, const struct sharing_port *b, unsigned u)
{
	uint32_t shareable = s->setup->vl_sharing.shareable[u];

	for (unsigned v = 0; v < b->n; v++) {
		if ((shareable >> v & 1) && v != u && b->port_vls[v].holder == NO_USER &&
		    jobs_of(b, v) == 0)
			return v;
	}
	return NO_USER;
}

static void vls_acquire(struct sim *s, struct sharing_port *b, unsigned u, hd_time when)
{
	struct user *user = &b->users[u];
	unsigned want = entitled(s->sharing->rules, u, jobs_of(b, u));

	while (user->n_held < want) {
		unsigned v = vl_free(s, b, u);

		if (v == NO_USER) {
			if (user->waits)
				return;
			user->waits = true;
			user->waits_since = when;
			user->refused++;
			b->waiters[b->n_waiters++] = (uint8_t)u;
			return;
		}
		user_count(user, when);
		b->port_vls[v].holder = (uint8_t)u;
		user->held[user->n_held++] = (uint8_t)v;
		user->acquired++;
	}
	waiters_remove(b, u, when);
}

/* B5: releases the VLs that `u` is no longer entitled to, the last acquired first. */
static bool vls_release(struct sim *s, struct sharing_port *b, unsigned u, hd_time when)
{
	struct user *user = &b->users[u];
	unsigned keep = entitled(s->sharing->rules, u, jobs_of(b, u));
	bool any = false;

	while (user->n_held > keep) {
		struct shared_vl *port_vl = &b->port_vls[user->held[user->n_held - 1]];

		if (port_vl->of_holder != NONE)
			break; /* B4: an accepted packet is sent first */
		user_count(user, when);
		port_vl->holder = NO_USER;
		user->n_held--;
		any = true;
	}
	if (user->n_held >= keep)
		waiters_remove(b, u, when);
	return any;
}

/* Users that wait acquire released VLs, in order. */
static void waiters_serve(struct sim *s, struct sharing_port *b, hd_time when)
{
	uint8_t waiters[N_DATA_VLS];
	unsigned n = b->n_waiters;

	for (unsigned i = 0; i < n; i++)
		waiters[i] = b->waiters[i];
	for (unsigned i = 0; i < n; i++)
		vls_acquire(s, b, waiters[i], when);
}

/*
 * Removes a packet of u from its own queue: the second one, so that the first keeps its
 * position, unless there is only one or a packet of the holder is queued before it. NONE: the queue
 * has no packet of u.
 */
static uint32_t home_pop(struct sim *s, uint32_t port, const struct sharing_port *b, unsigned u)
{
	struct port_vl *from = &s->port_vls[port * s->n_vls + u];
	uint32_t first = from->queue.first, before = b->port_vls[u].of_holder;

	if (first != NONE && before == NONE && packet_at(s, first)->next != NONE)
		before = first;
	uint32_t id = before == NONE ? first : packet_at(s, before)->next;

	if (id == NONE)
		return NONE;
	if (before == NONE)
		from->queue.first = packet_at(s, id)->next;
	else
		packet_at(s, before)->next = packet_at(s, id)->next;
	if (from->queue.last == id)
		from->queue.last = before;
	if (from->queue.first == NONE)
		s->links[port].requests &= (uint16_t) ~(1u << u);
	return id;
}

/* B4: moves a packet of u to each VL that u acquired and that has none of them. */
static void acquired_vls_fill(struct sim *s, uint32_t port, struct sharing_port *b, unsigned u)
{
	unsigned keep = entitled(s->sharing->rules, u, jobs_of(b, u));

	for (unsigned i = 0; i < b->users[u].n_held && i < keep; i++) {
		unsigned v = b->users[u].held[i];
		struct port_vl *to = &s->port_vls[port * s->n_vls + v];

		if (b->port_vls[v].of_holder != NONE)
			continue;
		uint32_t id = home_pop(s, port, b, u);

		if (id == NONE)
			return;
		struct packet_record *p = packet_at(s, id);

		p->next = to->queue.first;
		p->out_vl = (uint8_t)v;
		to->queue.first = id;
		if (to->queue.last == NONE)
			to->queue.last = id;
		s->links[port].requests |= (uint16_t)(1u << v);
		b->port_vls[v].of_holder = id;
	}
}

/* ---- updates of a port ----------------------------------------------------- */

/* Accounts the grant at an end port since the last update. */
static void account_grant(struct sim *s, uint32_t port, struct sharing_port *b)
{
	const struct port_vl *port_vls = &s->port_vls[port * s->n_vls];

	for (unsigned v = 0; v < b->n; v++) {
		struct shared_vl *port_vl = &b->port_vls[v];

		if (port_vls[v].packets == port_vl->packets)
			continue;
		unsigned u = port_vl->of_holder == NONE ? v : port_vl->holder;

		assert(b->sending == NO_USER && b->users[u].waiting > 0);
		port_vl->packets = port_vls[v].packets;
		port_vl->of_holder = NONE;
		b->users[u].waiting--;
		b->sending = (uint8_t)u;
		batch_means_add(&b->users[u].stay,
				(double)(s->links[port].busy_until - port_vl->born));
	}
}

/* Updates the packet counts; VLs are released and reassigned. */
static void port_update(struct sim *s, uint32_t port, struct sharing_port *b)
{
	hd_time end = s->links[port].busy_until;

	if (!b->at_grants)
		account_grant(s, port, b);
	if (b->sending == NO_USER || end > s->now)
		return;
	unsigned u = b->sending;

	user_count(&b->users[u], end);
	b->users[u].sent++;
	b->users[u].sent_with[b->users[u].n_held]++;
	b->sending = NO_USER;
	jobs_changed(s, b, u, end);
	if (b->at_grants)
		return; /* B7: releases happen before the next grant */
	for (unsigned v = 0; v < b->n; v++) {
		if (b->users[v].n_held)
			vls_release(s, b, v, end);
	}
	waiters_serve(s, b, end);
}

static void all_vls_fill(struct sim *s, uint32_t port, struct sharing_port *b)
{
	const struct port_vl *port_vls = &s->port_vls[port * s->n_vls];

	for (unsigned u = 0; u < b->n; u++) {
		if (b->users[u].n_held)
			acquired_vls_fill(s, port, b, u);
	}
	for (unsigned v = 0; v < b->n; v++) {
		if (port_vls[v].queue.first != NONE)
			b->port_vls[v].born = packet_at(s, port_vls[v].queue.first)->born;
	}
}

/* ---- outputs of switches, end ports with senders --------------------------- */

/* B8: the VL whose packets a VL of an output sends now. */
static unsigned output_source(const struct sharing_port *b, unsigned vl)
{
	unsigned holder = vl < b->n ? b->port_vls[vl].holder : NO_USER;

	return holder != NO_USER && b->users[holder].waiting > 0 ? holder : vl;
}

/* A VL requests the link while its user, or else its own queue, has packets. */
static void output_requests(struct sim *s, uint32_t port, const struct sharing_port *b)
{
	struct sim_output *l = &s->links[port];

	for (unsigned v = 0; v < b->n; v++) {
		if (b->users[output_source(b, v)].waiting > 0)
			l->requests |= (uint16_t)(1u << v);
		else
			l->requests &= (uint16_t) ~(1u << v);
	}
}

/* Whether a packet is ready and the link can take one. */
static bool output_is_free(const struct sim *s, uint32_t port)
{
	const struct sim_output *l = &s->links[port];

	return (l->flags & L_UP) && l->requests && l->busy_until <= s->now;
}

/* B7: releases first, then the waiting users, then the other users by number. */
static void output_share(struct sim *s, struct sharing_port *b)
{
	for (unsigned u = 0; u < b->n; u++)
		vls_release(s, b, u, s->now);
	waiters_serve(s, b, s->now);
	for (unsigned u = 0; u < b->n; u++)
		vls_acquire(s, b, u, s->now);
}

void vl_sharing_ready(struct sim *s, uint32_t port, unsigned vl)
{
	struct sharing_port *b = &s->sharing->ports[port];

	if (!b->at_grants || vl >= b->n)
		return;
	struct user *u = &b->users[vl];

	port_update(s, port, b);
	user_count(u, s->now);
	u->offered++;
	u->waiting++;
	jobs_changed(s, b, vl, s->now);
}

struct port_vl *vl_sharing_queue(struct sim *s, uint32_t port, struct port_vl *port_vl, unsigned vl)
{
	const struct sharing_port *b = &s->sharing->ports[port];

	if (!b->at_grants || vl >= b->n)
		return port_vl;
	return &s->port_vls[port * s->n_vls + output_source(b, vl)];
}

void vl_sharing_granted(struct sim *s, uint32_t port, const struct packet_record *p)
{
	struct sharing_port *b = &s->sharing->ports[port];

	if (!b->at_grants || p->out_vl >= b->n)
		return;
	struct user *u = &b->users[p->out_vl];

	u->waiting--;
	b->sending = p->out_vl;
	batch_means_add(&u->stay, (double)(s->links[port].busy_until -
					   (s->links[port].flags & L_END ? p->born : p->ready)));
	output_requests(s, port, b);
}

void vl_sharing_discarded(struct sim *s, uint32_t port, unsigned vl)
{
	struct sharing_port *b = &s->sharing->ports[port];

	if (!b->at_grants || vl >= b->n)
		return;
	port_update(s, port, b);
	b->users[vl].waiting--;
	jobs_changed(s, b, vl, s->now);
	output_requests(s, port, b);
	if (output_is_free(s, port))
		link_request(s, port); /* other VLs may acquire what is released */
}

void vl_sharing_withdrawn(struct sim *s, uint32_t port, unsigned vl)
{
	struct sharing_port *b = &s->sharing->ports[port];

	vl_sharing_discarded(s, port, vl);
	if (vl < b->n && b->users[vl].offered)
		b->users[vl].offered--;
}

/* ---- interface of the engine ---------------------------------------------- */

static void refuse(struct sim *s, struct user *u, struct packet_record *p)
{
	metrics_lost(s, p, (struct ending){ SIM_LOST_FULL, p->out, s->now }, &u->blocked);
	packet_free(s, p);
}

bool vl_sharing_admit(struct sim *s, struct packet_record *p)
{
	struct sharing_port *b = &s->sharing->ports[p->out];
	uint32_t capacity = s->sharing->rules->capacity;
	unsigned vl = p->out_vl;

	if (b->at_grants)
		vl_sharing_ready(s, p->out, vl);
	if (b->n == 0 || b->at_grants || vl == VL_MANAGEMENT)
		return true;
	struct user *u = &b->users[vl];

	port_update(s, p->out, b);
	u->offered++;
	bool full =
		capacity && !(p->flags & P_SOURCE) && jobs_of(b, vl) >= capacity * (1u + u->n_held);

	batch_means_add(&u->blocking, full);
	if (full) {
		refuse(s, u, p);
		return false;
	}
	user_count(u, s->now);
	u->waiting++;
	jobs_changed(s, b, vl, s->now);
	vls_acquire(s, b, vl, s->now);
	return true;
}

void vl_sharing_prepare(struct sim *s)
{
	for (uint32_t i = 0; i < s->instant.pending_links.n; i++) {
		uint32_t port = s->instant.pending_links.ports[i];
		struct sharing_port *b = &s->sharing->ports[port];

		if (b->n == 0)
			continue;
		port_update(s, port, b);
		if (!b->at_grants) {
			all_vls_fill(s, port, b);
		} else if (output_is_free(s, port)) {
			output_share(s, b);
			output_requests(s, port, b);
		}
	}
}

/* ---- start and end -------------------------------------------------------- */

static void user_start(struct user *u, hd_time now, hd_time window)
{
	struct level jobs = u->jobs;

	level_start(&jobs, now, window);
	*u = (struct user){
		.waiting = u->waiting,
		.n_held = u->n_held,
		.waits = u->waits,
		.waits_since = now,
		.busy_since = now,
		.jobs = jobs,
	};
	batch_means_init(&u->blocking);
	batch_means_init(&u->stay);
}

void vl_sharing_restart(struct sim *s)
{
	for (uint32_t port = 0; port < s->setup->n_ports; port++) {
		struct sharing_port *b = &s->sharing->ports[port];

		if (b->n == 0 || !has_row(s, port))
			continue;
		port_update(s, port, b);
		for (unsigned v = 0; v < b->n; v++) {
			uint8_t held[SIM_MAX_ACQUIRED];

			for (unsigned i = 0; i < SIM_MAX_ACQUIRED; i++)
				held[i] = b->users[v].held[i];
			user_start(&b->users[v], s->now, s->sharing->window);
			for (unsigned i = 0; i < SIM_MAX_ACQUIRED; i++)
				b->users[v].held[i] = held[i];
			/* The engine resets its own counters at the same time. */
			b->port_vls[v].packets = 0;
		}
	}
}

static bool is_end(const struct sim *s, uint32_t port)
{
	return s->nodes[s->setup->ports[port].node].kind == SIM_END;
}

static bool is_shared(const struct sim *s, uint32_t port)
{
	const struct sim_vl_sharing *w = &s->setup->vl_sharing;

	return is_plugged(s, port) && (is_end(s, port) ? w->hosts : w->switches);
}

void vl_sharing_init(struct sim *s)
{
	const struct sim_setup *setup = s->setup;
	hd_time longest = 0;

	if (!setup->vl_sharing.on)
		return;
	s->sharing = hd_alloc(1, sizeof(*s->sharing));
	s->sharing->rules = &setup->vl_sharing;
	s->sharing->ports = hd_alloc(setup->n_ports, sizeof(struct sharing_port));
	for (uint32_t port = 0; port < setup->n_ports; port++) {
		hd_time d;

		if (!is_shared(s, port))
			continue;
		d = hd_rate_duration(setup->ports[port].rate, s->max_bytes);
		longest = d > longest ? d : longest;
	}
	s->sharing->window = WINDOW_TURNS * longest + 1;
	for (uint32_t port = 0; port < setup->n_ports; port++) {
		struct sharing_port *b = &s->sharing->ports[port];

		if (!is_shared(s, port))
			continue;
		b->at_grants = !is_end(s, port);
		b->n = (uint8_t)switch_tables_max_vls(s, port);
		b->sending = NO_USER;
		b->users = hd_alloc(b->n, sizeof(*b->users));
		b->port_vls = hd_alloc(b->n, sizeof(*b->port_vls));
		for (unsigned v = 0; v < b->n; v++) {
			user_start(&b->users[v], 0, s->sharing->window);
			b->port_vls[v].holder = NO_USER;
			b->port_vls[v].of_holder = NONE;
		}
	}
}

void vl_sharing_with_senders(struct sim *s)
{
	for (uint32_t port = 0; port < s->setup->n_ports; port++)
		s->sharing->ports[port].at_grants = s->sharing->ports[port].n > 0;
}

void vl_sharing_fini(struct sim *s)
{
	if (!s->sharing)
		return;
	for (uint32_t port = 0; port < s->setup->n_ports; port++) {
		free(s->sharing->ports[port].users);
		free(s->sharing->ports[port].port_vls);
	}
	free(s->sharing->ports);
	free(s->sharing);
}

bool sim_vl_use(struct sim *s, uint32_t port, unsigned vl, double level, struct sim_vl_use *out)
{
	struct sharing_port *b = s->sharing ? &s->sharing->ports[port] : NULL;

	if (!b || vl >= b->n || b->users[vl].offered == 0)
		return false;
	hd_time from = s->from < s->now ? s->from : 0;
	double time = (double)(s->now > from ? s->now - from : 1);
	struct user *u = &b->users[vl];

	port_update(s, port, b);
	jobs_changed(s, b, vl, s->now);
	*out = (struct sim_vl_use){
		.offered = u->offered,
		.blocked = u->blocked,
		.sent = u->sent,
		.jobs = batch_means_interval(&u->jobs.means, level),
		.blocking = batch_means_interval(&u->blocking, level),
		.stay = batch_means_interval(&u->stay, level),
		.most = u->jobs.most,
		.acquired = u->acquired,
		.refused = u->refused,
	};
	hd_time waited = u->waited + (u->waits ? s->now - u->waits_since : 0);

	out->waiting = (double)waited / time;
	for (unsigned k = 0; k <= SIM_MAX_ACQUIRED; k++) {
		out->busy[k] = (double)u->busy[k] / time;
		out->sent_with[k] = u->sent_with[k];
	}
	return true;
}

/* ---- checkpoint --------------------------------------------------------- */

static const struct pack_member user_members[] = {
	PACK(user, waiting),        PACK(user, n_held),           PACK_EACH(user, held),
	PACK(user, waits),          PACK(user, jobs.n),           PACK(user, jobs.most),
	PACK(user, jobs.since),     PACK(user, jobs.window_ends), PACK(user, jobs.area),
	PACK(user, offered),        PACK(user, blocked),          PACK(user, sent),
	PACK(user, acquired),       PACK(user, refused),          PACK(user, waits_since),
	PACK(user, waited),         PACK_EACH(user, busy),        PACK(user, busy_since),
	PACK_EACH(user, sent_with),
};

static const struct pack_member shared_vl_members[] = {
	PACK(shared_vl, holder),
	PACK(shared_vl, packets),
	PACK(shared_vl, born),
};

static const struct pack_member sharing_port_members[] = {
	PACK(sharing_port, sending),
	PACK_EACH(sharing_port, waiters),
	PACK(sharing_port, n_waiters),
};

static bool is_user(const struct sharing_port *b, unsigned u)
{
	return u < b->n || u == NO_USER;
}

static void pack_user(struct pack *p, const struct sharing_port *b, struct user *u)
{
	PACK_STRUCT(p, user_members, u);
	batch_means_pack(p, &u->jobs.means);
	batch_means_pack(p, &u->blocking);
	batch_means_pack(p, &u->stay);
	pack_check(p, u->n_held <= SIM_MAX_ACQUIRED);
	for (unsigned i = 0; i < SIM_MAX_ACQUIRED; i++)
		pack_check(p, i >= u->n_held || u->held[i] < b->n);
}

static void pack_waiters(struct pack *p, struct sharing_port *b)
{
	PACK_STRUCT(p, sharing_port_members, b);
	pack_check(p, is_user(b, b->sending) && b->n_waiters <= b->n);
	for (unsigned i = 0; i < N_DATA_VLS; i++)
		pack_check(p, i >= b->n_waiters || b->waiters[i] < b->n);
}

/* A user and its VL, without the packet of the holder. */
static void pack_shared_vl(struct pack *p, struct sharing_port *b, unsigned i)
{
	pack_user(p, b, &b->users[i]);
	PACK_STRUCT(p, shared_vl_members, &b->port_vls[i]);
	pack_check(p, is_user(b, b->port_vls[i].holder));
}

void checkpoint_state_vl_sharing(struct checkpoint_state *v)
{
	struct sim *s = v->s;

	for (uint32_t port = 0; s->sharing && port < s->setup->n_ports; port++) {
		struct sharing_port *b = &s->sharing->ports[port];

		if (b->n == 0 || !checkpoint_state_has_port(v, port))
			continue;
		pack_waiters(v->p, b);
		for (unsigned i = 0; i < b->n; i++) {
			pack_shared_vl(v->p, b, i);
			checkpoint_state_ref(v, sim_of_port(s, port), &b->port_vls[i].of_holder);
		}
	}
}

void vl_sharing_pack(struct pack *k, struct sim *part)
{
	for (uint32_t port = 0; port < part->setup->n_ports; port++) {
		struct sharing_port *b = &part->sharing->ports[port];

		if (b->n == 0 || part->cut->part_of_port[port] != part->part)
			continue;
		pack_waiters(k, b);
		for (unsigned i = 0; i < b->n; i++) {
			pack_shared_vl(k, b, i);
			/* Code after a restart only compares this packet with NONE. */
			pack_u32(k, &b->port_vls[i].of_holder);
		}
	}
}
