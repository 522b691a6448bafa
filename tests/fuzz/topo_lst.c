/* SPDX-License-Identifier: BSD-2-Clause */
/* OpenSM's opensm-subnet.lst. */
#include "topo_property.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return try_topology(data, size);
}
