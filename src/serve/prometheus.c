/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/prometheus.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "sim/perfquery.h"

void prometheus_label(const char *text, struct strbuf *out)
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

/* What is known of a port. */
struct port_view {
	const struct sim_port *port;
	const struct sim_counters *counters;
	bool is_down;
};

typedef double port_value_fn(const struct port_view *v);

/* The counters have words of 4 bytes, which node_exporter multiplies. */
static double data(uint64_t bytes, uint64_t packets)
{
	return 4 * (double)perfquery_words(bytes, packets);
}

static double received_bytes(const struct port_view *v)
{
	return data(v->counters->rcv_bytes, v->counters->rcv_packets);
}

static double transmitted_bytes(const struct port_view *v)
{
	return data(v->counters->xmit_bytes, v->counters->xmit_packets);
}

static double received_packets(const struct port_view *v)
{
	return (double)v->counters->rcv_packets;
}

static double transmitted_packets(const struct port_view *v)
{
	return (double)v->counters->xmit_packets;
}

/* In ticks: as long as a word takes, as perfquery shows them. */
static double transmit_wait(const struct port_view *v)
{
	return (double)perfquery_ticks(v->port, v->counters->xmit_wait);
}

static double discards(const struct port_view *v)
{
	return (double)v->counters->xmit_discards;
}

static double receive_errors(const struct port_view *v)
{
	return (double)v->counters->rcv_errors;
}

static double receive_constraints(const struct port_view *v)
{
	return (double)v->counters->rcv_constraint_errors;
}

static double transmit_constraints(const struct port_view *v)
{
	return (double)v->counters->xmit_constraint_errors;
}

static double link_downed(const struct port_view *v)
{
	return (double)v->counters->link_downed;
}

static double vl15_dropped(const struct port_view *v)
{
	return (double)v->counters->vl15_dropped;
}

/* IBA: 4 is Active, 1 is Down; of the physical state 5 LinkUp, 2 Polling. */
static double state(const struct port_view *v)
{
	return v->is_down ? 1 : 4;
}

static double physical_state(const struct port_view *v)
{
	return v->is_down ? 2 : 5;
}

static double rate(const struct port_view *v)
{
	return hd_rate_bps(v->port->rate) / 8;
}

struct family {
	const char *name;
	const char *type;
	const char *help;
	port_value_fn *value;
};

#define COUNTER(name, help, value)           \
	{                                    \
		name, "counter", help, value \
	}
#define GAUGE(name, help, value)           \
	{                                  \
		name, "gauge", help, value \
	}

static const struct family families[] = {
	COUNTER("node_infiniband_port_data_received_bytes_total",
		"Number of data octets received on all links", received_bytes),
	COUNTER("node_infiniband_port_data_transmitted_bytes_total",
		"Number of data octets transmitted on all links",
		transmitted_bytes),
	COUNTER("node_infiniband_port_packets_received_total",
		"Number of packets received on all VLs by this port (including errors)",
		received_packets),
	COUNTER("node_infiniband_port_packets_transmitted_total",
		"Number of packets transmitted on all VLs from this port (including errors)",
		transmitted_packets),
	COUNTER("node_infiniband_port_transmit_wait_total",
		"Number of ticks during which the port had data to transmit but no data was sent during the entire tick",
		transmit_wait),
	COUNTER("node_infiniband_port_discards_transmitted_total",
		"Number of outbound packets discarded by the port because the port is down or congested",
		discards),
	COUNTER("node_infiniband_port_errors_received_total",
		"Number of packets containing an error that were received on this port",
		receive_errors),
	COUNTER("node_infiniband_port_constraint_errors_received_total",
		"Number of packets received on the switch physical port that are discarded",
		receive_constraints),
	COUNTER("node_infiniband_port_constraint_errors_transmitted_total",
		"Number of packets not transmitted from the switch physical port",
		transmit_constraints),
	COUNTER("node_infiniband_link_downed_total",
		"Number of times the link failed to recover from an error state and went down",
		link_downed),
	COUNTER("node_infiniband_vl15_dropped_total",
		"Number of incoming VL15 packets dropped due to resource limitations",
		vl15_dropped),
	GAUGE("node_infiniband_state_id",
	      "State of the InfiniBand port (0: no change, 1: down, 2: init, 3: armed, 4: active, 5: act defer)",
	      state),
	GAUGE("node_infiniband_physical_state_id",
	      "Physical state of the InfiniBand port (0: no change, 1: sleep, 2: polling, 3: disable, 4: shift, 5: link up, 6: link error recover, 7: phytest)",
	      physical_state),
	GAUGE("node_infiniband_rate_bytes_per_second",
	      "Maximum signal transfer rate", rate),
};

static void put_head(const char *name, const char *type, const char *help,
		     struct strbuf *out)
{
	strbuf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name,
		      type);
}

