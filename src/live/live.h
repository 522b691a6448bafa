/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_LIVE_LIVE_H
#define HD_LIVE_LIVE_H

/*
 * A fabric that runs by itself, to which unmodified programs attach: one
 * daemon per fabric, found by its name in a folder of the user's. Other users
 * are refused.
 */

#include <stdbool.h>

#include "base/diag.h"
#include "base/strbuf.h"
#include "topo/topo.h"

/* The folder of the fabric of that name; to be freed. */
char *live_folder(const char *name);

struct agents_timing;
struct recording;

/* How a fabric runs. */
struct live_options {
	/*
	 * MADs take the time of links, switches and agents, and VL15 loses
	 * what it has no room for (mgmt/agents/agents.h). NULL: they arrive at once.
	 */
	const struct agents_timing *times;
	/* Seconds of the fabric in a second of the clock; 0: one. */
	double pace;
	/* What tells the time; NULL: the system's clock. */
	hd_time (*clock)(void);
	/* What programs send takes its time, which an engine tells them. */
	bool times_data;
	const char *record; /* a file of all that happens; or NULL */
	/* It begins as it was left, by this time; or NULL. */
	struct recording *replay;
	hd_time until;
};

/*
 * Runs the daemon of a fabric in `dir` until a request or signal ends it. `ready` is
 * called once programs can attach.
 */
HD_MUST_CHECK enum hd_status live_run(const struct topo *t, const char *dir,
				      const struct live_options *o, void (*ready)(void *context),
				      void *context, struct diag *d);

/*
 * Starts the fabric `name` in a folder of its own, which goes with it. If
 * `apart`, in a process of its own away from the terminal, and returns once
 * programs can attach; else here, and returns when it has ended.
 */
HD_MUST_CHECK enum hd_status live_start(const struct topo *t, const char *name,
					const struct live_options *o, bool apart, struct diag *d);

/*
 * Until the fabric `name`, which was told to end, has cleared up, so that
 * another can take the name; but no longer than 20 s.
 */
void live_await_end(const char *name);

struct port_tables;
/* A subnet manager of ours, as a program on a host of a fabric. */
struct live_manager {
	const char *host;
	const char *engine;               /* a name of route_engines[] */
	unsigned priority;                /* 0 to 15 */
	const struct port_tables *tables; /* that ports get; borrowed, or NULL */
	/* Lines for the user; `ready` is called once the subnet is up, or in standby. */
	void (*say)(void *context, const char *line);
	void (*ready)(void *context);
	void *context;
};

/* Runs it until the fabric in `dir` is gone. */
HD_MUST_CHECK enum hd_status live_manage(const char *dir, const struct live_manager *o,
					 struct diag *d);
/*
 * In a process of its own, for the fabric `name`; returns when it is ready, or
 * is late: not ready after `patience` ms; it keeps running then.
 */
HD_MUST_CHECK enum hd_status live_start_manager(const char *name, const char *host,
						const char *engine, int patience, struct diag *d,
						bool *is_late);

/*
 * Runs `run` in a process of its own, away from the terminal, for the fabric
 * `name`: it tells `ready` with `who` once it is, and ends with the fabric.
 */
struct live_companion {
	enum hd_status (*run)(const char *dir, void *context, void (*ready)(void *who), void *who,
			      struct diag *d);
	void *context;
};
HD_MUST_CHECK enum hd_status live_start_companion(const char *name, const struct live_companion *c,
						  struct diag *d);

/*
 * The SLs of paths that keep a manager's routing free of deadlock, asked
 * of its subnet administration by a program on `host`: rows for path_sls_keep,
 * to be freed, of `s`, which has the LIDs of the fabric. NULL if it leaves SLs
 * to applications, or if no manager runs. HD_ERR_NOT_FOUND if one is there and
 * does not answer.
 */
struct subnet;
HD_MUST_CHECK enum hd_status live_path_sls(const char *dir, const char *host, uint16_t sm_lid,
					   const struct subnet *s, struct diag *d, uint8_t ***rows);
void live_path_sls_free(const struct topo *t, uint8_t **rows);

/* A connection for questions to the daemon in `dir` (protocol.h), or -1. */
int live_connect(const char *dir, struct diag *d);

/*
 * Asks the daemon in `dir` to do what `words` say; what it printed. The other
 * hands it an open file, which stays the caller's, too; or -1.
 */
HD_MUST_CHECK enum hd_status live_call(const char *dir, const char *const *words, size_t n,
				       struct diag *d, struct strbuf *out);
HD_MUST_CHECK enum hd_status live_call_with(const char *dir, const char *const *words, size_t n,
					    int file, struct diag *d, struct strbuf *out);

/* Nodes, ports and cables of the fabric in `dir`, with their numbers. */
HD_MUST_CHECK enum hd_status live_topology(const char *dir, struct diag *d, struct topo *out);
/*
 * Counters of `n_ports` ports by the names that perfquery prints, `n` of each:
 * out[port * n + i].
 */
HD_MUST_CHECK enum hd_status live_counters(const char *dir, const char *const *names, size_t n,
					   size_t n_ports, struct diag *d, uint64_t *out);

#endif
