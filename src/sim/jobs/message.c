/* SPDX-License-Identifier: BSD-2-Clause */
#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "sim/jobs/jobs_internal.h"
#include "sim/jobs/packet.h"

/* ---- receive slots ------------------------------------------------------- */

void message_receives_make(const struct placed_job *p, struct job_message *m)
{
	m->landings = hd_alloc(p->job.n_ranks, sizeof(*m->landings));
	for (uint32_t i = 0; i < p->job.n_ranks; i++)
		m->landings[i].receive = RANK_GROUP_NONE;
}

/* ---- packets ------------------------------------------------------------ */

static bool carries_bytes(const struct job_message *m)
{
	return m->kind == MSG_DATA || m->kind == MSG_WRITE || m->kind == MSG_ANSWER ||
	       m->kind == MSG_REDUCE;
}

uint64_t message_bytes(const struct job_message *m)
{
	return carries_bytes(m) ? m->size : 0;
}

/* Largest payload of its packets. */
static uint32_t most_payload(const struct placed_job *p, const struct job_message *m)
{
	return m->kind == MSG_REDUCE ? p->transaction : p->mtu;
}

static uint32_t packet_payload(const struct placed_job *p, const struct job_message *m)
{
	return carries_bytes(m) ? message_payload(m->size, most_payload(p, m), m->sent) : 0;
}

static void multicast_packet(const struct placed_job *p, const struct job_message *m,
			     struct sim_arrival *out)
{
	const struct actor *from = &p->actors[m->source];
	uint32_t bytes = packet_payload(p, m) + p->overhead + p->grh;

	*out = (struct sim_arrival){
		.source = from->node,
		.pkey = fabric_key(p->fabric, p->scn->partition, from->port, TOPO_NONE),
		.bytes = bytes < SIM_LEAST_BYTES ? SIM_LEAST_BYTES : bytes,
		.kind = m->kind == MSG_REDUCE ? SIM_CONTRIBUTION : SIM_DATA,
		.number = m->tag + m->sent,
		.dlid = m->dlid,
		.sl = path_sl(&p->fabric->subnet, from->port, m->dlid, p->sl),
	};
}

/*
 * J9: order of messages that enter at one port and instant. Deliveries are processed first, but
 * the messages that they post must not be queued behind messages offered earlier for this
 * instant.
 */
enum turn { TURN_DELIVERY, TURN_RANK, TURN_SERVER };

static uint8_t turn_of(const struct job_domain *s, const struct job_message *m, hd_time when)
{
	if (s->delivery_at == when)
		return TURN_DELIVERY;
	return m->sender < s->of->job.n_ranks ? TURN_RANK : TURN_SERVER;
}

/* The next packet of the message enters the sender's queue at `when`. */
static void packet_offer(struct job_domain *s, uint32_t id, hd_time when)
{
	const struct placed_job *p = s->of;
	const struct job_message *m = message_at(p, id);
	const struct packet_label label = { p->sl, p->scn->partition };
	struct sim_arrival a;

	/* The path was checked when the job was created. */
	if (m->dlid)
		multicast_packet(p, m, &a);
	else
		message_packet(p->fabric, p->actors[m->sender].port, p->actors[m->target].port,
			       label, packet_payload(p, m), &a);
	a.time = when;
	a.turn = turn_of(s, m, when);
	sim_inject(s->sim, p->endpoint, &a, id);
}

/*
 * J14: posts messages at the head of the queue to their queue pairs as early as allowed. Returns
 * true if the first message is for a queue pair and must wait.
 */
static bool line_gives(struct job_domain *s, struct actor *a, hd_time now)
{
	const struct placed_job *p = s->of;

	while (a->first != RANK_GROUP_NONE) {
		uint32_t id = a->first;
		const struct job_message *m = message_at(p, id);

		if (!goes_over_rc(p, m))
			return false;
		if (a->next_at > now) {
			sim_timer(s->sim, p->endpoint, a->node, a->next_at, m->sender);
			return true;
		}
		a->first = m->next;
		a->next_at = now + p->gap;
		a->under_way++;
		chain_begin(s->of, m, now);
		rc_send(s, id, now);
	}
	return false;
}

