/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_BENCH_SESSION_H
#define HD_CLI_BENCH_SESSION_H

/*
 * Session of heddle bench: runs the tests on the back-end that the options select, shows progress,
 * and writes results and an optional capture. After an interrupt it shows the points measured so
 * far.
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
	struct bench_suite suite; /* options are stored directly in its members */
	struct nic_backend backend;
	struct progress progress;
	size_t done, total;
};

extern const struct option session_options[]; /* of struct session */

/* Runs the tests named on the command line; returns the exit status. */
int session_run(struct session *s, const struct command *self, int n, char **words);
/* Fits the profile to the measurements in the files; returns the exit status. */
int session_fit(struct session *s, const struct command *self, int n, char **files);
void session_fini(struct session *s);
/* Callback of bench_watch: the next point begins. */
bool session_show(void *session, const struct bench_row *row);

#endif
