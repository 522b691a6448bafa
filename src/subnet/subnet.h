/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_SUBNET_H
#define HD_SUBNET_SUBNET_H

/*
 * What a subnet manager programs into a fabric: addresses, forwarding tables,
 * VLs, arbitration tables, partitions. Routing engines fill it, checkers
 * prove it, the simulator runs on it, and exporters hand it to OpenSM; it is
 * the same struct for all of them.
 *
 * Memory is dense and indexed by small integers. Switches get a switch_id in
 * node order; a forwarding table is one row of bytes per switch, indexed by
 * LID. Tables that repeat (SL2VL, VLArb) are stored once and referred to by
 * number, since a fabric of ten thousand ports rarely has ten different ones.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/iba.h"
#include "topo/topo.h"

typedef uint16_t lid_t;
typedef uint32_t switch_id;

#define LFT_NO_PORT       255
#define LFT_BLOCK_LIDS    64   /* that one MAD programs */
#define LFT_BLOCKS        1024 /* for all LIDs that there can be */
#define N_SLS             16
#define N_DATA_VLS        15
#define VL_MANAGEMENT     15
#define N_VLS             16
#define VLARB_MAX         64
#define SUBNET_MOST_SL2VL (UINT16_MAX + 1)

/* vl[sl]; 15 drops the packet. */
struct sl2vl {
	uint8_t vl[N_SLS];
};

struct vlarb_entry {
	uint8_t vl;
	uint8_t weight; /* in 64-byte blocks; 0 = entry unused */
};

struct vlarb {
	struct vlarb_entry high[VLARB_MAX], low[VLARB_MAX];
	uint8_t n_high, n_low; /* entries in use, from 0 */
	uint8_t high_limit;    /* 0: one packet, 1..254: x 4096 B, 255: none */
};

/* P_Keys of one port. */
struct pkey_table {
	uint16_t *keys;
	uint16_t n;
	/* What no key lets pass is refused; an end port only takes in. */
	bool enforce_in, enforce_out;
};

static inline bool pkey_passes(const struct pkey_table *t, uint16_t key)
{
	for (unsigned i = 0; i < t->n; i++)
		if (pkey_matches(t->keys[i], key))
			return true;
	return false;
}

/* A key as its holder has it, full or limited; others keep it as it is. */
static inline uint16_t pkey_own(const struct pkey_table *t, uint16_t key)
{
	for (unsigned i = 0; i < t->n; i++)
		if (((t->keys[i] ^ key) & PKEY_BASE) == 0)
			return t->keys[i];
	return key;
}

/*
 * Whether a switch accepts a packet at a port with that table, which lists the
 * partitions of the senders behind the port, as full or limited members.
 */
static inline bool pkey_enters(const struct pkey_table *t, uint16_t key)
{
	for (unsigned i = 0; i < t->n; i++)
		if (((t->keys[i] ^ key) & PKEY_BASE) == 0)
			return true;
	return false;
}

/*
 * The multicast forwarding of one subnet: per MLID in use, the tree as port
 * sets of switches. ports has `words` 64-bit words per (mlid, switch):
 * bit n of them is port n.
 */
struct mft {
	uint32_t n_mlids; /* MLIDs 0xC000 .. 0xC000 + n_mlids - 1 */
	uint32_t words;
	uint64_t *ports; /* [mlid][switch][word] */
	size_t cap;      /* MLIDs there is room for */
};

struct mcast_group; /* mcast.h */
struct router_hop;  /* router.h */
struct adaptive;    /* adaptive.h */
struct aggregation; /* aggregate.h */

/* Finds equal tables; an implementation detail. */
struct table_index {
	uint32_t *slots;
	uint32_t n_slots;
	size_t cap;
};

/*
 * SLs and VLs in blocks, one of each per class, as torus-2QoS has them: an
 * engine that keeps paths apart by SLs and VLs does so within each block.
 */
struct vl_split {
	uint8_t n_classes;          /* 0: no blocks, classes are not known here */
	uint8_t sls;                /* of a block; 0: the application's SLs stay */
	uint8_t vls;                /* of a block */
	uint8_t class_of_sl[N_SLS]; /* of the SLs that applications ask for */
	/* SLs of packets for which switches choose ports, where the algorithm
	 * has SLs of its own. */
	uint16_t adaptive_sls;
};

