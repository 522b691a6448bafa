/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SCENARIO_OVERRIDE_H
#define HD_SCENARIO_OVERRIDE_H

/*
 * Values that weigh more than those of a file: "--set PATH=VALUE".
 *
 * They are applied to the parsed file before it is read, so that defaults,
 * ranges and checks follow as if they had been written there; what is refused
 * names the override instead of a line.
 *
 *	traffic.0.load=50%            an item of a list, by number from 0
 *	traffic.video.load=50%        ... or by its name
 *	traffic.+.name=probe          a new item at the end of a list
 *	traffic.-.kind=cbr            the last item
 *	fabric.topology={kind: ring}  mappings and lists as YAML has them
 *	traffic.0.rate=               as if it had not been written
 *
 * "traffic[0].load" is the same as "traffic.0.load". Mappings on the way that
 * are not there are made. Later overrides see what earlier ones did: after
 * traffic.+.name=probe there is a traffic.probe.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "scenario/document.h"

struct schema_row;

struct override {
	char *label; /* what refusals call it: "--set traffic.0.load" */
	char *path, *value;
};

struct overrides {
	struct override *items;
	size_t n, cap;
};

void overrides_fini(struct overrides *o);
/* Adds all of `from` (NULL: none). */
void overrides_copy(const struct overrides *from, struct overrides *to);

/* Adds the value of an option: `label` is "--seed" where `path` is "run.seed". */
HD_PRINTF(4, 5)
void overrides_put(struct overrides *o, const char *label, const char *path, const char *format,
		   ...);
/* "PATH=VALUE", as after --set; HD_ERR_USAGE if it is not of that form. */
HD_MUST_CHECK enum hd_status overrides_add(struct overrides *o, const char *text, struct diag *d);

/*
 * Changes `doc`. A path that leads nowhere and a value that is not YAML are
 * HD_ERR_USAGE. Unknown fields and values out of range are not refused here but
 * by the reader, in the same way as those of the file.
 */
HD_MUST_CHECK enum hd_status overrides_apply(const struct overrides *o,
					     const struct schema_row *table, struct document *doc,
					     struct diag *d);

/*
 * Two of the overrides from `first` on that are about one field, whatever they
 * call it: of one nothing is left in `doc` once the other has been applied.
 * Those that cannot be applied are left out.
 */
bool overrides_clash(const struct overrides *o, size_t first, const struct schema_row *table,
		     struct document *doc, size_t *lost, size_t *by);

/* The override that made a node, or NULL; *whole: it is all of its value. */
const struct override *override_of(const struct overrides *o, const yaml_node_t *node, bool *whole);

/*
 * Every path that a table has, items as 0, one a line; after that of a choice
 * its values, a blank before each.
 */
void override_paths(const struct schema_row *table, struct strbuf *out);

#endif
