/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "bench/cores.h"
#include "bench/cost.h"
#include "bench/message.h"

#define CALIBRATE     32 /* iterations that estimate the number for a duration */
#define CONTEND_DEPTH 1  /* of 4 bytes: the paper's load at an adapter */
#define LOAD_DEPTH    16 /* of 4 KiB: one fills a link, however long */

double bench_bandwidth(const struct bench_found *f)
{
	if (f->elapsed == 0)
		return 0;
	return (double)f->bytes / ((double)f->elapsed / 1e6);
}

/* ---- contenders --------------------------------------------------------- */

/* Loads an adapter with small writes, or a link with large ones, until rank 0
 * has finished. */
static void contend(struct nic *nic, struct bench_point *main_point, unsigned target)
{
	struct bench_point *mine = hd_alloc(1, sizeof(*mine));
	struct endpoint e;
	bool loads = target == 1;
	unsigned depth = loads ? LOAD_DEPTH : CONTEND_DEPTH;

	mine->params = main_point->params;
	mine->params.verb = VERB_WRITE;
	mine->params.size = loads ? 4096 : 4;
	mine->params.window = depth;
	mine->params.events = false;
	mine->params.scheme = 0;
	mine->params.sl = loads ? main_point->params.load_sl : main_point->params.sl;
	mine->params.transport = QP_RC;
	mine->params.segments = mine->params.max_sge = 1;
	endpoint_open(&e, nic, mine, target, 1);
	endpoint_barrier(&e);
	for (unsigned i = 0; i < depth && e.ok; i++)
		endpoint_send(&e, WR_SIGNALED);
	while (e.ok && !nic->ops->finished(nic)) {
		bench_take_sends(&e, 1);
		if (e.ok)
			endpoint_send(&e, WR_SIGNALED);
	}
	if (e.ok)
		bench_take_sends(&e, depth);
	endpoint_barrier(&e);
	if (!e.ok && main_point->found.why.status == HD_OK)
		main_point->found.why = mine->found.why;
	endpoint_close(&e);
	free(mine);
}

/* The side that contenders write to: a connection each, nothing to do. */
static struct endpoint *host_contenders(struct nic *nic, struct bench_point *point, unsigned first,
					unsigned n)
{
	struct endpoint *list = hd_alloc(n, sizeof(*list));

	for (unsigned i = 0; i < n; i++)
		endpoint_open(&list[i], nic, point, first + i, 1);
	return list;
}

/* ---- one point ---------------------------------------------------------- */

/*
 * Posts the receives that must exist before the first SEND arrives. `first`: this side sends first.
 * Ping-pong: one per queue pair of the other side. Bandwidth: all entries of a queue but one, at
 * each side that receives.
 */
static void post_ahead(struct endpoint *e, bool first)
{
	const struct bench_params *p = e->p;
	uint64_t n = 0;

	if (p->verb != VERB_SEND || p->core == CORE_COMPUTE)
		return;
	if (p->core == CORE_LATENCY)
		n = first ? 0 : e->n_qps;
	else if (p->core == CORE_BIDIRECTIONAL || !first)
		n = (uint64_t)(e->depth - 1) * e->n_qps;
	for (uint64_t i = 0; i < n && e->ok; i++)
		endpoint_recv(e);
}

/*
 * Warms up, and finds how many iterations the time allows: stretches that
 * double until they take a good part of it, or there were enough.
 */
static uint64_t pace(struct endpoint *e, core_fn *core)
{
	const struct bench_params *p = e->p;
	hd_time span = p->duration ? p->duration : p->limit;
	struct stretch s = { .n = 1 };
	hd_time took = 0;

	for (uint64_t next = 1; next;) {
		hd_time start = e->ops->now(e->nic);

		s.n = next;
		core(e, &s);
		took = e->ops->now(e->nic) - start;
		next = s.n < CALIBRATE && took * 4 < span ? 2 * s.n : 0;
		next = bench_agree(e, next);
	}
	uint64_t n = took ? span / (took / s.n + 1) : CALIBRATE;

	if (!p->duration && n > p->iterations)
		n = p->iterations;
	return bench_agree(e, n ? n : 1);
}

static void run_core(struct endpoint *e, core_fn *core)
{
	struct stretch s = { .n = e->p->warmup };

	if (e->p->duration || e->p->limit) {
		s.n = pace(e, core);
	} else {
		core(e, &s);
		s.n = bench_agree(e, e->p->iterations);
	}
	s.counts = true;
	if (e->ok && s.n)
		core(e, &s);
}

/* Messages between loaders and rank 1 may pass through rank 0. */
static void carry_loaders(struct endpoint *e)
{
	const struct bench_params *p = e->p;
	unsigned first = 2 + p->contenders;

	for (unsigned i = first; i < first + p->loaders && e->ok; i++) {
		if (e->ops->carry(e->nic, 1, i, ADDRESS_SIZE) != HD_OK)
			endpoint_fail(e, "cannot reach a loader");
	}
}

