/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_SUBNET_H
#define HD_SUBNET_SUBNET_H

/*
 * The configuration that a subnet manager programs into a fabric: addresses,
 * forwarding tables, VLs, arbitration tables, partitions. Routing algorithms
 * fill it, checkers verify it, the simulator runs on it, and exporters write it
 * for OpenSM.
 *
 * Arrays are dense and indexed by small integers. Switches have a switch_id in
 * node order. A forwarding table is one row of bytes per switch, indexed by
 * LID. Repeated tables (SL2VL, VLArb) are stored once and referred to by
 * number, since a fabric of ten thousand ports rarely has ten different ones.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/iba.h"
#include "topo/topo.h"

typedef uint16_t lid_t;
typedef uint32_t switch_id;

#define LFT_NO_PORT       255
#define LFT_BLOCK_LIDS    64   /* programmed by one MAD */
#define LFT_BLOCKS        1024 /* covers all possible LIDs */
#define N_SLS             16
#define N_DATA_VLS        15
#define VL_MANAGEMENT     15
#define N_VLS             16
#define VLARB_MAX         64
#define SUBNET_MOST_SL2VL (UINT16_MAX + 1)

/* vl[sl]; VL 15 drops the packet. */
struct sl2vl {
	uint8_t vl[N_SLS];
};

struct vlarb_entry {
	uint8_t vl;
	uint8_t weight; /* in 64-byte blocks; 0 = entry unused */
};

struct vlarb {
	struct vlarb_entry high[VLARB_MAX], low[VLARB_MAX];
	uint8_t n_high, n_low; /* used entries, from 0 */
	uint8_t high_limit;    /* 0: one packet, 1..254: x 4096 B, 255: none */
};

/* P_Keys of one port. */
struct pkey_table {
	uint16_t *keys;
	uint16_t n;
	/* Drops packets without a matching key; an end port enforces inbound only. */
	bool enforce_in, enforce_out;
};

static inline bool pkey_passes(const struct pkey_table *t, uint16_t key)
{
	for (unsigned i = 0; i < t->n; i++)
		if (pkey_matches(t->keys[i], key))
			return true;
	return false;
}

/* A key with the membership bit of the holder, full or limited; other keys are unchanged. */
static inline uint16_t pkey_own(const struct pkey_table *t, uint16_t key)
{
	for (unsigned i = 0; i < t->n; i++)
		if (((t->keys[i] ^ key) & PKEY_BASE) == 0)
			return t->keys[i];
	return key;
}

/*
 * Whether a switch accepts a packet at a port with that table. The table lists
 * the partitions of the senders behind the port, as full or limited members.
 */
static inline bool pkey_enters(const struct pkey_table *t, uint16_t key)
{
	for (unsigned i = 0; i < t->n; i++)
		if (((t->keys[i] ^ key) & PKEY_BASE) == 0)
			return true;
	return false;
}

/*
 * Multicast forwarding of one subnet: per MLID in use, the tree as port sets of
 * switches. `ports` has `words` 64-bit words per (mlid, switch): bit n is port
 * n.
 */
struct mft {
	uint32_t n_mlids; /* MLIDs 0xC000 .. 0xC000 + n_mlids - 1 */
	uint32_t words;
	uint64_t *ports; /* [mlid][switch][word] */
	size_t cap;      /* allocated MLIDs */
};

struct mcast_group; /* mcast.h */
struct router_hop;  /* router.h */
struct adaptive;    /* adaptive.h */
struct aggregation; /* aggregate.h */

/* Hash index of equal tables; an implementation detail. */
struct table_index {
	uint32_t *slots;
	uint32_t n_slots;
	size_t cap;
};

/*
 * SLs and VLs in one block per class, as in torus-2QoS. A routing algorithm
 * that separates paths by SLs and VLs does so within each block.
 */
struct vl_split {
	uint8_t n_classes;          /* 0: no blocks, the classes are unknown */
	uint8_t sls;                /* SLs per block; 0: the application's SLs are used */
	uint8_t vls;                /* VLs per block */
	uint8_t class_of_sl[N_SLS]; /* indexed by the SL that the application requests */
	/* SLs of adaptively routed packets, if the algorithm has separate SLs for them. */
	uint16_t adaptive_sls;
};

