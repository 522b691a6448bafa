/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_TABLES_TABLES_H
#define HD_SUBNET_TABLES_TABLES_H

/*
 * Forwarding tables as files, in the shapes that InfiniBand tools give them:
 *
 *	fts         dump_fts: unicast tables by directed route
 *	lfts        dump_lfts: the same with the warning that it is outdated
 *	mfts        dump_fts -M: multicast tables
 *	opensm      OpenSM's opensm-lfts.dump, which it takes back (-R file -U)
 *	fdbs        OpenSM's opensm.fdbs: with hops
 *	mcfdbs      OpenSM's opensm.mcfdbs: multicast
 *	sl2vl       OpenSM's opensm-sl2vl.dump: VLs (vls.h reads them)
 *
 * All but JSON are read back as well. Reading checks what a file says against
 * the fabric: switches and ports must be there, and where the file names the
 * owner of a LID it must be the one that the subnet knows.
 */

#include "base/strbuf.h"
#include "subnet/subnet.h"

struct table_writer {
	const char *name;
	const char *summary; /* one line, lower case, no stop */
	bool multicast;
	bool for_manager; /* to be programmed, without VLs or SLs of paths */
	void (*write)(const struct subnet *s, struct strbuf *out);
};

/* Ends with a NULL name. */
extern const struct table_writer tables_writers[];
const struct table_writer *tables_writer_find(const char *name);

/*
 * May the tables be handed on in that format? HD_ERR_UNFIT if a manager would
 * program them and they can then lock up, since they count on VLs or on SLs
 * of paths that it has no way to know. Tables that can lock up together with
 * their own VLs and SLs pass: they were so before.
 */
HD_MUST_CHECK enum hd_status tables_check_export(const struct subnet *s,
						 const struct table_writer *w, struct diag *d);

/* LIDs, engine, all tables and SLs of paths as one JSON object. */
void tables_write_json(const struct subnet *s, struct strbuf *out);

/* Which tables a file had. */
struct tables_found {
	uint32_t n_unicast;   /* switches with a unicast table */
	uint32_t n_multicast; /* switches with a multicast table */
};

/*
 * Reads `len` bytes, which a NUL follows, into the tables of `s`, whose LIDs
 * must be assigned. Unicast tables are replaced if the file has any; multicast
 * tables too, and each MLID in use becomes a group whose members are the end
 * ports in its sets. Refuses with the line at fault; the tables are then
 * unspecified.
 */
HD_MUST_CHECK enum hd_status tables_read(struct subnet *s, const char *text, size_t len,
					 struct diag *d, struct tables_found *found);
/* The same from a stream, line by line: the file may be of any length. */
HD_MUST_CHECK enum hd_status tables_read_stream(struct subnet *s, FILE *in, struct diag *d,
						struct tables_found *found);

#endif
