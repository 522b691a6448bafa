/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_HCA_MESSAGE_END_H
#define HD_HCA_MESSAGE_END_H

/*
 * What message_channel.c and external_qp.c have in common: queue pairs that no
 * program of the lab uses. Private to these.
 */

#include "hca/hca_internal.h"

/* A completion queue, and its place in a list of those that have completions. */
struct message_end {
	void *of; /* its channel, or its external queue pair */
	struct v_cq *cq;
	bool is_waiting; /* it is in the list */
	struct message_end *next;
};

/* `note` is called with the end for each completion. */
void hca_message_end_init(struct message_end *e, void *of, struct v_device *dev, uint32_t entries,
			  void (*note)(void *end));

/* What a host has for all of its queue pairs. */
struct message_host {
	struct v_pd *pd;
	struct v_mr *mr;
};

struct message_memory {
	uint8_t *bytes;
	uint64_t length;
	unsigned access;
};

/* Registers the memory with this host, unless that is done. */
void hca_message_host_need(struct message_host *h, struct v_device *dev,
			   const struct message_memory *m);
/* A receive of `length` bytes into the memory of a host. */
struct recv_wr hca_message_receive(const struct message_host *h, uint64_t length);
/* The next states of a queue pair, `to` the last of them. */
HD_MUST_CHECK enum hd_status message_connect(struct v_qp *qp, const struct qp_attr *a,
					     enum qp_state to);

#endif
