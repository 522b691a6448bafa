/* SPDX-License-Identifier: BSD-2-Clause */
/* ibnetdiscover -p and iblinkinfo -l. */
#include "topo_property.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return try_topology(data, size);
}
