/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TOPO_READER_H
#define HD_TOPO_READER_H

/*
 * Helpers of the readers: iterating over lines, collecting nodes and cable
 * claims of the file, and resolving the claims at the end. Private to the
 * readers.
 *
 * A line is read from left to right. `at` advances over the parsed text, so
 * that an error can name the column.
 */

#include <stdbool.h>
#include <stdio.h>

#include "base/map.h"
#include "topo/read.h"

/* Many times the ports of the largest subnet; limits memory. */
#define READER_MAX_PORTS 16000000

/* Maximum line length of a stream; lines of real tools have some hundreds of bytes. */
#define READER_MAX_LINE 65535

/* Default of files that do not state the number of VLs. */
#define READER_VLS 8

/* A line of the file: "Port `from` is cabled to port `number` of that node." */
struct cable_claim {
	port_id from;
	node_id node;   /* TOPO_NONE: unknown as yet, see id */
	const char *id; /* borrowed */
	uint32_t id_len;
	uint32_t line;
	uint64_t guid; /* of the other port, if stated */
	uint16_t number;
	bool one_sided; /* the other end need not repeat the claim */
};

struct topo_reader {
	const char *text, *end; /* the whole file; *end is NUL */
	const char *line_start; /* the current line */
	const char *at, *line_end, *next_line;
	uint32_t line;
	enum hd_status status; /* state of the stream; HD_OK at its end */
	FILE *stream;          /* NULL: the whole file is in memory */
	char *buffer;          /* buffered part of a stream */
	struct diag *d;
	struct topo_problems *problems; /* NULL: reject the file at the first problem */
	struct topo t;
	struct text_map ids; /* names of nodes, as cables refer to them */
	struct map guids;    /* GUIDs of nodes */
	struct cable_claim *claims;
	size_t n_claims, claims_cap;
	uint32_t origin_line; /* line that names the origin of the discovery; 0: none */
	char **owned;         /* strings referenced by ids and claims */
	size_t n_owned;
};

void reader_init(struct topo_reader *r, const char *text, size_t len,
		 struct topo_problems *problems, struct diag *d);
/*
 * For files that are too long for memory. The stream is read line by line; a
 * line is invalid after the next call of reader_next_line.
 */
void reader_init_stream(struct topo_reader *r, FILE *stream, struct diag *d);
void reader_fini(struct topo_reader *r);

/* Advances to the next line; false at the end, or if r->status is not HD_OK. */
bool reader_next_line(struct topo_reader *r);

/* Rejects the file at the current line and column. */
HD_PRINTF(2, 3)
enum hd_status reader_refuse(struct topo_reader *r, const char *format, ...);
/* Reports a contradiction: rejects the file or appends it to the problems. */
HD_PRINTF(5, 6)
enum hd_status reader_problem(struct topo_reader *r, enum problem_kind kind, uint32_t line,
			      uint32_t other, const char *format, ...);

/* The following functions advance only on a match. */
bool reader_skip(struct topo_reader *r, const char *literal);
void reader_blanks(struct topo_reader *r);
/* Whether only spaces are left. */
bool reader_at_end(const struct topo_reader *r);
/* Digits only, no sign; false if there are none or they exceed `max`. */
bool reader_decimal(struct topo_reader *r, uint64_t max, uint64_t *out);
bool reader_hex(struct topo_reader *r, uint64_t *out);
/* "0x1f" or "31". */
bool reader_number(struct topo_reader *r, uint64_t max, uint64_t *out);
/* The text before `stop`; advances past `stop`. False: there is no such byte. */
bool reader_until(struct topo_reader *r, char stop, const char **start, size_t *len);
/* Parses "4xHDR", or with `gap` "4x HDR"; question marks mean unknown (0). */
bool reader_link(struct topo_reader *r, const char *gap, uint8_t *widths, uint16_t *speeds);

/* Adds a node at the current line; its ports get the default VLs and MTU. */
HD_MUST_CHECK enum hd_status reader_add_node(struct topo_reader *r, enum node_kind kind,
					     uint64_t n_ports, const char *name, size_t name_len,
					     node_id *out);
/* Sets the node's GUID, which must be unique. */
HD_MUST_CHECK enum hd_status reader_set_guid(struct topo_reader *r, node_id node, uint64_t guid);
struct cable_claim *reader_claim(struct topo_reader *r, port_id from);

/*
 * Resolves the claims, numbers the subnets and passes the fabric to the caller.
 * On error, reader_fini frees everything as usual.
 */
HD_MUST_CHECK enum hd_status reader_finish(struct topo_reader *r, struct topo *out);

/* Builds the fabric of t->recipe and, if it is the same, takes over its family data. */
void topo_follow_recipe(struct topo *t);

/* One function per format. */
enum hd_status topo_read_net(struct topo_reader *r, bool strict);
enum hd_status topo_read_subnet_lst(struct topo_reader *r);
enum hd_status topo_read_ports(struct topo_reader *r);
enum hd_status topo_read_linkinfo(struct topo_reader *r);
enum hd_status topo_read_linkinfo_nodes(struct topo_reader *r);
enum hd_status topo_read_neighbors(struct topo_reader *r);

#endif
