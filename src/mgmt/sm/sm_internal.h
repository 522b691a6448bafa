/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MGMT_SM_SM_INTERNAL_H
#define HD_MGMT_SM_SM_INTERNAL_H

/* What a manager knows; private to manager/. */

#include "base/map.h"
#include "mgmt/sm/manager.h"
#include "subnet/routing/replan.h"
#include "wire/port_fields.h"

enum {
	BLOCK = 64,           /* of an attribute's data in an SMP */
	MLIDS_PER_BLOCK = 32, /* of a multicast table, each for 16 ports */
	NODE_INFO_SIZE = 40,
	MOST_HOPS = 63,
};

#define NO_NODE UINT32_MAX

/* A port as it answered. */
struct found_port {
	uint8_t info[BLOCK];
	bool answered;
	uint64_t guid;  /* of an adapter's that was reached */
	uint32_t peer;  /* node; NO_NODE */
	uint8_t number; /* the peer's port */
	/* Of an adapter's: path[0] hops, by path[1], ... */
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

/* All that one sweep has seen; node 0 is the manager's own. */
struct sight {
	struct found_node *nodes;
	uint32_t n;
	size_t cap;
	struct map by_guid;
	uint8_t **paths; /* all that nodes and ports refer to */
	size_t n_paths, paths_cap;
	uint8_t own_port;
};

struct smp;
typedef void (*smp_done)(struct manager *m, const struct smp *smp, const uint8_t *mad);

/* An SMP to be sent; `done` with the answer, or NULL if there was none. */
struct smp {
	smp_done done;
	const uint8_t *path;
	uint32_t node;
	uint8_t port;
	uint8_t method;
	uint16_t attribute;
	uint32_t modifier;
	uint32_t tid;
	uint32_t written; /* place in written[] of what it sets; or NO_NODE */
	uint8_t data[BLOCK];
};

/* Another manager, as its SMInfo says. */
struct rival {
	uint32_t node;
	uint8_t port;
	uint64_t guid;
	uint8_t priority;
	enum manager_role role;
};

struct member {
	uint64_t guid; /* of the port */
	uint8_t state; /* JoinState */
};

struct group {
	uint8_t record[52]; /* MCMemberRecord without a port */
	uint16_t mlid;
	uint16_t planned; /* the MLID of its tree in the plan; 0: none */
	bool stays;       /* also without members */
	struct member *members;
	uint32_t n_members;
	size_t members_cap;
};

/* A service, or a wish to hear of notices, as it was said. */
struct kept {
	uint8_t record[176];
	struct mad_address who;
	hd_time until;
};

/* An answer that waits. */
struct held {
	struct mad_address to;
	uint8_t mad[MAD_SIZE];
};

struct kept_list {
	struct kept *rows;
	uint32_t n;
	size_t cap;
};

struct manager {
	struct manager_options options;
	struct manager_events events;
	struct field port_fields[N_PORT_FIELDS];
	struct field switch_fields[N_SWITCH_FIELDS];
	uint64_t guid; /* of our port, once it is known */
	enum manager_role role;
	uint32_t acts; /* ActCount */
	hd_time now;

	/* SMPs: waiting, and under way by the lower half of their TID. */
	struct smp *waiting;
	size_t n_waiting, next_waiting, waiting_cap;
	struct smp *sent;
	uint32_t *free_sent;
	uint32_t n_free;
	uint32_t turn;                   /* of TIDs, above the place in sent[] */
	void (*then)(struct manager *m); /* when all are answered */
	void (*programmed)(struct manager *m);

	/* What is under way, what was seen last, and whether to look again. */
	struct sight sweep, seen;
	hd_time next_sweep, next_poll;
	struct rival *rivals;
	uint32_t n_rivals;
	size_t rivals_cap;
	struct rival master; /* of a standby */
	unsigned polls_lost;

	/*
	 * The fabric with every cable that was there when it was first seen
	 * whole, and as it is now; ids of nodes and ports are of these.
	 */
	struct topo topo;
	struct subnet whole;
	struct replan replans[2]; /* the last one, and room for the next */
	unsigned last;
	struct map node_of_guid;
	struct map lid_of_guid; /* of ports; LIDs never move */
	bool *lid_taken;
	struct diag refusal; /* why the engine does not take the fabric */

	/* Hashes of what was written, by (node, attribute, modifier). */
	struct map written_at;
	uint64_t *written;
	size_t n_written, written_cap;

