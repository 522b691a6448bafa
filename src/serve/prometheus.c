/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/prometheus.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "sim/report/perfquery.h"

/* Writes the value of a label: escapes backslashes, quotes and line ends. */
static void prometheus_label(const char *text, struct strbuf *out)
{
	for (; *text; text++) {
		if (*text == '\\' || *text == '"')
			strbuf_putc(out, '\\');
		if (*text == '\n')
			strbuf_puts(out, "\\n");
		else
			strbuf_putc(out, *text);
	}
}

/*
 * Counters of ports: the names of node_exporter and of perfquery. The former counts bytes where
 * the latter counts words of four bytes.
 */
struct family {
	const char *name;
	const char *counter;
	unsigned factor;
	const char *help;
};

static const struct family families[] = {
	{ "node_infiniband_port_data_received_bytes_total", "PortRcvData", 4,
	  "Number of data octets received on all links" },
	{ "node_infiniband_port_data_transmitted_bytes_total", "PortXmitData", 4,
	  "Number of data octets transmitted on all links" },
	{ "node_infiniband_port_packets_received_total", "PortRcvPkts", 1,
	  "Number of packets received on all VLs by this port (including errors)" },
	{ "node_infiniband_port_packets_transmitted_total", "PortXmitPkts", 1,
	  "Number of packets transmitted on all VLs from this port (including errors)" },
	{ "node_infiniband_unicast_packets_received_total", "PortUnicastRcvPkts", 1,
	  "Number of unicast packets received (including errors)" },
	{ "node_infiniband_unicast_packets_transmitted_total", "PortUnicastXmitPkts", 1,
	  "Number of unicast packets transmitted (including errors)" },
	{ "node_infiniband_multicast_packets_received_total", "PortMulticastRcvPkts", 1,
	  "Number of multicast packets received (including errors)" },
	{ "node_infiniband_multicast_packets_transmitted_total", "PortMulticastXmitPkts", 1,
	  "Number of multicast packets transmitted (including errors)" },
	{ "node_infiniband_port_transmit_wait_total", "PortXmitWait", 1,
	  "Number of ticks during which the port had data to transmit but no data was sent during the entire tick" },
	{ "node_infiniband_port_discards_transmitted_total", "PortXmitDiscards", 1,
	  "Number of outbound packets discarded by the port because the port is down or congested" },
	{ "node_infiniband_port_errors_received_total", "PortRcvErrors", 1,
	  "Number of packets containing an error that were received on this port" },
	{ "node_infiniband_port_receive_remote_physical_errors_total",
	  "PortRcvRemotePhysicalErrors", 1,
	  "Number of packets marked with the EBP (End of Bad Packet) delimiter received on the port" },
	{ "node_infiniband_port_receive_switch_relay_errors_total", "PortRcvSwitchRelayErrors", 1,
	  "Number of packets that could not be forwarded by the switch" },
	{ "node_infiniband_port_constraint_errors_received_total", "PortRcvConstraintErrors", 1,
	  "Number of packets received on the switch physical port that are discarded" },
	{ "node_infiniband_port_constraint_errors_transmitted_total", "PortXmitConstraintErrors", 1,
	  "Number of packets not transmitted from the switch physical port" },
	{ "node_infiniband_symbol_error_total", "SymbolErrorCounter", 1,
	  "Number of minor link errors detected on one or more physical lanes" },
	{ "node_infiniband_link_error_recovery_total", "LinkErrorRecoveryCounter", 1,
	  "Number of times the link successfully recovered from an error state" },
	{ "node_infiniband_link_downed_total", "LinkDownedCounter", 1,
	  "Number of times the link failed to recover from an error state and went down" },
	{ "node_infiniband_local_link_integrity_errors_total", "LocalLinkIntegrityErrors", 1,
	  "Number of times that the count of local physical errors exceeded the threshold specified by LocalPhyErrors" },
	{ "node_infiniband_excessive_buffer_overrun_errors_total", "ExcessiveBufferOverrunErrors",
	  1,
	  "Number of times that OverrunErrors consecutive flow control update periods occurred, each having at least one overrun error" },
	{ "node_infiniband_vl15_dropped_total", "VL15Dropped", 1,
	  "Number of incoming VL15 packets dropped due to resource limitations" },
};
#define N_FAMILIES (sizeof(families) / sizeof(families[0]))
_Static_assert(N_FAMILIES == N_PROMETHEUS_COUNTERS, "one for each");