/* Starts the first message in the queue of an actor. */
static void line_continue(struct job_domain *s, struct actor *a, hd_time now)
{
	a->left_at = HD_TIME_NEVER;
	if (line_gives(s, a, now) || a->first == RANK_GROUP_NONE)
		return;
	hd_time when = now > a->next_at ? now : a->next_at;

	a->next_at = when + s->of->gap;
	chain_begin(s->of, message_at(s->of, a->first), when);
	packet_offer(s, a->first, when);
}

/* Whether the first message is for a queue pair and may be posted now. */
static bool line_may_give(const struct placed_job *p, const struct actor *a, hd_time now)
{
	return a->first != RANK_GROUP_NONE && a->next_at <= now &&
	       goes_over_rc(p, message_at(p, a->first));
}

/* Number of packets, or of SENDs of a queue pair. */
static uint32_t count_packets(const struct placed_job *p, const struct job_message *m)
{
	if (goes_over_rc(p, m))
		return rc_pieces(message_bytes(m));
	return carries_bytes(m) ? (uint32_t)message_packets(m->size, most_payload(p, m)) : 1;
}

/* Initialises a posted message and records it. */
static void message_begin(struct job_domain *s, uint32_t id, hd_time now)
{
	struct placed_job *p = s->of;
	struct job_message *m = message_at(p, id);

	m->posted = now;
	m->sender = m->source;
	m->copies = 1;
	m->sent = m->lost = 0;
	m->n_packets = count_packets(p, m);
	s->n_messages++;
	s->bytes += message_bytes(m);
	chain_post(p, m);
	pairs_count(s, m, message_bytes(m));
	message_announce(s, id);
}

void message_enqueue(struct job_domain *s, uint32_t id, hd_time now)
{
	const struct placed_job *p = s->of;
	struct job_message *m = message_at(p, id);
	struct actor *a = &p->actors[m->sender];

	m->next = RANK_GROUP_NONE;
	if (a->first == RANK_GROUP_NONE) {
		a->first = a->last = id;
		line_continue(s, a, now);
		return;
	}
	message_at(p, a->last)->next = id;
	a->last = id;
}

static void line_put(struct job_domain *s, uint32_t id, hd_time now)
{
	message_begin(s, id, now);
	if (!inner_takes(s, id, now))
		message_enqueue(s, id, now);
}

const struct job_message *message_of_sender(const struct placed_job *p, uint32_t actor)
{
	uint32_t first = p->actors[actor].first;

	return first == RANK_GROUP_NONE ? NULL : message_at(p, first);
}

/* ---- operations of ranks ------------------------------------------------ */

static void post_multicast(struct job_domain *s, struct job_message *m, uint32_t rank,
			   uint32_t group)
{
	const struct placed_job *p = s->of;
	uint32_t step = p->ranks[rank].step;

	m->dlid = p->mlids[step][group];
	message_receives_make(p, m);
}

static void post(void *context, uint32_t rank, const struct op *op, uint32_t ref,
		 const struct critical_path *path)
{
	static const uint8_t kinds[] = { [OP_SEND] = MSG_DATA,
					 [OP_MULTICAST] = MSG_DATA,
					 [OP_READ] = MSG_READ,
					 [OP_WRITE] = MSG_WRITE,
					 [OP_REDUCE] = MSG_REDUCE };
	struct job_domain *s = context;
	const struct placed_job *p = s->of;
	uint32_t id = message_new(s);
	struct job_message *m = message_at(p, id);

	*m = (struct job_message){ .size = op->size,
				   .path = *path,
				   .source = rank,
				   .target = op->peer,
				   .tag = op->tag,
				   .ref = ref,
				   .kind = kinds[op->kind],
				   .here.receive = RANK_GROUP_NONE };
	if (op->kind == OP_SEND && op->size > p->eager)
		m->kind = MSG_ASK;
	else if (op->kind == OP_MULTICAST)
		post_multicast(s, m, rank, op->peer);
	else if (op->kind == OP_REDUCE)
		reduction_post(s, rank, op->peer, id);
	else if (op->kind != OP_SEND)
		m->target = p->servers[p->ranks[rank].step][op->peer];
	line_put(s, id, s->rank_group.now);
	if (op->kind == OP_MULTICAST)
		m->copies = step_members(&p->steps[p->ranks[rank].step], p->job.n_ranks) - 1;
}

