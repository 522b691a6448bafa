/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MGMT_SM_SM_INTERNAL_H
#define HD_MGMT_SM_SM_INTERNAL_H

/* State of the subnet manager and functions shared by the files of mgmt/sm. */

#include "base/map.h"
#include "mgmt/sm/sm.h"
#include "subnet/routing/replan.h"
#include "wire/port_fields.h"

enum {
	BLOCK = 64,           /* data of an attribute in an SMP */
	MLIDS_PER_BLOCK = 32, /* of a multicast table, each with 16 ports */
	NODE_INFO_SIZE = 40,
	MAX_HOPS = 63,
};

#define NO_NODE UINT32_MAX

/* A port as of its last PortInfo. */
struct found_port {
	uint8_t info[BLOCK];
	bool answered;
	uint64_t guid;  /* of a discovered port of an adapter */
	uint32_t peer;  /* node index, or NO_NODE */
	uint8_t number; /* port number at the peer */
	/* Route to an adapter's port: path[0] hops, by output ports path[1], ... */
	const uint8_t *path;
};

struct found_node {
	uint64_t guid;
	uint8_t info[NODE_INFO_SIZE];
	uint8_t name[BLOCK];
	uint8_t switch_info[SWITCH_INFO_SIZE];
	bool is_switch;
	uint8_t n_ports;
	const uint8_t *path;
	struct found_port *ports; /* 0 to n_ports */
};

/* Result of one heavy sweep; node 0 is the manager's own node. */
struct sm_discovery {
	struct found_node *nodes;
	uint32_t n;
	size_t cap;
	struct map by_guid;
	uint8_t **paths; /* owned; referenced by nodes and ports */
	size_t n_paths, paths_cap;
	uint8_t own_port;
};

struct sm_smp;
typedef void (*smp_done)(struct sm *m, const struct sm_smp *smp, const uint8_t *mad);

/*
 * An SMP to send. `done` is called with the response, or with NULL after a timeout or an error
 * status.
 */
struct sm_smp {
	smp_done done;
	const uint8_t *path;
	uint32_t node;
	uint8_t port;
	uint8_t method;
	uint16_t attribute;
	uint32_t modifier;
	uint32_t tid;
	uint32_t written; /* index in written[] of the table that it sets, or NO_NODE */
	uint8_t data[BLOCK];
};

/* Another subnet manager, from its SMInfo. */
struct peer_sm {
	uint32_t node;
	uint8_t port;
	uint64_t guid;
	uint8_t priority;
	enum sm_state role;
};

struct sa_member {
	uint64_t guid; /* of the port */
	uint8_t state; /* JoinState */
};

struct sa_group {
	uint8_t record[52]; /* MCMemberRecord without PortGID */
	uint16_t mlid;
	uint16_t tree_mlid; /* MLID of its tree in the plan; 0: none */
	bool permanent;     /* exists without members, too */
	struct sa_member *members;
	uint32_t n_members;
	size_t members_cap;
};

/* A registered ServiceRecord or InformInfo. */
struct sa_registration {
	uint8_t record[176];
	struct mad_address subscriber;
	hd_time expires;
};

/* A response that waits for multicast tables. */
struct delayed_response {
	struct mad_address to;
	uint8_t mad[MAD_SIZE];
};

struct sa_registrations {
	struct sa_registration *rows;
	uint32_t n;
	size_t cap;
};

struct sm {
	struct sm_options options;
	struct sm_events events;
	struct field port_fields[N_PORT_FIELDS];
	struct field switch_fields[N_SWITCH_FIELDS];
	uint64_t guid; /* of the manager's port; 0 before the first sweep */
	enum sm_state role;
	uint32_t act_count; /* SMInfo's ActCount */
	hd_time now;

	/* SMPs: queued, and outstanding by the lower half of their TID. */
	struct sm_smp *waiting;
	size_t n_waiting, next_waiting, waiting_cap;
	struct sm_smp *sent;
	uint32_t *free_sent;
	uint32_t n_free;
	uint32_t turn;                 /* upper part of TIDs, above the index in sent[] */
	void (*on_idle)(struct sm *m); /* called when no SMP is outstanding */
	void (*programmed)(struct sm *m);

	/* The sweep in progress, the last complete one, and timers. */
	struct sm_discovery sweep, found;
	hd_time next_sweep, next_poll;
	struct peer_sm *peers;
	uint32_t n_peers;
	size_t peers_cap;
	struct peer_sm master; /* while in standby */
	unsigned polls_lost;

