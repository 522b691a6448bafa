/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/map.h"
#include "measure/interval.h"
#include "study/search.h"

static double measured(const struct point_outcome *o, size_t measure)
{
	const struct table *t = o->results ? results_find(o->results, "headline") : NULL;

	const struct value *v = t ? table_cell(t, 0, measure) : NULL;

	if (v && v->kind == VALUE_BOOL)
		return v->yes;
	return v ? value_real(v) : NAN;
}

double sweep_mean(const struct study_sweep *w, size_t cell_rank, size_t measure, double *half_width)
{
	size_t seeds = (size_t)w->study->seeds, n = 0;
	double *samples = hd_alloc(seeds, sizeof(*samples));

	for (size_t i = 0; i < seeds; i++) {
		double x = measured(&w->outcomes[cell_rank * seeds + i], measure);

		if (!isnan(x))
			samples[n++] = x;
	}
	struct interval interval =
		n ? interval_of(samples, n, 0.95) : (struct interval){ .mean = NAN };

	free(samples);
	if (half_width)
		*half_width = n > 1 ? interval.half_width : NAN;
	return interval.mean;
}

/* Whether a search's condition holds at a cell; *known: it was run. */
static bool sweep_holds(const struct study_sweep *w, size_t cell_rank, bool *known)
{
	const struct condition *c = &w->study->search.condition;
	size_t seeds = (size_t)w->study->seeds;
	const struct measures *m = &w->study->measures;
	double *values = hd_alloc(m->n, sizeof(*values));
	bool holds = true;

	*known = true;
	for (size_t i = 0; i < seeds; i++)
		*known &= point_outcome_is_known(&w->outcomes[cell_rank * seeds + i]);
	for (size_t i = 0; i < m->n; i++)
		values[i] = sweep_mean(w, cell_rank, i, NULL);
	for (size_t i = 0; i < c->n && holds; i++)
		holds = study_measure_holds(m, &c->terms[i], values);
	free(values);
	return holds;
}

/* ---- chains ------------------------------------------------------------- */

/* The first cell of the grid that differs in the search's field only. */
static size_t base_cell(const struct study *s, size_t cell)
{
	size_t axis = s->search.axis, stride = 1;

	if (s->search.kind == SEARCH_ALL)
		return cell;
	for (size_t i = s->axes[axis].dimension + 1; i < s->n_dimensions; i++)
		stride *= s->lengths[i];
	return cell - study_value(s, axis, cell) * stride;
}

struct sweep_chain *sweep_chains(const struct study *s, size_t *n)
{
	struct sweep_chain *chains = hd_alloc(s->n_cells, sizeof(*chains));
	struct map seen = { 0 };

	*n = 0;
	for (size_t rank = 0; rank < s->n_cells; rank++) {
		size_t base = base_cell(s, s->cells[rank]);
		uint32_t at = map_put(&seen, base, (uint32_t)*n);

		if (at == MAP_NONE)
			at = (uint32_t)(*n)++;
		struct sweep_chain *c = &chains[at];

		c->ranks = hd_realloc(c->ranks, c->n + 1, sizeof(*c->ranks));
		c->ranks[c->n++] = rank;
	}
	map_fini(&seen);
	return chains;
}

void sweep_chains_free(struct sweep_chain *chains, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(chains[i].ranks);
	free(chains);
}

/*
 * Bisects with the known outcomes: the result is between `low`, before which
 * the condition holds (for the smallest: does not hold), and `high`. True if a
 * cell must be run first: *next, an index into the chain.
 */
static bool bisect(const struct study_sweep *w, const struct sweep_chain *c, size_t *low,
		   size_t *next)
{
	bool largest = w->study->search.kind == SEARCH_LARGEST;
	size_t high = c->n;

	*low = 0;
	while (*low < high) {
		size_t middle = *low + (high - *low) / 2;
		bool known, holds = sweep_holds(w, c->ranks[middle], &known);

		if (!known) {
			*next = middle;
			return true;
		}
		if (holds == largest)
			*low = middle + 1;
		else
			high = middle;
	}
	return false;
}

size_t sweep_found(const struct study_sweep *w, const struct sweep_chain *c)
{
	size_t low, next;

	if (bisect(w, c, &low, &next))
		return SIZE_MAX;
	if (w->study->search.kind == SEARCH_LARGEST)
		return low ? low - 1 : SIZE_MAX;
	return low < c->n ? low : SIZE_MAX;
}

/* The first cell that was not run, unless the condition holds before it. */
static bool walk(const struct study_sweep *w, const struct sweep_chain *c, size_t *next)
{
	for (size_t i = 0; i < c->n; i++) {
		bool known, holds = sweep_holds(w, c->ranks[i], &known);

		if (!known) {
			*next = i;
			return true;
		}
		if (holds)
			return false;
	}
	return false;
}

static void want(const struct study_sweep *w, size_t rank, struct point_list *out)
{
	size_t seeds = (size_t)w->study->seeds;

	for (size_t p = rank * seeds; p < (rank + 1) * seeds; p++) {
		if (point_outcome_is_known(&w->outcomes[p]))
			continue;
		out->points = hd_grow(out->points, &out->cap, out->n + 1, sizeof(*out->points));
		out->points[out->n++] = p;
	}
}

bool sweep_next(const struct study_sweep *w, const struct sweep_chain *c, size_t *next)
{
	size_t low;

	*next = 0;
	switch (w->study->search.kind) {
	case SEARCH_ALL: {
		bool known;

		sweep_holds(w, c->ranks[0], &known);
		return !known;
	}
	case SEARCH_STOP:
		return walk(w, c, next);
	default:
		return bisect(w, c, &low, next);
	}
}

void search_round(const struct study_sweep *w, const struct sweep_chain *chains, size_t n,
		  struct point_list *out)
{
	for (size_t i = w->shard; i < n; i += w->n_shards) {
		size_t next;

		if (sweep_next(w, &chains[i], &next))
			want(w, chains[i].ranks[next], out);
	}
}
