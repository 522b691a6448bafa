/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TOPO_READER_H
#define HD_TOPO_READER_H

/*
 * What the readers share: walking over lines, collecting nodes and what the
 * file claims of their cables, and joining the claims at the end. Private to
 * the readers.
 *
 * A line is read left to right; `at` moves on over what was understood, so
 * that a refusal can name the column.
 */

#include <stdbool.h>
#include <stdio.h>

#include "base/map.h"
#include "topo/read.h"

/* Many times the ports of the largest subnet: no accident fills the memory. */
#define READER_MAX_PORTS 16000000

/* The longest line of a stream; lines of real tools have some hundreds. */
#define READER_MAX_LINE 65535

/* What every file that says nothing is taken to mean. */
#define READER_VLS 8

/* "Port `from` is cabled to port `number` of that node." */
struct cable_claim {
	port_id from;
	node_id node;   /* TOPO_NONE: not known yet, see id */
	const char *id; /* borrowed */
	uint32_t id_len;
	uint32_t line;
	uint64_t guid; /* of the other port, if said */
	uint16_t number;
	bool one_sided; /* the other end need not say so too */
};

struct topo_reader {
	const char *text, *end; /* the whole file; *end is NUL */
	const char *line_start; /* the line at hand ... */
	const char *at, *line_end, *next_line;
	uint32_t line;
	enum hd_status status; /* of the stream; HD_OK at its end */
	FILE *stream;          /* NULL: all is in memory */
	char *buffer;          /* what is in memory of a stream */
	struct diag *d;
	struct topo_problems *problems; /* NULL: refuse the first */
	struct topo t;
	struct text_map ids; /* names of nodes, as cables use them */
	struct map guids;    /* of nodes */
	struct cable_claim *claims;
	size_t n_claims, claims_cap;
	uint32_t origin_line; /* that names where discovery began; or 0 */
	char **owned;         /* texts that ids and claims borrow */
	size_t n_owned;
};

void reader_init(struct topo_reader *r, const char *text, size_t len,
		 struct topo_problems *problems, struct diag *d);
/*
 * For files that are too long to hold: the stream is read on as lines are
 * asked for, and nothing of a line is left when the next one comes.
 */
void reader_init_stream(struct topo_reader *r, FILE *stream, struct diag *d);
void reader_fini(struct topo_reader *r);

/* Goes to the next line; false at the end, or if r->status is not HD_OK. */
bool reader_next_line(struct topo_reader *r);

/* Refuses the file, at the line and column at hand. */
HD_PRINTF(2, 3)
enum hd_status reader_refuse(struct topo_reader *r, const char *format, ...);
/* A contradiction: refuses the file or takes note of it. */
HD_PRINTF(5, 6)
enum hd_status reader_problem(struct topo_reader *r, enum problem_kind kind, uint32_t line,
			      uint32_t other, const char *format, ...);

/* Each moves on only if what it looks for is there. */
bool reader_skip(struct topo_reader *r, const char *literal);
void reader_blanks(struct topo_reader *r);
/* Nothing but blanks is left. */
bool reader_at_end(const struct topo_reader *r);
/* Digits only, no sign; false if there are none or they exceed `max`. */
bool reader_decimal(struct topo_reader *r, uint64_t max, uint64_t *out);
bool reader_hex(struct topo_reader *r, uint64_t *out);
/* "0x1f" or "31". */
bool reader_number(struct topo_reader *r, uint64_t max, uint64_t *out);
/* What comes before `stop`, and moves on behind it; false: no such byte. */
bool reader_until(struct topo_reader *r, char stop, const char **start, size_t *len);
/* "4xHDR", or with `gap` "4x HDR"; question marks are unknown (0). */
bool reader_link(struct topo_reader *r, const char *gap, uint8_t *widths, uint16_t *speeds);

/* Adds a node at the line at hand; its ports get the usual VLs and MTU. */
HD_MUST_CHECK enum hd_status reader_add_node(struct topo_reader *r, enum node_kind kind,
					     uint64_t n_ports, const char *name, size_t name_len,
					     node_id *out);
/* Its GUIDs, and that they are its alone. */
HD_MUST_CHECK enum hd_status reader_set_guid(struct topo_reader *r, node_id node, uint64_t guid);
struct cable_claim *reader_claim(struct topo_reader *r, port_id from);

/*
 * Joins the claims, numbers the subnets and hands the fabric over. On refusal
 * everything is freed by reader_fini as usual.
 */
HD_MUST_CHECK enum hd_status reader_finish(struct topo_reader *r, struct topo *out);

/* Makes the fabric of t->recipe and, if it is the same, learns from it. */
void topo_follow_recipe(struct topo *t);

/* One per format. */
enum hd_status topo_read_net(struct topo_reader *r, bool strict);
enum hd_status topo_read_subnet_lst(struct topo_reader *r);
enum hd_status topo_read_ports(struct topo_reader *r);
enum hd_status topo_read_linkinfo(struct topo_reader *r);
enum hd_status topo_read_linkinfo_nodes(struct topo_reader *r);
enum hd_status topo_read_neighbors(struct topo_reader *r);

#endif
