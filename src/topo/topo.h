/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TOPO_TOPO_H
#define HD_TOPO_TOPO_H

/*
 * A fabric: nodes, their ports, and the cables between ports.
 *
 * Nodes and ports are dense arrays and refer to each other by index, so that
 * later stages can keep parallel arrays of their own. The ports of a node
 * are consecutive: port number n of node v is ports[v.first_port + n], with n
 * from 0 to v.n_ports. Number 0 is a switch's own (management) port; channel
 * adapters and routers have that slot too, unused, so that the rule has no
 * exception.
 *
 *	nodes  [ switch A          ][ host B   ] ...
 *	ports  [ 0 | 1 | 2 | 3 | 4 ][ 0 | 1    ] ...
 *	               `---- peer ------^
 *
 * A cable is two ports that name each other as peer. Once built, a topology
 * is not changed: later stages hold it const.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/units.h"

typedef uint32_t node_id;
typedef uint32_t port_id;
#define TOPO_NONE UINT32_MAX

/*
 * NodeInfo counts ports in one byte. Number 255 can be cabled, but no unicast
 * forwarding table can name it: there 255 means "no port".
 */
#define TOPO_MAX_PORTS    255
#define TOPO_MOST_SUBNETS 65534
#define TOPO_MAX_DIMS     16

/* Capabilities of a port that the input does not state. */
#define TOPO_DEFAULT_VLS 15
#define TOPO_DEFAULT_MTU 4096

enum node_kind { NODE_CA, NODE_SWITCH, NODE_ROUTER };

/* Supported widths, a set; the values are those of PortInfo. */
enum link_width {
	WIDTH_1X = 1,
	WIDTH_4X = 2,
	WIDTH_8X = 4,
	WIDTH_12X = 8,
	WIDTH_2X = 16,
};

/* A port as built or read, before a subnet manager has touched it. */
struct topo_port {
	node_id node;
	port_id peer; /* TOPO_NONE if nothing is plugged in */
	uint64_t guid;
	uint16_t speeds; /* set of 1 << enum link_speed; 0 = unknown */
	uint16_t subnet; /* which subnet the port belongs to; from 0 */
	uint16_t lid;    /* as the file said; 0 = none given */
	uint8_t lmc;
	uint8_t number;
	uint8_t widths; /* set of enum link_width; 0 = unknown */
	uint8_t vls;    /* data VLs it can have: 1, 2, 4, 8 or 15 */
	uint16_t mtu;   /* bytes: 256, 512, 1024, 2048 or 4096 */
	uint32_t line;  /* where the file described it; 0 = not from one */
};

struct topo_node {
	enum node_kind kind;
	bool is_tca;         /* a target adapter: a CA that serves a device */
	bool enhanced_port0; /* switch port 0 is a full end port */
	uint64_t guid;
	uint64_t system_guid;
	uint32_t vendor;
	uint32_t device;
	char *name; /* NodeDescription; never NULL */
	port_id first_port;
	uint16_t n_ports;              /* external ones: numbers 1..n_ports */
	uint16_t tier;                 /* 0 hosts, 1 switches with hosts, 2 next to those */
	uint16_t coord[TOPO_MAX_DIMS]; /* in families with coordinates */
	uint32_t line;
	/* Where it sits in a chassis, as a grouped file said; else NULL. */
	struct topo_place *place;
};

/* A node's place in a chassis, in the words of ibnetdiscover -g. */
struct topo_place {
	uint16_t chassis; /* number; 0 is in none */
	enum { SLOT_OTHER, SLOT_SPINE, SLOT_LINE } slot;
	char *chassis_note; /* "Chassis 1"; NULL if nothing is said */
	char *slot_note;    /* "IS5300 Line 2 Chip 1" */
};

struct topo_chassis {
	uint16_t number;
	uint64_t guid;
	char *hostname; /* or NULL */
};

/* What a file said of a port that nothing but writing it again needs. */
struct topo_as_read {
	uint8_t external;   /* number on the chassis' front; 0 = none */
	uint8_t speed_code; /* LinkSpeedActive, if it is not as expected */
};

/* What a file said of itself. */
struct topo_source {
	char *date;                    /* "generated on"; NULL if it did not say */
	uint64_t from_node, from_port; /* GUIDs: where discovery began */
	bool is_full;                  /* with speed, width and VLCap: ibnetdiscover -f */
	bool is_grouped;               /* by chassis: ibnetdiscover -g */
};

