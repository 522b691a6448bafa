/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TOPO_READ_H
#define HD_TOPO_READ_H

/*
 * Reads fabrics from the files of InfiniBand tools.
 *
 *	ibnetdiscover      its topology file: plain, -f, -g, -f -g
 *	ibsim              nets of the simulator, a looser form of the same
 *	subnet.lst         OpenSM's opensm-subnet.lst
 *	ports              ibnetdiscover -p
 *	linkinfo           iblinkinfo, plain and -l
 *	neighbors          OpenSM's neighbors file
 *
 * The format is detected from the content. Nodes have the order of the file, or
 * of the generator if a generator made the file's fabric. Every node and port
 * has the number of its line. A malformed or contradictory file is rejected at
 * the line of the first problem; problem.h describes how to collect them all.
 *
 * Properties that these files omit get defaults: 8 data VLs (ibnetdiscover -f
 * states them) and an MTU of 4096 bytes.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "topo/problem.h"
#include "topo/topo.h"

enum topo_format {
	FORMAT_UNKNOWN,
	FORMAT_IBNETDISCOVER,
	FORMAT_IBSIM,
	FORMAT_SUBNET_LST,
	FORMAT_PORTS,
	FORMAT_LINKINFO,
	FORMAT_LINKINFO_NODES,
	FORMAT_NEIGHBORS,
	FORMAT_NODE_LIST,
	N_FORMATS
};

/* Detects the format from the content; text[len] must be NUL. FORMAT_UNKNOWN if
 * no format matches. */
enum topo_format topo_format_detect(const char *text, size_t len);

/*
 * Reads `len` bytes; text[len] must be NUL. With `problems`, contradictions are
 * appended there and do not prevent building the remaining fabric. A malformed
 * file is rejected in any case. `out` is initialised on success only.
 */
HD_MUST_CHECK enum hd_status topo_read(const char *text, size_t len, struct topo_problems *problems,
				       struct diag *d, struct topo *out);
/* Whether the name of a fabric is the words of a generator. */
bool topo_is_words(const char *fabric);
/*
 * Reads the bytes of a file. If the path does not exist and is similar to the
 * name of a generator, the error suggests the generator. Sets d->file.
 */
HD_MUST_CHECK enum hd_status topo_read_named(const char *fabric, struct diag *d,
					     struct strbuf *out);
/*
 * Opens a fabric by its name: a path, "-" for standard input, or the words of a
 * generator ("mesh --columns=4"). A file with the name of a generator needs the
 * prefix "./".
 */
HD_MUST_CHECK enum hd_status topo_open(const char *fabric, uint64_t seed,
				       struct topo_problems *problems, struct diag *d,
				       struct topo *out);
/* Like topo_read, from a path; "-" is standard input. Sets d->file. */
HD_MUST_CHECK enum hd_status topo_read_file(const char *path, struct topo_problems *problems,
					    struct diag *d, struct topo *out);

#endif
