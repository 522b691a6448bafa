/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_REPORT_REPORT_INTERNAL_H
#define HD_SIM_REPORT_REPORT_INTERNAL_H

/* Shared by the files behind tables.h; private to them. */

#include <math.h>

#include "sim/report/tables.h"

static inline double findings_seconds(const struct sim_metrics *m)
{
	return (double)(m->to - m->from) / (double)HD_S;
}

static inline double findings_gbps(double bytes, double time)
{
	return time > 0 ? bytes * 8 / time / 1e9 : 0;
}

/* Bytes of a packet of flow `i` that are no payload. */
static inline uint64_t findings_overhead(const struct fabric *fabric, uint32_t i)
{
	return scenario_overhead(fabric->scenario,
				 &fabric->scenario->traffic[fabric->flows[i].row]);
}

/* Bytes of payload that flow `i` made, and of it delivered. */
static inline uint64_t findings_made(const struct fabric *fabric, const struct sim_flow_counts *c,
				     uint32_t i)
{
	return c->made_bytes - c->made * findings_overhead(fabric, i) -
	       c->made_global * fabric->flows[i].grh_bytes;
}

static inline uint64_t findings_delivered(const struct fabric *fabric,
					  const struct sim_flow_counts *c, uint32_t i)
{
	return c->delivered_bytes - c->delivered * findings_overhead(fabric, i) -
	       c->delivered_global * fabric->flows[i].grh_bytes;
}

/* A percentile, or 0 without packets. */
static inline hd_time findings_percentile(const struct histogram *h, double percent)
{
	return h->n ? histogram_percentile(h, percent) : HD_TIME_NEVER;
}

/* Their mean in picoseconds; NaN without packets. */
static inline double findings_mean(const struct histogram *h)
{
	return h->n ? histogram_mean(h) : NAN;
}

/* tables.c: "video h3 -> h7", "bulk h3" for flows that choose. */
void findings_flow_name(const struct fabric *fabric, uint32_t flow, struct strbuf *out);

/* findings.c */
/*
 * Adds the goals, each with what was found; true if all were met. A row
 * without a packet meets no latency goal.
 */
bool findings_goals(const struct report_input *f, const struct report_row *rows, struct results *r);
/* After SIM_DEADLOCK: the circle of packets that wait, and a remark. */
void findings_deadlock(const struct report_input *f, struct results *r);

/* tables_vl_sharing.c; no table if no VLs are bounded. */
void findings_vl_sharing(const struct report_input *f, struct results *r);

/* tables_vls.c: maps and arbitration tables */
void findings_vl_tables(const struct report_input *f, struct results *r);

/* tables_ports.c */
void findings_ports(const struct report_input *f, struct results *r);
/* Links that went down; no table without any. */
void findings_downed(const struct report_input *f, struct results *r);
void findings_vls(const struct report_input *f, struct results *r);
void findings_port_vls(const struct report_input *f, struct results *r);
/* The port's name, for the next row of `t`. */
const char *findings_port_name(const struct fabric *fabric, uint32_t port, struct table *t);

/* tables_manager.c: actions of a subnet manager; no table without one. */
void findings_choices(const struct report_input *f, struct results *r);
void findings_manager(const struct report_input *f, struct results *r);

/* Connections of a row that arrived, or requested bandwidth. */
struct row_connections {
	uint64_t asked, blocked; /* while measuring, or before it all began */
	struct interval blocking;
	double held;       /* at a time, on average */
	double reserved;   /* reserved for them, bits per second, likewise */
	uint64_t broken;   /* with a guarantee that was broken at some time */
	const char *cause; /* of the first that was; or NULL */
	const char *why;   /* the first was refused; or NULL */
	hd_time deadline;  /* of each; 0: none */
	double bound;      /* seconds, the largest of those admitted; 0: none */
	/* The longest latency of connections without a broken guarantee. */
	hd_time worst;
	uint64_t late; /* of those: connections that missed the deadline */
};

/* tables_connections.c: false if the row's flows have neither admission nor a limited lifetime. */
bool findings_row_connections(const struct report_input *f, uint32_t row,
			      struct row_connections *out);
/* Nothing without probes and requests. */
void findings_connections(const struct report_input *f, struct results *r);

/* tables_flows.c */
void findings_deadlines(const struct report_input *f, struct results *r);
void findings_jitter(const struct report_input *f, struct results *r);
void findings_flows(const struct report_input *f, struct results *r);

#endif
