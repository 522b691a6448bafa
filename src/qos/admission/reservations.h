/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_ADMISSION_RESERVATIONS_H
#define HD_QOS_ADMISSION_RESERVATIONS_H

/*
 * Reservations as text, one a line, to be read, compared and edited:
 *
 *	heddle-reservations 2
 *	# source destination sl rate[b/s]
 *	0x0000000000100001"h0" 0x0000000000100003"h1" 2 64812500/1
 *	0x0000000000100001"h0" group:shared=0x..."h2",0x..."h3" 2 64812500/1
 *
 * An end is its port GUID and the name of its node; LIDs are not in it, since
 * the next subnet manager may give others. The GUID decides: a host that was
 * given another name is still the same. If the GUID belongs to another node
 * while one of that name is there, the line is ambiguous and is refused; so is
 * one whose end or group the fabric does not have.
 */

#include "qos/admission/broker.h"

struct reservations {
	struct broker_request *items;
	unsigned *lines;
	size_t n, cap, lines_cap;
};

/* HD_ERR_UNFIT if an end has no GUID to be known by. */
HD_MUST_CHECK enum hd_status reservations_write(const struct broker *b, struct diag *d,
						struct strbuf *out);
HD_MUST_CHECK enum hd_status reservations_read(const struct subnet *s, const char *text,
					       struct diag *d, struct reservations *out);
/* Admits them in order; HD_ERR_FULL and the line of the first refused one. */
HD_MUST_CHECK enum hd_status reservations_admit(struct broker *b, const struct reservations *r,
						struct diag *d);
void reservations_fini(struct reservations *r);

#endif
