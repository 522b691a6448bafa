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
	struct overrides overrides; /* of the fabric, which borrows them */
	struct fabric *fabric;
	bool has_flows; /* the user has given a scenario */
};

/*
 * `path` NULL: the fabric of the profile. The strings and overrides (NULL: none) must outlive
 * the testbed.
 */
HD_MUST_CHECK enum hd_status testbed_open(const char *profile, const char *path,
					  const struct overrides *overrides, struct diag *d,
					  struct testbed *out);
void testbed_close(struct testbed *bed);
/* The largest MTU that all ports and buffers accept; 0: none. */
uint32_t testbed_mtu(const struct testbed *bed);

#endif
