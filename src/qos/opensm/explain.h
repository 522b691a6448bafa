/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_OPENSM_EXPLAIN_H
#define HD_QOS_OPENSM_EXPLAIN_H

/*
 * Effect of an opensm.conf: the tables of each kind of port, and the service of each SL by these
 * tables.
 *
 * Ports are of one kind if OpenSM has one set of options for them and their links have equally many
 * VLs. Classes that share a VL divide it evenly if they send equally many packets; they have no
 * guaranteed share, and wait as long as their VL.
 */

#include "base/diag.h"
#include "base/option.h"
#include "base/units.h"
#include "measure/results.h"
#include "qos/opensm/opensm.h"
#include "qos/tables/contention.h"

/* Who uses a service level, with packets of which payload. */
struct explain_class {
	char name[32];
	uint8_t sl;
	uint32_t payload;
};

/* Properties of links and traffic. */
struct explain_view {
	/* All that compete; none: every SL, with packets of `mtu`. */
	struct explain_class classes[N_SLS];
	unsigned n_classes;
	bool by_vl;             /* the latter: one row per VL, not per SL */
	uint32_t mtu, overhead; /* bytes: the largest payload, headers */
	unsigned entries;       /* of an arbitration table */
	unsigned vls;           /* of links, without a fabric */
	struct hd_rate rate;
};

/* Words "NAME=SL[,PAYLOAD]"; long names are cut. */
HD_MUST_CHECK enum hd_status explain_classes(const struct option_list *words, struct diag *d,
					     struct explain_view *out);

struct explain_service {
	uint8_t vl;      /* 15: dropped */
	double share;    /* of a link on which all compete */
	double vl_share; /* of its whole VL with all SLs */
	double floor;    /* of the VL, whichever others send without end */
	double wait;     /* seconds on one link; HUGE_VAL: for ever */
	enum contention_table served;
	uint16_t with; /* other SLs in use on the VL, a bit each */
};

struct explain_port {
	enum opensm_scope scope;
	uint32_t n;          /* ports of the fabric; 0: no fabric */
	unsigned vls;        /* before max_op_vls */
	struct hd_rate rate; /* of the slowest of their links */
	struct opensm_tables tables;
	struct explain_service services[N_SLS]; /* by class */
	struct contention_burst burst;
};

struct explain {
	struct explain_view view;
	bool qos; /* whether OpenSM sends the tables at all */
	struct explain_port *ports;
	size_t n_ports, cap;
};

/* For the ports of a fabric, or (NULL) one of each kind; free with _fini. */
void explain_make(const struct opensm_conf *conf, const struct explain_view *view,
		  const struct subnet *s, struct explain *out);
void explain_fini(struct explain *e);

/* Adds tables and remarks (explain_tables.c). */
void explain_show(const struct explain *e, struct results *r);
/* Adds the differences between two files, the largest first. */
void explain_compare(const struct explain *before, const struct explain *after, struct results *r);

#endif
