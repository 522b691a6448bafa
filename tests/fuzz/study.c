/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Studies: what is accepted has points, each in a cell of its own, and comes
 * back from its record as the same.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "study/tables.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char scenario[] = "fabric: {topology: {kind: star, hosts: 4}}\n"
			       "traffic:\n- {name: a, kind: poisson, load: 50%, payload: 256}\n"
			       "run: {seed: 7, measure: 10us}\n";

static void check(int condition)
{
	if (!condition)
		abort();
}

/* Grids of thousands tell no more than small ones, and take long. */
static int is_small(const struct study *s)
{
	size_t length = 0;

	for (size_t i = 0; i < s->n_written; i++) {
		for (const char *c = s->written[i].values; *c; c++) {
			if (strspn(c, "0123456789") > 2)
				return 0;
			length++;
		}
	}
	return s->seeds <= 100 && s->n_written <= 3 && length < 60;
}

static void check_record(const struct study *s)
{
	struct diag d = { .status = HD_OK };
	struct strbuf before = STRBUF_INIT, after = STRBUF_INIT;
	struct results *r = results_new("sweep");
	struct study again;

	study_describe(s, &before);
	study_record(s, r);
	check(study_restore(r, NULL, &d, &again) == HD_OK);
	study_describe(&again, &after);
	check(strcmp(before.text, after.text) == 0);
	check(again.n_points == s->n_points);
	study_fini(&again);
	results_free(r);
	strbuf_fini(&before);
	strbuf_fini(&after);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct diag d = { .status = HD_OK };
	struct study s;
	enum hd_status status = study_parse((const char *)data, size, "f", &d, &s);

	if (status == HD_OK && is_small(&s)) {
		if (!s.base) {
			s.base = hd_strdup(scenario);
			s.base_file = hd_strdup("x.yaml");
		}
		status = study_resolve(&s, &d);
		if (status == HD_OK) {
			check(s.n_points == s.n_cells * s.seeds);
			check(s.n_cells > 0);
			for (size_t i = 1; i < s.n_cells; i++)
				check(s.cells[i] > s.cells[i - 1]);
			check_record(&s);
		}
	}
	check(status == HD_OK || d.message[0]);
	study_fini(&s);
	return 0;
}
