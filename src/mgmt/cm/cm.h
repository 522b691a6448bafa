/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MGMT_CM_CM_H
#define HD_MGMT_CM_CM_H

/*
 * The connection managers of all hosts of a fabric: what the kernel's rdma_cm
 * is to programs. Commands of its interface (rdma/rdma_user_cm.h) go in,
 * answers and events come out; connections are made by MADs of communication
 * management between ports, and paths are asked of subnet administration.
 *
 * Pure: no sockets and no clocks; `now` is an argument. MADs are not sent from
 * within a call but by cm_run, so that one that arrives may bring about others.
 *
 * Hosts have addresses, since programs name each other by them: the k-th port
 * of an adapter, from 1 and in the fabric's order, is 127.64.0.0 + k. That is
 * this machine to TCP, too.
 */

#include <netinet/in.h>

#include "base/strbuf.h"
#include "mgmt/agents/agents.h"

struct cm;

struct cm_events {
	/* A program's channel has one more event. */
	void (*ready)(void *context, uint32_t channel);
	void *context;
};

struct cm *cm_new(struct agents *a, const struct cm_events *e);
void cm_free(struct cm *m);

/* A program, by its channel. */
struct cm_caller {
	node_id host;
	uint32_t channel;
};

/* What a command does to the program's side besides its answer. */
struct cm_answer {
	struct strbuf bytes; /* for where the command says */
	/* Events that the channel has no more; of a migration, the other. */
	uint32_t taken;
};

/*
 * A command as a program writes it, with the header; of one that is migrated,
 * `fd` is the number of the other channel, and behind an option stands its
 * value. An errno; EAGAIN if there is no event.
 */
int cm_command(struct cm *m, const struct cm_caller *who, const uint8_t *bytes, size_t size,
	       hd_time now, struct cm_answer *out);
/* The program has closed its channel, or is gone. */
void cm_forget(struct cm *m, uint32_t channel, hd_time now);

/* A MAD that no program wants; false if it is not for us either. */
bool cm_arrived(struct cm *m, port_id port, const struct mad_address *from, const uint8_t *mad,
		hd_time now);
hd_time cm_next(const struct cm *m);
void cm_run(struct cm *m, hd_time now);

/* The IPv4 address of a host's first port, in host order; 0: it has none. */
uint32_t cm_address(const struct cm *m, node_id host);

#endif