/*
 * Forwarding tables in blocks of LFT_BLOCK_LIDS, equal ones kept once. A switch
 * has a place for each: bytes[at[sw * LFT_BLOCKS + lid / 64] + lid] is its port
 * for any LID, so that a look takes no more steps than it must.
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

	lid_t *lid_of_port; /* base LID per port_id; a switch's is port 0's */
	uint8_t *lmc_of_port;
	/* Per subnet number: GID prefix, and which port owns each LID. */
	uint64_t *prefix;
	port_id **port_of_lid; /* [subnet][lid], TOPO_NONE if unowned */
	lid_t *top_lid;        /* largest unicast LID in use, per subnet */

	/*
	 * LIDs 0 .. lft_stride - 1 of each switch: rows, while they are filled,
	 * or blocks, once they are shared (subnet_share); lft_get reads both.
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

	/* Which routers lead where: router.h. */
	struct router_hop *router_hops; /* [from subnet][to subnet] */
	port_id *router_choices;

	/*
	 * The SL a routing engine asks for per (source, destination) LID pair
	 * is path_sl() below; the VLs per (switch, in, out) are sl2vl_at().
	 */
	struct sl2vl *sl2vl_tables;
	uint32_t n_sl2vl_tables;
	uint32_t *sl2vl_of_port;  /* end ports: number of the table */
	uint16_t **sl2vl_of_pair; /* [switch][in * (n_ports + 1) + out] */
	bool *borrows_pairs;      /* [switch]: they are another's; NULL: none does */
	struct table_index sl2vl_index;

	struct vlarb *vlarb_tables;
	uint32_t n_vlarb_tables;
	uint32_t *vlarb_of_port; /* per port_id */
	struct table_index vlarb_index;

	struct pkey_table *pkeys; /* per port_id */
	uint8_t *vls_of_port;     /* operational data VLs, per port_id */
	/* Data rate of the link, per port_id; num 0: no link. Negotiated by the
	 * ports unless the builder of the fabric sets it. */
	struct hd_rate *rate_of_port;

	const char *engine; /* which routing engine filled the LFTs */
	unsigned vls_used;  /* data VLs its deadlock freedom needs */
	char note[160];     /* what else the engine decided, e.g. its roots */
	/*
	 * The SLs of paths by destination LID, rows lft_stride apart, and the
	 * row of each source port; both NULL if the SL is left to the
	 * application. Ports on one switch mostly share a row.
	 */
	uint8_t *sl_of_path;
	uint32_t *sl_row;
	uint32_t n_sl_rows;
	bool vls_by_engine; /* SL2VL tables are the engine's, not defaults */
	struct vl_split split;
	struct adaptive *adaptive; /* NULL: every switch has its one port */
};

/*
 * A subnet over `t` (which must outlive it): switches numbered, LIDs not yet
 * assigned, forwarding tables empty, every VL table at OpenSM's built-in
 * default cut to the VLs of the link, every port in the default partition.
 */
void subnet_init(struct subnet *s, const struct topo *t);
void subnet_fini(struct subnet *s);

/*
 * Limits the data VLs of every link to `max` (1, 2, 4, 8 or 15), as OpenSM's
 * max_op_vls does, and sets the VL tables to their defaults again.
 */
void subnet_limit_vls(struct subnet *s, unsigned max);

/*
 * Keeps forwarding tables and VLs that are equal once, for a subnet that is
 * programmed: a large one then takes a fraction of its memory. Who writes them
 * directly must own them: each switch has its own again. What is called to
 * route or to set VLs does so itself. Routes of a subnet that shares its
 * tables are shared, too, and by most engines as they are made.
 */
void subnet_share(struct subnet *s);
void subnet_own(struct subnet *s);
/* A copy of the forwarding tables in rows, to be freed. */
uint8_t *lft_rows(const struct subnet *s);
/* Rows, which it frees, to blocks. */
void lft_share(uint8_t *rows, uint32_t n_switches, uint32_t stride, struct lft_blocks *out);

/* Sets every SL2VL table to its default. */
void subnet_reset_vls(struct subnet *s);
/* Sets them to those of another subnet, of the same nodes and ports. */
void subnet_take_vls(struct subnet *s, const struct subnet *from);

/* Rows of path SLs, all 0: that of a switch is for what hangs on it, too. */
void subnet_sls_by_switch(struct subnet *s);
void subnet_forget_sls(struct subnet *s);

enum lid_order {
	LIDS_OPENSM, /* as OpenSM on x86: the SM's port, then by swapped GUID */
	LIDS_PAPER,  /* x * rows + y + 1 on a mesh; the hosts first */
	LIDS_NODES,  /* in node order: every end port and switch */
	LIDS_KEEP,   /* as the topology's file says */
};

