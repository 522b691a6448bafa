/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/sparse.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include <metis.h>

#include "base/alloc.h"
#include "model/superlu.h"

void sparse_chain_fini(struct sparse_chain *c)
{
	free(c->start);
	free(c->target);
	free(c->rate);
	*c = (struct sparse_chain){ 0 };
}

static double rate_out(const struct sparse_chain *c, size_t s)
{
	double sum = 0;

	for (size_t e = c->start[s]; e < c->start[s + 1]; e++)
		sum += c->rate[e];
	return sum;
}

double sparse_residual(const struct sparse_chain *c, const double *p)
{
	double *net = hd_alloc(c->n, sizeof(*net));
	double largest = 0, sum = 0;

	for (size_t s = 0; s < c->n; s++) {
		double out = rate_out(c, s);

		largest = fmax(largest, out);
		net[s] -= out * p[s];
		for (size_t e = c->start[s]; e < c->start[s + 1]; e++)
			net[c->target[e]] += c->rate[e] * p[s];
	}
	for (size_t s = 0; s < c->n; s++)
		sum += fabs(net[s]);
	free(net);
	return sum / largest;
}

/*
 * The unknowns are all states but the pivot; unknown k is state k or, from
 * the pivot on, state k + 1.
 */
static size_t state_of(size_t k, size_t pivot)
{
	return k < pivot ? k : k + 1;
}

static int unknown_of(size_t state, size_t pivot)
{
	return (int)(state < pivot ? state : state - 1);
}

/* The balance equations by columns, as SuperLU reads them. */
struct equations {
	int n;
	int *start, *row;
	double *value;
	double *right; /* what flows in from the pivot state */
};

static void equations_init(struct equations *eq, const struct sparse_chain *c, size_t pivot)
{
	size_t entries = c->start[c->n] + c->n;
	size_t used = 0;

	eq->n = (int)(c->n - 1);
	eq->start = hd_alloc(c->n, sizeof(*eq->start));
	eq->row = hd_alloc(entries, sizeof(*eq->row));
	eq->value = hd_alloc(entries, sizeof(*eq->value));
	eq->right = hd_alloc(c->n, sizeof(*eq->right));
	for (size_t k = 0; k + 1 < c->n; k++) {
		size_t s = state_of(k, pivot);

		eq->start[k] = (int)used;
		eq->row[used] = (int)k;
		eq->value[used++] = rate_out(c, s);
		for (size_t e = c->start[s]; e < c->start[s + 1]; e++) {
			size_t t = (size_t)c->target[e];

			if (t == pivot)
				continue;
			eq->row[used] = unknown_of(t, pivot);
			eq->value[used++] = -c->rate[e];
		}
	}
	eq->start[c->n - 1] = (int)used;
	for (size_t e = c->start[pivot]; e < c->start[pivot + 1]; e++)
		eq->right[unknown_of((size_t)c->target[e], pivot)] = c->rate[e];
}

static void equations_fini(struct equations *eq)
{
	free(eq->start);
	free(eq->row);
	free(eq->value);
	free(eq->right);
}

/* Neighbours in either direction, without doubles, for METIS. */
struct adjacency {
	idx_t *start, *neighbour;
};

/* Entries of column k other than the diagonal, which comes first. */
static void graph_count(const struct equations *eq, idx_t *degree)
{
	for (int k = 0; k < eq->n; k++) {
		for (int e = eq->start[k] + 1; e < eq->start[k + 1]; e++) {
			degree[k]++;
			degree[eq->row[e]]++;
		}
	}
}

/* Keeps one of each pair of equal neighbours; returns how many are left. */
static idx_t graph_unique(struct adjacency *g, idx_t n)
{
	idx_t *seen = hd_alloc((size_t)n, sizeof(*seen));
	idx_t used = 0, from = 0;

	for (idx_t k = 0; k < n; k++) {
		idx_t end = g->start[k + 1];

		for (g->start[k] = used; from < end; from++) {
			idx_t other = g->neighbour[from];

			if (seen[other] == k + 1)
				continue;
			seen[other] = k + 1;
			g->neighbour[used++] = other;
		}
	}
	g->start[n] = used;
	free(seen);
	return used;
}

static void graph_init(struct adjacency *g, const struct equations *eq)
{
	size_t n = (size_t)eq->n;
	idx_t *next = hd_alloc(n + 1, sizeof(*next));

	g->start = hd_alloc(n + 1, sizeof(*g->start));
	graph_count(eq, next);
	for (size_t k = 0; k < n; k++) {
		g->start[k + 1] = g->start[k] + next[k];
		next[k] = g->start[k];
	}
	g->neighbour = hd_alloc((size_t)g->start[n], sizeof(*g->neighbour));
	for (int k = 0; k < eq->n; k++) {
		for (int e = eq->start[k] + 1; e < eq->start[k + 1]; e++) {
			g->neighbour[next[k]++] = eq->row[e];
			g->neighbour[next[eq->row[e]]++] = k;
		}
	}
	free(next);
	graph_unique(g, (idx_t)n);
}