/* {device="leaf1",port="4"} of every sim port that has a cable. */
static char **port_labels(const struct fabric *f)
{
	char **labels = hd_alloc(f->setup.n_ports + 1, sizeof(*labels));

	for (uint32_t i = 0; i < f->setup.n_ports; i++) {
		port_id origin = f->setup.ports[i].origin;
		struct strbuf text = STRBUF_INIT;

		if (f->setup.ports[i].peer == SIM_NONE)
			continue;
		strbuf_puts(&text, "{device=\"");
		prometheus_label(topo_node_of(&f->topo, origin)->name, &text);
		strbuf_printf(&text, "\",port=\"%u\"}",
			      f->topo.ports[origin].number);
		labels[i] = strbuf_detach(&text);
	}
	return labels;
}

static void put_ports(const struct fabric *f, const struct sim_metrics *m,
		      const bool *down, struct strbuf *out)
{
	uint32_t n = f->setup.n_ports;
	char **labels = port_labels(f);
	struct sim_counters *counters = hd_alloc(n + 1, sizeof(*counters));

	for (uint32_t i = 0; i < n; i++)
		sim_port_counters(m, i, &counters[i]);
	for (size_t k = 0; k < sizeof(families) / sizeof(families[0]); k++) {
		const struct family *family = &families[k];

		put_head(family->name, family->type, family->help, out);
		for (uint32_t i = 0; i < n; i++) {
			const struct port_view v = { &f->setup.ports[i],
						     &counters[i], down[i] };

			if (v.port->peer != SIM_NONE)
				strbuf_printf(out, "%s%s %.17g\n", family->name,
					      labels[i], family->value(&v));
		}
	}
	for (uint32_t i = 0; i < n; i++)
		free(labels[i]);
	free(labels);
	free(counters);
}

/* Of traffic rows: name, help, and what of a flow's counts it sums. */
struct row_family {
	const char *name, *help;
	size_t offset; /* in struct sim_flow_counts, a uint64_t */
};

#define COUNTS(member) offsetof(struct sim_flow_counts, member)

static const struct row_family row_families[] = {
	{ "heddle_row_made_packets_total", "Packets that a traffic row made",
	  COUNTS(made) },
	{ "heddle_row_made_bytes_total", "Bytes that a traffic row made",
	  COUNTS(made_bytes) },
	{ "heddle_row_delivered_packets_total",
	  "Packets of a traffic row that arrived", COUNTS(delivered) },
	{ "heddle_row_delivered_bytes_total",
	  "Bytes of a traffic row that arrived", COUNTS(delivered_bytes) },
	{ "heddle_row_lost_packets_total",
	  "Packets of a traffic row that were lost", COUNTS(lost) },
};

static void put_rows(const struct fabric *f, const struct sim_metrics *m,
		     struct strbuf *out)
{
	size_t rows = f->scenario->n_traffic;
	uint64_t *sums = hd_alloc(rows + 1, sizeof(*sums));

	for (size_t k = 0; k < sizeof(row_families) / sizeof(row_families[0]);
	     k++) {
		const struct row_family *family = &row_families[k];

		memset(sums, 0, rows * sizeof(*sums));
		for (uint32_t i = 0; i < m->n_flows && i < f->n_flows; i++)
			sums[f->flows[i].row] +=
				*(const uint64_t *)((const char *)&m->flows[i] +
						    family->offset);
		put_head(family->name, "counter", family->help, out);
		for (size_t i = 0; i < rows; i++) {
			strbuf_printf(out, "%s{row=\"", family->name);
			prometheus_label(f->scenario->traffic[i].name, out);
			strbuf_printf(out, "\"} %" PRIu64 "\n", sums[i]);
		}
	}
	free(sums);
}

/* "goals" and "job goals" have columns that say whom, what, and "met". */
static void put_goals(const struct results *r, struct strbuf *out)
{
	static const char *const tables[] = { "goals", "job goals" };

	put_head("heddle_goal_met", "gauge",
		 "Whether a goal of the scenario is met so far", out);
	for (size_t k = 0; k < 2; k++) {
		const struct table *t = results_find(r, tables[k]);

		for (size_t i = 0; t && i < table_rows(t); i++) {
			strbuf_puts(out, "heddle_goal_met{row=\"");
			prometheus_label(table_cell(t, i, 0)->text, out);
			strbuf_puts(out, "\",goal=\"");
			prometheus_label(table_cell(t, i, 1)->text, out);
			strbuf_printf(out, "\"} %d\n",
				      table_cell(t, i, t->n_columns - 1)->yes);
		}
	}
}

void prometheus_print(const struct simulation *s, const bool *down,
		      struct strbuf *out)
{
	const struct fabric *f = simulation_fabric(s);
	struct sim *sim = simulation_sim(s);
	struct sim_progress p;
	bool met;

	sim_progress(sim, &p);
	put_head("heddle_simulated_seconds", "gauge",
		 "How far the run is, in simulated time", out);
	strbuf_printf(out, "heddle_simulated_seconds %.17g\n",
		      (double)p.now / (double)HD_S);
	put_head("heddle_done_ratio", "gauge", "Share of the run that is done",
		 out);
	strbuf_printf(out, "heddle_done_ratio %.17g\n",
		      isnan(p.share) ? 0 : p.share);
	struct results *r = simulation_results(s, false, &met);

	put_goals(r, out);
	results_free(r);
	const struct sim_metrics *m = sim_metrics(sim);

	put_rows(f, m, out);
	put_ports(f, m, down, out);
}
