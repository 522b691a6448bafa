/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TOPO_WRITE_H
#define HD_TOPO_WRITE_H

/*
 * Writes fabrics to files, with one writer per format in one table.
 *
 * The output depends on the fabric only, not on the order of its nodes in
 * memory. Nodes that were read keep the order of their file. Other nodes have
 * the order in which ibnetdiscover would find and print them (for ibsim: the
 * order of creation). An ibnetdiscover file that was read is therefore written
 * unchanged.
 *
 * Properties that a format lacks are lost: ibnetdiscover's text has no MTU (and
 * without -f no VLs), no format distinguishes a target adapter from a host, and
 * in ibsim a width or speed includes the lower ones.
 */

#include "base/strbuf.h"
#include "topo/topo.h"

struct topo_writer {
	const char *name;      /* as in --to */
	const char *extension; /* file extension without the dot */
	const char *summary;   /* one line, lower case, no full stop */
	void (*write)(const struct topo *t, struct strbuf *out);
};

/* The last entry has a NULL name. */
extern const struct topo_writer topo_writers[];

/* NULL if there is no such format. */
const struct topo_writer *topo_writer_find(const char *name);
/* The format of the extension of `path`; NULL if the extension is unknown. */
const struct topo_writer *topo_writer_of_path(const char *path);
/* The writer of ibnetdiscover's format in the variant that `t` was read in; else plain. */
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
/* Escapes text for XML; bytes that are not UTF-8 become question marks. */
void topo_write_xml_text(const char *text, struct strbuf *out);

/*
 * Returns all nodes in the order of a text file: switches, then adapters, then
 * routers, each by line. Nodes without lines are in the order of discovery or,
 * with `as_made`, of creation. Free the result.
 */
node_id *topo_file_order(const struct topo *t, bool as_made);
/*
 * Returns [node]: 1 for the node that ibnetdiscover finds last, and so on,
 * because it prepends each node to those found before. Other subnets follow.
 * Free the result.
 */
uint32_t *topo_discovery_rank(const struct topo *t);
/*
 * The origin of the discovery: the port in the file or, if it has none, the
 * adapter port (without adapters: the switch) with the lowest GUID. TOPO_NONE
 * if there is no cable.
 */
port_id topo_origin(const struct topo *t);

#endif
