/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/tables/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "qos/tables/contention.h"
#include "qos/tables/shares.h"

#define LIMIT_MOST 254u /* the greatest that is a limit */

struct plan_work {
	const struct plan_class *classes;
	unsigned n;
	const struct plan_link *link;
	struct shares_vl packets[N_DATA_VLS];
	unsigned users[N_DATA_VLS];               /* classes on the VL */
	double high[N_DATA_VLS], low[N_DATA_VLS]; /* required, per VL */
	double high_sum, low_sum;
};

static double share_of(const struct plan_class *c)
{
	return c->share.den ? (double)c->share.num / (double)c->share.den : 0;
}

static enum hd_status check(const struct plan_class *classes, unsigned n, struct diag *d)
{
	double sum = 0;

	if (n == 0 || n > N_SLS - 1)
		return diag_fail(d, HD_ERR_RANGE, "%u classes; a plan has 1 to %u", n, N_SLS - 1);
	for (unsigned i = 0; i < n; i++) {
		double share = share_of(&classes[i]);

		if (!(share > 0) || share > 1)
			return diag_fail(d, HD_ERR_RANGE,
					 "class '%s' needs a share above 0 and at most 100%%",
					 classes[i].name);
		if (classes[i].payload > 4096)
			return diag_fail(
				d, HD_ERR_RANGE,
				"class '%s': payload %u is more than the largest MTU, 4096",
				classes[i].name, classes[i].payload);
		sum += share;
	}
	if (sum > 1 + 1e-9)
		return diag_fail(d, HD_ERR_RANGE, "the shares add up to %.4g%% of the link",
				 100 * sum);
	return HD_OK;
}

/* The class that programs without an SL use: marked, pinned to SL 0, or chosen. */
static enum hd_status choose_default(const struct plan_class *classes, unsigned n, struct diag *d,
				     unsigned *out)
{
	unsigned found = n;

	for (unsigned i = 0; i < n; i++) {
		const struct plan_class *c = &classes[i];

		if (c->is_default && c->has_sl && c->sl != 0)
			return diag_fail(
				d, HD_ERR_INPUT,
				"class '%s' is the default, which has SL 0: remove 'default' or SL %u",
				c->name, c->sl);
		if (!c->is_default && !(c->has_sl && c->sl == 0))
			continue;
		if (found < n)
			return diag_fail(
				d, HD_ERR_INPUT,
				"classes '%s' and '%s' both have SL 0, which programs that set no SL use",
				classes[found].name, c->name);
		found = i;
	}
	for (unsigned i = 0; found == n && i < n; i++) {
		bool is_free = !classes[i].has_sl;

		if (is_free && (*out == n || (classes[*out].latency && !classes[i].latency) ||
				(classes[*out].latency == classes[i].latency &&
				 share_of(&classes[i]) > share_of(&classes[*out]))))
			*out = i;
	}
	if (found < n)
		*out = found;
	return HD_OK;
}

/* SLs of all classes: pinned ones, 0 for the default class, then the lowest free ones. */
static enum hd_status choose_sls(const struct plan_class *classes, unsigned n, struct diag *d,
				 struct plan *plan)
{
	unsigned used[N_SLS] = { 0 }; /* 1 + class */

	plan->default_class = n;
	if (choose_default(classes, n, d, &plan->default_class) != HD_OK)
		return d->status;
	for (unsigned i = 0; i < n; i++) {
		const struct plan_class *c = &classes[i];

		if (!c->has_sl && i != plan->default_class)
			continue;
		uint8_t sl = i == plan->default_class ? 0 : c->sl;

		if (used[sl])
			return diag_fail(d, HD_ERR_INPUT, "classes '%s' and '%s' both have SL %u",
					 classes[used[sl] - 1].name, c->name, sl);
		used[sl] = i + 1;
		plan->outcome[i].sl = sl;
	}
	for (unsigned i = 0, next = 0; i < n; i++) {
		if (classes[i].has_sl || i == plan->default_class)
			continue;
		while (used[next] || (next == 0 && plan->default_class < n))
			next++;
		used[next] = i + 1;
		plan->outcome[i].sl = (uint8_t)next;
	}
	return HD_OK;
}

/* With one VL there is no arbitration and no priority. */
static bool is_high(const struct plan_work *w, unsigned class)
{
	return w->classes[class].latency && w->link->vls > 1;
}

