/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_HCA_PROFILE_H
#define HD_HCA_PROFILE_H

/*
 * Processing times of a host and its adapter. All values have a physical meaning, and the results
 * of all tests follow from them; no value exists for a particular test. A profile is a YAML
 * file; three are built in.
 *
 * A host spends processor time in verbs. The adapter is a pipeline of servers that each
 * process one item at a time:
 *
 *	doorbell -> send engine -> bus -> staging -> link
 *	link -> receive engine -> bus -> completion -> host
 *
 * The bus carries data, work requests and completions as transactions with an overhead; a
 * half-duplex bus has one server for both directions. Address translations are
 * cached; a miss delays the bus.
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
	/* Default fabric of the adapters. */
	uint64_t hosts, vls, mtu;
	char *link; /* such as "4x SDR" */
	hd_time switch_delay, propagation;
	enum profile_schedule schedule;
	uint64_t out_of_order; /* qp_params.window of reliable queue pairs */

	/* ---- costs --------------------------------------------------------- */
	/* Processor time of the host. */
	hd_time post_send, post_recv, poll, poll_empty;
	hd_time event;    /* interrupt, handler and waking the waiter */
	hd_time command;  /* command to the adapter's firmware */
	hd_time teardown; /* of one connection */
	hd_time page;     /* pinning and mapping one page */
	/* Adapter. */
	hd_time doorbell;
	hd_time wqe;          /* work request of a connected queue pair */
	hd_time wqe_datagram; /* work request of an unconnected queue pair */
	hd_time packet;       /* engine time per packet, send and receive */
	uint64_t staging;     /* bytes prefetched for the link, per VL */
	/*
	 * The processor writes requests with at most this payload to the adapter, including the
	 * payload, so that no bus read is necessary; 0: none.
	 */
	uint64_t inline_bytes;
	hd_time queue_pair;   /* least interval between requests of a queue pair */
	struct hd_rate bus;   /* 0: no limit */
	hd_time bus_overhead; /* per transaction */
	hd_time bus_latency;  /* of a read, until the data arrive */
	enum profile_duplex duplex;
	uint64_t page_size, entries; /* translation cache; 0 entries: unlimited */
	hd_time miss;
};

/* Names of the built-in profiles; ends with NULL. */
extern const char *const profile_names[];

/*
 * Opens a built-in profile, or a file if `name` contains '/' or ends in ".yaml". Error messages
 * name the line.
 */
HD_MUST_CHECK enum hd_status profile_open(const char *name, struct diag *d,
					  struct hca_profile *out);
/* Checks that `name` is a built-in profile or may be a file. */
HD_MUST_CHECK enum hd_status profile_check(const char *name, struct diag *d);
HD_MUST_CHECK enum hd_status profile_parse(const char *text, size_t len, struct diag *d,
					   struct hca_profile *out);
void profile_fini(struct hca_profile *p);

/* Prints the profile as a file, with every field and its meaning. */
void profile_print(const struct hca_profile *p, struct strbuf *out);

#endif
