/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/multicast/mcast_choose.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "subnet/routing/deadlock.h"

/* In the order of preference where loads are equal: fewest MLIDs first. */
static const enum mcast_method kinds[] = { MCAST_SHARED, MCAST_UNION, MCAST_SHORTEST };
#define N_KINDS 3

struct chooser {
	struct subnet *s;
	const struct mcast_group *wanted;
	uint32_t n;
	uint32_t n_before;      /* groups of others */
	struct mcast_load base; /* of others, and of what is chosen so far */
	struct mcast_load more;
};

/* Cost of one choice of trees for all groups. */
struct worth {
	bool fits;
	uint32_t cycle;
	uint32_t n_mlids;
	struct mcast_peak peak;
};

static uint32_t n_senders(const struct mcast_group *m)
{
	return m->source != TOPO_NONE ? 1 : m->n_members;
}

static port_id sender_of(const struct mcast_group *m, uint32_t i)
{
	return m->source != TOPO_NONE ? m->source : m->members[i];
}

/* All trees that a group needs; none are left if one cannot be had. */
static enum hd_status add(struct chooser *c, const struct mcast_group *wanted,
			  enum mcast_method method, struct diag *d)
{
	struct mcast_group m = *wanted;
	uint32_t before = c->s->n_groups, n = n_senders(wanted);
	enum hd_status status = HD_OK;

	m.method = method;
	if (m.n_members == 0)
		return diag_fail(d, HD_ERR_INPUT, "multicast: a group needs members");
	if (method == MCAST_SHARED) {
		if (m.source != TOPO_NONE &&
		    !topo_port_is_among(wanted->members, wanted->n_members, m.source))
			return diag_fail(d, HD_ERR_UNFIT,
					 "multicast: a sender must be a member of a shared tree");
		return mcast_add(c->s, &m, d);
	}
	if (n > mcast_mlids_left(c->s, m.subnet))
		return diag_fail(d, HD_ERR_FULL,
				 "multicast: a tree per source needs %u MLIDs, %u are left", n,
				 mcast_mlids_left(c->s, m.subnet));
	for (uint32_t i = 0; i < n && status == HD_OK; i++) {
		m.source = sender_of(wanted, i);
		status = mcast_add(c->s, &m, d);
	}
	if (status != HD_OK)
		mcast_drop(c->s, before);
	return status;
}

/* Adds one message of each sender along the trees of groups from `first` on. */
static bool load(const struct chooser *c, struct mcast_load *l, const struct mcast_group *wanted,
		 uint32_t first)
{
	const struct mcast_group *groups = &c->s->groups[first];
	bool shared = groups[0].method == MCAST_SHARED;

	for (uint32_t i = 0; i < n_senders(wanted); i++) {
		if (!mcast_load_tree(l, sender_of(wanted, i), groups[shared ? 0 : i].mlid))
			return false;
	}
	return true;
}

/* The peak of the base and what is loaded besides. */
static struct mcast_peak peak_of_both(struct chooser *c)
{
	uint32_t n = c->s->topo->n_ports;

	for (port_id p = 0; p < n; p++)
		c->more.sent[p] += c->base.sent[p];
	struct mcast_peak peak = mcast_load_peak(&c->more);

	for (port_id p = 0; p < n; p++)
		c->more.sent[p] -= c->base.sent[p];
	return peak;
}

static bool is_lighter(const struct mcast_peak *a, const struct mcast_peak *b)
{
	return a->link != b->link ? a->link < b->link : a->total < b->total;
}

static uint32_t cycle_of(const struct subnet *s)
{
	struct deadlock_check lock;

	route_check_deadlock(s, DEADLOCK_PLAIN, &lock);
	uint32_t n = lock.n_cycle;

	route_deadlock_fini(&lock);
	return n;
}

/* Builds all groups by these methods, evaluates them, and removes them. */
static struct worth weigh(struct chooser *c, const enum mcast_method *methods)
{
	struct worth w = { .fits = true };
	struct diag d = { .status = HD_OK };

	mcast_load_clear(&c->more);
	for (uint32_t i = 0; i < c->n && w.fits; i++) {
		uint32_t first = c->s->n_groups;

		w.fits = add(c, &c->wanted[i], methods[i], &d) == HD_OK &&
			 load(c, &c->more, &c->wanted[i], first);
	}
	if (w.fits) {
		w.peak = peak_of_both(c);
		w.n_mlids = c->s->n_groups - c->n_before;
		w.cycle = cycle_of(c->s);
	}
	mcast_drop(c->s, c->n_before);
	return w;
}