struct lid_options {
	enum lid_order order;
	unsigned lmc;    /* of end ports; a plain switch port 0 has one LID */
	port_id sm_port; /* LIDS_OPENSM; TOPO_NONE: subnet_manager_port() */
	bool shares;     /* the tables, from the beginning: subnet_share */
};

/*
 * What fits a fabric: the LIDs of its file if that has all of them and `lmc`
 * is 0, else OpenSM's, the SM being where the file was made.
 */
struct lid_options lid_options_for(const struct topo *t, unsigned lmc);

/*
 * Gives every end port and every switch its LIDs and empties the forwarding
 * tables. HD_ERR_FULL if the 48K unicast LIDs do not suffice, HD_ERR_INPUT if
 * LIDs to keep are missing or clash, HD_ERR_UNFIT if the order does not apply.
 */
HD_MUST_CHECK enum hd_status subnet_assign_lids(struct subnet *s, const struct lid_options *o,
						struct diag *d);

/*
 * The default position of a subnet's manager: of managers with equal priority
 * the one with the lowest GUID is elected, independent of the order of nodes.
 * TOPO_NONE if the subnet has no end port.
 */
port_id subnet_manager_port(const struct topo *t, unsigned subnet);

/* Tables are copied; equal ones are stored once. */
void subnet_set_sl2vl(struct subnet *s, switch_id sw, unsigned in, unsigned out,
		      const struct sl2vl *table);
void subnet_set_port_sl2vl(struct subnet *s, port_id end_port, const struct sl2vl *table);
void subnet_set_vlarb(struct subnet *s, port_id port, const struct vlarb *table);
/* Only stores it, for later; returns its number in vlarb_tables. */
uint32_t subnet_keep_vlarb(struct subnet *s, const struct vlarb *table);
void subnet_set_pkeys(struct subnet *s, port_id port, const uint16_t *keys, unsigned n);

/* OpenSM's built-in SL2VL (0..14,7) for a link with `vls` data VLs. */
struct sl2vl sl2vl_default(unsigned vls);
/* Low table: weight 4 for each of `vls` VLs; high table empty. */
struct vlarb vlarb_default(unsigned vls);

/* The switch a cable from `port` leads to, or TOPO_NONE. */
switch_id subnet_switch_at(const struct subnet *s, port_id port);
/*
 * Where a packet for `lid` must leave the fabric: the last switch and its port
 * (0 for the switch itself). False if the LID is not assigned or its owner is
 * not attached to a switch.
 */
bool subnet_target(const struct subnet *s, unsigned subnet, lid_t lid, switch_id *sw,
		   uint8_t *port);

/* The GID of a port is the prefix of its subnet and its GUID. */
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
 * The least split that has room for what the engine did, with `classes` (from
 * 0) of the SLs that applications ask for; `n_classes` of them.
 */
struct vl_split subnet_split_for(const struct subnet *s, const uint8_t classes[N_SLS],
				 unsigned n_classes);
/*
 * Gives every class a block of the engine's SLs and VLs. HD_ERR_UNFIT, with
 * how many would be needed, if there are not enough of either.
 */
HD_MUST_CHECK enum hd_status subnet_split_vls(struct subnet *s, const struct vl_split *split,
					      struct diag *d);

/*
 * The SL for packets from end port `source` to `dlid`: what the routing engine
 * asks for, in the block of the class of `wanted`; or `wanted` itself if it
 * leaves the choice open.
 */
uint8_t path_sl(const struct subnet *s, port_id source, lid_t dlid, uint8_t wanted);
/* The set of possible SLs from all sources; only if the algorithm chooses. */
uint16_t path_sls(const struct subnet *s, port_id source, lid_t dlid);

/* The forwarding table of one switch, for many looks. */
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

/* `lid` is below lft_stride. */
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

/* The table for packets that enter switch `sw` by port `in`, leave by `out`. */
static inline const struct sl2vl *sl2vl_at(const struct subnet *s, switch_id sw, unsigned in,
					   unsigned out)
{
	unsigned n = switch_node(s, sw)->n_ports + 1u;

	return &s->sl2vl_tables[s->sl2vl_of_pair[sw][in * n + out]];
}

/* The table of an end port, for the packets that it sends. */
static inline const struct sl2vl *sl2vl_of(const struct subnet *s, port_id port)
{
	return &s->sl2vl_tables[s->sl2vl_of_port[port]];
}

static inline const struct vlarb *vlarb_of(const struct subnet *s, port_id port)
{
	return &s->vlarb_tables[s->vlarb_of_port[port]];
}

#endif
