/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TOPO_READ_H
#define HD_TOPO_READ_H

/*
 * Fabrics from the files that InfiniBand tools write.
 *
 *	ibnetdiscover      its topology file: plain, -f, -g, -f -g
 *	ibsim              nets of the simulator, a looser form of the same
 *	subnet.lst         OpenSM's opensm-subnet.lst
 *	ports              ibnetdiscover -p
 *	linkinfo           iblinkinfo, plain and -l
 *	neighbors          OpenSM's neighbors file
 *
 * Which one a file is follows from its content. Nodes are in the order of the
 * file, or of the generator if one made the file's fabric, and every node and
 * port knows its line. A file that cannot be
 * understood, or that contradicts itself, is refused with the line of the
 * first trouble; see problem.h for those who would rather have a list.
 *
 * What these files do not say is taken to be usual: 8 data VLs (files of
 * ibnetdiscover -f do say), an MTU of 4096 bytes.
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

/* By content alone, which a NUL follows; FORMAT_UNKNOWN if it looks like none
 * of them. */
enum topo_format topo_format_detect(const char *text, size_t len);

/*
 * Reads `len` bytes, which a NUL follows. With `problems`, contradictions are
 * added there, and what can be built without them is; a file that makes no
 * sense is refused all the same. `out` is initialised on success only.
 */
HD_MUST_CHECK enum hd_status topo_read(const char *text, size_t len, struct topo_problems *problems,
				       struct diag *d, struct topo *out);
/* Whether a name of a fabric is the words of a generator. */
bool topo_is_words(const char *fabric);
/*
 * The bytes of a file; a name that leads nowhere and is nearly that of a
 * generator is refused with the generator's. Sets d->file.
 */
HD_MUST_CHECK enum hd_status topo_read_named(const char *fabric, struct diag *d,
					     struct strbuf *out);
/*
 * What users name a fabric by: a path, "-" for standard input, or the words of
 * a generator ("mesh --columns=4"). A file that has a generator's name is
 * named with "./".
 */
HD_MUST_CHECK enum hd_status topo_open(const char *fabric, uint64_t seed,
				       struct topo_problems *problems, struct diag *d,
				       struct topo *out);
/* The same from a path; "-" is standard input. Sets d->file. */
HD_MUST_CHECK enum hd_status topo_read_file(const char *path, struct topo_problems *problems,
					    struct diag *d, struct topo *out);

#endif
