/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/cc/runs.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/unfinished.h"
#include "cli/progress.h"
#include "sim/show/watch.h"

static bool is_wanted(const struct cc_runs *r, const char *name)
{
	for (size_t i = 0; i < r->algorithms.n; i++) {
		if (strcmp(r->algorithms.items[i], name) == 0)
			return true;
	}
	return r->algorithms.n == 0;
}

static int refuse(const struct command *self, const char *name)
{
	struct strbuf names = STRBUF_INIT;

	for (size_t i = 0; cc_algorithms[i]; i++)
		strbuf_printf(&names, ", %s", cc_algorithms[i]->name);
	int status = command_usage(self,
				   "option --algorithm: there is no '%s' (expected one of: none%s)",
				   name, names.text);

	strbuf_fini(&names);
	return status;
}

int cc_runs_check(const struct command *self, const struct cc_runs *r)
{
	for (size_t i = 0; i < r->algorithms.n; i++) {
		const char *name = r->algorithms.items[i];

		if (strcmp(name, "none") != 0 && !cc_find(name))
			return refuse(self, name);
	}
	if (r->pcap && r->algorithms.n != 1)
		return command_usage(self, "--pcap is of one run: name one --algorithm");
	return EXIT_DONE;
}

/* One of them; the last if it was interrupted. */
static enum hd_status compare_one(struct cc_comparison *c, const char *name,
				  const struct cc_algorithm *with, struct diag *d)
{
	enum hd_status status = cc_compare_run(c, with, d);

	if (status == HD_OK && unfinished_is_due())
		results_remark(
			c->results,
			"interrupted: what '%s' did until then is here, what comes behind it is not",
			name);
	return status;
}

static enum hd_status compare(struct cc_comparison *c, const struct cc_runs *r,
			      const struct common_options *common, struct diag *d)
{
	struct progress progress;
	enum hd_status status = HD_OK;

	progress_begin(&progress, common, "simulated ms",
		       (double)c->session->params.stop / (double)HD_MS);
	c->session->params.progress = progress_packets;
	c->session->params.progress_context = &progress;
	if (is_wanted(r, "none"))
		status = compare_one(c, "none", NULL, d);
	for (size_t i = 0; status == HD_OK && !unfinished_is_due() && cc_algorithms[i]; i++) {
		const char *name = cc_algorithms[i]->name;

		if (is_wanted(r, name))
			status = compare_one(c, name, cc_algorithms[i], d);
	}
	progress_end(&progress);
	return status;
}

static enum hd_status capture(struct cc_comparison *c, const struct cc_runs *r,
			      const struct common_options *common, struct diag *d)
{
	struct cc_session *s = c->session;
	struct file_writer file;
	bool *ports;
	enum hd_status status = fabric_ports(s->build, &r->ports, d, &ports);

	if (status != HD_OK)
		return status;
	status = file_create(&file, r->pcap, d);
	if (status != HD_OK) {
		free(ports);
		return status;
	}
	status =
		sim_capture_new(s->build, file.stream, ports, SIM_FLOW_NONE, d, &s->params.capture);
	if (status == HD_OK)
		status = compare(c, r, common, d);
	if (status == HD_OK) {
		sim_capture_finish(s->params.capture);
		status = file_commit(&file, d);
	} else {
		file_abandon(&file);
	}
	sim_capture_free(s->params.capture);
	free(ports);
	return status;
}

enum hd_status cc_runs(struct cc_comparison *c, const struct cc_runs *r,
		       const struct common_options *common, struct diag *d)
{
	return r->pcap ? capture(c, r, common, d) : compare(c, r, common, d);
}
