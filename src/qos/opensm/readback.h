/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_OPENSM_READBACK_H
#define HD_QOS_OPENSM_READBACK_H

/*
 * Parses QoS tables in the output of tools that read a fabric: smpquery (vlarb, sl2vl, portinfo),
 * saquery (VLAR, SL2VL, PIR) and OpenSM's opensm-sl2vl.dump, any number of them in one text. Other
 * lines are skipped. Each value is passed to the callback when it is found; nothing is stored.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum readback_kind {
	READBACK_VLS,   /* data VLs in operation */
	READBACK_LIMIT, /* VLHighLimit */
	READBACK_HIGH,  /* entry `index` of an arbitration table: value is */
	READBACK_LOW,   /* the VL, and weight */
	READBACK_MAP,   /* the VL of SL `index` for packets from input `in` */
};

struct readback {
	enum readback_kind kind;
	/*
	 * Whose: a switch's GUID or that of an adapter's port, or if that is 0
	 * a LID; and a port of it.
	 */
	uint64_t guid;
	uint32_t lid;
	unsigned port;
	unsigned in, index;
	unsigned value, weight;
	unsigned line;
};

typedef void readback_fn(void *context, const struct readback *r);

/* Returns the number of values passed to `tell`. */
size_t opensm_readback_parse(const char *text, readback_fn *tell, void *context);

#endif
