/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_LIVE_LIVE_H
#define HD_LIVE_LIVE_H

/*
 * A live fabric: one daemon per fabric simulates its agents, and unmodified programs attach to it.
 * Programs find the daemon by the fabric's name, through a socket in a folder of the user. Other
 * users are refused. The functions below run the daemon, start it and its companion processes
 * (subnet manager, engine), and send commands to it.
 */

#include <stdbool.h>

#include "base/diag.h"
#include "base/strbuf.h"
#include "topo/topo.h"

/* Path of the folder of the fabric `name`; the caller frees it. */
char *live_folder(const char *name);

struct agents_timing;
struct recording;

/* Options of a daemon. */
struct live_options {
	/*
	 * Delays and buffers of MADs (mgmt/agents/agents.h); a full VL15 buffer drops MADs. NULL:
	 * MADs arrive at once.
	 */
	const struct agents_timing *times;
	/* Seconds of fabric time per second of `clock`; 0 means 1. */
	double pace;
	/* Source of time; NULL: the system's clock. */
	hd_time (*clock)(void);
	/* Data of programs take simulated time, which an engine computes. */
	bool times_data;
	const char *record; /* path of the recording of all changes; or NULL */
	/* A recording whose state at time `until` is the initial state; or NULL. */
	struct recording *replay;
	hd_time until;
};

/*
 * Runs the daemon of a fabric in `dir` until a request or a signal ends it. `ready` is called once
 * programs can attach.
 */
HD_MUST_CHECK enum hd_status live_run(const struct topo *t, const char *dir,
				      const struct live_options *o, void (*ready)(void *context),
				      void *context, struct diag *d);

/*
 * Starts the daemon of the fabric `name` in a new folder, which is removed when the fabric ends.
 * `apart`: the daemon runs in a process of its own without the terminal, and the call returns once
 * programs can attach. Otherwise the daemon runs in this process, and the call returns when it has
 * ended.
 */
HD_MUST_CHECK enum hd_status live_start(const struct topo *t, const char *name,
					const struct live_options *o, bool apart, struct diag *d);

/*
 * Waits until the fabric `name`, which has been requested to end, has removed its folder, so that
 * its name is free; at most 20 s.
 */
void live_await_end(const char *name);

struct port_tables;
/* A subnet manager of Heddle, which runs as a program on a host of a fabric. */
struct live_manager {
	const char *host;
	const char *engine;               /* a name in route_engines[] */
	unsigned priority;                /* 0 to 15 */
	const struct port_tables *tables; /* tables to program; borrowed, or NULL */
	/* `say` gets lines for the user; `ready` is called once the subnet is up, or in standby. */
	void (*say)(void *context, const char *line);
	void (*ready)(void *context);
	void *context;
};

/* Runs the subnet manager until the fabric in `dir` has ended. */
HD_MUST_CHECK enum hd_status live_manage(const char *dir, const struct live_manager *o,
					 struct diag *d);
/*
 * Starts the subnet manager of the fabric `name` in a process of its own. Returns when it is
 * ready, or after `patience` ms with *is_late set; it keeps running then.
 */
HD_MUST_CHECK enum hd_status live_start_manager(const char *name, const char *host,
						const char *engine, int patience, struct diag *d,
						bool *is_late);

/* Raises the limit of open files to the most that is allowed: a program needs several. */
void live_raise_limit(void);

/*
 * A function that runs in a process of its own, without the terminal, for the fabric `name`. It
 * calls `ready` with `who` once it is ready, and returns when the fabric has ended.
 */
struct live_companion {
	enum hd_status (*run)(const char *dir, void *context, void (*ready)(void *who), void *who,
			      struct diag *d);
	void *context;
};
HD_MUST_CHECK enum hd_status live_start_companion(const char *name, const struct live_companion *c,
						  struct diag *d);

/*
 * Queries the subnet administration, as a program on `host`, for the SLs of paths that keep the
 * manager's routing free of deadlock. `rows` are input of path_sls_keep for `s`, which has the
 * LIDs of the fabric; the caller frees them. NULL if the manager leaves SLs to applications, or if
 * no manager runs. HD_ERR_NOT_FOUND if a manager runs and does not respond.
 */
struct subnet;
HD_MUST_CHECK enum hd_status live_path_sls(const char *dir, const char *host, uint16_t sm_lid,
					   const struct subnet *s, struct diag *d, uint8_t ***rows);
void live_path_sls_free(const struct topo *t, uint8_t **rows);

/* Opens a connection for questions to the daemon in `dir` (protocol.h); -1 on failure. */
int live_connect(const char *dir, struct diag *d);

/*
 * Sends the command `words` to the daemon in `dir`; `out` is the command's output. live_call_with
 * also passes an open file, or -1; the caller keeps its own descriptor.
 */
HD_MUST_CHECK enum hd_status live_call(const char *dir, const char *const *words, size_t n,
				       struct diag *d, struct strbuf *out);
HD_MUST_CHECK enum hd_status live_call_with(const char *dir, const char *const *words, size_t n,
					    int file, struct diag *d, struct strbuf *out);

/* Nodes, ports and cables of the fabric in `dir`, with the daemon's numbers. */
HD_MUST_CHECK enum hd_status live_topology(const char *dir, struct diag *d, struct topo *out);
/*
 * Values of `n` counters (names as printed by perfquery) at each of `n_ports` ports: out[port * n
 * + i].
 */
HD_MUST_CHECK enum hd_status live_counters(const char *dir, const char *const *names, size_t n,
					   size_t n_ports, struct diag *d, uint64_t *out);

#endif
