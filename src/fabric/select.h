/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_FABRIC_SELECT_H
#define HD_FABRIC_SELECT_H

/*
 * Selection of hosts and ports by the words of a scenario.
 *
 * Hosts are end ports (a host with two ports counts twice), numbered from 0 in node order. A
 * selection is a list of items separated by commas, evaluated from left to right:
 *
 *	all          every host
 *	h3, h*       by name, with the wildcards * and ?
 *	0x2c9...     by GUID; required if several hosts have the same name
 *	h3:2         one port of it
 *	h0..h7       names that end in a number, in order
 *	5, 0..7      by number
 *	on:leaf1     the hosts on a switch, by its name or GUID
 *	40%          a random share of all
 *	not:h5       without; as the first item, it starts from all
 *
 * Ports of the fabric are selected likewise: NODE (all its ports), NODE:PORT, with * and ?, and
 * the words all, hosts (end ports of hosts) and trunks (switch ports with a cable to a switch).
 */

#include "base/rng.h"
#include "topo/topo.h"

/* In the order of selection, each port once. */
struct selection {
	port_id *ports;
	uint32_t n;
	size_t cap;
	port_id again; /* the first port named twice, not by a pattern; TOPO_NONE: none */
};

/* Lookup tables of selections, for a topology that must outlive them. */
struct selector;
struct selector *selector_new(const struct topo *t);
void selector_free(struct selector *s);

/* All hosts; borrowed. */
const struct selection *selector_hosts(const struct selector *s);

/*
 * HD_ERR_NOT_FOUND for an unknown name, HD_ERR_INPUT for a malformed or empty
 * selection. `rng` is used for shares only.
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