/* What a generator built; a fabric read from a file has FAMILY_NONE. */
enum topo_family {
	FAMILY_NONE,
	FAMILY_MESH,
	FAMILY_TORUS,
	FAMILY_HYPERCUBE,
	FAMILY_RING,
	FAMILY_STAR,
	FAMILY_BACK_TO_BACK,
	FAMILY_XGFT, /* k-ary n-trees too */
	FAMILY_DRAGONFLY,
	FAMILY_DRAGONFLY_PLUS,
	FAMILY_IRREGULAR,
	FAMILY_TWO_SWITCH,
	FAMILY_NODE_MESH, /* switch and host in one: the host is port 0 */
	FAMILY_ROUTED,    /* two subnets joined by a router */
	FAMILY_RAIL,      /* hosts with a port to each of several trees */
};

struct topo {
	enum topo_family family;
	/*
	 * Sizes of the dimensions of coord[]. Some families append more, which
	 * n_dims does not count: XGFT has m, w, p (children, parents, cables
	 * in parallel; n_dims of each); dragonfly groups, routers | globals;
	 * dragonfly-plus groups, leaves | spines, globals.
	 */
	unsigned n_dims;
	uint32_t dims[TOPO_MAX_DIMS];
	struct topo_node *nodes;
	uint32_t n_nodes;
	struct topo_port *ports;
	uint32_t n_ports;
	uint32_t n_subnets;
	size_t nodes_cap, ports_cap;

	/*
	 * How to make it again: words of 'heddle topo gen', or NULL. Of a
	 * fabric that was read, only if doing so gave the same cables.
	 */
	char *recipe;
	struct topo_source source;
	struct topo_chassis *chassis;
	uint32_t n_chassis;
	struct topo_as_read *as_read; /* per port, or NULL */
};

void topo_init(struct topo *t);
void topo_fini(struct topo *t);

/*
 * Adds a node with ports 0..n_ports, unplugged; copies `name`, with blanks for
 * control characters and their like (text_inert): no name has any.
 */
node_id topo_add_node(struct topo *t, enum node_kind kind, unsigned n_ports, const char *name);
/* Plugs a cable; both ports must be free. */
void topo_link(struct topo *t, port_id a, port_id b);
/* Unplugs the cable at `port`, if there is one. */
void topo_unlink(struct topo *t, port_id port);
/*
 * Nodes, ports and cables once more, with the same ids; not what only the file
 * or the generator that they came from needs.
 */
void topo_copy(const struct topo *from, struct topo *to);
/*
 * Numbers the subnets: ports belong to the same one if they are of the same
 * switch or at the ends of one cable. The subnet of the switch with the least
 * GUID is 0, and so on, so that the numbers do not depend on where the fabric
 * came from; subnets without a switch come last, by the GUIDs of their
 * adapters. An unplugged adapter port is left in subnet 0.
 */
void topo_number_subnets(struct topo *t);
/*
 * Makes node `v` node `place[v]`: a permutation. Sorted, nodes stand by GUID,
 * which does not depend on the order in which a file lists them; nodes without
 * one by name.
 */
void topo_reorder(struct topo *t, const node_id *place);
void topo_sort(struct topo *t);

static inline port_id topo_port_of(const struct topo *t, node_id node, unsigned number)
{
	return t->nodes[node].first_port + number;
}

static inline const struct topo_node *topo_node_of(const struct topo *t, port_id port)
{
	return &t->nodes[t->ports[port].node];
}

static inline bool topo_is_switch(const struct topo *t, node_id node)
{
	return t->nodes[node].kind == NODE_SWITCH;
}

/* Lanes of the widest of a set of enum link_width; 0 of an empty one. */
unsigned topo_widest(unsigned widths);

/*
 * What a cable runs at: the widest width and the fastest speed that both ends
 * support, the lesser of their VLs and MTUs. HD_ERR_UNFIT if the ends have
 * nothing in common or nothing is plugged in. An end that does not say what it
 * supports excludes nothing; if neither says, the link runs at what every
 * InfiniBand port must support, 1x SDR.
 */
struct topo_link_state {
	unsigned lanes;
	enum link_speed speed;
	struct hd_rate rate;
	unsigned vls;
	unsigned mtu;
};
HD_MUST_CHECK enum hd_status topo_link_state(const struct topo *t, port_id port,
					     struct topo_link_state *out);

/*
 * End ports, in node order: the ports that send and receive messages. That is
 * every connected CA and router port, and switch port 0 where it is enhanced.
 */
bool topo_is_end_port(const struct topo *t, port_id port);
/* All of them, of which there are at most t->n_ports; returns how many. */
uint32_t topo_end_ports(const struct topo *t, port_id *out);

bool topo_port_is_among(const port_id *ports, uint32_t n, port_id port);

#endif
