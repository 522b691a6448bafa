/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HEDDLE_H
#define HEDDLE_H

/*
 * libheddle: InfiniBand fabrics inside other programs. docs/library.md and
 * libheddle(3) tell more; the examples are in examples/lib.
 *
 * A run of a scenario, as 'heddle sim' does it, and its tables:
 *
 *	struct hd_setting seed = { "run.seed", "2" };
 *	struct hd_run_options options = HD_RUN_OPTIONS_INIT;
 *	struct hd_error error = HD_ERROR_INIT;
 *	struct hd_run *run;
 *
 *	options.settings = &seed;
 *	options.n_settings = 1;
 *	if (hd_run_open("x.yaml", &options, &run, &error) == HD_DONE) {
 *		if (hd_run_go(run, &error) == HD_DONE)
 *			... hd_run_table(run, "traffic") ...
 *		hd_run_close(run);
 *	}
 *
 * A network for another simulator: messages go from host to host, and the
 * sender is notified when they arrive, with an exact time in picoseconds:
 *
 *	if (hd_net_open("x.yaml", NULL, &net, &error) == HD_DONE) {
 *		hd_net_send(net, 0, 5, 4096, HD_NO_CLASS, arrived, mine,
 *&error); hd_net_run_until(net, 1000000, &error); hd_net_close(net);
 *	}
 *
 * Nothing here prints, ends the process or changes its signals. A call that
 * can fail returns enum hd_code and writes its results only if that is
 * HD_DONE; why it failed is one line in an hd_error, which may be NULL.
 * Handles are independent of each other; one handle is for one thread at a
 * time. The same input gives the same results on every machine.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HD_API __attribute__((visibility("default")))

/*
 * Incremented when programs must be recompiled. Additions do not increment it: structs allocated
 * by callers begin with their size.
 */
#define HD_ABI 1
HD_API unsigned hd_abi(void);
HD_API const char *hd_version(void); /* "0.2.0" */

/* The values equal the exit statuses of the program heddle. */
enum hd_code {
	HD_DONE = 0,
	HD_MISUSE = 2,  /* an invalid call */
	HD_REFUSED = 3, /* a file or its content is refused */
	HD_LACKING = 4, /* out of memory, file space, ... */
	HD_STOPPED = 5, /* stopped by the progress function */
};

/* Reason for the failure of a call. */
struct hd_error {
	size_t size;           /* set by HD_ERROR_INIT */
	int code;              /* enum hd_code */
	unsigned line, column; /* in the file; 0: no line */
	char text[1000];       /* "x.yaml:3:5: unknown field 'hots' ..." */
};
#define HD_ERROR_INIT                             \
	{                                         \
		sizeof(struct hd_error), 0, 0, 0, \
		{                                 \
			0                         \
		}                                 \
	}

/*
 * Settings of the process. Threads that a run may use: 1 by default, 0: as many as pay off;
 * results do not depend on it. Memory: bytes that the process may allocate from now on (0: no
 * limit) before a run ends with HD_LACKING. Not to be called while a run exists.
 */
HD_API void hd_set_threads(unsigned n);
HD_API void hd_set_memory(uint64_t bytes);

/* ---- runs -------------------------------------------------------------- */

/* A field of the scenario: { "traffic.0.load", "50%" }, as with --set. */
struct hd_setting {
	const char *path, *value;
};

struct hd_run_options {
	size_t size; /* set by HD_RUN_OPTIONS_INIT */
	/* Override the fields of the file; later settings override earlier ones. */
	const struct hd_setting *settings;
	size_t n_settings;
	int all;           /* tables have a row for every port and flow */
	const char *pcap;  /* packet capture to write, or NULL */
	const char *trace; /* packet trace to write, a line per packet, or NULL */
	/*
	 * Called now and then with how far it is (0 to 1; simulated
	 * picoseconds); 0 ends hd_run_go, hd_net_run_until or hd_net_step with
	 * HD_STOPPED. NULL: it runs to its end. Of a run it may call
	 * hd_run_close, of a network only functions that change nothing.
	 */
	int (*progress)(void *context, double share, uint64_t now);
	void *context;
};
#define HD_RUN_OPTIONS_INIT                                                       \
	{                                                                         \
		sizeof(struct hd_run_options), NULL, 0, 0, NULL, NULL, NULL, NULL \
	}

struct hd_run;

/* Opens a scenario file. Options may be NULL. */
HD_API int hd_run_open(const char *file, const struct hd_run_options *options, struct hd_run **out,
		       struct hd_error *error);
/*
 * Opens a scenario text. `name` is used in errors, and its folder is that of the files that the
 * scenario names.
 */
HD_API int hd_run_load(const char *text, size_t len, const char *name,
		       const struct hd_run_options *options, struct hd_run **out,
		       struct hd_error *error);
/* Runs to the end, or until it is stopped; call once. Tables are available afterwards. */
HD_API int hd_run_go(struct hd_run *run, struct hd_error *error);
/* Whether all goals of the scenario were met without a deadlock. */
HD_API int hd_run_met(const struct hd_run *run);
/* Checksum of all deliveries and counters. */
HD_API uint64_t hd_run_checksum(const struct hd_run *run);
/*
 * Frees the run in any state; NULL is accepted and ignored. In the progress function: hd_run_go
 * returns HD_STOPPED, and the run is freed by then.
 */