/*
 * Assigns VLs in the order of classes. If there are too few, latency classes share VLs with each
 * other, and so do other classes, starting with the last VL of each kind; latency classes first,
 * because they delay each other little.
 */
static void choose_vls(const struct plan_work *w, struct plan *plan)
{
	unsigned count[2] = { 0 }, most[2], used[2] = { 0 }, next = 0;
	uint8_t vl[2] = { 0 };

	for (unsigned i = 0; i < w->n; i++)
		count[is_high(w, i)]++;
	most[0] = w->link->vls - (count[1] > 0);
	most[0] = count[0] < most[0] ? count[0] : most[0];
	most[1] = w->link->vls - most[0];
	for (unsigned i = 0; i < w->n; i++) {
		bool high = is_high(w, i);

		if (used[high] < most[high]) {
			vl[high] = (uint8_t)next++;
			used[high]++;
		} else {
			strbuf_printf(
				&plan->remarks,
				"class '%s' shares VL %u with another class and has no guaranteed share there: links have %u VLs\n",
				w->classes[i].name, vl[high], w->link->vls);
		}
		plan->outcome[i].vl = vl[high];
	}
}

/* The class of SLs without one: the least urgent. */
static unsigned least_class(const struct plan_work *w)
{
	unsigned least = 0;

	for (unsigned i = 1; i < w->n; i++) {
		bool calmer = is_high(w, least) && !is_high(w, i);
		bool alike = is_high(w, least) == is_high(w, i);

		if (calmer || (alike && share_of(&w->classes[i]) <= share_of(&w->classes[least])))
			least = i;
	}
	return least;
}

static void assign(struct plan_work *w, struct plan *plan)
{
	choose_vls(w, plan);
	for (unsigned i = 0; i < w->n; i++) {
		const struct plan_class *c = &w->classes[i];
		struct plan_outcome *o = &plan->outcome[i];
		struct shares_vl *packets = &w->packets[o->vl];
		uint32_t bytes = c->payload + w->link->overhead;

		o->wanted = share_of(c);
		w->users[o->vl]++;
		packets->size[packets->n].bytes = bytes;
		packets->size[packets->n++].part = o->wanted / bytes;
		(is_high(w, i) ? w->high : w->low)[o->vl] += o->wanted;
		*(is_high(w, i) ? &w->high_sum : &w->low_sum) += o->wanted;
	}
	for (unsigned vl = 0; vl < N_DATA_VLS; vl++) {
		double packets = 0;

		for (unsigned k = 0; k < w->packets[vl].n; k++)
			packets += w->packets[vl].size[k].part;
		for (unsigned k = 0; k < w->packets[vl].n; k++)
			w->packets[vl].size[k].part /= packets;
	}
	uint8_t rest = plan->outcome[least_class(w)].vl;

	for (unsigned sl = 0; sl < N_SLS; sl++)
		plan->tables.sl2vl.vl[sl] = rest;
	for (unsigned i = 0; i < w->n; i++)
		plan->tables.sl2vl.vl[plan->outcome[i].sl] = plan->outcome[i].vl;
}

/* The largest packet of the VLs with wanted[vl] > 0. */
static uint32_t largest_packet(const struct plan_work *w, const double *wanted)
{
	uint32_t bytes = 0;

	for (unsigned vl = 0; vl < N_DATA_VLS; vl++) {
		for (unsigned k = 0; wanted[vl] > 0 && k < w->packets[vl].n; k++)
			bytes = w->packets[vl].size[k].bytes > bytes ? w->packets[vl].size[k].bytes
								     : bytes;
	}
	return bytes;
}

/* The guaranteed share of each VL under that limit. */
static void floors(const struct plan_work *w, const struct vlarb *arb, unsigned limit,
		   double floor[N_DATA_VLS])
{
	struct contention c = { .vls = w->link->vls, .vlarb = *arb };

	c.vlarb.high_limit = (uint8_t)limit;
	memcpy(c.packets, w->packets, sizeof(c.packets));
	contention_floors(&c, floor);
}

static const char *name_on(const struct plan_work *w, const struct plan *plan, unsigned vl)
{
	unsigned i = 0;

	while (plan->outcome[i].vl != vl)
		i++;
	return w->classes[i].name;
}