/* Time and critical path that cause a message. */
struct cause {
	hd_time now;
	struct critical_path path;
};

/* Sends an answer to `m` back to its source. */
static void reply(struct job_domain *s, const struct job_message *m, enum message_kind kind,
		  uint64_t size, uint32_t receive, const struct cause *cause)
{
	uint32_t id = message_new(s);
	struct job_message *r = message_at(s->of, id);

	*r = (struct job_message){ .size = size,
				   .path = cause->path,
				   .source = m->target,
				   .target = m->source,
				   .tag = m->tag,
				   .ref = m->ref,
				   .kind = (uint8_t)kind,
				   .here.receive = receive };
	line_put(s, id, cause->now);
}

static bool matched(void *context, uint32_t rank, uint32_t message, uint32_t receive,
		    uint64_t *size)
{
	struct job_domain *s = context;
	struct job_message *m = message_at(s->of, message);
	struct job_recv_slot *l = message_recv_slot(m, rank);
	const struct cause cause = { s->rank_group.now, s->rank_group.path };

	if (m->kind == MSG_ASK) {
		reply(s, m, MSG_GO, m->size, receive, &cause);
		message_take(s, message, rank);
		return false;
	}
	l->receive = receive;
	if (l->arrived < m->n_packets)
		return false;
	*size = m->size;
	message_take(s, message, rank);
	return true;
}

static void wake(void *context, uint32_t rank, hd_time when)
{
	struct job_domain *s = context;

	sim_timer(s->sim, s->of->endpoint, s->of->actors[rank].node, when, rank);
}

static void iterated(void *context, uint32_t rank)
{
	struct job_domain *s = context;

	if (s->of->watch)
		job_iterated(s, rank);
}

/* ---- callbacks of the simulator ----------------------------------------- */

struct critical_path message_path_until(const struct job_message *m, const struct sim_waits *waits,
					hd_time now)
{
	struct critical_path path = m->path;

	path.messages += now - m->posted;
	path.n_messages++;
	path.last = chain_arrived(m, waits, now);
	return path;
}

/* Adds the waits of an arrived packet. */
static void landing_add(struct job_recv_slot *l, const struct sim_waits *x)
{
	l->waits.held += x->held;
	if (x->longest > l->waits.longest)
		l->waits.longest = x->longest;
}

/* A data packet has arrived at a rank. */
static void data_lands(struct job_domain *s, uint32_t id, uint32_t rank, hd_time now)
{
	struct job_message *m = message_at(s->of, id);
	struct job_recv_slot *l = message_recv_slot(m, rank);
	const struct match_key key = { rank, m->source, m->tag };

	if (l->arrived++ == 0 && l->receive == RANK_GROUP_NONE)
		l->receive = rank_group_announce(&s->rank_group, key, id);
	if (m->n_packets > 1 && l->arrived == 1)
		timeline_receives(s, rank, 1);
	if (m->n_packets > 1 && l->arrived == m->n_packets)
		timeline_receives(s, rank, -1);
	if (l->arrived == m->n_packets && l->receive == RANK_GROUP_NONE && !m->dlid)
		message_tell_arrived(s, id);
	if (l->arrived < m->n_packets || l->receive == RANK_GROUP_NONE)
		return;
	const struct critical_path path = message_path_until(m, &l->waits, now);
	const struct arrived_message what = { rank, l->receive, m->source, m->size };

	message_take(s, id, rank);
	rank_group_arrived(&s->rank_group, now, &what, &path);
}

static void ask_lands(struct job_domain *s, uint32_t id, hd_time now)
{
	struct job_message *m = message_at(s->of, id);
	const struct match_key key = { m->target, m->source, m->tag };
	const struct cause cause = { now, message_path_until(m, &m->here.waits, now) };
	uint32_t receive = rank_group_announce(&s->rank_group, key, id);

	m->here.arrived = m->n_packets;
	if (receive == RANK_GROUP_NONE)
		return;
	reply(s, m, MSG_GO, m->size, receive, &cause);
	message_take(s, id, m->target);
}

