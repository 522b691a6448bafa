/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/failures_simulate.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "cli/progress.h"
#include "study/failures.h"
#include "study/processes.h"

bool cli_failures_tick(void *context, size_t done, size_t all)
{
	struct progress *p = context;

	p->total = (double)all;
	return progress_show(p, (double)done);
}

/* Progress callback; a sweep checks for signals itself. */
static void show_runs(void *context, size_t done, size_t all)
{
	(void)cli_failures_tick(context, done, all);
}

static void select_node(const struct failure_analysis *s, node_id v, struct strbuf *out)
{
	const struct topo_node *n = &s->whole->topo->nodes[v];

	if (s->shares_name[v])
		strbuf_printf(out, "0x%016" PRIx64, n->guid);
	else
		strbuf_puts(out, n->name);
}

/* One end of each cable of a case, or its switch, as the value of fabric.failed_links. */
static char *without(const struct failure_analysis *s, const struct failure_case *c)
{
	const struct topo *t = s->whole->topo;
	struct strbuf text = STRBUF_INIT;

	if (c->kind == FAILURE_SWITCHES)
		select_node(s, c->what[0], &text);
	for (unsigned i = 0; i < 2 && c->kind != FAILURE_SWITCHES; i++) {
		if (c->what[i] == TOPO_NONE)
			continue;
		strbuf_puts(&text, i ? ", " : "");
		select_node(s, t->ports[c->what[i]].node, &text);
		strbuf_printf(&text, ":%u", t->ports[c->what[i]].number);
	}
	return strbuf_detach(&text);
}

bool cli_failures_kinds(const struct command *self, const struct option_list *fail,
			struct failure_options *o, int *status)
{
	for (unsigned k = 0; k < FAILURE_PAIRS; k++)
		o->kinds[k] = fail->n == 0;
	o->kinds[FAILURE_PAIRS] = o->n_pairs > 0;
	for (size_t i = 0; i < fail->n; i++) {
		if (failure_fail(o, fail->items[i]))
			continue;
		*status = command_usage(
			self, "option --fail: expected switches, links or hosts, not '%s'",
			fail->items[i]);
		return false;
	}
	return true;
}

enum hd_status cli_failures_simulate(const struct failures_command *what, struct diag *d,
				     struct results *r, bool *is_well)
{
	const struct failure_analysis *s = what->found;
	size_t most = what->most < s->n ? what->most : s->n;
	struct failure *items = hd_alloc(most, sizeof(*items));
	struct progress progress;
	bool runs_well = true;
	struct failures f = {
		.path = what->path,
		.overrides = what->overrides,
		.items = items,
		.at_once = processes_at_once(0),
		.tick = show_runs,
		.context = &progress,
	};

	if (!most) {
		free(items);
		return HD_OK;
	}
	for (unsigned verdict = 0; verdict < N_FAILURE_VERDICTS; verdict++) {
		for (size_t i = 0; i < s->n && f.n < most; i++) {
			struct strbuf name = STRBUF_INIT;

			if (s->cases[i].verdict != verdict)
				continue;
			failure_name(s, &s->cases[i], &name);
			items[f.n++] =
				(struct failure){ strbuf_detach(&name), without(s, &s->cases[i]) };
		}
	}
	progress_begin(&progress, what->common, "runs", 0);
	enum hd_status status = failures_simulate(&f, d, r, &runs_well);

	*is_well = *is_well && runs_well;
	progress_end(&progress);
	for (size_t i = 0; i < f.n; i++) {
		free((char *)items[i].name);
		free((char *)items[i].without);
	}
	free(items);
	return status;
}
