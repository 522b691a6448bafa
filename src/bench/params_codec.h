/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BENCH_PARAMS_CODEC_H
#define HD_BENCH_PARAMS_CODEC_H

/*
 * A point's parameters as bytes, for ranks in other processes, perhaps on
 * another kind of machine: a version, then every field in eight bytes, in
 * network order. What comes from a socket is believed only within the limits
 * that our own side keeps.
 */

#include "base/diag.h"
#include "bench/params.h"

enum { PARAMS_N_FIELDS = 30, PARAMS_CODE_SIZE = 8 * (1 + PARAMS_N_FIELDS) };

void params_encode(const struct bench_params *p, uint8_t out[PARAMS_CODE_SIZE]);
/* HD_ERR_INPUT: another version, or a field out of its limits. */
HD_MUST_CHECK enum hd_status params_decode(const uint8_t *bytes, size_t size, struct diag *d,
					   struct bench_params *out);

#endif