/*
 * Forwarding tables in blocks of LFT_BLOCK_LIDS; equal blocks are stored once.
 * A switch has one offset per block: bytes[at[sw * LFT_BLOCKS + lid / 64] +
 * lid] is its port for any LID, so that a lookup takes two loads.
 */
struct lft_blocks {
	uint8_t *bytes;
	int32_t *at;
};

struct subnet {
	const struct topo *topo;

	switch_id *switch_of_node; /* TOPO_NONE for other nodes */
	node_id *node_of_switch;
	uint32_t n_switches;
	uint32_t n_subnets;

	lid_t *lid_of_port; /* base LID per port_id; a switch's LID is that of port 0 */
	uint8_t *lmc_of_port;
	/* Per subnet number: GID prefix, and the owner of each LID. */
	uint64_t *prefix;
	port_id **port_of_lid; /* [subnet][lid], TOPO_NONE if unowned */
	lid_t *top_lid;        /* largest unicast LID in use, per subnet */

	/*
	 * LIDs 0 .. lft_stride - 1 of each switch: rows while they are filled,
	 * or blocks after subnet_share; lft_get reads both.
	 */
	uint8_t *lft;
	uint32_t lft_stride; /* a multiple of LFT_BLOCK_LIDS */
	int32_t *lft_at;     /* of struct lft_blocks; NULL: rows */
	struct mft *mft;     /* per subnet number */
	struct mcast_group *groups;
	uint32_t n_groups;
	size_t groups_cap;
	struct aggregation *aggregations;
	uint32_t n_aggregations;
	size_t aggregations_cap;

	/* Next routers per pair of subnets: router.h. */
	struct router_hop *router_hops; /* [from subnet][to subnet] */
	port_id *router_choices;

	/*
	 * path_sl() returns the SL that the routing algorithm requires per
	 * (source, destination) LID pair; sl2vl_at() returns the VLs per
	 * (switch, in, out).
	 */
	struct sl2vl *sl2vl_tables;
	uint32_t n_sl2vl_tables;
	uint32_t *sl2vl_of_port;  /* end ports: number of the table */
	uint16_t **sl2vl_of_pair; /* [switch][in * (n_ports + 1) + out] */
	bool *borrows_pairs;      /* [switch]: owned by another switch; NULL: none is */
	struct table_index sl2vl_index;

	struct vlarb *vlarb_tables;
	uint32_t n_vlarb_tables;
	uint32_t *vlarb_of_port; /* per port_id */
	struct table_index vlarb_index;

	struct pkey_table *pkeys; /* per port_id */
	uint8_t *vls_of_port;     /* operational data VLs, per port_id */
	/* Data rate of the link, per port_id; num 0: no link. The ports
	 * negotiate it unless the builder of the fabric sets it. */
	struct hd_rate *rate_of_port;

	const char *engine; /* routing algorithm that filled the LFTs */
	unsigned vls_used;  /* data VLs that its deadlock freedom needs */
	char note[160];     /* further decisions of the algorithm, e.g. its roots */
	/*
	 * SLs of paths by destination LID, in rows of lft_stride, and the row
	 * of each source port. Both are NULL if the application chooses the SL.
	 * Ports on one switch mostly share a row.
	 */
	uint8_t *sl_of_path;
	uint32_t *sl_row;
	uint32_t n_sl_rows;
	bool vls_by_engine; /* SL2VL tables are the algorithm's, not defaults */
	struct vl_split split;
	struct adaptive *adaptive; /* NULL: no adaptive routing */
};

/*
 * Initialises a subnet over `t`, which must outlive it: switches are numbered,
 * LIDs are unassigned, forwarding tables are empty, every VL table is OpenSM's
 * default reduced to the VLs of the link, and every port is in the default
 * partition.
 */
void subnet_init(struct subnet *s, const struct topo *t);
void subnet_fini(struct subnet *s);

