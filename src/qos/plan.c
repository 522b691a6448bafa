/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/plan.h"

#include <math.h>

#include "qos/shares.h"

#define LIMIT_UNIT 4096.0 /* bytes per step of LimitOfHighPriority */

struct work {
	const struct plan_class *classes;
	unsigned n, vls;
	uint32_t bytes[N_DATA_VLS]; /* the largest packet of each lane */
	double high[N_DATA_VLS], low[N_DATA_VLS]; /* wanted, per lane */
	double high_sum, low_sum;
};

static double share_of(const struct plan_class *c)
{
	return c->share.den ? (double)c->share.num / (double)c->share.den : 0;
}

static enum hd_status check(const struct plan_class *classes, unsigned n,
			    struct diag *d)
{
	double sum = 0;

	if (n == 0 || n > N_SLS - 1)
		return diag_fail(d, HD_ERR_RANGE,
				 "%u classes; a plan has 1 to %u", n,
				 N_SLS - 1);
	for (unsigned i = 0; i < n; i++) {
		double share = share_of(&classes[i]);

		if (!(share > 0) || share > 1)
			return diag_fail(
				d, HD_ERR_RANGE,
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
		return diag_fail(d, HD_ERR_RANGE,
				 "the shares add up to %.4g%% of the link",
				 100 * sum);
	return HD_OK;
}

/* Lanes in the order of the classes; the last lane takes the rest. */
static void assign(struct work *w, uint32_t overhead, struct plan *plan)
{
	for (unsigned sl = 0; sl < N_SLS; sl++) {
		unsigned i = sl < w->n ? sl : w->n - 1;
		unsigned vl = i < w->vls ? i : w->vls - 1;

		plan->tables.sl2vl.vl[sl] = (uint8_t)vl;
		if (sl >= w->n)
			continue;
		const struct plan_class *c = &w->classes[i];
		uint32_t bytes = c->payload + overhead;

		plan->outcome[i].sl = (uint8_t)sl;
		plan->outcome[i].vl = (uint8_t)vl;
		plan->outcome[i].wanted = share_of(c);
		if (bytes > w->bytes[vl])
			w->bytes[vl] = bytes;
		(c->latency ? w->high : w->low)[vl] += share_of(c);
		*(c->latency ? &w->high_sum : &w->low_sum) += share_of(c);
		if (i >= w->vls)
			strbuf_printf(
				&plan->remarks,
				"class '%s' shares lane %u with another: links have %u lanes\n",
				c->name, vl, w->vls);
	}
}

/* A class's mean packet on the wire, weighted by what is wanted. */
static double mean_packet(const struct work *w, const double *wanted)
{
	double bytes = 0, sum = 0;

	for (unsigned vl = 0; vl < N_DATA_VLS; vl++) {
		bytes += wanted[vl] * w->bytes[vl];
		sum += wanted[vl];
	}
	return sum > 0 ? bytes / sum : 0;
}

/*
 * What saturated high lanes get against saturated low ones: limit * 4096
 * bytes in whole packets (with limit 0 one packet), then one low packet.
 */
static double high_share(const struct work *w, unsigned limit)
{
	double high = mean_packet(w, w->high), low = mean_packet(w, w->low);
	/* Counted in blocks: a packet uses up whole blocks of the limit. */
	double blocks = ceil(high / 64) * 64;
	double packets = limit ? ceil(limit * LIMIT_UNIT / blocks) : 1;

	return packets * high / (packets * high + low);
}

static uint8_t choose_limit(const struct work *w)
{
	unsigned limit = 0;

	if (!(w->low_sum > 0))
		return 255;
	while (limit < 254 && high_share(w, limit) < w->high_sum)
		limit++;
	return (uint8_t)limit;
}

static void predict(const struct work *w, struct plan *plan)
{
	const struct vlarb *arb = &plan->tables.vlarb;
	double high[N_DATA_VLS], low[N_DATA_VLS];
	double most = 0;

	shares_achieved(arb->high, arb->n_high, w->bytes, high);
	shares_achieved(arb->low, arb->n_low, w->bytes, low);
	if (arb->n_high)
		most = arb->n_low ? high_share(w, arb->high_limit) : 1;
	for (unsigned i = 0; i < w->n; i++) {
		struct plan_outcome *o = &plan->outcome[i];
		bool in_high = w->classes[i].latency;
		double lane = in_high ? w->high[o->vl] : w->low[o->vl];
		/* Classes that share a lane share what it gets. */
		double part = o->wanted / lane;

		o->floor = part * (in_high ? most * high[o->vl]
					   : (1 - most) * low[o->vl]);
		o->achieved = in_high ? fmin(o->wanted, o->floor)
				      : part * (1 - w->high_sum) * low[o->vl];
	}
	if (arb->n_high && most > w->high_sum + 0.005)
		strbuf_printf(
			&plan->remarks,
			"latency classes that send more than their share can take up to %.1f%% of the link\n",
			100 * most);
}

enum hd_status plan_make(const struct plan_class *classes, unsigned n,
			 unsigned vls, uint32_t overhead, struct diag *d,
			 struct plan *out)
{
	struct work w = { .classes = classes, .n = n, .vls = vls };
	struct plan plan = { .tables.vls = vls, .remarks = STRBUF_INIT };
	struct vlarb *arb = &plan.tables.vlarb;
	enum hd_status status = check(classes, n, d);

	if (status != HD_OK)
		return status;
	assign(&w, overhead, &plan);
	if (w.high_sum > 0)
		arb->n_high =
			(uint8_t)shares_weights(w.high, w.bytes, arb->high);
	if (w.low_sum > 0)
		arb->n_low = (uint8_t)shares_weights(w.low, w.bytes, arb->low);
	if ((w.high_sum > 0 && !arb->n_high) ||
	    (w.low_sum > 0 && !arb->n_low)) {
		plan_fini(&plan);
		return diag_fail(
			d, HD_ERR_RANGE,
			"64 entries of weight 255 cannot express these shares");
	}
	if (w.high_sum > 0)
		arb->high_limit = choose_limit(&w);
	predict(&w, &plan);
	*out = plan;
	return HD_OK;
}

void plan_fini(struct plan *plan)
{
	strbuf_fini(&plan->remarks);
}