HD_API void hd_run_close(struct hd_run *run);

/* ---- tables ------------------------------------------------------------ */

/*
 * The tables of 'heddle sim --json', with the same names: docs/library.md. Tables live as long
 * as their run. Cells out of range, or of another kind, have no value.
 */
struct hd_table;

enum hd_kind {
	HD_NONE, /* no value */
	HD_TEXT,
	HD_UINT,
	HD_INT,
	HD_REAL,
	HD_BOOL,
};

HD_API size_t hd_run_n_tables(const struct hd_run *run);
HD_API const struct hd_table *hd_run_table_at(const struct hd_run *run, size_t number);
/* NULL if there is no table of this name. */
HD_API const struct hd_table *hd_run_table(const struct hd_run *run, const char *name);

HD_API const char *hd_table_name(const struct hd_table *t);
HD_API const char *hd_table_title(const struct hd_table *t);
HD_API size_t hd_table_rows(const struct hd_table *t);
HD_API size_t hd_table_columns(const struct hd_table *t);
HD_API const char *hd_column_name(const struct hd_table *t, size_t column);
HD_API const char *hd_column_unit(const struct hd_table *t, size_t column);
HD_API enum hd_kind hd_column_kind(const struct hd_table *t, size_t column);
/* The index of the column; hd_table_columns if there is no such column. */
HD_API size_t hd_column_find(const struct hd_table *t, const char *name);

/* The column's kind, or HD_NONE if the cell has no value. */
HD_API enum hd_kind hd_cell_kind(const struct hd_table *t, size_t row, size_t column);
/* NULL if the cell is not text. */
HD_API const char *hd_cell_text(const struct hd_table *t, size_t row, size_t column);
/* A number of any kind, or a bool as 0 or 1; NaN for other kinds. */
HD_API double hd_cell_real(const struct hd_table *t, size_t row, size_t column);
/* Unsigned integers, exactly; 0 for other kinds. */
HD_API uint64_t hd_cell_uint(const struct hd_table *t, size_t row, size_t column);
HD_API int64_t hd_cell_int(const struct hd_table *t, size_t row, size_t column);

/* ---- a network --------------------------------------------------------- */

/*
 * The fabric of a scenario that carries messages of a program. Traffic and jobs
 * of the scenario runs at the same time; its run.measure is ignored.
 *
 * A message is cut into packets of the fabric's MTU. Messages of a host and
 * class leave one after the other, in the order in which they were sent; those
 * of other classes overtake as VLs allow. Nothing is acknowledged or
 * repeated. Time is in picoseconds since the scenario's beginning.
 */
struct hd_net;

#define HD_NO_CLASS   UINT32_MAX          /* service level 0 */
#define HD_MOST_BYTES ((uint64_t)1 << 40) /* maximum size of a message */
#define HD_NEVER      UINT64_MAX          /* later than any time */

/* As hd_run_open; options.all is ignored. */
HD_API int hd_net_open(const char *file, const struct hd_run_options *options, struct hd_net **out,
		       struct hd_error *error);
HD_API int hd_net_load(const char *text, size_t len, const char *name,
		       const struct hd_run_options *options, struct hd_net **out,
		       struct hd_error *error);

/* Number of hosts, as in 'heddle topo show'; numbered from 0. */
HD_API uint32_t hd_net_hosts(const struct hd_net *net);
/* "h3", or "h3:2" for a host with several ports; NULL: no such host. */
HD_API const char *hd_net_host_name(const struct hd_net *net, uint32_t host);
HD_API int hd_net_host(const struct hd_net *net, const char *name, uint32_t *out,
		       struct hd_error *error);
/* The number of a class of the scenario's qos section. */
HD_API int hd_net_class(const struct hd_net *net, const char *name, uint32_t *out,
			struct hd_error *error);

/*
 * Called when the last byte of a message has arrived, or (`lost` not 0) when its last packet has
 * ended and not all have arrived. hd_net_now is that time. The function may send messages; other
 * calls that change the network return HD_MISUSE.
 */
typedef void hd_net_done(void *context, struct hd_net *net, int lost);

/* Sends a message of 0 to HD_MOST_BYTES bytes, ready at its source now. `done` may be NULL. */
HD_API int hd_net_send(struct hd_net *net, uint32_t source, uint32_t target, uint64_t bytes,
		       uint32_t traffic_class, hd_net_done *done, void *context,
		       struct hd_error *error);

HD_API uint64_t hd_net_now(const struct hd_net *net);
/* Number of messages that were sent and are not done. */
HD_API uint64_t hd_net_pending(const struct hd_net *net);
/*
 * Simulates all events up to and including that time, to which the network's time is set;
 * HD_NEVER: until the last message is done. HD_REFUSED in case of a deadlock. HD_STOPPED if the
 * progress function returned 0: hd_net_now is the time reached, and another call resumes.
 */
HD_API int hd_net_run_until(struct hd_net *net, uint64_t time, struct hd_error *error);
/*
 * As hd_net_run_until, but stops at the instant at which the next message is done, for
 * simulators that must not be late.
 */
HD_API int hd_net_step(struct hd_net *net, uint64_t limit, struct hd_error *error);
/* Messages in flight are never done. NULL is accepted and ignored. */
HD_API void hd_net_close(struct hd_net *net);

#ifdef __cplusplus
}
#endif

#endif
