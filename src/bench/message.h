/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BENCH_MESSAGE_H
#define HD_BENCH_MESSAGE_H

/*
 * Messages between ranks over sockets, outside the measured device. They are in
 * network byte order and start with their kind and version. Ranges of received
 * values are checked; a violation is HD_ERR_INPUT with the reason.
 */

#include "base/diag.h"
#include "bench/nic.h"

enum {
	MESSAGE_PREFIX = 4, /* 'H', 'b', kind, version */
	ADDRESS_SIZE = MESSAGE_PREFIX + 2 + 16 + 3 + 3 + 8 + 4,
	NUMBER_SIZE = MESSAGE_PREFIX + 8,
	HEAD_SIZE = MESSAGE_PREFIX + 1 + 1 + 1 + 4,
	MESSAGE_MOST = ADDRESS_SIZE, /* bytes */
};

void bench_write_address(const struct nic_address *a, uint8_t out[ADDRESS_SIZE]);
HD_MUST_CHECK enum hd_status bench_read_address(const uint8_t *bytes, size_t size, struct diag *d,
						struct nic_address *out);

void bench_write_number(uint64_t number, uint8_t out[NUMBER_SIZE]);
HD_MUST_CHECK enum hd_status bench_read_number(const uint8_t *bytes, size_t size, struct diag *d,
					       uint64_t *out);
/* A share or rate: finite and not negative. */
void bench_write_real(double real, uint8_t out[NUMBER_SIZE]);
HD_MUST_CHECK enum hd_status bench_read_real(const uint8_t *bytes, size_t size, struct diag *d,
					     double *out);

/* Message of rank 0 to each other process before a point. */
enum head_what {
	HEAD_POINT,      /* a letter follows */
	HEAD_NOT_WANTED, /* this process does not take part in the point */
	HEAD_END,        /* no more points */
};
struct point_head {
	enum head_what what;
	unsigned rank, n_ranks; /* of this process, 1 .. n_ranks - 1 */
	uint32_t len;           /* of the letter */
};
void bench_write_head(const struct point_head *h, uint8_t out[HEAD_SIZE]);
HD_MUST_CHECK enum hd_status bench_read_head(const uint8_t *bytes, size_t size, struct diag *d,
					     struct point_head *out);

#endif
