/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_HCA_PROFILE_H
#define HD_HCA_PROFILE_H

/*
 * What a host and its adapter cost in time: numbers that mean something
 * physically, from which every test's outcome follows. There is no number for
 * a test. A profile is a YAML file; three are built in.
 *
 * A host spends processor time in verbs. The adapter is a pipeline of servers
 * that each do one thing at a time:
 *
 *	doorbell -> send engine -> bus -> staging -> link
 *	link -> receive engine -> bus -> completion -> host
 *
 * The bus carries data, work requests and completions, each as transactions
 * with an overhead; a half-duplex bus has one such server for both ways.
 * Translations of addresses are cached, and the bus waits for a missing one.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/strbuf.h"
#include "base/units.h"

enum profile_schedule { SCHEDULE_ROUND_ROBIN, SCHEDULE_WEIGHTED };
enum profile_duplex { DUPLEX_HALF, DUPLEX_FULL };

struct hca_profile {
	char *name;
	char *about;
	/* The fabric that the adapters are on, unless another is given. */
	uint64_t hosts, vls, mtu;
	char *link; /* "4x SDR" */
	hd_time switch_delay, propagation;
	enum profile_schedule schedule;
	uint64_t out_of_order; /* qp_params.window of reliable queue pairs */

	/* ---- costs --------------------------------------------------------- */
	/* Processor time of the host. */
	hd_time post_send, post_recv, poll, poll_empty;
	hd_time event;    /* interrupt, handler and waking the waiter */
	hd_time command;  /* a request to the adapter's firmware */
	hd_time teardown; /* of a connection */
	hd_time page;     /* pinning and entering one page */
	/* Adapter. */
	hd_time doorbell;
	hd_time wqe;          /* work request on a connected queue pair */
	hd_time wqe_datagram; /* ... on an unconnected one */
	hd_time packet;       /* engine time per packet, each way */
	uint64_t staging;     /* bytes fetched ahead of the link, per VL */
	/*
	 * Requests with at most this payload are written to the adapter by the
	 * processor, payload included, so that nothing is read over the bus; 0: none.
	 */
	uint64_t inline_bytes;
	hd_time queue_pair;   /* least time between two requests of one queue pair */
	struct hd_rate bus;   /* 0: no limit */
	hd_time bus_overhead; /* of a transaction */
	hd_time bus_latency;  /* until data that are read arrive */
	enum profile_duplex duplex;
	uint64_t page_size, entries; /* translation cache; 0 entries: all fit */
	hd_time miss;
};

/* Names of those built in, ended by NULL. */
extern const char *const profile_names[];

/*
 * A built-in profile by its name, or a file if `name` has a '/' or ends in
 * ".yaml"; refusals name the line.
 */
HD_MUST_CHECK enum hd_status profile_open(const char *name, struct diag *d,
					  struct hca_profile *out);
/* Whether `name` may be opened: that of a file, or of one built in. */
HD_MUST_CHECK enum hd_status profile_check(const char *name, struct diag *d);
HD_MUST_CHECK enum hd_status profile_parse(const char *text, size_t len, struct diag *d,
					   struct hca_profile *out);
void profile_fini(struct hca_profile *p);

/* As a file, with every field and its meaning. */
void profile_print(const struct hca_profile *p, struct strbuf *out);

#endif
