/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/ports.h"

#include <stdlib.h>

#include "base/alloc.h"

enum hd_status ports_choose(const struct fabric *b,
			    const struct option_list *list, struct diag *d,
			    bool **out)
{
	*out = NULL;
	if (list->n == 0)
		return HD_OK;
	bool *ports = hd_alloc(b->setup.n_ports, sizeof(*ports));

	for (size_t i = 0; i < list->n; i++) {
		struct diag inner = { .status = HD_OK };
		struct selection chosen;

		if (select_ports(b->selector, list->items[i], &inner,
				 &chosen) != HD_OK) {
			free(ports);
			d->file = NULL;
			return diag_fail(d, inner.status, "option --port: %s",
					 inner.message);
		}
		for (uint32_t k = 0; k < chosen.n; k++)
			ports[b->port_of_origin[chosen.ports[k]]] = true;
		selection_fini(&chosen);
	}
	*out = ports;
	return HD_OK;
}