static void graph_fini(struct adjacency *g)
{
	free(g->start);
	free(g->neighbour);
}

/* column[k] = when unknown k is eliminated. */
static void dissect(const struct equations *eq, int *column)
{
	idx_t n = eq->n;
	idx_t *perm = hd_alloc((size_t)n, sizeof(*perm));
	idx_t *inverse = hd_alloc((size_t)n, sizeof(*inverse));
	idx_t options[METIS_NOPTIONS];
	struct adjacency g;

	graph_init(&g, eq);
	METIS_SetDefaultOptions(options);
	options[METIS_OPTION_SEED] = 1; /* the same order on every run */
	int done = METIS_NodeND(&n, g.start, g.neighbour, NULL, options, perm, inverse);

	for (int k = 0; k < eq->n; k++)
		column[k] = done == METIS_OK ? (int)inverse[k] : k;
	graph_fini(&g);
	free(perm);
	free(inverse);
}

/* The caller's order of states, closed up where the pivot is missing. */
static void take_order(const int *order, size_t n, size_t pivot, int *column)
{
	for (size_t k = 0; k + 1 < n; k++) {
		int place = order[state_of(k, pivot)];

		column[k] = place - (place > order[pivot]);
	}
}

/* Solves eq; the unknowns replace the right-hand side. SuperLU's info. */
static int solve(const struct superlu *lu, struct equations *eq, int *column)
{
	superlu_options_t options;
	SuperMatrix a, lower, upper, right;
	SuperLUStat_t stat;
	int info;
	int *row = hd_alloc((size_t)eq->n, sizeof(*row));

	lu->set_default_options(&options);
	options.ColPerm = MY_PERMC;
	options.SymmetricMode = YES;
	options.DiagPivotThresh = 0;
	options.Equil = NO;
	options.PrintStat = NO;
	lu->dCreate_CompCol_Matrix(&a, eq->n, eq->n, eq->start[eq->n], eq->value, eq->row,
				   eq->start, SLU_NC, SLU_D, SLU_GE);
	lu->dCreate_Dense_Matrix(&right, eq->n, 1, eq->right, eq->n, SLU_DN, SLU_D, SLU_GE);
	lu->StatInit(&stat);
	lu->dgssv(&options, &a, column, row, &lower, &upper, &right, &stat, &info);
	lu->StatFree(&stat);
	if (info <= eq->n) {
		lu->Destroy_SuperNode_Matrix(&lower);
		lu->Destroy_CompCol_Matrix(&upper);
	}
	lu->Destroy_SuperMatrix_Store(&a);
	lu->Destroy_SuperMatrix_Store(&right);
	free(row);
	return info;
}

/* From weights relative to the pivot to probabilities; false if not finite. */
static bool normalise(const double *weight, size_t n, size_t pivot, double *p)
{
	double sum = 1;

	for (size_t k = 0; k + 1 < n; k++) {
		if (!(weight[k] >= 0))
			return false;
		sum += weight[k];
	}
	if (!isfinite(sum))
		return false;
	for (size_t k = 0; k + 1 < n; k++)
		p[state_of(k, pivot)] = weight[k] / sum;
	p[pivot] = 1 / sum;
	return true;
}

enum hd_status sparse_solve(const struct sparse_chain *c, size_t pivot, const int *order,
			    struct diag *d, double *p)
{
	struct equations eq;
	struct superlu lu;
	enum hd_status status = HD_OK;

	assert(c->n >= 2 && pivot < c->n);
	if (c->n > SPARSE_MAX_STATES)
		return diag_fail(d, HD_ERR_RANGE, "too many states: %zu (at most %d)", c->n,
				 SPARSE_MAX_STATES);
	if (superlu_load(&lu, d) != HD_OK)
		return d->status;
	equations_init(&eq, c, pivot);
	int *column = hd_alloc((size_t)eq.n, sizeof(*column));

	if (order)
		take_order(order, c->n, pivot, column);
	else
		dissect(&eq, column);

	int info = solve(&lu, &eq, column);

	if (info > eq.n)
		status = diag_fail(d, HD_ERR_ENV, "not enough memory to factor %zu states", c->n);
	else if (info || !normalise(eq.right, c->n, pivot, p))
		status = diag_fail(d, HD_ERR_UNFIT,
				   "the balance equations are singular to working precision");
	free(column);
	equations_fini(&eq);
	return status;
}