/* The kind that loads least on top of the groups before; the last refusal. */
static enum hd_status choose_next(struct chooser *c, uint32_t i, enum mcast_method *method,
				  struct diag *d)
{
	enum hd_status status = HD_ERR_UNFIT;
	struct mcast_peak best = { 0 };
	bool found = false;

	for (unsigned k = 0; k < N_KINDS; k++) {
		uint32_t first = c->s->n_groups;
		struct diag why = { .status = HD_OK };

		status = add(c, &c->wanted[i], kinds[k], &why);
		if (status != HD_OK && !found)
			*d = why;
		if (status != HD_OK)
			continue;
		mcast_load_clear(&c->more);
		bool ends = load(c, &c->more, &c->wanted[i], first);
		struct mcast_peak peak = peak_of_both(c);

		if (ends && (!found || is_lighter(&peak, &best))) {
			best = peak;
			*method = kinds[k];
			found = true;
		}
		mcast_drop(c->s, first);
	}
	if (!found)
		return d->status;
	uint32_t first = c->s->n_groups;

	status = add(c, &c->wanted[i], *method, d);
	if (status == HD_OK)
		load(c, &c->base, &c->wanted[i], first);
	return status;
}

/* Improves one group after the other. */
static enum hd_status choose_each(struct chooser *c, enum mcast_method *methods, struct diag *d)
{
	size_t size = c->s->topo->n_ports * sizeof(*c->base.sent);
	uint64_t *kept = hd_alloc(c->s->topo->n_ports, sizeof(*kept));
	enum hd_status status = HD_OK;

	memcpy(kept, c->base.sent, size);
	for (uint32_t i = 0; i < c->n && status == HD_OK; i++)
		status = choose_next(c, i, &methods[i], d);
	mcast_drop(c->s, c->n_before);
	memcpy(c->base.sent, kept, size);
	free(kept);
	return status;
}

static bool is_better(const struct worth *a, const struct worth *b)
{
	if (!a->fits || !b->fits)
		return a->fits;
	if ((a->cycle == 0) != (b->cycle == 0))
		return a->cycle == 0;
	if (is_lighter(&a->peak, &b->peak) || is_lighter(&b->peak, &a->peak))
		return is_lighter(&a->peak, &b->peak);
	return a->n_mlids < b->n_mlids;
}

/* Uses one kind of tree for all groups if that is better. */
static void try_kind(struct chooser *c, enum mcast_method kind, struct mcast_choice *out,
		     struct worth *best)
{
	enum mcast_method *methods = hd_alloc(c->n, sizeof(*methods));

	for (uint32_t i = 0; i < c->n; i++)
		methods[i] = kind;
	struct worth w = weigh(c, methods);

	if (kind == MCAST_SHARED) {
		out->shared_fits = w.fits;
		out->shared = w.peak;
		out->shared_cycle = w.cycle;
	}
	if (is_better(&w, best)) {
		*best = w;
		memcpy(out->methods, methods, c->n * sizeof(*methods));
	}
	free(methods);
}

static void chooser_init(struct chooser *c)
{
	mcast_load_init(&c->base, c->s);
	mcast_load_init(&c->more, c->s);
	for (uint32_t i = 0; i < c->n_before; i++) {
		const struct mcast_group *m = &c->s->groups[i];

		for (uint32_t k = 0; k < n_senders(m); k++)
			mcast_load_tree(&c->base, sender_of(m, k), m->mlid);
	}
}

enum hd_status mcast_choose(struct subnet *s, const struct mcast_group *wanted, uint32_t n,
			    struct diag *d, struct mcast_choice *out)
{
	struct chooser c = { .s = s, .wanted = wanted, .n = n, .n_before = s->n_groups };
	struct worth best = { .fits = false };

	*out = (struct mcast_choice){ .methods = hd_alloc(n, sizeof(*out->methods)), .n = n };
	chooser_init(&c);
	enum hd_status status = choose_each(&c, out->methods, d);

	if (status == HD_OK) {
		best = weigh(&c, out->methods);
		for (unsigned k = 0; k < N_KINDS; k++)
			try_kind(&c, kinds[k], out, &best);
	}
	for (uint32_t i = 0; i < n && status == HD_OK; i++)
		status = add(&c, &wanted[i], out->methods[i], d);
	out->chosen = best.peak;
	out->chosen_cycle = best.cycle;
	out->n_mlids = best.n_mlids;
	mcast_load_fini(&c.base);
	mcast_load_fini(&c.more);
	if (status != HD_OK) {
		mcast_drop(s, c.n_before);
		mcast_choice_fini(out);
	}
	return status;
}

void mcast_choice_fini(struct mcast_choice *c)
{
	free(c->methods);
	*c = (struct mcast_choice){ .methods = NULL };
}
