/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "live/adapter.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/iba.h"
#include "live/daemon/daemon_internal.h"

/* State of a port of which a program was last notified. */
struct port_snapshot {
	uint64_t state, lid, sm_lid, prefix;
	uint32_t pkeys; /* checksum of the P_Keys */
};

struct counted {
	uint64_t packets, octets;
};

/* A program that uses verbs. */
struct adapter_program {
	bool used;
	uint32_t slot; /* client slot */
	node_id node;
	int file; /* file of its memory; -1: not received yet */
	struct live_memory *memory;
	struct counted *counted;    /* LIVE_FLOWS counters as of the last adapters_count */
	struct port_snapshot *seen; /* per port of the node */
};

struct adapters {
	int file; /* file of the page */
	struct live_page *page;
	struct adapter_program programs[LIVE_PROGRAMS];
	uint32_t n_used;
	uint32_t next;   /* next number to try: numbers are reused as late as possible */
	uint32_t engine; /* number of the engine's connection; 0: no engine */
	struct live_member *members;
	size_t n_members, members_cap;
};

struct adapters *adapters_new(enum live_pace pace)
{
	int file = memfd_create("heddle-page", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	void *page = MAP_FAILED;

	if (file >= 0 && ftruncate(file, sizeof(struct live_page)) == 0)
		page = mmap(NULL, sizeof(struct live_page), PROT_READ | PROT_WRITE, MAP_SHARED,
			    file, 0);
	if (page == MAP_FAILED) {
		if (file >= 0)
			close(file);
		return NULL;
	}
	/* Seals the file: programs cannot map it writable. */
	fcntl(file, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SHRINK);
	struct adapters *all = hd_alloc(1, sizeof(*all));

	all->file = file;
	all->page = page;
	all->page->magic = LIVE_MEMORY_MAGIC;
	all->page->generation = 1;
	all->page->pace = pace;
	all->next = 1;
	return all;
}

void adapters_free(struct adapters *all)
{
	if (!all)
		return;
	munmap(all->page, sizeof(*all->page));
	close(all->file);
	free(all->members);
	free(all);
}

static struct adapter_program *program_of(struct live *l, uint32_t slot)
{
	uint32_t number = l->clients[slot].program;

