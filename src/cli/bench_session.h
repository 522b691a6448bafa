/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_BENCH_SESSION_H
#define HD_CLI_BENCH_SESSION_H

/*
 * heddle bench from the command line to its results: a suite of tests on the
 * back-end that the options name, with progress and, if asked for, a capture.
 * An interrupt ends it with what was measured until then.
 */

#include "bench/device.h"
#include "bench/suite.h"
#include "bench/virtual.h"
#include "cli/progress.h"
#include "cli/scenario.h"

struct session {
	struct common_options common;
	struct device_options device;
	struct virtual_options simulated;
	const char *sizes, *values, *pcap, *into;
	struct option_list expect;
	struct fabric_choice scenario;
	struct bench_suite suite; /* its options are read in place */
	struct nic_backend backend;
	struct progress progress;
	size_t done, total;
};

extern const struct option session_options[]; /* of struct session */

/* The tests that the words name; what to return. */
int session_run(struct session *s, const struct command *self, int n, char **words);
/* Fits the profile to what the files have. */
int session_fit(struct session *s, const struct command *self, int n, char **files);
void session_fini(struct session *s);
/* For a bench_watch: the next point begins. */
bool session_show(void *session, const struct bench_row *row);

#endif
