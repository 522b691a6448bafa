/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SERVE_PROMETHEUS_H
#define HD_SERVE_PROMETHEUS_H

/*
 * A run in Prometheus' text format (version 0.0.4). Counters of ports have the
 * names, units and labels that node_exporter's infiniband collector gives those
 * of an adapter: node_infiniband_port_data_received_bytes_total{device,port}.
 * They count, like all results, from where measuring begins. What only a
 * simulation knows is called heddle_*.
 */

#include "run/run.h"

/* `down`: per sim port, whether its link is down now. */
void prometheus_print(const struct run *s, const bool *down, struct strbuf *out);

/* The number of scrapes so far: a client that has all of them has no gap. */
void prometheus_scrapes(uint64_t n, struct strbuf *out);

/* Of a port: what it counts, in the order of prometheus_counter. */
#define N_PROMETHEUS_COUNTERS 21
#define PROMETHEUS_NONE       UINT64_MAX /* is counted at no port */

struct prometheus_port {
	const char *device;
	unsigned number;
	unsigned state, physical; /* as PortInfo numbers them */
	struct hd_rate rate;
	uint64_t counters[N_PROMETHEUS_COUNTERS];
};

/* The name of a counter as perfquery prints it; and back, of one of them. */
const char *prometheus_counter(size_t i);
size_t prometheus_index(const char *counter);
void prometheus_ports(const struct prometheus_port *ports, size_t n, struct strbuf *out);

#endif
