/* SPDX-License-Identifier: BSD-2-Clause */
#include <time.h>

#include "base/cleanup.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/qos_evaluate_options.h"

struct evaluate_progress {
	const struct cli_evaluate_options *v;
	struct progress bar;
	uint32_t run;
	time_t begun; /* start of that run */
};

static bool show(void *context, uint32_t run, double packets)
{
	struct evaluate_progress *w = context;

	if (w->run != run)
		w->begun = time(NULL);
	w->run = run;
	if (!progress_show(&w->bar, packets))
		return false;
	return w->v->minutes == 0 || difftime(time(NULL), w->begun) < 60 * (double)w->v->minutes;
}

static bool goes_on(void)
{
	return !cleanup_signal_is_pending();
}

static int run(const struct command *self, void *values, int n, char **args)
{
	const struct cli_evaluate_options *v = values;
	struct evaluate_progress watch = { .v = v, .run = UINT32_MAX };
	struct diag d = { .status = HD_OK };
	struct eval_series series = cli_evaluate_series(v);
	struct results *r = results_new("qos evaluate");
	int shown = EXIT_DONE;

	(void)self;
	(void)n;
	(void)args;
	series.progress = show;
	series.goes_on = goes_on;
	series.context = &watch;
	progress_begin(&watch.bar, &v->common, "packets", 0);
	enum hd_status status = eval_series_run(&series, &d, r);

	progress_end(&watch.bar);
	if (status == HD_OK && cleanup_signal_is_pending())
		results_remark(
			r, "interrupted: a run that is not complete was cut, others are missing");
	if (status == HD_OK)
		shown = output_results(&v->common, r, true);
	else
		results_free(r);
	return status == HD_OK ? shown : command_refuse(&d);
}

static const struct example examples[] = {
	{ "heddle qos evaluate --topology mesh --size 4096", "evaluate one fabric, in seconds" },
	{ "heddle qos evaluate --establish --seeds 4 --rate 4x",
	  "count the connections that fit, in four random fabrics" },
	{ "heddle qos evaluate --tried 1024 --rule default -o evaluation.json",
	  "evaluate 1024 connections on three fabrics with two packet sizes" },
	{ "heddle qos evaluate --switches all --topology mesh",
	  "compare fabrics of 8, 16, 32 and 64 switches" },
	{ "heddle qos evaluate --mix deadlines --vls 4 --topology mesh",
	  "add DBTS connections with deadlines, on links with four VLs" },
	{ NULL, NULL },
};

const struct command command_qos_evaluate = {
	.name = "qos evaluate",
	.summary = "fill fabrics with reservations and check the guarantees",
	.arguments = "",
	.description =
		"Fills fabrics of 16 switches and 64 hosts with random reserved connections\n"
		"until no more fit, programs the resulting arbitration tables, and lets every\n"
		"connection send at its rate. Prints the number of connections, the delivered\n"
		"load, the utilization of every port, delay and jitter relative to each\n"
		"connection's time between packets (IAT), and the best and the worst\n"
		"connection. 'heddle paper run 000' compares these with the published values.\n\n"
		"Switches have queues of 4 packets per VL at input and output, a crossbar at\n"
		"twice the link rate and 20 ns of arbitration. Packets have 8 bytes in addition\n"
		"to the payload, as the paper's buffers imply.\n",
	.options = cli_evaluate_options,
	.examples = examples,
	COMMAND_CALL(run, struct cli_evaluate_options, 0, 0),
	.is_long = true,
};
