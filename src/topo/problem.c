/* SPDX-License-Identifier: BSD-2-Clause */
#include "topo/problem.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/strbuf.h"

const char *const problem_names[N_PROBLEMS] = {
	[PROBLEM_MISSING_END] = "missing end",  [PROBLEM_ASYMMETRIC] = "asymmetric link",
	[PROBLEM_DUPLICATE] = "duplicate link", [PROBLEM_PORT_CLASH] = "port clash",
	[PROBLEM_LOOP] = "port loop",           [PROBLEM_GUID_CLASH] = "GUID clash",
	[PROBLEM_LID_CLASH] = "LID clash",      [PROBLEM_SPEED] = "speed mismatch",
	[PROBLEM_ISOLATED] = "isolated part",
};

void problems_fini(struct topo_problems *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->items[i].text);
	free(list->items);
	*list = (struct topo_problems){ 0 };
}

void problems_add(struct topo_problems *list, enum problem_kind kind, uint32_t line, uint32_t other,
		  const char *format, ...)
{
	struct strbuf text = STRBUF_INIT;
	va_list args;

	va_start(args, format);
	strbuf_vprintf(&text, format, args);
	va_end(args);
	list->items = hd_grow(list->items, &list->cap, list->n + 1, sizeof(*list->items));
	list->items[list->n++] = (struct topo_problem){
		.kind = kind,
		.line = line,
		.other = other,
		.text = strbuf_detach(&text),
	};
}

static int by_line(const void *a, const void *b)
{
	const struct topo_problem *p = a, *q = b;
	/* Line 0 (none) wraps around and sorts last. */
	uint32_t x = p->line - 1, y = q->line - 1;

	if (x != y)
		return x < y ? -1 : 1;
	if (p->kind != q->kind)
		return p->kind < q->kind ? -1 : 1;
	return strcmp(p->text, q->text);
}

void problems_sort(struct topo_problems *list)
{
	if (list->n > 1)
		qsort(list->items, list->n, sizeof(*list->items), by_line);
}
