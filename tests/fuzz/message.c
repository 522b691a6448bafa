/* SPDX-License-Identifier: BSD-2-Clause */
/* What ranks of a benchmark tell each other: read back the same, or refused. */
#include <stdlib.h>
#include <string.h>

#include "bench/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(enum hd_status status, const struct diag *why, const uint8_t *data,
		  const uint8_t *again, size_t size)
{
	if (status != HD_OK ? !why->message[0] : memcmp(data, again, size) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct diag d[4] = { { .status = HD_OK } };
	uint8_t again[MESSAGE_MOST];
	struct nic_address address;
	struct point_head head;
	uint64_t number;
	double real;
	enum hd_status status = bench_read_address(data, size, &d[0], &address);

	if (status == HD_OK)
		bench_write_address(&address, again);
	check(status, &d[0], data, again, size);
	status = bench_read_number(data, size, &d[1], &number);
	if (status == HD_OK)
		bench_write_number(number, again);
	check(status, &d[1], data, again, size);
	status = bench_read_real(data, size, &d[2], &real);
	if (status == HD_OK)
		bench_write_real(real, again);
	check(status, &d[2], data, again, size);
	status = bench_read_head(data, size, &d[3], &head);
	if (status == HD_OK)
		bench_write_head(&head, again);
	check(status, &d[3], data, again, size);
	return 0;
}
