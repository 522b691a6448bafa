/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/collective/study.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "fabric/fabric.h"
#include "subnet/direction.h"

const char *const study_source_names[N_STUDY_SOURCES + 1] = { "one", "40%",
							      "100%" };
const char *const study_group_names[N_STUDY_GROUPS + 1] = { "40%", "100%" };
const char *const study_use_names[N_STUDY_USES + 1] = { "single", "free by SL",
							"free by packet",
							"dedicated" };
const char *const coll_scheme_names[N_COLL_SCHEMES + 1] = { "unicast",
							    "multicast" };

#define STREAM_DRAWS 0x50000000

void mcast_study_plan_init(struct mcast_study_plan *p)
{
	*p = (struct mcast_study_plan){
		.columns = 16,
		.rows = 16,
		.n_sizes = STUDY_MAX_SIZES,
		.n_seeds = 10,
		.seed = 1,
		.first = 10,
		.last = 27,
		.order = "voq",
		.buffer = 2,
	};
	for (uint32_t i = 0; i < STUDY_MAX_SIZES; i++)
		p->sizes[i] = UINT64_C(32) << i;
}

void mcast_study_plan_quick(struct mcast_study_plan *p)
{
	mcast_study_plan_init(p);
	p->columns = p->rows = 8;
	p->n_seeds = 3;
	p->n_sizes = 3;
	p->sizes[0] = 32;
	p->sizes[1] = 512;
	p->sizes[2] = 8192;
}

/* ---- the points --------------------------------------------------------- */

static void add_points(struct mcast_study *s,
		       const struct mcast_study_point *like)
{
	for (uint32_t i = 0; i < s->plan.n_sizes; i++) {
		struct mcast_study_point *p = &s->points[s->n_points++];

		*p = *like;
		p->bytes = s->plan.sizes[i];
	}
}

static void list_points(struct mcast_study *s)
{
	uint32_t figures = s->plan.last - s->plan.first + 1;

	s->points = hd_alloc((size_t)figures * N_STUDY_USES * s->plan.n_sizes,
			     sizeof(*s->points));
	for (uint32_t f = s->plan.first; f <= s->plan.last; f++) {
		struct mcast_study_point like = {
			.figure = f,
			.sources = (f - 10) / 6,
			.group = (f - 10) / 3 % 2,
			.lanes = 1u << (f - 10) % 3,
		};

		if (like.lanes == 1) {
			like.use = USE_SINGLE;
			add_points(s, &like);
			continue;
		}
		for (like.use = USE_BY_SL; like.use < N_STUDY_USES; like.use++)
			add_points(s, &like);
	}
}

static bool same_point(const struct mcast_study_point *a,
		       const struct mcast_study_point *b)
{
	return a->sources == b->sources && a->group == b->group &&
	       a->lanes == b->lanes && a->use == b->use && a->bytes == b->bytes;
}

const struct mcast_study_point *
mcast_study_find(const struct mcast_study *s,
		 const struct mcast_study_point *like)
{
	for (uint32_t i = 0; i < s->n_points; i++) {
		if (same_point(&s->points[i], like))
			return &s->points[i];
	}
	return NULL;
}

/* ---- one point ---------------------------------------------------------- */

struct lab {
	struct mcast_study *s;
	struct fabric *f;
	uint32_t n; /* hosts */
	port_id *hosts;
	port_id *sources, *members;
	uint32_t *order;
	struct coll_op op;
};

static enum hd_status
lab_init(struct lab *lab, const struct mcast_study_point *p, struct diag *d)
{
	const struct mcast_study_plan *plan = &lab->s->plan;
	struct strbuf text = STRBUF_INIT;
	uint64_t packet = p->bytes < 4096 ? p->bytes : 4096;

	strbuf_printf(&text,
		      "fabric:\n"
		      "  topology: {kind: node-mesh, columns: %u, rows: %u}\n"
		      "  link: {rate: 2Gb/s, propagation: 5ns}\n"
		      "  switch: {routing: 95ns, arbitration: 0ns, order: %s,"
		      " input_buffer: %u packets}\n"
		      "  packet: {overhead: %u}\n"
		      "  routing: {engine: xy, lids: paper}\n"
		      "qos: {lanes: %u}\n"
		      "traffic: [{name: op, kind: messages, payload: %u}]\n",
		      plan->columns, plan->rows, plan->order, plan->buffer,
		      plan->overhead + plan->grh, p->lanes, (unsigned)packet);
	enum hd_status status =
		fabric_load(text.text, strlen(text.text), "multicast study",
			    NULL, d, &lab->f);

	strbuf_fini(&text);
	if (status != HD_OK)
		return status;
	if (p->use == USE_DEDICATED) {
		status = direction_set_lanes(
			&lab->f->subnet,
			p->lanes == 2 ? &lanes_ne_sw : &lanes_n_e_s_w, d);
		if (status != HD_OK)
			fabric_free(lab->f);
	}
	return status;
}

static void lab_hosts(struct lab *lab)
{
	const struct selection *hosts = selector_hosts(lab->f->selector);

	lab->n = hosts->n;
	lab->hosts = hosts->ports;
	lab->sources = hd_alloc(lab->n, sizeof(*lab->sources));
	lab->members = hd_alloc(lab->n, sizeof(*lab->members));
	lab->order = hd_alloc(lab->n, sizeof(*lab->order));
}

