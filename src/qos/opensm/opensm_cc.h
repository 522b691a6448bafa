/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_OPENSM_OPENSM_CC_H
#define HD_QOS_OPENSM_OPENSM_CC_H

/*
 * InfiniBand's congestion control as OpenSM configures it: the keys
 * congestion_control and cc_* of opensm.conf, written and read.
 *
 * OpenSM reads 1023 bytes of a line and forgets the rest, which cuts a table of
 * 128 long entries; entries are therefore made short (opensm_cct_entry), and reading
 * refuses a line that OpenSM would cut.
 */

#include "base/diag.h"
#include "base/strbuf.h"
#include "cc/marking.h"
#include "cc/response.h"

/* OpenSM's values without a file: all zero, so that nothing is marked. */
struct opensm_cc {
	bool enabled;
	bool victims; /* all ports in the victim mask, or none */
	uint8_t threshold;
	uint8_t packet_size; /* in credits of 64 bytes */
	uint16_t marking_rate;
	bool per_sl;
	uint16_t sls; /* bit n: SL n is controlled */
	/* Of those SLs; the same for all. */
	uint16_t ccti_timer;
	uint8_t ccti_increase, trigger, ccti_min;
	uint16_t n_cct; /* entries */
	uint16_t cct[CCT_MAX_ENTRIES];
};

/*
 * The entry that delays nearest to `packets` packet times (0 .. 999), in at
 * most five characters: shift:multiplier.
 */
uint16_t opensm_cct_entry(double packets);

/* Lines for opensm.conf, each with a comment; none is cut by OpenSM. */
void opensm_cc_write(const struct opensm_cc *conf, struct strbuf *out);
HD_MUST_CHECK enum hd_status opensm_cc_save(const struct opensm_cc *conf, const char *path,
					    struct diag *d);
/*
 * From an opensm.conf; keys of other matters are passed over. Refuses with
 * the line what is no value of its key, SLs that differ, and lines that OpenSM
 * would cut.
 */
HD_MUST_CHECK enum hd_status opensm_cc_read(const char *text, struct diag *d,
					    struct opensm_cc *out);
HD_MUST_CHECK enum hd_status opensm_cc_load(const char *path, struct diag *d,
					    struct opensm_cc *out);

/* Marking of switches with this configuration. */
struct mark_config opensm_cc_marking(const struct opensm_cc *conf);

#endif