/* All packets of a message of another kind have arrived. */
static void other_lands(struct job_domain *s, uint32_t id, hd_time now)
{
	const struct job_message m = *message_at(s->of, id);
	const struct cause cause = { now, message_path_until(&m, &m.here.waits, now) };

	message_take(s, id, m.target);
	if (m.kind == MSG_ANSWER)
		rank_group_answered(&s->rank_group, m.target, now, m.ref, &cause.path);
	else if (m.kind == MSG_GO)
		reply(s, &m, MSG_DATA, m.size, m.here.receive, &cause);
	else
		reply(s, &m, MSG_ANSWER, m.kind == MSG_READ ? m.size : 0, RANK_GROUP_NONE, &cause);
}

void message_lands(struct job_domain *s, uint32_t id, uint32_t at, hd_time now)
{
	struct job_message *m = message_at(s->of, id);

	if (m->kind == MSG_DATA)
		data_lands(s, id, at, now);
	else if (m->kind == MSG_ASK)
		ask_lands(s, id, now);
	else if (++m->here.arrived == m->n_packets)
		other_lands(s, id, now);
}

static void packet_lands(struct job_domain *s, hd_time now, uint32_t node,
			 const struct sim_packet *packet)
{
	const struct placed_job *p = s->of;

	if (packet->kind == SIM_RESULT) {
		uint32_t rank = p->rank_of_node[node];

		reduction_deliver(s, rank, packet, now);
		if (rank != RANK_GROUP_NONE)
			timeline_look(s, rank, now);
		return;
	}
	/* A wrong forwarding table may deliver it to another host. */
	if (!message_is_known(p, packet->cookie))
		return;
	struct job_message *m = message_at(p, packet->cookie);
	uint32_t target = m->dlid ? p->rank_of_node[node] : m->target;

	if (target == RANK_GROUP_NONE || p->actors[target].node != node)
		return;
	landing_add(message_recv_slot(m, target), &packet->waits);
	message_lands(s, packet->cookie, target, now);
	timeline_look(s, target, now);
}

static void on_delivered(void *context, hd_time now, uint32_t node, const struct sim_packet *packet)
{
	struct job_domain *s = context;

	s->delivery_at = now;
	packet_lands(s, now, node, packet);
	s->delivery_at = HD_TIME_NEVER;
}

static void on_passage(void *context, const struct sim_passage *x)
{
	struct job_domain *s = context;

	if (x->is_measured)
		s->of->link_bytes[x->port] += x->bytes;
	if (x->is_first && x->waited)
		message_at(s->of, x->cookie)->held += x->waited;
}

static void on_granted(void *context, hd_time now, hd_time end, uint32_t node, uint32_t cookie)
{
	struct job_domain *s = context;
	struct job_message *m = message_at(s->of, cookie);

	(void)now;
	if (++m->sent < m->n_packets) {
		packet_offer(s, cookie, end);
		return;
	}
	s->of->actors[m->sender].left_at = end;
	sim_timer(s->sim, s->of->endpoint, node, end, m->sender);
}

/* Whether the send operation is done when its message has left. */
static bool ends_send(const struct placed_job *p, const struct job_message *m)
{
	return m->kind == MSG_DATA && m->source < p->job.n_ranks && m->sender == m->source;
}

/* Critical path of the operations that wait for this send. */
static struct critical_path path_of_send(const struct job_message *m, hd_time now)
{
	struct critical_path path = m->path;

	path.sending += now - m->posted;
	path.last = chain_left(m, now);
	return path;
}

void message_acknowledged(struct job_domain *s, uint32_t id, hd_time now)
{
	const struct placed_job *p = s->of;
	struct job_message *m = message_at(p, id);
	const struct critical_path path = path_of_send(m, now);
	uint32_t rank = m->source, ref = m->ref;
	bool ends = ends_send(p, m);

	m->sent = m->n_packets;
	p->actors[m->sender].under_way--;
	timeline_look(s, m->sender, now);
	message_release(s, id);
	if (!ends)
		return;
	rank_group_wake(&s->rank_group, rank, now, ref, &path);
	timeline_look(s, rank, now);
}