static void lab_fini(struct lab *lab)
{
	free(lab->sources);
	free(lab->members);
	free(lab->order);
	fabric_free(lab->f);
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* The first `n` of a random order, in the order of the fabric. */
static uint32_t draw(struct lab *lab, struct rng *rng, uint32_t n,
		     uint32_t without, port_id *out)
{
	uint32_t m = 0;

	for (uint32_t i = 0; i < lab->n; i++) {
		if (i != without)
			lab->order[m++] = i;
	}
	rng_shuffle(rng, lab->order, m);
	if (n > m)
		n = m;
	qsort(lab->order, n, sizeof(*lab->order), by_number);
	for (uint32_t i = 0; i < n; i++)
		out[i] = lab->hosts[lab->order[i]];
	return n;
}

/* Depends on seed, sources and group only. */
static void draw_operation(struct lab *lab, const struct mcast_study_point *p,
			   uint64_t seed)
{
	uint32_t share = lab->n * 2 / 5, lone = UINT32_MAX;
	struct rng rng;

	rng_init(&rng, seed, STREAM_DRAWS + p->sources * 2u + p->group);
	if (p->sources == STUDY_ONE) {
		lone = (uint32_t)rng_below(&rng, lab->n);
		lab->sources[0] = lab->hosts[lone];
		lab->op.n_sources = 1;
	} else {
		lab->op.n_sources = draw(
			lab, &rng, p->sources == STUDY_ALL ? lab->n : share,
			UINT32_MAX, lab->sources);
	}
	/* A lone source's group has that many others in it. */
	lab->op.n_members = draw(
		lab, &rng, p->group == STUDY_EVERYONE ? lab->n : share,
		p->group == STUDY_EVERYONE ? UINT32_MAX : lone, lab->members);
	lab->op.sources = lab->sources;
	lab->op.members = lab->members;
}

static enum hd_status run_scheme(struct lab *lab, struct mcast_study_point *p,
				 uint32_t k, enum coll_scheme scheme,
				 struct diag *d)
{
	const struct sim_setup *setup = &lab->f->setup;
	struct subnet *subnet = &lab->f->subnet;
	struct coll_result r;
	enum hd_status status =
		coll_run(setup, subnet, &lab->op, scheme, d, &r);

	if (status != HD_OK)
		return status;
	p->completion[scheme][k] = (double)r.completion / HD_US;
	p->mean[scheme][k] = r.mean / HD_US;
	p->bound[scheme][k] =
		(double)coll_bound(setup, subnet, &lab->op, scheme) / HD_US;
	p->faults += r.n_lacking + r.duplicates + r.strays + r.out_of_order;
	lab->s->hops += r.hops;
	coll_result_fini(&r);
	return HD_OK;
}

static void repeat_first(struct mcast_study_point *p, uint32_t k)
{
	for (unsigned i = 0; i < N_COLL_SCHEMES; i++) {
		p->completion[i][k] = p->completion[i][0];
		p->mean[i][k] = p->mean[i][0];
		p->bound[i][k] = p->bound[i][0];
	}
	p->speedup[k] = p->speedup[0];
}

static enum hd_status run_point(struct mcast_study *s,
				struct mcast_study_point *p, struct diag *d)
{
	struct lab lab = { .s = s };
	enum hd_status status = lab_init(&lab, p, d);

	if (status != HD_OK)
		return status;
	lab_hosts(&lab);
	lab.op = (struct coll_op){
		.bytes = p->bytes,
		.mtu = 4096,
		.overhead = s->plan.overhead,
		.grh = s->plan.grh,
		.lanes = (uint8_t)(p->use == USE_DEDICATED ? 1 : p->lanes),
		.per_packet = p->use == USE_BY_PACKET,
		.tree = MCAST_XY,
	};
	/* Where nothing is drawn, all seeds give the same. */
	bool drawn = p->sources != STUDY_ALL || p->group != STUDY_EVERYONE;

	for (uint32_t k = 0; k < s->plan.n_seeds && status == HD_OK; k++) {
		if (k > 0 && !drawn) {
			repeat_first(p, k);
			continue;
		}
		draw_operation(&lab, p, s->plan.seed + k);
		status = run_scheme(&lab, p, k, COLL_UNICAST, d);
		if (status == HD_OK)
			status = run_scheme(&lab, p, k, COLL_MULTICAST, d);
		p->speedup[k] = p->completion[COLL_UNICAST][k] /
				p->completion[COLL_MULTICAST][k];
	}
	lab_fini(&lab);
	return status;
}

enum hd_status mcast_study_run(struct mcast_study *s,
			       const struct mcast_study_plan *plan,
			       study_progress_fn *progress, void *context,
			       struct diag *d)
{
	enum hd_status status = HD_OK;

	*s = (struct mcast_study){ .plan = *plan };
	list_points(s);
	for (uint32_t i = 0; i < s->n_points && status == HD_OK; i++) {
		status = run_point(s, &s->points[i], d);
		if (progress && !progress(context, i + 1, s->n_points)) {
			s->n_points = i + 1;
			break;
		}
	}
	if (status != HD_OK)
		mcast_study_fini(s);
	return status;
}

void mcast_study_fini(struct mcast_study *s)
{
	free(s->points);
	*s = (struct mcast_study){ .points = NULL };
}
