/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SERVE_CHANGE_H
#define HD_SERVE_CHANGE_H

/*
 * Changes that a user of the live view makes to a run, as fields of its
 * scenario: a run of the changed scenario gives the results of the live run.
 */

#include "fabric/fabric.h"

enum change_kind {
	CHANGE_CUT,     /* a cable fails */
	CHANGE_MEND,    /* the cable is restored */
	CHANGE_LOAD,    /* the load or rate of a traffic row */
	CHANGE_WEIGHTS, /* the arbitration tables of all ports */
	CHANGE_REROUTE, /* a subnet manager re-routes after failures */
};

#define CHANGE_TEXT 400 /* longest value, including its NUL */

struct change {
	enum change_kind kind;
	uint32_t link; /* number in the table "links" */
	uint32_t row;
	char value[CHANGE_TEXT];                  /* "60%", "10Gb/s" */
	char high[CHANGE_TEXT], low[CHANGE_TEXT]; /* "0:64,1:32"; "": unchanged */
};

/*
 * Adds the fields that make the change at time `at` to `o`, and its description to `words`.
 * HD_ERR_NOT_FOUND if the link or row does not exist. The scenario validates the fields.
 */
HD_MUST_CHECK enum hd_status change_put(const struct change *c, const struct fabric *fabric,
					hd_time at, struct overrides *o, struct strbuf *words,
					struct diag *d);

#endif
