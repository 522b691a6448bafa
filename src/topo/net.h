/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TOPO_NET_H
#define HD_TOPO_NET_H

/*
 * Parser state for the text of ibnetdiscover and ibsim, shared by read_net.c
 * (lines and sections), net_node.c (nodes and the lines before them) and
 * net_cable.c. Private to these files.
 */

#include "topo/reader.h"

struct slice {
	const char *text;
	size_t len;
};

struct net {
	struct topo_reader *r;
	bool strict;
	/* For the next node. */
	uint64_t guid[3], base[3]; /* by kind; ibsim numbers nodes from base */
	bool has_guid;
	bool has_port_guid; /* false: the port GUID is the switch's GUID */
	uint64_t switch_port_guid;
	uint64_t system_guid;
	uint32_t vendor, device;
	struct topo_place place;
	/* The current node; TOPO_NONE between nodes. */
	node_id node;
	/* Settings of ibsim. */
	uint8_t widths;
	uint16_t speeds;
	struct slice module;
	struct text_map aliases; /* "module@alias" to port */
	char **owned;            /* strings referenced by maps and claims */
	size_t n_owned, owned_cap;
	/* ibnetdiscover -g. */
	size_t chassis_cap;
	bool any_external;
	/* By claim; becomes the topology's topo_as_read. */
	struct topo_as_read *as_read;
	size_t as_read_cap;
};

struct slice net_rest(const struct topo_reader *r);
char *net_copy_rest(const struct topo_reader *r);
bool net_has(struct slice s, char c);
/* Returns <a><separator><b>, owned by `n`. */
struct slice net_join(struct net *n, struct slice a, char separator, struct slice b);
/* The node ID of a quoted name within the current module. */
struct slice net_full_id(struct net *n, struct slice id);
/* Rejects further text on a line in ibnetdiscover's format. */
enum hd_status net_expect_end(struct net *n);
/* Parses "=" and a number. */
enum hd_status net_expect_number(struct net *n, uint64_t max, uint64_t *out);
/* From the first to the last quote of the line; false if there are none. */
bool net_quoted_name(struct topo_reader *r, struct slice *name);
/* Parses " lid 3" or " lmc 0"; advances only on a match. */
bool net_tagged(struct topo_reader *r, const char *tag, uint64_t max, uint64_t *out);
/* Sets the speeds from ibsim's LinkSpeedEnabled and the extended set. */
void net_set_speeds(struct topo_port *p, uint64_t base, uint64_t extended);

/* One function per kind of line, called after its first word is read. */
enum hd_status net_read_vendor(struct net *n);
enum hd_status net_read_device(struct net *n);
enum hd_status net_read_system_guid(struct net *n);
enum hd_status net_read_chassis_note(struct net *n);
enum hd_status net_read_switch_guid(struct net *n);
enum hd_status net_read_ca_guid(struct net *n);
enum hd_status net_read_router_guid(struct net *n);
enum hd_status net_read_switch(struct net *n);
enum hd_status net_read_ca(struct net *n);
enum hd_status net_read_router(struct net *n);
enum hd_status net_read_cable(struct net *n);
enum hd_status net_read_alias(struct net *n);

#endif
