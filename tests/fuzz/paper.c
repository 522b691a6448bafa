/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files of experiments: what is accepted has points, every one with a command,
 * and what is handed over of it is accepted too, and handed over the same.
 */
#include <stdlib.h>
#include <string.h>

#include "paper/grid.h"
#include "paper/paper.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST_LOOKED_AT 20 /* points of an experiment */

static void check(int condition)
{
	if (!condition)
		abort();
}

static void check_points(const struct paper *p, const struct paper_experiment *e, bool quick)
{
	struct diag d = { .status = HD_OK };
	struct paper_grid g;

	check(paper_grid_init(&g, p, e, quick, &d) == HD_OK);
	check(g.study.n_points > 0 && g.study.n_points <= STUDY_MOST_POINTS);
	check(g.n_settings > 0 && g.n_settings <= g.study.n_points);
	for (size_t i = 0; i < g.study.n_points && i < MOST_LOOKED_AT; i++) {
		struct strbuf command = STRBUF_INIT;

		study_fill_template(&g.study, i, &command);
		check(g.settings[i] < g.n_settings);
		strbuf_fini(&command);
	}
	paper_grid_fini(&g);
}

/* Without the first line, which says what it was taken from. */
static void extract(const struct paper *p, const struct paper_experiment *e, struct strbuf *out)
{
	struct strbuf text = STRBUF_INIT;

	paper_extract(p, e, &text);
	strbuf_puts(out, strchr(text.text, '\n'));
	strbuf_fini(&text);
}

static void check_extract(const struct paper *p, const struct paper_experiment *e)
{
	struct diag d = { .status = HD_OK };
	struct strbuf once = STRBUF_INIT, twice = STRBUF_INIT;
	struct paper mine;

	extract(p, e, &once);
	check(paper_parse(once.text, once.len, "f", &d, &mine) == HD_OK);
	check(mine.n_experiments == 1);
	extract(&mine, mine.experiments, &twice);
	check(strcmp(once.text, twice.text) == 0);
	paper_fini(&mine);
	strbuf_fini(&once);
	strbuf_fini(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct diag d = { .status = HD_OK };
	struct paper p;
	enum hd_status status = paper_parse((const char *)data, size, "f", &d, &p);

	check(status == HD_OK || d.message[0]);
	for (size_t i = 0; status == HD_OK && i < p.n_experiments; i++) {
		for (int quick = 0; p.experiments[i].study && quick < 2; quick++)
			check_points(&p, &p.experiments[i], quick);
		check_extract(&p, &p.experiments[i]);
	}
	paper_fini(&p);
	return 0;
}
