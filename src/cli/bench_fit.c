/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/file.h"
#include "bench/fit.h"
#include "cli/bench_session.h"
#include "cli/output.h"

static enum hd_status write_profile(const struct session *s, struct diag *d)
{
	struct nic_backend *b = (struct nic_backend *)&s->backend;
	struct strbuf text = STRBUF_INIT;

	profile_print(virtual_profile(b), &text);
	enum hd_status status = file_write(s->into, text.text, text.len, d);

	strbuf_fini(&text);
	return status;
}

static enum hd_status fit_all(struct session *s, struct fit_points *points, struct fit *fit,
			      struct diag *d)
{
	const struct bench_watch watch = { session_show, s };

	s->simulated.overrides = &s->scenario.overrides;
	enum hd_status status = virtual_open(&s->simulated, d, &s->backend);

	if (status != HD_OK)
		return status;
	/* The number of profiles to try is not known in advance. */
	progress_begin(&s->progress, &s->common, "points", 0);
	status = fit_run(&s->backend, &s->suite.options, points, &watch, d, fit);
	progress_end(&s->progress);
	if (status == HD_OK && s->into)
		status = write_profile(s, d);
	s->backend.close(&s->backend);
	return status;
}

int session_fit(struct session *s, const struct command *self, int n, char **files)
{
	struct diag d = { .status = HD_OK };
	struct fit_points points = { 0 };
	struct fit fit;
	enum hd_status status = suite_check(&s->suite, &d);

	if (n == 0)
		return command_usage(self, "fit needs at least one FILE of measurements");
	if (s->device.name || s->simulated.scenario || s->pcap)
		return command_usage(self, "fit cannot be used with --device, --fabric or --pcap");
	for (int i = 0; i < n && status == HD_OK; i++)
		status = fit_points_load(&points, files[i], &d);
	if (status == HD_OK)
		status = fit_points_divide(&points, &d);
	if (status == HD_OK)
		status = fit_all(s, &points, &fit, &d);
	if (status != HD_OK) {
		fit_points_fini(&points);
		return command_refuse(&d);
	}
	struct results *r = results_new("bench fit");

	fit_show(&fit, &points, r);
	fit_points_fini(&points);
	return output_results(&s->common, r, true);
}
