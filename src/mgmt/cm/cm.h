/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MGMT_CM_CM_H
#define HD_MGMT_CM_CM_H

/*
 * The connection managers of all hosts of a fabric; they take the place of the kernel's rdma_cm.
 * Commands of rdma/rdma_user_cm.h go in, responses and events come out. Connections are made by CM
 * MADs between ports, and paths come from subnet administration.
 *
 * The module is pure: no sockets and no clocks; `now` is an argument. MADs are queued, and sent by
 * cm_run() only, so that cm_receive() is never entered recursively.
 *
 * The k-th adapter port in the fabric's order, from 1, has the IPv4 address 127.64.0.0 + k. These
 * are loopback addresses, so TCP reaches them, too.
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

/* A program, identified by its channel. */
struct cm_caller {
	node_id host;
	uint32_t channel;
};

/* The effects of a command on the program. */
struct cm_response {
	struct strbuf bytes; /* to be written to the response address of the command */
	/*
	 * Events that the channel no longer has; after a migration: the number of the source
	 * channel.
	 */
	uint32_t taken;
};

/*
 * Executes a command as a program writes it, with its header. For MIGRATE_ID, `fd` has been
 * replaced by the number of the source channel; the value of an option follows its command. Returns
 * an errno; EAGAIN if there is no event.
 */
int cm_command(struct cm *m, const struct cm_caller *caller, const uint8_t *bytes, size_t size,
	       hd_time now, struct cm_response *out);
/* The program has closed its channel or has ended. */
void cm_close_channel(struct cm *m, uint32_t channel, hd_time now);

/* A MAD that arrived at a port; false if it is not for the connection manager. */
bool cm_receive(struct cm *m, port_id port, const struct mad_address *from, const uint8_t *mad,
		hd_time now);
hd_time cm_next(const struct cm *m);
void cm_run(struct cm *m, hd_time now);

/* The IPv4 address of a host's first port in host byte order; 0: no port. */
uint32_t cm_address(const struct cm *m, node_id host);

#endif
