/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_ADMISSION_RESERVATIONS_H
#define HD_QOS_ADMISSION_RESERVATIONS_H

/*
 * Reservations as text, one per line, to be loaded, compared and edited:
 *
 *	heddle-reservations 2
 *	# source destination sl rate[b/s]
 *	0x0000000000100001"h0" 0x0000000000100003"h1" 2 64812500/1
 *	0x0000000000100001"h0" group:shared=0x..."h2",0x..."h3" 2 64812500/1
 *
 * An end is its port GUID and node name. LIDs are not included, since another subnet manager may
 * assign others. The GUID identifies the port: a renamed host still matches. A line is refused as
 * ambiguous if its GUID belongs to another node while a node of its name exists, and
 * refused if the fabric does not have its end or group.
 */

#include "qos/admission/broker.h"

struct reservations {
	struct broker_request *items;
	unsigned *lines;
	size_t n, cap, lines_cap;
};

/* HD_ERR_UNFIT if an end has no GUID. */
HD_MUST_CHECK enum hd_status reservations_write(const struct broker *b, struct diag *d,
						struct strbuf *out);
HD_MUST_CHECK enum hd_status reservations_read(const struct subnet *s, const char *text,
					       struct diag *d, struct reservations *out);
/* Admits the lines in order; HD_ERR_FULL and the line of the first refusal. */
HD_MUST_CHECK enum hd_status reservations_admit(struct broker *b, const struct reservations *r,
						struct diag *d);
void reservations_fini(struct reservations *r);

#endif