	/*
	 * The complete fabric as first discovered, including cables that are down now. Ids of nodes
	 * and ports refer to it.
	 */
	struct topo topo;
	struct subnet whole;
	struct replan replans[2]; /* the current plan and the next one */
	unsigned last;
	struct map node_of_guid;
	struct map lid_of_guid; /* of ports; a LID is never reassigned */
	bool *lid_taken;
	struct diag refusal; /* why the routing algorithm refused the fabric */

	/* Hashes of programmed tables by (node, attribute, modifier). */
	struct map written_at;
	uint64_t *written;
	size_t n_written, written_cap;

	struct sa_group *groups; /* MLIDs from 0xC000 to 0xC000 + top_mlid */
	uint32_t top_mlid;
	uint32_t n_assigned_mgids;
	uint32_t n_groups;
	size_t groups_cap;
	/*
	 * Responses to joins wait until the trees with the new members are programmed. The first
	 * n_planned are in the trees that are being programmed.
	 */
	struct delayed_response *delayed;
	uint32_t n_delayed, n_planned;
	size_t delayed_cap;
	struct sa_registrations services, subscriptions;
	uint32_t n_reports; /* sent so far */

	uint16_t lid;                  /* of the manager's port */
	bool is_up;                    /* all tables are programmed */
	bool is_sweeping, sweep_again; /* a sweep is in progress; another one is requested */
	bool incomplete;               /* a request timed out or was refused */
	bool handed_over;              /* the previous master handed over */
	bool reregister;               /* ports are asked to re-register */
	bool has_whole, has_replan;
	bool groups_changed; /* members joined or left since the last plan */
};

void sm_log(const struct sm *m, const char *format, ...) __attribute__((format(printf, 2, 3)));

static inline uint64_t info_get(const struct sm *m, const uint8_t *info, enum port_field f)
{
	return field_get(&m->port_fields[f], info);
}

static inline void info_set(const struct sm *m, uint8_t *info, enum port_field f, uint64_t value)
{
	field_set(&m->port_fields[f], info, value);
}

static inline uint64_t switch_get(const struct sm *m, const struct found_node *n,
				  enum switch_field f)
{
	return field_get(&m->switch_fields[f], n->switch_info);
}

/* ---- exchange.c: directed-route SMPs */

void sm_exchange_init(struct sm *m);
void sm_exchange_fini(struct sm *m);
/* Copies the SMP and sends it when fewer than WINDOW are outstanding. */
void sm_exchange_send(struct sm *m, const struct sm_smp *smp);
void sm_exchange_response(struct sm *m, const uint8_t *mad);
void sm_exchange_timeout(struct sm *m, const uint8_t *mad);
/* Calls `then` when no SMP is queued or outstanding, which may be at once. */
void sm_exchange_when_done(struct sm *m, void (*on_idle)(struct sm *m));
/* Discards queued and outstanding SMPs; late responses are ignored. */
void sm_exchange_drop(struct sm *m);

/* ---- discover.c: heavy sweep */

void sm_discover(struct sm *m, void (*on_idle)(struct sm *m));
void sm_discovery_fini(struct sm_discovery *s);
/* The directed route to a port of a node. */
const uint8_t *sm_path_to(const struct found_node *n, unsigned port);

/* ---- election.c: master election */

/* After a sweep: queries SMInfo of all other managers, then becomes master or enters standby. */
void sm_election_start(struct sm *m);
void sm_election_poll(struct sm *m);
/* Answers a Get or Set of SMInfo. */
void sm_election_handle(struct sm *m, const struct mad_address *from, const uint8_t *mad);

/* ---- plan.c: LIDs and routes */

/* False if the routing algorithm refuses; the previous plan stays valid. */
bool sm_plan_routes(struct sm *m);
const struct subnet *sm_plan(const struct sm *m);
struct subnet *sm_plan_mutable(struct sm *m);
void sm_plan_fini(struct sm *m);
/* The plan's node for a discovered node, or TOPO_NONE. */
node_id sm_plan_node(const struct sm *m, const struct found_node *n);

/* ---- program.c */

void sm_program(struct sm *m, void (*on_idle)(struct sm *m));
/* Multicast tables only. */
void sm_program_groups(struct sm *m, void (*on_idle)(struct sm *m));
/* All tables are written again by the next sm_program(). */
void sm_forget_tables(struct sm *m);

/* P_Key table of a port: its number of blocks, and the contents of one. */
enum { PKEYS_PER_BLOCK = 32 };
unsigned sm_pkey_blocks(const struct found_node *n, unsigned port);
void sm_pkey_block(unsigned block, uint8_t *out);

