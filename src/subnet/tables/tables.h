/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_TABLES_TABLES_H
#define HD_SUBNET_TABLES_TABLES_H

/*
 * Reads and writes forwarding tables in the formats of InfiniBand tools:
 *
 *	fts         dump_fts: unicast tables by directed route
 *	lfts        dump_lfts: the same with the warning that it is outdated
 *	mfts        dump_fts -M: multicast tables
 *	opensm      OpenSM's opensm-lfts.dump, which OpenSM reads (-R file -U)
 *	fdbs        OpenSM's opensm.fdbs: with hops
 *	mcfdbs      OpenSM's opensm.mcfdbs: multicast
 *	sl2vl       OpenSM's opensm-sl2vl.dump: VLs (vls.h reads them)
 *
 * All formats except JSON can be read. The reader checks the file against the
 * fabric: switches and ports must exist, and where the file names the owner of a
 * LID it must match the subnet.
 */

#include "base/strbuf.h"
#include "subnet/subnet.h"

struct table_writer {
	const char *name;
	const char *summary; /* one line, lower case, no full stop */
	bool multicast;
	bool for_manager; /* for programming by a manager, without VLs or SLs of paths */
	void (*write)(const struct subnet *s, struct strbuf *out);
};

/* The last entry has a NULL name. */
extern const struct table_writer tables_writers[];
const struct table_writer *tables_writer_find(const char *name);

/*
 * Checks whether the tables may be exported in that format. HD_ERR_UNFIT if a
 * manager would program them and they could then deadlock, because they depend
 * on VLs or path SLs that the format lacks. Tables that can deadlock even with
 * their own VLs and SLs are accepted, since exporting does not make them worse.
 */
HD_MUST_CHECK enum hd_status tables_check_export(const struct subnet *s,
						 const struct table_writer *w, struct diag *d);

/* Writes LIDs, algorithm, all tables and SLs of paths as one JSON object. */
void tables_write_json(const struct subnet *s, struct strbuf *out);

/* Kinds of tables in a file. */
struct tables_found {
	uint32_t n_unicast;   /* switches with a unicast table */
	uint32_t n_multicast; /* switches with a multicast table */
};

/*
 * Reads `len` bytes into the tables of `s`, whose LIDs must be assigned;
 * text[len] must be NUL. Unicast tables are replaced if the file has any.
 * Multicast tables are replaced likewise, and each MLID in use becomes a group
 * whose members are the end ports in its sets. An error has the line; the
 * tables are then unspecified.
 */
HD_MUST_CHECK enum hd_status tables_read(struct subnet *s, const char *text, size_t len,
					 struct diag *d, struct tables_found *found);
/* Like tables_read, from a stream, line by line: the file may have any length. */
HD_MUST_CHECK enum hd_status tables_read_stream(struct subnet *s, FILE *in, struct diag *d,
						struct tables_found *found);

#endif