static void run_pair(struct nic *nic, struct bench_point *point)
{
	const struct bench_params *p = &point->params;
	bool first = nic->rank == 0;
	unsigned n_hosted = first ? p->contenders : p->loaders;
	struct endpoint e, *others;
	core_fn *core = bench_core_of(p, first);

	endpoint_open(&e, nic, point, first ? 1 : 0, p->qps);
	others = host_contenders(nic, point, first ? 2 : 2 + p->contenders, n_hosted);
	for (unsigned i = 0; i < n_hosted; i++)
		e.ok &= others[i].ok;
	if (first)
		carry_loaders(&e);
	post_ahead(&e, first);
	endpoint_barrier(&e);
	e.running = true;
	if (first)
		point->found.opened = e.ok;
	run_core(&e, core);
	if (first)
		nic->ops->finish(nic);
	endpoint_barrier(&e);
	if (first)
		point->found.done = e.ok;
	for (unsigned i = 0; i < n_hosted; i++)
		endpoint_close(&others[i]);
	free(others);
	endpoint_close(&e);
}

/* Costs that need no peer. */
static bool is_lonely(enum bench_cost cost)
{
	switch (cost) {
	case COST_QP_CREATE:
	case COST_QP_MODIFY:
	case COST_QP_DESTROY:
	case COST_CQ_CREATE:
	case COST_CQ_DESTROY:
	case COST_MR_REGISTER:
	case COST_MR_DEREGISTER:
	case COST_POLL_EMPTY:
		return true;
	default:
		return false;
	}
}

/* All ranks receive rank 0's value. */
static uint64_t announce(struct endpoint *e, uint64_t mine)
{
	unsigned n = e->nic->n_ranks;
	uint64_t said = mine;

	for (unsigned i = 1; i < n && e->nic->rank == 0 && e->ok; i++) {
		uint64_t ignored;

		endpoint_swap_number(e, i, mine, &ignored);
	}
	if (e->nic->rank != 0 && e->ok)
		endpoint_swap_number(e, 0, mine, &said);
	return e->ok ? said : 0;
}

/* All senders at once; as long as the last of them takes. */
static hd_time stream_all(struct endpoint *e, const struct stretch *s)
{
	hd_time start = e->ops->now(e->nic);

	if (e->nic->rank % 2 == 0 && e->ok)
		bench_stream(e, s);
	endpoint_barrier(e);
	return e->ops->now(e->nic) - start;
}

/* Threads of both hosts in pairs; all stream at once until the last ends. */
static void run_threads(struct nic *nic, struct bench_point *point)
{
	const struct bench_params *p = &point->params;
	hd_time span = p->duration ? p->duration : p->limit;
	struct stretch s = { .n = span ? CALIBRATE : p->warmup };
	struct bench_found *f = &point->found;
	struct endpoint e;

	endpoint_open(&e, nic, point, nic->rank ^ 1, 1);
	for (unsigned i = 2; i < nic->n_ranks && nic->rank == 0 && e.ok; i += 2)
		e.ok = nic->ops->carry(nic, i, i + 1, ADDRESS_SIZE) == HD_OK;
	endpoint_barrier(&e);
	if (nic->rank == 0)
		f->opened = e.ok;
	hd_time took = stream_all(&e, &s);
	uint64_t n = span ? span / (took / CALIBRATE + 1) + 1 : p->iterations;

	if (!p->duration && n > p->iterations)
		n = p->iterations;
	s = (struct stretch){ .n = announce(&e, n), .counts = true };
	took = stream_all(&e, &s);
	if (nic->rank == 0) {
		f->elapsed = took;
		f->messages = p->threads * s.n;
		f->bytes = f->messages * p->size;
		f->window_min = f->peak = 0; /* one thread's say nothing */
		f->done = e.ok;
	}
	endpoint_barrier(&e);
	endpoint_close(&e);
}

unsigned bench_ranks(const struct bench_params *p)
{
	if (p->core == CORE_THREADS)
		return 2 * p->threads;
	if (p->core == CORE_MULTICAST)
		return 1 + p->receivers;
	if (p->core == CORE_COST && is_lonely(p->cost))
		return 1;
	return 2 + p->contenders + p->loaders;
}

void bench_program(struct nic *nic, void *context)
{
	struct bench_point *point = context;
	const struct bench_params *p = &point->params;

	if (p->core == CORE_COST)
		cost_program(nic, point);
	else if (p->core == CORE_MULTICAST)
		bench_multicast_program(nic, point);
	else if (p->core == CORE_THREADS)
		run_threads(nic, point);
	else if (nic->rank < 2)
		run_pair(nic, point);
	else
		contend(nic, point, nic->rank < 2 + p->contenders ? 0 : 1);
}