/* Fills one of the two tables; reports the required size if there is no room. */
static enum hd_status fill_table(const struct plan_work *w, bool high, struct diag *d,
				 struct plan *plan)
{
	struct vlarb *arb = &plan->tables.vlarb;
	const double *wanted = high ? w->high : w->low;
	double portion = high ? 1 : 1 - w->high_sum;
	struct vlarb_entry larger[VLARB_MAX];
	struct shares_fit fit = shares_weights(wanted, portion, w->packets, w->link->entries,
					       high ? arb->high : arb->low);
	unsigned vls = 0;

	*(high ? &arb->n_high : &arb->n_low) = (uint8_t)fit.n;
	if (fit.n && fit.short_by <= SHARES_NEAR + 1e-9)
		return HD_OK;
	for (unsigned vl = 0; vl < N_DATA_VLS; vl++)
		vls += wanted[vl] > 0;
	if (!fit.n)
		return diag_fail(d, HD_ERR_RANGE, "%u VLs need an entry each, and a table has %u",
				 vls, w->link->entries);
	struct shares_fit enough = shares_weights(wanted, portion, w->packets, VLARB_MAX, larger);
	double best = 100 * (wanted[fit.worst] - fit.short_by);

	if (enough.short_by <= SHARES_NEAR + 1e-9)
		return diag_fail(
			d, HD_ERR_RANGE,
			"class '%s' wants %.2f%%, tables of %u entries give it %.2f%% at most: this takes %u entries",
			name_on(w, plan, fit.worst), 100 * wanted[fit.worst], w->link->entries,
			best, enough.n);
	return diag_fail(
		d, HD_ERR_RANGE,
		"class '%s' wants %.2f%%, tables of %u entries give it %.2f%% at most, next to packets of %u bytes",
		name_on(w, plan, fit.worst), 100 * wanted[fit.worst], w->link->entries, best,
		largest_packet(w, wanted));
}

/* The lowest limit at which no latency class can be kept from its share. */
static enum hd_status choose_limit(const struct plan_work *w, struct plan *plan, struct diag *d)
{
	struct vlarb *arb = &plan->tables.vlarb;
	double floor[N_DATA_VLS];
	unsigned limit = 0, vl = 0;

	/* Weights of several packets have no effect if only one packet may pass. */
	for (unsigned i = 0; i < arb->n_high; i++)
		limit |= arb->high[i].weight > SHARES_LARGEST;
	if (limit < w->link->least_limit)
		limit = w->link->least_limit;
	arb->high_limit = (uint8_t)limit;
	if (!arb->n_high || !arb->n_low)
		return HD_OK;
	for (;; limit++) {
		floors(w, arb, limit, floor);
		for (vl = 0; vl < N_DATA_VLS; vl++) {
			if (floor[vl] < w->high[vl] - SHARES_NEAR)
				break;
		}
		if (vl == N_DATA_VLS || limit == LIMIT_MOST)
			break;
	}
	if (vl < N_DATA_VLS)
		return diag_fail(
			d, HD_ERR_RANGE,
			"class '%s' wants %.2f%% before the others, the greatest limit gives it %.2f%%: a packet of %u bytes passes after each %u x 4096",
			name_on(w, plan, vl), 100 * w->high[vl], 100 * floor[vl],
			largest_packet(w, w->low), LIMIT_MOST);
	arb->high_limit = (uint8_t)limit;
	return HD_OK;
}

static void predict(const struct plan_work *w, struct plan *plan)
{
	const struct vlarb *arb = &plan->tables.vlarb;
	double floor[N_DATA_VLS], low[N_DATA_VLS], least = 0;

	floors(w, arb, arb->high_limit, floor);
	shares_achieved(arb->low, arb->n_low, w->packets, low);
	for (unsigned i = 0; i < w->n; i++) {
		struct plan_outcome *o = &plan->outcome[i];
		bool high = is_high(w, i);
		double vl = high ? w->high[o->vl] : w->low[o->vl];
		/* Classes of one VL divide its share. */
		double part = o->wanted / vl;

		o->floor = w->users[o->vl] > 1 ? 0 : floor[o->vl];
		o->achieved = high ? fmin(o->wanted, part * floor[o->vl])
				   : part * (1 - w->high_sum) * low[o->vl];
	}
	for (unsigned vl = 0; vl < N_DATA_VLS; vl++)
		least += w->low[vl] > 0 ? floor[vl] : 0;
	if (arb->n_high && arb->n_low && 1 - least > w->high_sum + SHARES_NEAR)
		strbuf_printf(
			&plan->remarks,
			"latency classes that send more than their share can take up to %.1f%% of the link\n",
			100 * (1 - least));
	if (w->link->vls == 1)
		strbuf_puts(&plan->remarks,
			    "with one VL nothing is arbitrated: who sends most gets most\n");
}

