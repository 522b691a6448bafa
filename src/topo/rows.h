/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TOPO_ROWS_H
#define HD_TOPO_ROWS_H

/*
 * Reports that have a row for each port, and do not say which ports make a
 * node. The ports of a switch all have the switch's GUID; those of an adapter
 * have consecutive GUIDs, the same name and consecutive rows. An adapter's own
 * GUID is taken to be the one before its port 1's, as vendors used to number
 * them, unless another node has it: then it is its port's.
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
/* Rows whose GUID has several ports are a switch's. */
void rows_find_switches(struct rows *rows);
/* By GUID, so that the rows of a switch stand together. */
void rows_sort(struct rows *rows);
/* Makes nodes of them, and claims of their cables; a refusal is in r->d. */
enum hd_status rows_build(const struct rows *rows, struct topo_reader *r);

#endif
