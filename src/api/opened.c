/* SPDX-License-Identifier: BSD-2-Clause */
#include "api/opened.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/guard.h"
#include "base/alloc.h"

/* A caller's may be older, and shorter, than ours. */
static void take_options(const struct hd_run_options *from, struct hd_run_options *to)
{
	size_t n = from && from->size < sizeof(*to) ? from->size : sizeof(*to);

	if (from)
		memcpy(to, from, n);
}

static const char *wrong_with(const struct api_opening *what)
{
	const struct hd_run_options *o = what->options;

	if (!what->file)
		return "the scenario path is NULL";
	if (o && o->size < offsetof(struct hd_run_options, all))
		return "the options have size 0; initialize them with HD_RUN_OPTIONS_INIT";
	if (o && o->n_settings && !o->settings)
		return "the settings are NULL";
	for (size_t i = 0; o && i < o->n_settings; i++) {
		if (!o->settings[i].path || !o->settings[i].value)
			return "a setting has no path or no value";
	}
	return NULL;
}

static bool show_progress(void *context, const struct sim_progress *p)
{
	struct api_opened *o = context;

	o->is_looking = true;
	bool goes_on = o->options.progress(o->options.context, p->share, p->now) != 0;

	o->is_looking = false;
	return goes_on && !o->is_closed;
}

static void put_settings(struct api_opened *o)
{
	char label[128];

	for (size_t i = 0; i < o->options.n_settings; i++) {
		const struct hd_setting *s = &o->options.settings[i];

		snprintf(label, sizeof(label), "setting %s", s->path);
		overrides_put(&o->overrides, label, s->path, "%s", s->value);
	}
}

static enum hd_status build(const struct api_opening *what, struct diag *d, struct fabric **out)
{
	struct api_opened *o = what->out;
	enum hd_status status =
		what->text ? fabric_load(what->text, what->len, o->file, &o->overrides, d, out)
			   : fabric_read(o->file, &o->overrides, d, out);

	if (status != HD_OK)
		return status;
	status = what->outside ? scenario_has_no_capacity((*out)->scenario, "messages", d)
			       : scenario_needs_traffic((*out)->scenario, d);
	if (status != HD_OK)
		fabric_free(*out);
	return status;
}

static enum hd_status open_it(void *context, struct diag *d)
{
	const struct api_opening *what = context;
	struct api_opened *o = what->out;
	struct fabric *fabric = NULL;

	o->file = hd_strdup(what->file);
	o->pcap = o->options.pcap ? hd_strdup(o->options.pcap) : NULL;
	o->trace = o->options.trace ? hd_strdup(o->options.trace) : NULL;
	put_settings(o);
	enum hd_status status = build(what, d, &fabric);
	const struct run_options options = {
		.pcap = o->pcap,
		.trace = o->trace,
		.outside = what->outside,
		.progress = o->options.progress ? show_progress : NULL,
		.context = o,
	};

	return status == HD_OK ? run_open(fabric, &options, d, &o->simulation) : status;
}

int api_opened_init(const struct api_opening *what, struct hd_error *error)
{
	const char *wrong = wrong_with(what);
	struct api_opening mine = *what;
	struct api_opened *o = what->out;

	*o = (struct api_opened){ 0 };
	if (wrong)
		return api_misuse(error, "%s", wrong);
	take_options(what->options, &o->options);
	int code = api_guarded(open_it, &mine, &o->is_broken, error);

	o->options.settings = NULL; /* of the caller */
	o->options.n_settings = 0;
	if (code != HD_DONE)
		api_opened_fini(o);
	return code;
}

void api_opened_fini(struct api_opened *o)
{
	/* State in which an allocation failed cannot be freed. */
	if (o->is_broken)
		return;
	if (o->simulation)
		run_close(o->simulation);
	overrides_fini(&o->overrides);
	free(o->file);
	free(o->pcap);
	free(o->trace);
}
