/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SCENARIO_DOCUMENT_H
#define HD_SCENARIO_DOCUMENT_H

/*
 * A YAML text restricted to plain data: one document of mappings, lists and
 * scalars.
 *
 * Surprising features of YAML are rejected before anything is built: anchors
 * and aliases (a short file could otherwise expand to a huge one), tags,
 * several documents in one file, and excessive nesting. The nodes are libyaml's
 * and keep their line and column.
 */

#include <yaml.h>

#include "base/diag.h"

#define DOCUMENT_MAX_DEPTH 8

struct document {
	yaml_document_t yaml;
	const char *what; /* name of the document in errors: "the scenario" */
};

/* Errors have d->file. */
HD_MUST_CHECK enum hd_status document_load(const char *text, size_t len, const char *what,
					   struct diag *d, struct document *out);
void document_fini(struct document *doc);

/* NULL for index 0, which libyaml never gives to a node. */
const yaml_node_t *document_node(struct document *doc, int index);
const yaml_node_t *document_root(struct document *doc);

/* "a mapping", "a list", "a value". */
const char *document_kind(const yaml_node_t *node);

#endif
