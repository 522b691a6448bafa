/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_ADMISSION_NETWORK_FOR_TESTS_H
#define HD_QOS_ADMISSION_NETWORK_FOR_TESTS_H

/*
 * Flows on the paths and tables that a subnet has, as bound.h wants them: what
 * qos/admission/latency.h does for the tables of reservations, for any tables.
 */

#include <math.h>
#include <stdlib.h>

#include "qos/admission/bound.h"
#include "qos/opensm/path.h"
#include "subnet/tables/packet.h"

#define NETWORK_FLOWS 64

struct test_model {
	enum bound_mode mode;
	bool any_order, weighted; /* tables of ports; else VLs by number */
	double reservable;
	uint32_t max_packet, min_packet, management;
	hd_time propagation, routing, arbitration;
	struct hd_ratio speedup;
};

struct test_network {
	const struct subnet *subnet;
	struct test_model model;
	struct bound_port *ports; /* per port_id */
	struct bound_flow flows[NETWORK_FLOWS];
	struct path paths[NETWORK_FLOWS];
	uint32_t n_flows, n_hops;
};

/* The slowest link that leads to an output of a crossbar. */
static inline double network_crossing(const struct test_network *n, port_id port, double rate)
{
	const struct topo_node *node = topo_node_of(n->subnet->topo, port);
	double least = rate * (double)n->model.speedup.num / (double)n->model.speedup.den;

	for (unsigned i = 1; i <= node->n_ports; i++) {
		struct hd_rate link = n->subnet->rate_of_port[node->first_port + i];

		if (link.num)
			least = fmin(least, hd_rate_bps(link) / 8);
	}
	return least;
}

static inline void network_init(struct test_network *n, const struct subnet *s,
				const struct test_model *model)
{
	const struct topo *t = s->topo;

	*n = (struct test_network){ .subnet = s, .model = *model };
	n->ports = calloc(t->n_ports, sizeof(*n->ports));
	for (port_id p = 0; p < t->n_ports; p++) {
		struct hd_rate link = s->rate_of_port[p];
		hd_time fixed = model->propagation;
		struct bound_port *port = &n->ports[p];

		*port = (struct bound_port){
			.rate = link.num ? hd_rate_bps(link) / 8 : 1,
			.max_packet = model->max_packet,
			.min_packet = model->min_packet,
			.management_burst = model->management,
			.min_fill = bound_fill(
				(struct bound_sizes){ model->max_packet, model->min_packet }),
		};
		if (model->weighted && s->vls_of_port[p] > 1)
			port->table = vlarb_of(s, p);
		port->strict = !port->table;
		if (topo_is_switch(t, t->ports[p].node)) {
			fixed += model->routing + model->arbitration;
			if (model->speedup.den)
				port->crossbar_rate = network_crossing(n, p, port->rate);
			port->crossbar_vls = s->vls_of_port[p];
		}
		port->fixed = (double)fixed / (double)HD_S;
	}
}

static inline void network_fini(struct test_network *n)
{
	free(n->ports);
}

static inline enum hd_status network_delays(const struct test_network *n, enum bound_mode mode,
					    struct diag *d, double *delay)
{
	const struct bound_network network = {
		n->ports, n->subnet->topo->n_ports, n->flows, n->n_flows, n->model.any_order,
	};

	return bound_delays(mode, &network, d, delay);
}

static inline double network_reserved(const struct test_network *n, port_id port)
{
	double sum = 0;

	for (uint32_t f = 0; f < n->n_flows; f++) {
		for (uint32_t h = 0; h < n->flows[f].n_hops; h++)
			sum += n->flows[f].path[h] == port ? n->flows[f].burst / n->flows[f].period
							   : 0;
	}
	return sum;
}

/* Adds a flow if every flow has a bound then; `like` has burst and period. */
static inline enum hd_status network_add(struct test_network *n, port_id source, lid_t dlid,
					 uint8_t sl, struct bound_flow like)
{
	struct path *path = &n->paths[n->n_flows];
	struct diag d = { .status = HD_OK };
	enum hd_status status = path_walk(n->subnet, source, dlid, sl, path);

	if (status != HD_OK)
		return status;
	like.path = path->port;
	like.vls = path->vl;
	like.n_hops = path->n_hops;
	n->flows[n->n_flows++] = like;
	n->n_hops += path->n_hops;
	double *delay = calloc(n->n_hops, sizeof(*delay));

	for (uint32_t h = 0; h < path->n_hops; h++) {
		port_id p = path->port[h];

		if (network_reserved(n, p) >= n->model.reservable * n->ports[p].rate)
			status = HD_ERR_UNFIT;
	}
	if (status == HD_OK)
		status = network_delays(n, n->model.mode, &d, delay);
	free(delay);
	if (status != HD_OK)
		n->n_hops -= n->flows[--n->n_flows].n_hops;
	return status;
}

#endif
