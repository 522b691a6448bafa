/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TOPO_TOPO_H
#define HD_TOPO_TOPO_H

/*
 * A fabric: nodes, their ports, and the cables between ports.
 *
 * Nodes and ports are dense arrays that refer to each other by index, so that
 * later stages can keep parallel arrays of their own. The ports of a node are
 * consecutive: port number n of node v is ports[v.first_port + n], with n from 0
 * to v.n_ports. Port 0 of a switch is its management port. Channel adapters and
 * routers have slot 0 too, unused, so that the index rule has no exception.
 *
 *	nodes  [ switch A          ][ host B   ] ...
 *	ports  [ 0 | 1 | 2 | 3 | 4 ][ 0 | 1    ] ...
 *	               `---- peer ------^
 *
 * A cable is two ports that name each other as peer. A topology does not change
 * after it is built: later stages hold it const.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/units.h"

typedef uint32_t node_id;
typedef uint32_t port_id;
#define TOPO_NONE UINT32_MAX

/*
 * NodeInfo counts ports in one byte. Port 255 can be cabled, but a unicast
 * forwarding table cannot name it: 255 means "no port" there.
 */
#define TOPO_MAX_PORTS    255
#define TOPO_MOST_SUBNETS 65534
#define TOPO_MAX_DIMS     16

/* Default capability of a port that the input does not state. */
#define TOPO_DEFAULT_VLS 15
#define TOPO_DEFAULT_MTU 4096

enum node_kind { NODE_CA, NODE_SWITCH, NODE_ROUTER };

/* Supported widths, a bit set with the values of PortInfo. */
enum link_width {
	WIDTH_1X = 1,
	WIDTH_4X = 2,
	WIDTH_8X = 4,
	WIDTH_12X = 8,
	WIDTH_2X = 16,
};

/* A port as built or read, before a subnet manager configures it. */
struct topo_port {
	node_id node;
	port_id peer; /* TOPO_NONE: no cable */
	uint64_t guid;
	uint16_t speeds; /* set of 1 << enum link_speed; 0 = unknown */
	uint16_t subnet; /* number of the port's subnet, from 0 */
	uint16_t lid;    /* as given in the file; 0 = none */
	uint8_t lmc;
	uint8_t number;
	uint8_t widths; /* set of enum link_width; 0 = unknown */
	uint8_t vls;    /* supported data VLs: 1, 2, 4, 8 or 15 */
	uint16_t mtu;   /* bytes: 256, 512, 1024, 2048 or 4096 */
	uint32_t line;  /* line in the file; 0 = not from a file */
};

struct topo_node {
	enum node_kind kind;
	bool is_tca;         /* target channel adapter: a CA that serves a device */
	bool enhanced_port0; /* switch port 0 is a full end port */
	uint64_t guid;
	uint64_t system_guid;
	uint32_t vendor;
	uint32_t device;
	char *name; /* NodeDescription; never NULL */
	port_id first_port;
	uint16_t n_ports; /* external ports: numbers 1..n_ports */
	uint16_t tier;    /* 0: host; 1: switch with hosts; 2: adjacent to tier 1; ... */
	uint16_t coord[TOPO_MAX_DIMS]; /* for families with coordinates */
	uint32_t line;
	/* Position in a chassis, if the file is grouped; else NULL. */
	struct topo_place *place;
};

/* Position of a node in a chassis, in the notation of ibnetdiscover -g. */
struct topo_place {
	uint16_t chassis; /* number; 0: in no chassis */
	enum { SLOT_OTHER, SLOT_SPINE, SLOT_LINE } slot;
	char *chassis_note; /* "Chassis 1"; NULL: none */
	char *slot_note;    /* "IS5300 Line 2 Chip 1" */
};

struct topo_chassis {
	uint16_t number;
	uint64_t guid;
	char *hostname; /* may be NULL */
};

