/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_HCA_TESTBED_H
#define HD_HCA_TESTBED_H

/*
 * What labs are made of, read once: a profile and the fabric that its adapters
 * are on, the profile's own or that of a scenario file. Labs made from it start
 * again each time.
 *
 *	struct testbed bed;
 *	if (testbed_open("mt23108", NULL, &d, &bed) == HD_OK) {
 *		struct lab *lab = lab_new(bed.fabric, &bed.profile);
 */

#include "hca/lab.h"

struct testbed {
	struct hca_profile profile;
	struct overrides overrides; /* of the fabric, which refers to them */
	struct fabric *fabric;
	bool has_flows; /* the scenario is the user's */
};

/*
 * `path` NULL: the profile's fabric. The words and overrides (NULL: none)
 * outlive it.
 */
HD_MUST_CHECK enum hd_status testbed_open(const char *profile, const char *path,
					  const struct overrides *overrides, struct diag *d,
					  struct testbed *out);
void testbed_close(struct testbed *bed);
/* The largest MTU whose packets all ports and buffers can take; 0: none. */
uint32_t testbed_mtu(const struct testbed *bed);

#endif
