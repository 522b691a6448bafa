/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BENCH_PARAMS_CODEC_H
#define HD_BENCH_PARAMS_CODEC_H

/*
 * Serialises a point's parameters for ranks in other processes, possibly on
 * another architecture: a version, then every field in eight bytes, in network
 * byte order. Values from a socket are checked against the limits of local
 * points.
 */

#include "base/diag.h"
#include "bench/params.h"

enum { PARAMS_N_FIELDS = 30, PARAMS_CODE_SIZE = 8 * (1 + PARAMS_N_FIELDS) };

void params_encode(const struct bench_params *p, uint8_t out[PARAMS_CODE_SIZE]);
/* HD_ERR_INPUT: another version, or a field out of range. */
HD_MUST_CHECK enum hd_status params_decode(const uint8_t *bytes, size_t size, struct diag *d,
					   struct bench_params *out);

#endif
