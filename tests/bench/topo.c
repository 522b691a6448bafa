/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The topology room on a fat tree of three levels of 36-port switches (11,664
 * hosts, 1,620 switches; 5.8 MB of text): reading it, the first step of every
 * command, must not be noticeable.
 */
#include <stdlib.h>

#include "bench.h"
#include "topo/facts.h"
#include "topo/generate.h"
#include "topo/read.h"
#include "topo/write.h"

struct work {
	const char *recipe;
	struct strbuf text;
	struct topo t;
};

static void make(void *arg)
{
	struct work *w = arg;
	struct diag d = { .status = HD_OK };
	struct topo t;

	if (topo_generate_text(w->recipe, 1, 0, &d, &t) != HD_OK)
		abort();
	topo_fini(&t);
}

static void read_back(void *arg)
{
	struct work *w = arg;
	struct diag d = { .status = HD_OK };
	struct topo t;

	if (topo_read(w->text.text, w->text.len, NULL, &d, &t) != HD_OK)
		abort();
	topo_fini(&t);
}

static void write_out(void *arg)
{
	struct work *w = arg;

	strbuf_clear(&w->text);
	topo_write_ibnetdiscover(&w->t, &w->text);
}

static void describe(void *arg)
{
	struct work *w = arg;
	struct topo_facts f;

	topo_facts_init(&f, &w->t);
	topo_facts_fini(&f);
}

int main(void)
{
	struct bench b;
	struct work w = { .text = STRBUF_INIT };
	struct diag d = { .status = HD_OK };

	bench_begin(&b, "topo");
	w.recipe = b.tiny ? "fat-tree --radix=8 --levels=3" : "fat-tree --radix=36 --levels=3";
	if (topo_generate_text(w.recipe, 1, 0, &d, &w.t) != HD_OK)
		return 1;
	/* As a real tool's file: without the line that says how it was made. */
	free(w.t.recipe);
	w.t.recipe = NULL;
	bench_at_most(&b, "11,664 hosts: generate", "ms", 200, 1e3 / bench_rate(make, &w, 1));
	bench_at_most(&b, "11,664 hosts: write ibnetdiscover's text", "ms", 500,
		      1e3 / bench_rate(write_out, &w, 1));
	bench_at_most(&b, "11,664 hosts: read ibnetdiscover's text", "ms", 500,
		      1e3 / bench_rate(read_back, &w, 1));
	bench_at_most(&b, "11,664 hosts: diameter, tiers, bisection", "ms", 500,
		      1e3 / bench_rate(describe, &w, 1));
	topo_fini(&w.t);
	strbuf_fini(&w.text);
	return bench_end(&b);
}