	return number ? &l->adapters->programs[number] : NULL;
}

void adapters_stir(struct live *l)
{
	l->adapters->page->generation++;
}

bool adapters_has_engine(const struct live *l)
{
	return l->adapters->engine != 0;
}

bool adapters_is_engine(const struct live *l, uint32_t slot)
{
	return l->adapters->engine == l->clients[slot].number;
}

void adapters_hold(struct live *l, bool holds)
{
	l->adapters->page->is_held = holds;
}

void adapters_time(const struct live *l, struct adapters_time *out)
{
	const struct live_page *page = l->adapters->page;

	*out = (struct adapters_time){ .is_timed = page->pace == LIVE_TIMED,
				       .is_held = page->is_held };
	for (uint32_t i = 1; i < LIVE_PROGRAMS; i++) {
		const struct live_memory *m = l->adapters->programs[i].memory;

		if (!m)
			continue;
		out->programs++;
		out->posted += m->clock.posted;
		out->now = m->clock.now > out->now ? m->clock.now : out->now;
	}
}

/* ---- ports */

static port_id port_of(const struct live *l, node_id v, uint32_t number)
{
	const struct topo_node *n = &l->topo->nodes[v];
	bool is_switch = n->kind == NODE_SWITCH;

	if (is_switch ? number != 0 : number == 0 || number > n->n_ports)
		return TOPO_NONE;
	return n->first_port + number;
}

static uint64_t info(const struct live *l, port_id p, enum port_field f)
{
	return agents_port_get(l->agents, p, f);
}

static void look_at(const struct live *l, port_id p, struct port_snapshot *out)
{
	*out = (struct port_snapshot){
		.state = info(l, p, PORT_STATE),
		.lid = info(l, p, PORT_LID),
		.sm_lid = info(l, p, PORT_SM_LID),
		.prefix = info(l, p, PORT_GID_PREFIX),
	};
	for (unsigned i = 0; i < agents_pkey_cap(l->agents, p); i++)
		out->pkeys = out->pkeys * 31 + agents_pkey(l->agents, p, i);
}

static void describe_port(const struct live *l, port_id p, struct live_port *out)
{
	uint64_t guid = l->topo->ports[p].guid;

	*out = (struct live_port){
		.id = p,
		.guid = guid ? guid : topo_node_of(l->topo, p)->guid,
		.prefix = info(l, p, PORT_GID_PREFIX),
		.cap_mask = (uint32_t)info(l, p, PORT_CAP_MASK),
		.cap_mask2 = (uint16_t)info(l, p, PORT_CAP_MASK2),
		.lid = (uint16_t)info(l, p, PORT_LID),
		.sm_lid = (uint16_t)info(l, p, PORT_SM_LID),
		.n_pkeys = (uint16_t)agents_pkey_cap(l->agents, p),
		.state = (uint8_t)info(l, p, PORT_STATE),
		.physical = (uint8_t)info(l, p, PORT_PHYSICAL),
		.lmc = (uint8_t)info(l, p, PORT_LMC),
		.sm_sl = (uint8_t)info(l, p, PORT_SM_SL),
		.mtu_cap = (uint8_t)info(l, p, PORT_MTU_CAP),
		.mtu = (uint8_t)info(l, p, PORT_NEIGHBOR_MTU),
		.vls = (uint8_t)info(l, p, PORT_VL_CAP),
		.subnet_timeout = (uint8_t)info(l, p, PORT_SUBNET_TIMEOUT),
		.init_type = (uint8_t)info(l, p, PORT_INIT_TYPE),
		.width = (uint8_t)info(l, p, PORT_WIDTH),
		.speed = (uint8_t)info(l, p, PORT_SPEED),
		.ext_speed = (uint8_t)info(l, p, PORT_EXT_SPEED),
		.bad_pkeys = (uint16_t)info(l, p, PORT_PKEY_VIOLATIONS),
		.bad_qkeys = (uint16_t)info(l, p, PORT_QKEY_VIOLATIONS),
	};
	for (unsigned i = 0; i < out->n_pkeys && i < LIVE_PKEYS; i++)
		out->pkeys[i] = agents_pkey(l->agents, p, i);
}

/* ---- start and end of programs */

bool adapters_greet(struct live *l, uint32_t slot)
{
	struct adapters *all = l->adapters;
	struct client *c = &l->clients[slot];
	uint32_t number = all->next;
	const struct topo_node *n = &l->topo->nodes[c->node];

	for (uint32_t i = 1; all->programs[number].used; i++) {
		if (i == LIVE_PROGRAMS)
			return false;
		number = number % (LIVE_PROGRAMS - 1) + 1;
	}
	struct adapter_program *p = &all->programs[number];
	struct live_reply r = { .number = number };

	*p = (struct adapter_program){
		.used = true,
		.slot = slot,
		.node = c->node,
		.file = -1,
		.seen = hd_alloc(n->n_ports + 1U, sizeof(*p->seen)),
	};
	for (uint32_t i = 0; i <= n->n_ports; i++)
		if (port_of(l, c->node, i) != TOPO_NONE)
			look_at(l, port_of(l, c->node, i), &p->seen[i]);
	all->n_used++;
	all->next = number % (LIVE_PROGRAMS - 1) + 1;
	c->program = number;
	client_send(l, slot, &r, sizeof(r), fcntl(all->file, F_DUPFD_CLOEXEC, 0));
	return true;
}

void adapters_memory(struct live *l, uint32_t slot, int file)
{
	struct adapter_program *p = program_of(l, slot);
	struct stat s;
	int seals = fcntl(file, F_GET_SEALS);

	/* A file that can be truncated could raise SIGBUS in the daemon. */
	if (!p || p->file >= 0 || seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(file, &s) != 0 ||
	    s.st_size < (off_t)sizeof(*p->memory)) {
		close(file);
		return;
	}
	void *memory = mmap(NULL, sizeof(*p->memory), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

	if (memory == MAP_FAILED) {
		close(file);
		return;
	}
	p->file = file;
	p->memory = memory;
	p->counted = hd_alloc(LIVE_FLOWS, sizeof(*p->counted));
	l->adapters->page->generation++;
}

static void tell(struct live *l, const struct adapter_program *p, uint32_t kind, uint32_t port)
{
	const struct live_event e = { .kind = kind, .port = port };

	client_send(l, p->slot, &e, sizeof(e), -1);
}

static void leave_groups(struct adapters *all, uint32_t program, uint32_t qpn)
{
	for (size_t i = all->n_members; i-- > 0;)
		if (all->members[i].program == program && (qpn == 0 || all->members[i].qpn == qpn))
			all->members[i] = all->members[--all->n_members];
}

static void tell_all_gone(struct live *l, uint32_t number)
{
	for (uint32_t i = 1; i < LIVE_PROGRAMS; i++)
		if (l->adapters->programs[i].memory)
			tell(l, &l->adapters->programs[i], LIVE_PROGRAM_GONE, number);
}

void adapters_faults_changed(struct live *l)
{
	for (uint32_t i = 1; i < LIVE_PROGRAMS; i++)
		if (l->adapters->programs[i].memory)
			tell(l, &l->adapters->programs[i], LIVE_FAULTS, 0);
}

/* Notifies programs: without an engine no data arrive. */
static void lose_engine(struct live *l)
{
	l->adapters->engine = 0;
	l->adapters->page->has_engine = 0;
	daemon_data_capture_lost(l);
	daemon_traffic_lost(l);
	l->adapters->page->generation++;
	tell_all_gone(l, 0);
}

void adapters_forget(struct live *l, uint32_t slot)
{
	struct adapter_program *p = program_of(l, slot);

	if (adapters_is_engine(l, slot))
		lose_engine(l);
	if (!p)
		return;
	adapters_count(l);
	if (p->memory) {
		p->memory->gone = 1;
		munmap(p->memory, sizeof(*p->memory));
		close(p->file);
	}
	free(p->counted);
	free(p->seen);
	leave_groups(l->adapters, l->clients[slot].program, 0);
	*p = (struct adapter_program){ .file = -1 };
	l->adapters->n_used--;
	l->adapters->page->generation++;
	tell_all_gone(l, l->clients[slot].program);
}

/* ---- counters */

struct cable_count {
	struct live *live;
	bool group;
	unsigned sl;
	struct counted more;
};

static void count_cable(void *context, port_id out, port_id in)
{
	const struct cable_count *t = context;
	struct agents *a = t->live->agents;
	uint64_t words = t->more.octets / 4;

	agents_count(a, out, COUNT_XMIT_DATA, words);
	agents_count(a, out, COUNT_XMIT_PKTS, t->more.packets);
	agents_count(a, out, t->group ? COUNT_MULTICAST_XMIT : COUNT_UNICAST_XMIT, t->more.packets);
	agents_count(a, out, COUNT_SL_XMIT_DATA + t->sl, words);
	agents_count(a, in, COUNT_RCV_DATA, words);
	agents_count(a, in, COUNT_RCV_PKTS, t->more.packets);
	agents_count(a, in, t->group ? COUNT_MULTICAST_RCV : COUNT_UNICAST_RCV, t->more.packets);
	agents_count(a, in, COUNT_SL_RCV_DATA + t->sl, words);
}

static void ignore_arrival(void *context, port_id end)
{
	(void)context;
	(void)end;
}

static void count_flow(struct live *l, const struct live_flow *f, struct counted *last)
{
	struct counted now = { f->packets, f->octets };
	struct cable_count t = {
		.live = l,
		.group = f->dlid >= LID_FIRST_MCAST,
		.sl = f->sl & 15,
		.more = { now.packets - last->packets, now.octets - last->octets },
	};
	const struct agents_path_observer way = { count_cable, ignore_arrival, &t };

	if ((t.more.packets == 0 && t.more.octets == 0) || f->from >= l->topo->n_ports)
		return;
	*last = now;
	agents_trace(l->agents, f->from, f->dlid, t.sl, &way);
}

/* The next program after number `i`; NULL after the last. */
static const struct adapter_program *next_program(const struct live *l, uint32_t *i)
{
	const struct adapters *all = l->adapters;

	/*
	 * Usually there are no programs, and this is called for each MAD that programs something.
	 */
	if (all->n_used == 0)
		return NULL;
	while (++*i < LIVE_PROGRAMS)
		if (all->programs[*i].used)
			return &all->programs[*i];
	return NULL;
}

void adapters_count(struct live *l)
{
	const struct adapter_program *p;

	for (uint32_t i = 0; (p = next_program(l, &i)) != NULL;) {
		for (uint32_t k = 0; p->memory && k < LIVE_FLOWS && p->memory->flows[k].used; k++)
			count_flow(l, &p->memory->flows[k], &p->counted[k]);
	}
}

/* ---- notifications of changes */

static void compare_port(struct live *l, const struct adapter_program *p, uint32_t i)
{
	struct port_snapshot now;

	look_at(l, port_of(l, p->node, i), &now);
	const struct port_snapshot *was = &p->seen[i];

	if (now.lid != was->lid)
		tell(l, p, LIVE_LID_CHANGE, i);
	if (now.sm_lid != was->sm_lid)
		tell(l, p, LIVE_SM_CHANGE, i);
	if (now.prefix != was->prefix)
		tell(l, p, LIVE_GID_CHANGE, i);
	if (now.pkeys != was->pkeys)
		tell(l, p, LIVE_PKEY_CHANGE, i);
	if ((now.state == LINK_ACTIVE) != (was->state == LINK_ACTIVE))
		tell(l, p, now.state == LINK_ACTIVE ? LIVE_PORT_ACTIVE : LIVE_PORT_DOWN, i);
	p->seen[i] = now;
}

void adapters_tell(struct live *l)
{
	const struct adapter_program *p;

	l->changed = false;
	l->version++;
	l->adapters->page->generation++;
	for (uint32_t i = 0; (p = next_program(l, &i)) != NULL;) {
		for (uint32_t k = 0; p->used && k <= l->topo->nodes[p->node].n_ports; k++)
			if (port_of(l, p->node, k) != TOPO_NONE)
				compare_port(l, p, k);
	}
}

/* ---- questions; the answer is an errno and text */

static int ask_node(struct live *l, node_id v, const void *asked, struct answer *out)
{
	const struct topo_node *n = &l->topo->nodes[v];
	const struct live_node node = {
		.guid = n->guid,
		.system_guid = n->system_guid ? n->system_guid : n->guid,
		.vendor = n->vendor,
		.device = n->device,
		.n_ports = n->kind == NODE_SWITCH ? 0 : n->n_ports,
		.kind = n->kind,
	};

	(void)asked;
	strbuf_add(&out->bytes, (const char *)&node, sizeof(node));
	return 0;
}

static int ask_port(struct live *l, node_id v, const void *asked, struct answer *out)
{
	struct live_port port;
	uint32_t number;

	memcpy(&number, asked, sizeof(number));
	port_id p = port_of(l, v, number);

	if (p == TOPO_NONE)
		return EINVAL;
	describe_port(l, p, &port);
	strbuf_add(&out->bytes, (const char *)&port, sizeof(port));
	return 0;
}

static void note_end(void *context, port_id end)
{
	*(int32_t *)context = (int32_t)end;
}

static int32_t end_of(const struct live *l, port_id from, uint16_t lid, unsigned sl)
{
	int32_t end = LIVE_NO_PORT;
	const struct agents_path_observer way = { NULL, note_end, &end };

	agents_trace(l->agents, from, lid, sl, &way);
	return end;
}

static int ask_path(struct live *l, node_id v, const void *asked, struct answer *out)
{
	struct live_path_question q;
	struct live_path path = { LIVE_NO_PORT, LIVE_NO_PORT };

	memcpy(&q, asked, sizeof(q));
	port_id from = port_of(l, v, q.port);

	if (from == TOPO_NONE || q.dlid >= LID_FIRST_MCAST || q.slid >= LID_FIRST_MCAST)
		return EINVAL;
	path.there = end_of(l, from, q.dlid, q.sl);
	if (path.there != LIVE_NO_PORT)
		path.back = end_of(l, (port_id)path.there, q.slid, q.sl);
	strbuf_add(&out->bytes, (const char *)&path, sizeof(path));
	return 0;
}

static int ask_memory(struct live *l, node_id v, const void *asked, struct answer *out)
{
	uint32_t number;

	(void)v;
	memcpy(&number, asked, sizeof(number));
	if (number == 0 || number >= LIVE_PROGRAMS || !l->adapters->programs[number].memory)
		return ESRCH;
	out->file = fcntl(l->adapters->programs[number].file, F_DUPFD_CLOEXEC, 0);
	return out->file < 0 ? EMFILE : 0;
}

static int take_member(struct live *l, node_id v, const void *asked, struct answer *out)
{
	struct adapters *all = l->adapters;
	struct live_member m;

	(void)out;
	memcpy(&m, asked, sizeof(m));
	if (m.program == 0 || m.program >= LIVE_PROGRAMS || !all->programs[m.program].used ||
	    all->programs[m.program].node != v || m.mlid < LID_FIRST_MCAST ||
	    port_of(l, v, m.port) == TOPO_NONE)
		return EINVAL;
	m.port = port_of(l, v, m.port);
	size_t before = all->n_members;

	for (size_t i = all->n_members; i-- > 0;)
		if (all->members[i].program == m.program && all->members[i].qpn == m.qpn &&
		    all->members[i].mlid == m.mlid && memcmp(all->members[i].mgid, m.mgid, 16) == 0)
			all->members[i] = all->members[--all->n_members];
	if (!m.joins && all->n_members == before)
		return EINVAL;
	if (m.joins) {
		all->members = hd_grow(all->members, &all->members_cap, all->n_members + 1,
				       sizeof(*all->members));
		all->members[all->n_members++] = m;
	}
	all->page->generation++;
	return 0;
}

/* The port counts the refused packet and sends a trap. */
static int take_violation(struct live *l, node_id v, const void *asked, struct answer *out)
{
	struct live_violation w;

	(void)v;
	(void)out;
	memcpy(&w, asked, sizeof(w));
	if (w.port >= l->topo->n_ports || w.sl > 15)
		return EINVAL;
	const struct key_violation what = { .is_qkey = w.is_qkey != 0,
					    .slid = w.slid,
					    .dlid = w.dlid,
					    .sl = w.sl,
					    .key = w.key,
					    .from_qp = w.from_qp,
					    .to_qp = w.to_qp };

	agents_refuse(l->agents, w.port, &what, 1, daemon_now(l));
	return 0;
}

struct gathering {
	const struct adapters *all;
	const struct live_group_question *asked;
	struct answer *out;
};

static void gather_members(void *context, port_id end)
{
	const struct gathering *g = context;

	for (size_t i = 0; i < g->all->n_members; i++) {
		const struct live_member *m = &g->all->members[i];

		if (m->port != end || m->mlid != g->asked->mlid ||
		    memcmp(m->mgid, g->asked->mgid, 16) != 0 || g->out->bytes.len >= LIVE_TEXT / 2)
			continue;
		strbuf_add(&g->out->bytes, (const char *)&m->qpn, sizeof(m->qpn));
		g->out->number++;
	}
}

static int ask_group(struct live *l, node_id v, const void *asked, struct answer *out)
{
	struct live_group_question q;
	struct gathering g = { l->adapters, &q, out };
	const struct agents_path_observer way = { NULL, gather_members, &g };

	memcpy(&q, asked, sizeof(q));
	port_id from = port_of(l, v, q.port);

	if (from == TOPO_NONE || q.mlid < LID_FIRST_MCAST)
		return EINVAL;
	agents_trace(l->agents, from, q.mlid, q.sl, &way);
	/* Members at the sender's own port, to which the adapter delivers. */
	gather_members(&g, from);
	return 0;
}

/* Accepts one engine, in a fabric with the simulated clock. */
static int be_engine(struct live *l, node_id v, const void *asked, struct answer *out)
{
	struct adapters *all = l->adapters;

	(void)v;
	(void)asked;
	if (all->page->pace != LIVE_TIMED || all->engine)
		return EBUSY;
	out->file = fcntl(all->file, F_DUPFD_CLOEXEC, 0);
	if (out->file < 0)
		return EMFILE;
	all->engine = l->clients[out->slot].number;
	all->page->has_engine = 1;
	all->page->generation++;
	return 0;
}

static int ask_all(struct live *l, node_id v, const void *asked, struct answer *out)
{
	(void)v;
	(void)asked;
	for (uint32_t i = 1; i < LIVE_PROGRAMS; i++) {
		if (!l->adapters->programs[i].memory)
			continue;
		strbuf_add(&out->bytes, (const char *)&i, sizeof(i));
		out->number++;
	}
	return 0;
}

bool adapters_answer(struct live *l, uint32_t slot, uint32_t question, const uint8_t *text,
		     size_t size)
{
	static const struct {
		uint32_t question;
		size_t size;
		int (*ask)(struct live *l, node_id v, const void *asked, struct answer *out);
	} rows[] = {
		{ LIVE_ASK_NODE, 0, ask_node },
		{ LIVE_ASK_PORT, sizeof(uint32_t), ask_port },
		{ LIVE_ASK_PATH, sizeof(struct live_path_question), ask_path },
		{ LIVE_ASK_MEMORY, sizeof(uint32_t), ask_memory },
		{ LIVE_MEMBER, sizeof(struct live_member), take_member },
		{ LIVE_ASK_GROUP, sizeof(struct live_group_question), ask_group },
		{ LIVE_BE_ENGINE, 0, be_engine },
		{ LIVE_ASK_ALL, 0, ask_all },
		{ LIVE_ASK_CAPTURE, sizeof(uint32_t), daemon_data_capture_asked },
		{ LIVE_CAPTURED, sizeof(uint32_t), daemon_data_capture_over },
		{ LIVE_ASK_TRAFFIC, sizeof(uint32_t), daemon_traffic_asked },
		{ LIVE_ASK_FAULTS, 0, daemon_faults_asked },
		{ LIVE_VIOLATION, sizeof(struct live_violation), take_violation },
	};
	struct answer a = { .slot = slot, .bytes = STRBUF_INIT, .file = -1 };
	struct live_reply r = { .error = EINVAL };
	size_t i = 0;

	while (i < sizeof(rows) / sizeof(rows[0]) && rows[i].question != question)
		i++;
	if (i == sizeof(rows) / sizeof(rows[0]))
		return false;
	if (size == rows[i].size)
		r.error = rows[i].ask(l, l->clients[slot].node, text, &a);
	struct strbuf all = STRBUF_INIT;

	r.number = a.number;
	strbuf_add(&all, (const char *)&r, sizeof(r));
	if (r.error == 0 && a.bytes.len > 0)
		strbuf_add(&all, a.bytes.text, a.bytes.len);
	client_send(l, slot, all.text, all.len, a.file);
	strbuf_fini(&all);
	strbuf_fini(&a.bytes);
	return true;
}
