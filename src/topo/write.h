/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TOPO_WRITE_H
#define HD_TOPO_WRITE_H

/*
 * Fabrics as files: one writer per format, all in one table.
 *
 * What is written depends on the fabric only, not on the order of its nodes
 * in memory: nodes that were read come in the order of their file. Others come
 * in the order in which ibnetdiscover would find and print them (in nets for
 * ibsim, as they were made). So a file of ibnetdiscover that was read is
 * written as it was.
 *
 * What a format cannot say is lost: ibnetdiscover's text has no MTU (and
 * without -f no VLs), nothing tells a target adapter from a host, and ibsim
 * takes a width or speed to include the lesser ones.
 */

#include "base/strbuf.h"
#include "topo/topo.h"

struct topo_writer {
	const char *name;      /* as in --to */
	const char *extension; /* of a file that holds it, without the dot */
	const char *summary;   /* one line, lower case, no stop */
	void (*write)(const struct topo *t, struct strbuf *out);
};

/* Ends with a NULL name. */
extern const struct topo_writer topo_writers[];

/* NULL if no format has that name. */
const struct topo_writer *topo_writer_find(const char *name);
/* By the extension of `path`; NULL if it says nothing. */
const struct topo_writer *topo_writer_of_path(const char *path);
/* ibnetdiscover's, in the variant that `t` was read in, or plain. */
const struct topo_writer *topo_writer_as_read(const struct topo *t);

void topo_write_ibnetdiscover(const struct topo *t, struct strbuf *out);
void topo_write_ibnetdiscover_f(const struct topo *t, struct strbuf *out);
void topo_write_ibnetdiscover_g(const struct topo *t, struct strbuf *out);
void topo_write_ibnetdiscover_fg(const struct topo *t, struct strbuf *out);
void topo_write_ibsim(const struct topo *t, struct strbuf *out);
void topo_write_links(const struct topo *t, struct strbuf *out);
void topo_write_dot(const struct topo *t, struct strbuf *out);
void topo_write_graphml(const struct topo *t, struct strbuf *out);
void topo_write_slurm(const struct topo *t, struct strbuf *out);
void topo_write_svg(const struct topo *t, struct strbuf *out);
/* Text as XML; bytes that are not UTF-8 become question marks. */
void topo_write_xml_text(const char *text, struct strbuf *out);

/*
 * All nodes in the order in which a text file has them: switches, then
 * adapters, then routers, each by line; without lines by discovery or, with
 * `as_made`, as they are. Free the result.
 */
node_id *topo_file_order(const struct topo *t, bool as_made);
/*
 * [node]: 1 for the node that ibnetdiscover finds last, and so on: it puts each
 * in front of those found before. Other subnets follow. Free the result.
 */
uint32_t *topo_discovery_rank(const struct topo *t);
/*
 * Where discovery began, as the file said or, failing that, at the adapter
 * port (without adapters: the switch) of the lowest GUID. TOPO_NONE if nothing
 * is cabled.
 */
port_id topo_origin(const struct topo *t);

#endif
