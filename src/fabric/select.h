/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_FABRIC_SELECT_H
#define HD_FABRIC_SELECT_H

/*
 * Which hosts and ports a scenario's words mean.
 *
 * Hosts are end ports (a host with two ports is there twice), numbered from 0
 * in node order. A selection is a list of items with commas between, read from
 * left to right:
 *
 *	all          every host
 *	h3, h*       by name, * and ? standing for any letters
 *	0x2c9...     by GUID, where several have a name: that is refused
 *	h3:2         one port of it
 *	h0..h7       names with numbers at their ends, in order
 *	5, 0..7      by number
 *	on:leaf1     the hosts on a switch, by its name or GUID
 *	40%          that share of all, drawn at random
 *	not:h5       without; a selection that begins so begins with all
 *
 * Ports of the fabric are selected likewise: NODE (all its ports), NODE:PORT,
 * with * and ?, and the words all, hosts (ends of hosts' cables at the hosts)
 * and trunks (switch ports that lead to switches).
 */

#include "base/rng.h"
#include "topo/topo.h"

/* In the order of selection, each port once. */
struct selection {
	port_id *ports;
	uint32_t n;
	size_t cap;
	port_id again; /* the first that was named twice; TOPO_NONE: none. What
			* only fits a pattern is not named. */
};

/* What selections look up; over a topology that must outlive it. */
struct selector;
struct selector *selector_new(const struct topo *t);
void selector_free(struct selector *s);

/* All hosts; borrowed. */
const struct selection *selector_hosts(const struct selector *s);

/*
 * HD_ERR_NOT_FOUND for an unknown name, HD_ERR_INPUT for a malformed or empty
 * selection. `rng` is drawn from for shares only.
 */
HD_MUST_CHECK enum hd_status select_hosts(const struct selector *s, const char *text,
					  struct rng *rng, struct diag *d, struct selection *out);
HD_MUST_CHECK enum hd_status select_ports(const struct selector *s, const char *text,
					  struct diag *d, struct selection *out);
/* NODE:PORT, or NODE if it has one cabled port only. */
HD_MUST_CHECK enum hd_status select_port(const struct selector *s, const char *text, struct diag *d,
					 port_id *out);
void selection_fini(struct selection *s);

#endif
