/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_API_OPENED_H
#define HD_API_OPENED_H

/*
 * A scenario opened by a program, with its settings, as a simulation. Shared by runs and
 * networks of heddle.h.
 */

#include "api/heddle.h"
#include "run/run.h"

/* Parameters of opening a scenario. */
struct api_opening {
	const char *file;
	const char *text; /* scenario text; NULL: read the file */
	size_t len;
	const struct hd_run_options *options; /* or NULL */
	const struct sim_endpoint *outside;   /* endpoint of a network, or NULL */
	struct api_opened *out;
};

struct api_opened {
	struct hd_run_options options; /* copy with all fields of this library version */
	struct overrides overrides;
	char *file, *pcap, *trace;
	struct run *simulation;
	bool is_broken;  /* out of memory occurred inside */
	bool is_looking; /* the progress function is being called */
	bool is_closed;  /* closed by the progress function: freed when the run returns */
};

/* Returns an enum hd_code; zeroes the fields that are not set. */
int api_opened_init(const struct api_opening *what, struct hd_error *error);
void api_opened_fini(struct api_opened *o);

#endif