const char *prometheus_counter(size_t i)
{
	return families[i].counter;
}

size_t prometheus_index(const char *counter)
{
	size_t i = 0;

	while (strcmp(families[i].counter, counter) != 0) {
		i++;
		assert(i < N_FAMILIES);
	}
	return i;
}

/* A gauge of a port's current state. */
struct gauge {
	const char *name, *help;
	double (*value)(const struct prometheus_port *p);
};

static double state(const struct prometheus_port *p)
{
	return p->state;
}

static double physical_state(const struct prometheus_port *p)
{
	return p->physical;
}

static double rate(const struct prometheus_port *p)
{
	return hd_rate_bps(p->rate) / 8;
}

static const struct gauge gauges[] = {
	{ "node_infiniband_state_id",
	  "State of the InfiniBand port (0: no change, 1: down, 2: init, 3: armed, 4: active, 5: act defer)",
	  state },
	{ "node_infiniband_physical_state_id",
	  "Physical state of the InfiniBand port (0: no change, 1: sleep, 2: polling, 3: disable, 4: shift, 5: link up, 6: link error recover, 7: phytest)",
	  physical_state },
	{ "node_infiniband_rate_bytes_per_second", "Maximum signal transfer rate", rate },
};

static void put_head(const char *name, const char *type, const char *help, struct strbuf *out)
{
	strbuf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* {device="leaf1",port="4"} of every port. */
static char **port_labels(const struct prometheus_port *ports, size_t n)
{
	char **labels = hd_alloc(n + 1, sizeof(*labels));

	for (size_t i = 0; i < n; i++) {
		struct strbuf text = STRBUF_INIT;

		strbuf_puts(&text, "{device=\"");
		prometheus_label(ports[i].device, &text);
		strbuf_printf(&text, "\",port=\"%u\"}", ports[i].number);
		labels[i] = strbuf_detach(&text);
	}
	return labels;
}

void prometheus_ports(const struct prometheus_port *ports, size_t n, struct strbuf *out)
{
	char **labels = port_labels(ports, n);

	for (size_t k = 0; k < N_FAMILIES; k++) {
		const struct family *f = &families[k];

		if (!n || ports[0].counters[k] == PROMETHEUS_NONE)
			continue;
		put_head(f->name, "counter", f->help, out);
		for (size_t i = 0; i < n; i++)
			strbuf_printf(out, "%s%s %.17g\n", f->name, labels[i],
				      f->factor * (double)ports[i].counters[k]);
	}
	for (size_t k = 0; k < sizeof(gauges) / sizeof(gauges[0]); k++) {
		put_head(gauges[k].name, "gauge", gauges[k].help, out);
		for (size_t i = 0; i < n; i++)
			strbuf_printf(out, "%s%s %.17g\n", gauges[k].name, labels[i],
				      gauges[k].value(&ports[i]));
	}
	for (size_t i = 0; i < n; i++)
		free(labels[i]);
	free(labels);
}

/* Stores the current value of a counter that the simulation has. */
static void take_counter(void *context, const char *name, uint64_t value)
{
	struct prometheus_port *p = context;

	for (size_t k = 0; k < N_FAMILIES; k++) {
		if (strcmp(families[k].counter, name) == 0)
			p->counters[k] = value;
	}
}

static void put_ports(const struct fabric *fabric, const struct sim_metrics *m, const bool *down,
		      struct strbuf *out)
{
	struct prometheus_port *ports = hd_alloc(fabric->setup.n_ports + 1, sizeof(*ports));
	size_t n = 0;

	for (uint32_t i = 0; i < fabric->setup.n_ports; i++) {
		const struct sim_port *p = &fabric->setup.ports[i];
		struct sim_counters counters;

		if (p->peer == SIM_NONE)
			continue;
		struct prometheus_port *one = &ports[n++];

		*one = (struct prometheus_port){
			.device = topo_node_of(&fabric->topo, p->origin)->name,
			.number = fabric->topo.ports[p->origin].number,
			/* PortInfo codes (IBA): Down and Polling, or Active and LinkUp. */
			.state = down[i] ? 1 : 4,
			.physical = down[i] ? 2 : 5,
			.rate = p->rate,
		};
		for (size_t k = 0; k < N_FAMILIES; k++)
			one->counters[k] = PROMETHEUS_NONE;
		sim_port_counters(m, i, &counters);
		perfquery_plain(fabric, i, &counters, take_counter, one);
	}
	prometheus_ports(ports, n, out);
	free(ports);
}

/* Counters of traffic rows: name, help, and the member of flow counts that is summed. */
struct row_family {
	const char *name, *help;
	size_t offset; /* of a uint64_t in struct sim_flow_counts */
};

#define COUNTS(member) offsetof(struct sim_flow_counts, member)

static const struct row_family row_families[] = {
	{ "heddle_row_made_packets_total", "Packets that a traffic row made", COUNTS(made) },
	{ "heddle_row_made_bytes_total", "Bytes that a traffic row made", COUNTS(made_bytes) },
	{ "heddle_row_delivered_packets_total", "Packets of a traffic row that arrived",
	  COUNTS(delivered) },
	{ "heddle_row_delivered_bytes_total", "Bytes of a traffic row that arrived",
	  COUNTS(delivered_bytes) },
	{ "heddle_row_lost_packets_total", "Packets of a traffic row that were lost",
	  COUNTS(lost) },
};

static void put_rows(const struct fabric *fabric, const struct sim_metrics *m, struct strbuf *out)
{
	size_t rows = fabric->scenario->n_traffic;
	uint64_t *sums = hd_alloc(rows + 1, sizeof(*sums));

	for (size_t k = 0; k < sizeof(row_families) / sizeof(row_families[0]); k++) {
		const struct row_family *family = &row_families[k];

		memset(sums, 0, rows * sizeof(*sums));
		for (uint32_t i = 0; i < m->n_flows && i < fabric->n_flows; i++)
			sums[fabric->flows[i].row] +=
				*(const uint64_t *)((const char *)&m->flows[i] + family->offset);
		put_head(family->name, "counter", family->help, out);
		for (size_t i = 0; i < rows; i++) {
			strbuf_printf(out, "%s{row=\"", family->name);
			prometheus_label(fabric->scenario->traffic[i].name, out);
			strbuf_printf(out, "\"} %" PRIu64 "\n", sums[i]);
		}
	}
	free(sums);
}

static void put_goals(const struct results *r, struct strbuf *out)
{
	put_head("heddle_goal_met", "gauge", "Whether a goal of the scenario is met so far", out);
	for (size_t k = 0; k < r->n_tables; k++) {
		const struct table *t = r->tables[k];

		for (size_t i = 0; table_is_goals(t) && i < table_rows(t); i++) {
			strbuf_puts(out, "heddle_goal_met{row=\"");
			prometheus_label(table_cell(t, i, 0)->text, out);
			strbuf_puts(out, "\",goal=\"");
			prometheus_label(table_cell(t, i, 1)->text, out);
			strbuf_printf(out, "\"} %d\n", table_cell(t, i, t->n_columns - 1)->yes);
		}
	}
}

void prometheus_scrapes(uint64_t n, struct strbuf *out)
{
	put_head("heddle_scrapes_total", "counter",
		 "How often these metrics were sent, this time included", out);
	strbuf_printf(out, "heddle_scrapes_total %" PRIu64 "\n", n);
}

void prometheus_print(const struct run *s, const bool *down, struct strbuf *out)
{
	const struct fabric *fabric = run_fabric(s);
	struct sim *sim = run_sim(s);
	struct sim_progress p;
	bool met;

	sim_progress(sim, &p);
	put_head("heddle_simulated_seconds", "gauge", "How far the run is, in simulated time", out);
	strbuf_printf(out, "heddle_simulated_seconds %.17g\n", (double)p.now / (double)HD_S);
	put_head("heddle_done_ratio", "gauge", "Share of the run that is done", out);
	strbuf_printf(out, "heddle_done_ratio %.17g\n", isnan(p.share) ? 0 : p.share);
	struct results *r = run_results(s, false, &met);

	put_goals(r, out);
	results_free(r);
	const struct sim_metrics *m = sim_metrics(sim);

	put_rows(fabric, m, out);
	put_ports(fabric, m, down, out);
}
