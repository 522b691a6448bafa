/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SCENARIO_OVERRIDE_H
#define HD_SCENARIO_OVERRIDE_H

/*
 * Overrides: values that take precedence over those of a file, "--set
 * PATH=VALUE".
 *
 * Overrides are applied to the parsed YAML before it is read, so that defaults,
 * ranges and checks apply as if the values were in the file. An error names the
 * override instead of a line.
 *
 *	traffic.0.load=50%            an item of a list, by number from 0
 *	traffic.video.load=50%        ... or by its name
 *	traffic.+.name=probe          a new item at the end of a list
 *	traffic.-.kind=cbr            the last item
 *	fabric.topology={kind: ring}  mappings and lists in YAML notation
 *	traffic.0.rate=               removes the field
 *
 * "traffic[0].load" is the same as "traffic.0.load". Missing mappings on the
 * path are created. Later overrides apply to the result of earlier ones: after
 * traffic.+.name=probe there is a traffic.probe.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "scenario/document.h"

struct schema_row;

struct override {
	char *label; /* name in errors: "--set traffic.0.load" */
	char *path, *value;
};

struct overrides {
	struct override *items;
	size_t n, cap;
};

void overrides_fini(struct overrides *o);
/* Appends all of `from`, which may be NULL. */
void overrides_copy(const struct overrides *from, struct overrides *to);

/* Adds the value of an option: `label` is "--seed" where `path` is "run.seed". */
HD_PRINTF(4, 5)
void overrides_put(struct overrides *o, const char *label, const char *path, const char *format,
		   ...);
/* Parses "PATH=VALUE", as after --set; HD_ERR_USAGE if malformed. */
HD_MUST_CHECK enum hd_status overrides_add(struct overrides *o, const char *text, struct diag *d);

/*
 * Applies the overrides to `doc`. HD_ERR_USAGE for a path that does not exist
 * or a value that is not YAML. The reader, not this function, rejects unknown
 * fields and values out of range, as it does for those of the file.
 */
HD_MUST_CHECK enum hd_status overrides_apply(const struct overrides *o,
					     const struct schema_row *table, struct document *doc,
					     struct diag *d);

/*
 * Finds two overrides, from `first` on, for the same field, possibly under
 * different paths: applying one leaves nothing of the other in `doc`. Overrides
 * that cannot be applied are ignored.
 */
bool overrides_clash(const struct overrides *o, size_t first, const struct schema_row *table,
		     struct document *doc, size_t *lost, size_t *by);

/* The override that created a node, or NULL; *whole: the node is its entire value. */
const struct override *override_of(const struct overrides *o, const yaml_node_t *node, bool *whole);

/*
 * Writes every path of a table, one per line, with list items as 0. The values
 * of a choice follow the path, each preceded by a space.
 */
void override_paths(const struct schema_row *table, struct strbuf *out);

#endif
