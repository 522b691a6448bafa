/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SERVE_PROMETHEUS_H
#define HD_SERVE_PROMETHEUS_H

/*
 * A run in Prometheus' text format (version 0.0.4). Counters of ports have the names, units and
 * labels of node_exporter's infiniband collector:
 * node_infiniband_port_data_received_bytes_total{device,port}. As all results, they count from the
 * start of measurement. Metrics that only a simulation has are called heddle_*.
 */

#include "run/run.h"

/* `down`: per simulator port, true if its link is down now. */
void prometheus_print(const struct run *s, const bool *down, struct strbuf *out);

/* Number of scrapes so far, from which a client can detect missed scrapes. */
void prometheus_scrapes(uint64_t n, struct strbuf *out);

/* Counters of a port, in the order of prometheus_counter. */
#define N_PROMETHEUS_COUNTERS 21
#define PROMETHEUS_NONE       UINT64_MAX /* the port does not have the counter */

struct prometheus_port {
	const char *device;
	unsigned number;
	unsigned state, physical; /* codes of PortInfo */
	struct hd_rate rate;
	uint64_t counters[N_PROMETHEUS_COUNTERS];
};

/* The name of a counter as printed by perfquery; and the index of a name. */
const char *prometheus_counter(size_t i);
size_t prometheus_index(const char *counter);
void prometheus_ports(const struct prometheus_port *ports, size_t n, struct strbuf *out);

#endif