/*
 * Limits the data VLs of every link to `max` (1, 2, 4, 8 or 15), as OpenSM's
 * max_op_vls does, and resets the VL tables to their defaults.
 */
void subnet_limit_vls(struct subnet *s, unsigned max);

/*
 * Stores equal forwarding tables and equal VL maps once. The subnet must be
 * programmed; a large one then needs a fraction of its memory. A writer that
 * modifies shared tables directly must first call subnet_own, so that each switch
 * has its own. Functions that route or set VLs do this themselves. New routes
 * of a subnet with shared tables are shared too, by most algorithms during
 * routing.
 */
void subnet_share(struct subnet *s);
void subnet_own(struct subnet *s);
/* Returns a copy of the forwarding tables as rows, to be freed. */
uint8_t *lft_rows(const struct subnet *s);
/* Converts rows to shared blocks and frees the rows. */
void lft_share(uint8_t *rows, uint32_t n_switches, uint32_t stride, struct lft_blocks *out);

/* Resets every SL2VL table to its default. */
void subnet_reset_vls(struct subnet *s);
/* Copies the VL tables of another subnet with the same nodes and ports. */
void subnet_take_vls(struct subnet *s, const struct subnet *from);

/* Allocates rows of path SLs, all 0; end ports use the row of their switch. */
void subnet_sls_by_switch(struct subnet *s);
void subnet_forget_sls(struct subnet *s);

enum lid_order {
	LIDS_OPENSM, /* OpenSM on x86: the SM's port, then by byte-swapped GUID */
	LIDS_PAPER,  /* x * rows + y + 1 on a mesh; hosts first */
	LIDS_NODES,  /* in node order: every end port and switch */
	LIDS_KEEP,   /* as in the topology's file */
};

struct lid_options {
	enum lid_order order;
	unsigned lmc;    /* of end ports; a basic switch port 0 has one LID */
	port_id sm_port; /* LIDS_OPENSM; TOPO_NONE: subnet_manager_port() */
	bool shares;     /* share the tables from the beginning: subnet_share */
};

/*
 * Default options for a fabric: the LIDs of its file if the file has all of
 * them and `lmc` is 0; otherwise OpenSM's, with the SM at the origin of the
 * file.
 */
struct lid_options lid_options_for(const struct topo *t, unsigned lmc);

/*
 * Assigns LIDs to every end port and every switch, and empties the forwarding
 * tables. HD_ERR_FULL if the 48K unicast LIDs do not suffice, HD_ERR_INPUT if
 * LIDs to keep are missing or duplicate, HD_ERR_UNFIT if the order does not
 * apply.
 */
HD_MUST_CHECK enum hd_status subnet_assign_lids(struct subnet *s, const struct lid_options *o,
						struct diag *d);

/*
 * Default port of a subnet's manager: among managers with equal priority, the
 * one with the lowest GUID is elected, independent of the order of nodes.
 * TOPO_NONE if the subnet has no end port.
 */
port_id subnet_manager_port(const struct topo *t, unsigned subnet);

/* Tables are copied; equal tables are stored once. */
void subnet_set_sl2vl(struct subnet *s, switch_id sw, unsigned in, unsigned out,
		      const struct sl2vl *table);
void subnet_set_port_sl2vl(struct subnet *s, port_id end_port, const struct sl2vl *table);
void subnet_set_vlarb(struct subnet *s, port_id port, const struct vlarb *table);
/* Stores a table for later use; returns its number in vlarb_tables. */
uint32_t subnet_keep_vlarb(struct subnet *s, const struct vlarb *table);
void subnet_set_pkeys(struct subnet *s, port_id port, const uint16_t *keys, unsigned n);

/* OpenSM's built-in SL2VL (0..14,7) for a link with `vls` data VLs. */
struct sl2vl sl2vl_default(unsigned vls);
/* Low table: weight 4 for each of `vls` VLs; high table empty. */
struct vlarb vlarb_default(unsigned vls);

/* The switch at the other end of the cable at `port`, or TOPO_NONE. */
switch_id subnet_switch_at(const struct subnet *s, port_id port);
/*
 * Where a packet for `lid` leaves the fabric: the last switch and its port (0
 * for the switch itself). False if the LID is unassigned or its owner is not
 * attached to a switch.
 */
