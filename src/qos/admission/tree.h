/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_ADMISSION_TREE_H
#define HD_QOS_ADMISSION_TREE_H

/*
 * The links used by a multicast flow, each once, for admission and for the delay bounds of
 * members. Derived from the multicast forwarding tables, so it is the tree that packets use.
 */

#include "qos/admission/bound.h"
#include "qos/opensm/path.h"

#define TREE_ROOT UINT32_MAX

struct tree_link {
	port_id port; /* an output port */
	uint8_t vl;
	uint8_t sl;      /* SL of the request, before any mapping by routing */
	uint32_t before; /* index of the preceding link; TREE_ROOT at the source */
};

struct tree_path {
	struct tree_link *links; /* each link is after its predecessor */
	uint32_t n;
	size_t cap;
};

/*
 * HD_ERR_NOT_FOUND if the tables have no path or a loop, HD_ERR_UNFIT if an SL2VL table on the
 * path drops the SL; the last link is where it failed. Packets from a switch's own port 0 start
 * at the switch's outputs. The caller frees the tree in any case.
 */
HD_MUST_CHECK enum hd_status tree_walk(const struct subnet *s, port_id source, lid_t mlid,
				       uint8_t sl, struct tree_path *out);
void tree_path_fini(struct tree_path *t);

#endif
