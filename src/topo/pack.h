/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TOPO_PACK_H
#define HD_TOPO_PACK_H

/*
 * Nodes, ports and cables as bytes, with the same ids when they are read
 * again; not what only the file or the generator that they came from needs.
 */

#include "base/pack.h"
#include "topo/topo.h"

/* Reading makes `t`, which is to be ended also if the bytes were refused. */
void topo_pack(struct pack *p, struct topo *t);

#endif