bool subnet_target(const struct subnet *s, unsigned subnet, lid_t lid, switch_id *sw,
		   uint8_t *port);

/* The GID of a port consists of the prefix of its subnet and its GUID. */
static inline uint64_t subnet_gid_prefix(const struct subnet *s, port_id port)
{
	return s->prefix[s->topo->ports[port].subnet];
}

static inline const struct topo_node *switch_node(const struct subnet *s, switch_id sw)
{
	return &s->topo->nodes[s->node_of_switch[sw]];
}

/* The subnet number that a switch belongs to. */
static inline unsigned subnet_of_switch(const struct subnet *s, switch_id sw)
{
	return s->topo->ports[switch_node(s, sw)->first_port].subnet;
}

/*
 * The smallest split that has room for the SLs and VLs of the routing
 * algorithm. classes[sl] is the class (from 0, below `n_classes`) of each SL
 * that applications request.
 */
struct vl_split subnet_split_for(const struct subnet *s, const uint8_t classes[N_SLS],
				 unsigned n_classes);
/*
 * Gives every class a block of the algorithm's SLs and VLs. HD_ERR_UNFIT, with
 * the required number, if there are too few of either.
 */
HD_MUST_CHECK enum hd_status subnet_split_vls(struct subnet *s, const struct vl_split *split,
					      struct diag *d);

/*
 * The SL for packets from end port `source` to `dlid`: that of the routing
 * algorithm, in the block of the class of `wanted`; or `wanted` if the
 * algorithm does not choose SLs.
 */
uint8_t path_sl(const struct subnet *s, port_id source, lid_t dlid, uint8_t wanted);
/* The set of possible SLs from all sources; only if the algorithm chooses SLs. */
uint16_t path_sls(const struct subnet *s, port_id source, lid_t dlid);

/* The forwarding table of one switch, for repeated lookups. */
struct lft_row {
	const uint8_t *bytes;
	const int32_t *at; /* NULL: bytes is the row */
};

static inline struct lft_row lft_row_of(const struct subnet *s, switch_id sw)
{
	if (!s->lft_at)
		return (struct lft_row){ s->lft + (size_t)sw * s->lft_stride, NULL };
	return (struct lft_row){ s->lft, s->lft_at + (size_t)sw * LFT_BLOCKS };
}

/* `lid` must be below lft_stride. */
static inline uint8_t lft_row_get(struct lft_row row, lid_t lid)
{
	return row.bytes[(row.at ? row.at[lid / LFT_BLOCK_LIDS] : 0) + (ptrdiff_t)lid];
}

static inline uint8_t lft_get(const struct subnet *s, switch_id sw, lid_t lid)
{
	return lid < s->lft_stride ? lft_row_get(lft_row_of(s, sw), lid) : LFT_NO_PORT;
}

static inline const uint64_t *mft_get(const struct mft *m, switch_id sw, uint32_t n_switches,
				      lid_t mlid)
{
	uint32_t group = (uint32_t)mlid - LID_FIRST_MCAST;

	if (mlid < LID_FIRST_MCAST || group >= m->n_mlids)
		return NULL;
	return &m->ports[((size_t)group * n_switches + sw) * m->words];
}

/* The table for packets that enter switch `sw` by port `in` and leave by `out`. */
static inline const struct sl2vl *sl2vl_at(const struct subnet *s, switch_id sw, unsigned in,
					   unsigned out)
{
	unsigned n = switch_node(s, sw)->n_ports + 1u;

	return &s->sl2vl_tables[s->sl2vl_of_pair[sw][in * n + out]];
}

/* The table of an end port for packets that it transmits. */
static inline const struct sl2vl *sl2vl_of(const struct subnet *s, port_id port)
{
	return &s->sl2vl_tables[s->sl2vl_of_port[port]];
}

static inline const struct vlarb *vlarb_of(const struct subnet *s, port_id port)
{
	return &s->vlarb_tables[s->vlarb_of_port[port]];
}

#endif