static void on_timer(void *context, hd_time now, uint32_t number)
{
	struct job_domain *s = context;
	const struct placed_job *p = s->of;
	struct actor *a;
	uint32_t left = RANK_GROUP_NONE;
	struct critical_path path = { 0 };

	if (number >= p->n_actors) {
		inner_timer(s, number - p->n_actors, now);
		return;
	}
	if (number < p->job.n_ranks && p->ranks[number].began == HD_TIME_NEVER) {
		rank_group_begin(&s->rank_group, number, now);
		timeline_look(s, number, now);
		return;
	}
	a = &p->actors[number];
	if (a->left_at == now) {
		const struct job_message *m = message_at(p, a->first);

		if (ends_send(p, m)) {
			left = m->ref;
			path = path_of_send(m, now);
		}
		a->first = m->next;
		line_continue(s, a, now);
	} else if (line_may_give(p, a, now)) {
		line_continue(s, a, now);
	}
	if (number < p->job.n_ranks)
		rank_group_wake(&s->rank_group, number, now, left, &path);
	timeline_look(s, number, now);
}

/* The packet never arrives. No operation is notified; stuck.c finds the consequences. */
static void on_lost(void *context, hd_time when, uint32_t cookie, bool was_sent)
{
	struct job_domain *s = context;

	if (!message_is_ours(s->of, cookie)) {
		message_tell_lost(s, cookie);
		return;
	}
	struct job_message *m = message_at(s->of, cookie);

	__atomic_add_fetch(&m->lost, 1, __ATOMIC_RELAXED);
	if (was_sent)
		return;
	/* Dropped at its source, as its later packets would be: the message is done. */
	m->sent = m->n_packets;
	s->of->actors[m->sender].left_at = when;
	sim_timer(s->sim, s->of->endpoint, s->of->actors[m->sender].node, when, m->sender);
}

/* ---- domains ------------------------------------------------------------ */

static void share_init(struct placed_job *p, struct job_domain *s, uint32_t number, struct sim *sim)
{
	const struct network_ops network = { s, post, matched, wake, iterated };

	*s = (struct job_domain){ .of = p,
				  .number = number,
				  .sim = sim,
				  .delivery_at = HD_TIME_NEVER,
				  .free = RANK_GROUP_NONE,
				  .returned = RANK_GROUP_NONE };
	rank_group_init(&s->rank_group, &p->job, &network, p->ranks, p->needs);
}

static void cut(void *context, const struct sim_cut *how, void **contexts)
{
	struct placed_job *p = ((struct job_domain *)context)->of;

	/* The rank group is still in its initial state. */
	rank_group_fini(&p->alone.rank_group);
	p->shares = hd_alloc(how->n, sizeof(*p->shares));
	p->n_shares = how->n;
	p->part_of_node = how->part_of_node;
	message_blocks_begin(p, how->first, how->n);
	for (uint32_t i = 0; i < how->n; i++) {
		share_init(p, &p->shares[i], i, how->parts[i]);
		contexts[i] = &p->shares[i];
	}
	job_domains_init_remote(p, how);
}

void job_attach(struct placed_job *p, struct sim *sim)
{
	p->shares = &p->alone;
	p->n_shares = 1;
	message_blocks_begin(p, 0, 1);
	share_init(p, &p->shares[0], 0, sim);
	const struct sim_endpoint e = {
		.context = &p->alone,
		.name = p->sender,
		.delivered = on_delivered,
		.timer = on_timer,
		.granted = on_granted,
		.passes = on_passage,
		.lost = on_lost,
		.cut = cut,
		.joined = p->joined,
		.list_cookies = job_list_cookies,
		.pack = job_pack,
		.pack_cookie = job_pack_cookie,
		.mail = job_mail,
		.collect = job_collect,
	};

	p->sim = sim;
	p->endpoint = sim_attach(sim, &e);
	for (uint32_t i = 0; i < p->job.n_ranks; i++)
		sim_timer(sim, p->endpoint, p->actors[i].node, p->job.start, i);
}