/* ---- sa*.c: subnet administration */

void sa_handle(struct sm *m, const struct mad_address *from, const uint8_t *mad);
void sa_report(struct sm *m, const uint8_t *notice);
void sa_groups_init(struct sm *m);
void sa_groups_fini(struct sm *m);
/* Computes the trees of all groups in the current plan. */
void sa_groups_plan(struct sm *m);
/* Multicast tables are programmed: sends the waiting responses. */
void sa_groups_programmed(struct sm *m);
/* Stores a response until then. */
void sa_groups_delay_response(struct sm *m, const struct mad_address *to, const uint8_t *mad);
/* A block of a switch's multicast table; false if it is all zeros. */
bool sa_groups_mft_block(const struct sm *m, node_id node, uint32_t block, unsigned position,
			 uint8_t *out);

/* ---- sm.c */

void sm_sweep(struct sm *m);
void sm_enter_standby(struct sm *m);
void sm_enter_master(struct sm *m);

/*
 * ---- subnet administration: queries of records, answered from the last sweep and the plan
 *
 * A kind of record lists its components in the order of the component mask. Its `each` function
 * adds all records; those that differ from the request in a component of the mask are left out.
 *
 * A request with the SM_Key is trusted, as in OpenSM. Other requests get no P_Key tables, M_Keys,
 * service keys, QPs of subscribers or members of groups. A request with another key than the SM_Key
 * or 0 gets no response.
 */

#define SA_RECORD_MAX 176 /* bytes */
#define SA_LIFE_TIME  18  /* PacketLifeTime of records: 4.096 us * 2^18 */
struct sa_query {
	struct sm *manager;
	const struct mad_address *from;
	const uint8_t *mad;
	const uint8_t *data; /* the record of the request */
	uint64_t mask;
	bool is_trusted; /* the request has the SM_Key */
	const struct sa_kind *kind;
	struct strbuf out;
	uint32_t n;
	bool is_delayed; /* the response waits until multicast tables are programmed */
};

struct sa_component {
	uint16_t offset, width; /* in bits; width 0: not compared */
};

struct sa_kind {
	uint16_t attribute;
	uint16_t size;
	uint32_t n_components;
	const struct sa_component *components;
	void (*each)(struct sa_query *q);
	/* Set and Delete: returns the status and adds the record. NULL: not supported. */
	uint16_t (*change)(struct sa_query *q);
};

static inline bool sa_query_has(const struct sa_query *q, unsigned component)
{
	return q->mask >> component & 1;
}

/* True if the record matches the request's component mask. */
bool sa_query_matches(const struct sa_query *q, const uint8_t *record);
/* Adds a record if it matches the request. */
void sa_query_add(struct sa_query *q, const uint8_t *record);
/* Adds a record without comparing it. */
void sa_query_add_unchecked(struct sa_query *q, const uint8_t *record);

/* LID of an end port or a switch in the plan. */
static inline lid_t sm_lid_of(const struct sm *m, const struct found_node *n, unsigned port)
{
	node_id v = sm_plan_node(m, n);

	return v == TOPO_NONE ? 0
			      : sm_plan(m)->lid_of_port[topo_port_of(sm_plan(m)->topo, v,
								     n->is_switch ? 0 : port)];
}

void sa_paths_each(struct sa_query *q);
/* MTU and rate: codes of different order. */
enum sa_quantity { SA_MTU, SA_RATE };
/* Selectors in front of their codes. */
enum sa_selector { SA_GREATER, SA_LESS, SA_EXACTLY, SA_LARGEST };
/* The place of a code in their order; 0: not a code. */
unsigned sa_rank(enum sa_quantity quantity, unsigned code);
/* The next smaller code, or 0. */
uint8_t sa_code_below(enum sa_quantity quantity, unsigned code);
/* The code of a port with that PortInfo. */
uint8_t sa_port_code(const struct sm *m, const uint8_t *info, enum sa_quantity quantity);
/* The response to a GetMulti of MultiPathRecord is PathRecords. Returns the status. */
uint16_t sa_paths_multi(struct sa_query *q);
void sa_groups_each(struct sa_query *q);
uint16_t sa_groups_change(struct sa_query *q);
void sa_services_each(struct sa_query *q);
uint16_t sa_services_change(struct sa_query *q);
void sa_subscriptions_each(struct sa_query *q);
uint16_t sa_subscriptions_change(struct sa_query *q);

#endif
