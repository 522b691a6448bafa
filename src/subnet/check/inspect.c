/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/check/inspect.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "subnet/check/picture.h"
#include "subnet/check/show.h"
#include "subnet/routing/check.h"
#include "subnet/routing/deadlock.h"
#include "subnet/routing/vls.h"
#include "subnet/tables/ends.h"
#include "subnet/tables/tables.h"
#include "topo/topo.h"

static enum hd_status sweep(struct inspection *x, struct diag *d)
{
	const struct inspection_options *o = x->options;
	const struct subnet *s = x->subnet;

	if (o->sweeps.n == 0)
		return HD_OK;
	struct replan_options how = {
		.engine = replan_engine(s),
		.route = o->route,
		.mode = o->replan,
		.manager = lid_options_for(s->topo, 0).sm_port,
	};
	enum hd_status status = sweeps_plan(s, &o->sweeps, &how, d, &x->sweeps);

	if (status == HD_OK)
		x->subnet = &x->sweeps.done[x->sweeps.n - 1].subnet;
	return status;
}

static enum hd_status load_vls(struct inspection *x, struct diag *d)
{
	struct strbuf text = STRBUF_INIT;

	if (!x->options->sl2vl)
		return HD_OK;
	enum hd_status status = file_read(x->options->sl2vl, FILE_LIMIT, d, &text);

	if (status == HD_OK)
		status = sl2vl_read(x->subnet, text.text, text.len, d);
	strbuf_fini(&text);
	return status;
}

static enum hd_status load_path_sls(struct inspection *x, struct diag *d)
{
	FILE *in;

	if (!x->options->path_sls)
		return HD_OK;
	enum hd_status status = file_open(x->options->path_sls, d, &in);

	if (status != HD_OK)
		return status;
	status = path_sls_read(x->subnet, in, d, &x->sls);
	file_close(in);
	return status;
}

static enum hd_status load_mcast(struct inspection *x, struct diag *d)
{
	struct tables_found found;
	FILE *in;

	if (!x->options->mcast_routes)
		return HD_OK;
	enum hd_status status = file_open(x->options->mcast_routes, d, &in);

	if (status != HD_OK)
		return status;
	status = tables_read_stream(x->subnet, in, d, &found);
	if (status == HD_OK && found.n_unicast > 0)
		status = diag_fail(d, HD_ERR_INPUT, "the file has unicast tables too");
	file_close(in);
	return status;
}

static enum hd_status add_groups(struct inspection *x, struct diag *d)
{
	const struct inspection_options *o = x->options;
	struct group_list open = { .groups = NULL };
	enum hd_status status = HD_OK;

	d->file = NULL;
	for (size_t i = 0; i < o->groups.n && status == HD_OK; i++)
		status = group_add(x->subnet, o->groups.items[i], (uint8_t)o->mcast_sl, &open, d);
	if (status == HD_OK && open.n > 0)
		status = mcast_choose(x->subnet, open.groups, open.n, d, &x->choice);
	tables_group_list_fini(&open);
	return status;
}

enum hd_status inspection_begin(struct inspection *x, struct subnet *s,
				const struct inspection_options *o, struct diag *d)
{
	static enum hd_status (*const steps[])(struct inspection *, struct diag *) = {
		sweep, load_vls, load_path_sls, load_mcast, add_groups,
	};
	enum hd_status status = HD_OK;

	*x = (struct inspection){ .options = o, .subnet = s };
	d->file = NULL;
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		if (status == HD_OK)
			status = steps[i](x, d);
	}
	return status;
}

void inspection_end(struct inspection *x)
{
	sweeps_fini(&x->sweeps);
	mcast_choice_fini(&x->choice);
}

static enum hd_status add_path(const struct inspection *x, struct results *r, struct diag *d)
{
	const char *text = x->options->path, *to = strchr(text, ':');
	port_id a, b;

	d->file = NULL;
	if (!to)
		return diag_fail(d, HD_ERR_USAGE, "'%s' is not a path (expected FROM:TO)", text);
	char *from = hd_strndup(text, (size_t)(to - text));
	enum hd_status status = end_find(x->subnet, from, d, &a);

	if (status == HD_OK)
		status = end_find(x->subnet, to + 1, d, &b);
	if (status == HD_OK)
		check_show_path(r, x->subnet, a, b);
	free(from);
	return status;
}

enum hd_status inspection_show(const struct inspection *x, struct results *r, struct diag *d,
			       bool *met)
{
	const struct inspection_options *o = x->options;
	const struct subnet *s = x->subnet;

	*met = true;
	check_show_routes(r, s);
	if (s->adaptive)
		check_show_choices(r, s);
	if (x->sweeps.n > 0)
		sweeps_show(r, &x->sweeps, &o->sweeps);
	if (s->n_subnets > 1)
		check_show_routers(r, s);
	if (o->check) {
		*met &= check_show_check(r, s);
		*met &= check_show_deadlock(r, s, o->with_switches);
	}
	if (x->sls.n_missing)
		results_remark(r, "%" PRIu64 " pairs have no record in '%s': SL 0 was assumed",
			       x->sls.n_missing, o->path_sls);
	if (s->n_groups > 0)
		*met &= check_show_groups(r, s);
	if (x->choice.n > 0)
		check_show_choice(r, s, &x->choice);
	if (o->load > 0)
		check_show_load(r, s, (unsigned)o->load, o->seed, &o->traffic, o->all);
	return o->path ? add_path(x, r, d) : HD_OK;
}

void inspection_picture(const struct inspection *x, struct results *r)
{
	if (x->options->load == 0)
		return;
	picture_loads(x->subnet, (unsigned)x->options->load, &x->options->traffic, r);
	picture_tables(x->subnet, NULL, 0, r);
}

bool inspection_is_clean(const struct inspection *x)
{
	struct deadlock_check lock;
	struct route_check c;
	struct mcast_check m;

	mcast_check(x->subnet, &m);
	if (!x->options->check)
		return mcast_check_is_clean(&m);
	route_check(x->subnet, &c);
	route_check_deadlock(x->subnet,
			     x->options->with_switches ? DEADLOCK_WITH_SWITCHES : DEADLOCK_PLAIN,
			     &lock);
	bool clean = route_check_is_clean(&c) && lock.n_cycle == 0 && lock.n_dropped == 0 &&
		     mcast_check_is_clean(&m);

	route_deadlock_fini(&lock);
	return clean;
}