	struct group *groups; /* their MLIDs: up to 0xC000 + top_mlid */
	uint32_t top_mlid;
	uint32_t n_groups;
	size_t groups_cap;
	/*
	 * Who joins hears of it when packets of the group come to him: the
	 * first n_planned are in the trees that are being programmed.
	 */
	struct held *held;
	uint32_t n_held, n_planned;
	size_t held_cap;
	struct kept_list services, informs;
	uint32_t reports; /* said so far */

	uint16_t lid;             /* of our port */
	bool is_up;               /* all is programmed */
	bool sweeps, sweep_again; /* now, and once that is done */
	bool unsure;              /* somebody did not answer, or refused */
	bool took_over;           /* a master handed over to us */
	bool greets;              /* tells ports to register again */
	bool has_whole, has_replan;
	bool regroup; /* members came or went */
};

void manager_say(const struct manager *m, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static inline uint64_t info_get(const struct manager *m, const uint8_t *info, enum port_field f)
{
	return field_get(&m->port_fields[f], info);
}

static inline void info_set(const struct manager *m, uint8_t *info, enum port_field f,
			    uint64_t value)
{
	field_set(&m->port_fields[f], info, value);
}

static inline uint64_t switch_get(const struct manager *m, const struct found_node *n,
				  enum switch_field f)
{
	return field_get(&m->switch_fields[f], n->switch_info);
}

/* ---- exchange.c: SMPs by the route they say */

void exchange_init(struct manager *m);
void exchange_fini(struct manager *m);
/* Copied; sent when there is room. */
void exchange_ask(struct manager *m, const struct smp *smp);
void exchange_answered(struct manager *m, const uint8_t *mad);
void exchange_lost(struct manager *m, const uint8_t *mad);
/* Goes on with `then` when all is answered, at once if nothing is asked. */
void exchange_when_done(struct manager *m, void (*then)(struct manager *m));
/* Forgets what was asked; answers to it are nothing to us any more. */
void exchange_drop(struct manager *m);

/* ---- discover.c: what is there */

void manager_discover(struct manager *m, void (*then)(struct manager *m));
void sight_fini(struct sight *s);
/* The path to a port of a node. */
const uint8_t *path_to(const struct found_node *n, unsigned port);

/* ---- election.c: who is master */

/* After a sweep: asks the other managers; goes on as master, or stands by. */
void election_hold(struct manager *m);
void election_poll(struct manager *m);
/* SMInfo of another. */
void election_take(struct manager *m, const struct mad_address *from, const uint8_t *mad);

/* ---- planning.c: LIDs and routes */

/* False if the engine refuses; tables stay as they are then. */
bool plan_routes(struct manager *m);
const struct subnet *planned_now(const struct manager *m);
struct subnet *planned_tables(struct manager *m);
void planned_fini(struct manager *m);
/* The node of the plan that is this one; or TOPO_NONE. */
node_id planned_node(const struct manager *m, const struct found_node *n);

/* ---- program.c */

void manager_program(struct manager *m, void (*then)(struct manager *m));
/* Multicast tables alone. */
void manager_program_groups(struct manager *m, void (*then)(struct manager *m));
/* Writes all of them again, the next time. */
void manager_forget_tables(struct manager *m);

/* P_Keys: how many blocks a port has room for, and what is in one. */
enum { KEYS_PER_BLOCK = 32 };
unsigned keys_blocks(const struct found_node *n, unsigned port);
void keys_block(unsigned block, uint8_t *out);

/* ---- sa*.c: what others ask */

void sa_take(struct manager *m, const struct mad_address *from, const uint8_t *mad);
void sa_report(struct manager *m, const uint8_t *notice);
void groups_init(struct manager *m);
void groups_fini(struct manager *m);
/* Trees of all groups, in the plan as it is now. */
void groups_plan(struct manager *m);
/* They are in the switches: who waits for one is answered. */
void groups_programmed(struct manager *m);
/* Keeps an answer until then. */
void groups_hold(struct manager *m, const struct mad_address *to, const uint8_t *mad);
/* A block of a switch's table; false if it is all zeros. */
bool groups_block(const struct manager *m, node_id node, uint32_t block, unsigned position,
		  uint8_t *out);

/* ---- manager.c */

void manager_sweep(struct manager *m);
void manager_stand_by(struct manager *m);
void manager_master(struct manager *m);

#endif
