/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_API_OPENED_H
#define HD_API_OPENED_H

/*
 * A scenario that a program has opened, with its settings, as a simulation:
 * what runs and networks of heddle.h have in common.
 */

#include "api/heddle.h"
#include "run/run.h"

/* What a caller asks for. */
struct api_opening {
	const char *file;
	const char *text; /* or NULL: what is in the file */
	size_t len;
	const struct hd_run_options *options; /* or NULL */
	const struct sim_endpoint *outside;   /* of a network, or NULL */
	struct api_opened *out;
};

struct api_opened {
	struct hd_run_options options; /* all that the library knows */
	struct overrides overrides;
	char *file, *pcap, *trace;
	struct run *simulation;
	bool is_broken;  /* memory ran short inside */
	bool is_looking; /* the progress function is called now */
	bool is_closed;  /* by that function: its run ends, and is freed then */
};

/* An enum hd_code; zeroes what is not there. */
int api_opened_init(const struct api_opening *what, struct hd_error *error);
void api_opened_fini(struct api_opened *o);

#endif
