/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TOPO_PACK_H
#define HD_TOPO_PACK_H

/*
 * Serialises nodes, ports and cables. Ids are preserved. Data that only the
 * source file or the generator needs is not included.
 */

#include "base/pack.h"
#include "topo/topo.h"

/* Reading initialises `t`; call topo_fini even if the bytes were rejected. */
void topo_pack(struct pack *p, struct topo *t);

#endif
