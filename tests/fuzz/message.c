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
	enum hd_status status = address_read(data, size, &d[0], &address);

	if (status == HD_OK)
		address_write(&address, again);
	check(status, &d[0], data, again, size);
	status = number_read(data, size, &d[1], &number);
	if (status == HD_OK)
		number_write(number, again);
	check(status, &d[1], data, again, size);
	status = real_read(data, size, &d[2], &real);
	if (status == HD_OK)
		real_write(real, again);
	check(status, &d[2], data, again, size);
	status = head_read(data, size, &d[3], &head);
	if (status == HD_OK)
		head_write(&head, again);
	check(status, &d[3], data, again, size);
	return 0;
}