enum hd_status plan_make(const struct plan_class *classes, unsigned n, const struct plan_link *link,
			 struct diag *d, struct plan *out)
{
	struct plan_work w = { .classes = classes, .n = n, .link = link };
	struct plan plan = { .tables.vls = link->vls, .remarks = STRBUF_INIT };
	enum hd_status status = check(classes, n, d);

	if (status == HD_OK)
		status = choose_sls(classes, n, d, &plan);
	if (status != HD_OK)
		return status;
	assign(&w, &plan);
	if (w.high_sum > 0)
		status = fill_table(&w, true, d, &plan);
	if (status == HD_OK && w.low_sum > 0)
		status = fill_table(&w, false, d, &plan);
	if (status == HD_OK)
		status = choose_limit(&w, &plan, d);
	if (status != HD_OK) {
		plan_fini(&plan);
		return status;
	}
	predict(&w, &plan);
	*out = plan;
	return HD_OK;
}

void plan_fini(struct plan *plan)
{
	strbuf_fini(&plan->remarks);
}

static enum hd_status read_share(const char *text, struct diag *d, struct plan_class *c)
{
	enum hd_status status = hd_ratio_parse(text, d, &c->share);

	if (status == HD_OK && !strchr(text, '%') && share_of(c) > 1 && share_of(c) <= 100)
		return diag_fail(d, HD_ERR_RANGE,
				 "class '%s': a share of %s is %s times the link; write %s%%",
				 c->name, text, text, text);
	return status;
}

static enum hd_status read_payload(const char *text, uint32_t mtu, struct diag *d,
				   struct plan_class *c)
{
	uint64_t size;

	if (hd_size_parse(text, d, &size) != HD_OK)
		return d->status;
	if (size == 0 || size > mtu)
		return diag_fail(d, HD_ERR_RANGE,
				 "class '%s': packets have 1 to %u bytes of payload", c->name, mtu);
	if (c->payload)
		return diag_fail(d, HD_ERR_INPUT,
				 "class '%s': two packet sizes, %u and %s; give one", c->name,
				 c->payload, text);
	c->payload = (uint32_t)size;
	return HD_OK;
}

/* The rest of "sl=N". */
static enum hd_status read_sl(const char *text, struct diag *d, struct plan_class *c)
{
	char *end;
	unsigned long sl = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || sl >= N_SLS)
		return diag_fail(d, HD_ERR_RANGE, "class '%s': an SL is 0 to 15, not '%.20s'",
				 c->name, text);
	c->has_sl = true;
	c->sl = (uint8_t)sl;
	return HD_OK;
}

/* "name=share[,latency][,payload][,sl=N][,default]"; cuts `word` up. */
static enum hd_status read_class(char *word, uint32_t mtu, struct diag *d, struct plan_class *out)
{
	struct plan_class c = { .name = word };
	char *equals = strchr(word, '='), *rest = NULL;

	if (!equals || equals == word)
		return diag_fail(d, HD_ERR_INPUT,
				 "'%s' is not a class (expected name=share, e.g. mpi=70%%)", word);
	*equals = '\0';
	for (char *part = strtok_r(equals + 1, ",", &rest); part;
	     part = strtok_r(NULL, ",", &rest)) {
		enum hd_status status = HD_OK;

		if (strcmp(part, "latency") == 0)
			c.latency = true;
		else if (strcmp(part, "default") == 0)
			c.is_default = true;
		else if (strncmp(part, "sl=", 3) == 0)
			status = read_sl(part + 3, d, &c);
		else if (!c.share.den)
			status = read_share(part, d, &c);
		else
			status = read_payload(part, mtu, d, &c);
		if (status != HD_OK)
			return status;
	}
	if (!c.payload)
		c.payload = mtu;
	*out = c;
	return HD_OK;
}

enum hd_status plan_classes_read(char **words, unsigned n, uint32_t mtu, struct diag *d,
				 struct plan_class *out)
{
	for (unsigned i = 0; i < n; i++) {
		if (read_class(words[i], mtu, d, &out[i]) != HD_OK)
			return d->status;
		for (unsigned k = 0; k < i; k++) {
			if (strcmp(out[k].name, out[i].name) == 0)
				return diag_fail(d, HD_ERR_INPUT, "class '%s' is given twice",
						 out[i].name);
		}
	}
	return HD_OK;
}