/* Port data of a file that is only needed to write the file again. */
struct topo_as_read {
	uint8_t external;   /* number on the front of the chassis; 0 = none */
	uint8_t speed_code; /* LinkSpeedActive, if it differs from the expected value */
};

/* Metadata of a file. */
struct topo_source {
	char *date;                    /* "generated on"; NULL if absent */
	uint64_t from_node, from_port; /* GUIDs: origin of the discovery */
	bool is_full;                  /* with speed, width and VLCap: ibnetdiscover -f */
	bool is_grouped;               /* by chassis: ibnetdiscover -g */
};

/* Family of a generated fabric; a fabric read from a file has FAMILY_NONE. */
enum topo_family {
	FAMILY_NONE,
	FAMILY_MESH,
	FAMILY_TORUS,
	FAMILY_HYPERCUBE,
	FAMILY_RING,
	FAMILY_STAR,
	FAMILY_BACK_TO_BACK,
	FAMILY_XGFT, /* includes k-ary n-trees */
	FAMILY_DRAGONFLY,
	FAMILY_DRAGONFLY_PLUS,
	FAMILY_IRREGULAR,
	FAMILY_TWO_SWITCH,
	FAMILY_NODE_MESH, /* switch and host combined: the host is port 0 */
	FAMILY_ROUTED,    /* two subnets joined by a router */
	FAMILY_RAIL,      /* each host has a port in several trees */
};

struct topo {
	enum topo_family family;
	/*
	 * Sizes of the dimensions of coord[]. Some families append further
	 * numbers that n_dims does not count: XGFT m, w, p (children, parents,
	 * parallel cables; n_dims of each); dragonfly groups, routers |
	 * globals; dragonfly-plus groups, leaves | spines, globals.
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
	 * Words of 'heddle topo gen' that generate the fabric, or NULL. A
	 * fabric that was read has a recipe only if it gives the same cables.
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
 * Adds a node with ports 0..n_ports without cables. Copies `name` and replaces
 * control characters and similar ones by spaces (text_inert); no name contains
 * any.
 */
node_id topo_add_node(struct topo *t, enum node_kind kind, unsigned n_ports, const char *name);
/* Adds a cable; both ports must be free. */
void topo_link(struct topo *t, port_id a, port_id b);
/* Removes the cable at `port`, if there is one. */
void topo_unlink(struct topo *t, port_id port);
/*
 * Copies nodes, ports and cables; ids are preserved. Data that only the source
 * file or the generator needs is not copied.
 */
void topo_copy(const struct topo *from, struct topo *to);
/*
 * Numbers the subnets. Ports belong to the same subnet if they are on the same
 * switch or at the ends of one cable. Subnets are numbered from 0 in ascending
 * order of their lowest switch GUID, so that the numbers do not depend on the
 * source of the fabric. Subnets without a switch follow, in the order of their
 * adapters' GUIDs. An adapter port without a cable stays in subnet 0.
 */
void topo_number_subnets(struct topo *t);
/*
 * Moves node `v` to position `place[v]`, a permutation. A sorted fabric is in
 * the order of GUIDs, independent of the order in a file; nodes without a GUID
 * are sorted by name.
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

/* Lanes of the widest member of a set of enum link_width; 0 for an empty set. */
unsigned topo_widest(unsigned widths);

/*
 * Active state of a cable: the widest width and the fastest speed that both
 * ends support, and the smaller of their VLs and MTUs. HD_ERR_UNFIT if the ends
 * have nothing in common or there is no cable. An end that does not state its
 * capabilities is compatible with everything; if neither end states them, the
 * link has the mandatory 1x SDR.
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
 * End ports, in node order: the ports that send and receive messages. These are
 * every connected CA and router port, and every enhanced switch port 0.
 */
bool topo_is_end_port(const struct topo *t, port_id port);
/* Writes all end ports, at most t->n_ports, and returns their number. */
uint32_t topo_end_ports(const struct topo *t, port_id *out);

bool topo_port_is_among(const port_id *ports, uint32_t n, port_id port);

#endif
