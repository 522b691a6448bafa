/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TOPO_ROWS_H
#define HD_TOPO_ROWS_H

/*
 * For reports with one row per port that do not state which ports form a node.
 * All ports of a switch have the switch's GUID. The ports of an adapter have
 * consecutive GUIDs, the same name and consecutive rows. The GUID of an adapter
 * is assumed to be the one before that of its port 1, a common numbering of
 * vendors. If another node has that GUID, the adapter has the GUID of its port.
 */

#include "topo/reader.h"

struct topo_port_row {
	bool is_switch, is_router, is_cabled;
	uint64_t lid, number, guid;
	uint8_t widths;
	uint16_t speeds;
	const char *name; /* borrowed */
	size_t name_len;
	uint64_t peer_guid, peer_number;
	const char *peer_text; /* the peer's GUID as printed */
	size_t peer_len;
	uint32_t line;
};

struct rows {
	struct topo_port_row *items;
	size_t n, cap;
};

void rows_add(struct rows *rows, struct topo_port_row row);
void rows_fini(struct rows *rows);
/* Classifies rows: a GUID with several ports belongs to a switch. */
void rows_find_switches(struct rows *rows);
/* Sorts by GUID, so that the rows of a switch are consecutive. */
void rows_sort(struct rows *rows);
/* Builds nodes and cable claims from the rows; r->d has the error. */
enum hd_status rows_build(const struct rows *rows, struct topo_reader *r);

#endif
