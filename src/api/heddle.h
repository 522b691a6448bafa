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
 * Raised when programs must be recompiled. Additions do not raise it:
 * structs that callers make begin with their size.
 */
#define HD_ABI 1
HD_API unsigned hd_abi(void);
HD_API const char *hd_version(void); /* "0.2.0" */

/* The numbers are the exit statuses of the program heddle. */
enum hd_code {
	HD_DONE = 0,
	HD_MISUSE = 2,  /* an invalid call */
	HD_REFUSED = 3, /* a file, or what it says, is refused */
	HD_LACKING = 4, /* of memory, of a file's space, ... */
	HD_STOPPED = 5, /* by the progress function */
};

/* Why a call failed. */
struct hd_error {
	size_t size;           /* HD_ERROR_INIT sets it */
	int code;              /* enum hd_code */
	unsigned line, column; /* in the file; 0: of no line */
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
 * Of the process. Threads that a run may use: 1 unless this says otherwise, 0
 * for as many as are worth it; results do not depend on it. Memory: bytes that
 * the process may take from now on (0: any), before a run ends with
 * HD_LACKING. Not while there are runs.
 */
HD_API void hd_set_threads(unsigned n);
HD_API void hd_set_memory(uint64_t bytes);

/* ---- runs -------------------------------------------------------------- */

/* A field of the scenario: { "traffic.0.load", "50%" }, as --set has them. */
struct hd_setting {
	const char *path, *value;
};

struct hd_run_options {
	size_t size; /* HD_RUN_OPTIONS_INIT sets it */
	/* In the place of what the file says; later ones hold. */
	const struct hd_setting *settings;
	size_t n_settings;
	int all;           /* tables have every port and flow */
	const char *pcap;  /* a capture of the packets, or NULL */
	const char *trace; /* a line for each of them, or NULL */
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

/* From a file. Options may be NULL. */
HD_API int hd_run_open(const char *file, const struct hd_run_options *options, struct hd_run **out,
		       struct hd_error *error);
/* From text; `name` is what errors call it, and its folder is where files that
 * it names are. */
HD_API int hd_run_load(const char *text, size_t len, const char *name,
		       const struct hd_run_options *options, struct hd_run **out,
		       struct hd_error *error);
/* To its end, or to where it is stopped; once. Its tables are there from then
 * on. */
HD_API int hd_run_go(struct hd_run *run, struct hd_error *error);
/* Whether every goal of the scenario was met and there is no deadlock. */
HD_API int hd_run_met(const struct hd_run *run);
/* One number that all deliveries and counters enter. */
HD_API uint64_t hd_run_checksum(const struct hd_run *run);
/* Ends it wherever it is; NULL is accepted and ignored. Inside the progress
 * function: hd_run_go returns HD_STOPPED, and the run is freed by then. */
HD_API void hd_run_close(struct hd_run *run);

/* ---- tables ------------------------------------------------------------ */

/*
 * What 'heddle sim --json' shows, by the same names: docs/library.md. Tables
 * live as long as their run. Numbers that are out of range, or of another
 * kind, have no value.
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
/* NULL if no table has this name. */
HD_API const struct hd_table *hd_run_table(const struct hd_run *run, const char *name);

HD_API const char *hd_table_name(const struct hd_table *t);
HD_API const char *hd_table_title(const struct hd_table *t);
HD_API size_t hd_table_rows(const struct hd_table *t);
HD_API size_t hd_table_columns(const struct hd_table *t);
HD_API const char *hd_column_name(const struct hd_table *t, size_t column);
HD_API const char *hd_column_unit(const struct hd_table *t, size_t column);
HD_API enum hd_kind hd_column_kind(const struct hd_table *t, size_t column);
/* The number of the column of that name; hd_table_columns if no column has it. */
HD_API size_t hd_column_find(const struct hd_table *t, const char *name);

/* The column's kind, or HD_NONE where there is no value. */
HD_API enum hd_kind hd_cell_kind(const struct hd_table *t, size_t row, size_t column);
/* NULL if it is no text. */
HD_API const char *hd_cell_text(const struct hd_table *t, size_t row, size_t column);
/* A number of any kind, or a bool as 0 or 1; NaN for other kinds. */
HD_API double hd_cell_real(const struct hd_table *t, size_t row, size_t column);
/* Whole numbers, exactly; 0 for other kinds. */
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
#define HD_MOST_BYTES ((uint64_t)1 << 40) /* of a message */
#define HD_NEVER      UINT64_MAX          /* later than any time */

/* As with hd_run_open; options.all means nothing here. */
HD_API int hd_net_open(const char *file, const struct hd_run_options *options, struct hd_net **out,
		       struct hd_error *error);
HD_API int hd_net_load(const char *text, size_t len, const char *name,
		       const struct hd_run_options *options, struct hd_net **out,
		       struct hd_error *error);

/* Hosts, as 'heddle topo show' has them, are numbered from 0. */
HD_API uint32_t hd_net_hosts(const struct hd_net *net);
/* "h3", or "h3:2" of a host with several ports; NULL: no such host. */
HD_API const char *hd_net_host_name(const struct hd_net *net, uint32_t host);
HD_API int hd_net_host(const struct hd_net *net, const char *name, uint32_t *out,
		       struct hd_error *error);
/* The number of a class of the scenario's qos. */
HD_API int hd_net_class(const struct hd_net *net, const char *name, uint32_t *out,
			struct hd_error *error);

/*
 * The last byte of a message is there, or (`lost` not 0) its last packet has
 * ended and not all of them arrived. Inside it hd_net_now is that time, and it
 * may send; other calls that change the network are HD_MISUSE there.
 */
typedef void hd_net_done(void *context, struct hd_net *net, int lost);

/*
 * A message of 0 to HD_MOST_BYTES bytes is ready at its source now; `done` may
 * be NULL.
 */
HD_API int hd_net_send(struct hd_net *net, uint32_t source, uint32_t target, uint64_t bytes,
		       uint32_t traffic_class, hd_net_done *done, void *context,
		       struct hd_error *error);

HD_API uint64_t hd_net_now(const struct hd_net *net);
/* Messages that were sent and are not done. */
HD_API uint64_t hd_net_pending(const struct hd_net *net);
/*
 * Everything up to and including that time, which is now afterwards; HD_NEVER:
 * until the last message is done. HD_REFUSED if packets wait for each other in
 * a circle. HD_STOPPED if the progress function ended it: hd_net_now is how far
 * it came, and another call resumes.
 */
HD_API int hd_net_run_until(struct hd_net *net, uint64_t time, struct hd_error *error);
/* The same, but not beyond the instant at which the next message is done: for
 * simulators that must not be late. */
HD_API int hd_net_step(struct hd_net *net, uint64_t limit, struct hd_error *error);
/* Messages that are under way are never done; NULL is well. */
HD_API void hd_net_close(struct hd_net *net);

#ifdef __cplusplus
}
#endif

#endif
