/* SPDX-License-Identifier: BSD-2-Clause */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/mpi/world.h"
#include "base/output_files.h"
#include "run/run_internal.h"
#include "sim/report/perfquery.h"
#include "sim/report/tables.h"

/* With several processes, only the first writes the file. */
static enum hd_status side_open(struct run *s, struct side_file *f, const char *path,
				struct diag *d)
{
	const struct world *world = s->options.world;

	if (!world || world->rank == 0)
		return run_checkpoint_open_output(s, f, path, d);
	d->file = NULL;
	f->stream = fopen("/dev/null", "w");
	return f->stream ? HD_OK : diag_fail(d, HD_ERR_IO, "cannot open /dev/null");
}

static void side_close(struct side_file *f)
{
	if (f->is_open)
		file_abandon(&f->writer);
	else if (f->stream)
		fclose(f->stream);
}

static enum hd_status side_commit(struct side_file *f, struct diag *d)
{
	if (!f->is_open)
		return HD_OK;
	f->is_open = false;
	f->stream = NULL;
	return file_commit(&f->writer, d);
}

/* Paths from the API have not passed the checks of the command line. */
static enum hd_status check_output(const struct run *s, const char *path, struct diag *d)
{
	const struct scenario *from = s->fabric->scenario;
	bool is_read = from->file && file_is_same(path, from->file);

	for (size_t i = 0; i < from->n_jobs && !is_read; i++) {
		if (!from->jobs[i].goal)
			continue;
		char *goal = scenario_path(from, &from->jobs[i].goal);

		is_read = file_is_same(path, goal);
		free(goal);
	}
	if (!is_read)
		return HD_OK;
	d->file = path;
	return diag_fail(d, HD_ERR_INPUT, "is an input and would be overwritten");
}

static enum hd_status open_files(struct run *s, struct diag *d)
{
	const struct run_options *o = &s->options;
	enum hd_status status = HD_OK;

	if (o->rates && (o->world || o->checkpoint || o->restart))
		return diag_fail(
			d, HD_ERR_USAGE,
			"--rates requires one process and cannot be used with --checkpoint or --restart");
	if (o->pcap && o->trace && file_is_same(o->pcap, o->trace))
		return diag_fail(d, HD_ERR_USAGE, "--pcap and --trace name the same file");
	if ((o->pcap && check_output(s, o->pcap, d) != HD_OK) ||
	    (o->trace && check_output(s, o->trace, d) != HD_OK))
		return d->status;
	if (o->pcap) {
		status = side_open(s, &s->pcap, o->pcap, d);
		if (status != HD_OK)
			return status;
		d->file = s->fabric->scenario->file;
		status = report_observers_capture(&s->watch, s->pcap.stream, s->ports,
						  (enum report_capture_flow)o->flow_control, d);
	}
	if (status == HD_OK && o->trace) {
		status = side_open(s, &s->trace, o->trace, d);
		if (status == HD_OK)
			report_observers_trace(&s->watch, s->trace.stream, s->ports);
	}
	return status;
}

static enum hd_status commit_files(struct run *s, struct diag *d)
{
	report_observers_finish(&s->watch);
	enum hd_status status = side_commit(&s->pcap, d);

	return status == HD_OK ? side_commit(&s->trace, d) : status;
}

static void rules_without_end(struct sim_rules *rules)
{
	rules->stop = 0;
	rules->packets = rules->packets_per_flow = rules->packets_per_sl = 0;
	rules->precision = 0;
}

bool run_may_repeat(const struct run *s)
{
	const struct run_options *o = &s->options;

	return s->jobs && s->fabric->n_flows == 0 && !o->load && !o->world && !o->outside &&
	       !o->carries_programs && !o->pcap && !o->trace && !o->sampled && !o->rates;
}

static enum hd_status make_sim(struct run *s, struct diag *d)
{
	const struct fabric *fabric = s->fabric;
	const struct run_load of_scenario = { fabric->flows, fabric->n_flows, fabric->rules,
					      false };
	const struct run_load *load = s->options.load ? s->options.load : &of_scenario;
	struct sim_rules rules = load->rules;
	bool has_pairs = !s->options.load && traffic_rows_any(fabric);

	rules.yields = !load->ends_without_memory;
	rules.world = s->options.world;
	if (has_pairs || s->options.carries_programs)
		lab_rules(&rules);
	if (s->options.carries_programs)
		rules.threads = rules.parts = 1;
	if (s->jobs || (s->options.outside && !s->options.load))
		jobs_rules(s->fabric, &rules);
	if (s->options.outside) {
		rules_without_end(&rules);
		rules.injects_sls = 0;
	}
	run_repeats_init(&s->repeats, s->fabric, JOBS_ALL, &rules, s->options.repeat);
	s->repeats.is_off |= !run_may_repeat(s);
	s->sim = sim_new(&fabric->setup, load->flows, load->n_flows, &rules);
	enum hd_status status =
		has_pairs ? qp_rows_new(s->fabric, s->sim, d, &s->queue_pairs) : HD_OK;

	if (status == HD_OK && s->jobs)
		jobs_attach(s->jobs, s->sim);
	if (status == HD_OK && s->options.outside)
		s->outside = sim_attach(s->sim, s->options.outside);
	return status;
}

/* Attaches all observers, and restores their state if the run is continued. */
static enum hd_status attach_observers(struct run *s, struct diag *d)
{
	const struct run_options *o = &s->options;

	report_observers_attach(&s->watch, s->sim);
	if (o->sampled)
		report_samples_init(&s->samples, s->fabric, s->sim, o->sample);
	return run_checkpoint_restore(s, d);
}

enum hd_status run_open(struct fabric *fabric, const struct run_options *o, struct diag *d,
			struct run **out)
{
	struct run *s = hd_alloc(1, sizeof(*s));

	assert(!o->load ||
	       !(o->pcap || o->trace || o->sampled || o->checkpoint || o->restart || o->world));
	s->options = *o;
	s->fabric = fabric;
	s->restart = (struct strbuf)STRBUF_INIT;
	s->unsaved = (struct strbuf)STRBUF_INIT;
	if (!o->load)
		report_observers_init(&s->watch, fabric);
	enum hd_status status = fabric_ports(fabric, &o->ports, d, &s->ports);

	if (status == HD_OK)
		status = run_checkpoint_begin(s, d);
	if (status == HD_OK)
		status = open_files(s, d);
	if (status == HD_OK && !o->load && fabric->scenario->n_jobs)
		status = jobs_new(fabric, JOBS_ALL, d, &s->jobs);
	run_alone_init(s);
	if (status == HD_OK)
		status = make_sim(s, d);
	if (o->world)
		status = world_agree(o->world, status, d);
	if (status == HD_OK)
		status = attach_observers(s, d);
	if (status != HD_OK) {
		run_close(s);
		return status;
	}
	*out = s;
	return HD_OK;
}

void run_close(struct run *s)
{
	side_close(&s->pcap);
	side_close(&s->trace);
	run_repeats_fini(&s->repeats);
	if (s->queue_pairs)
		lab_free(s->queue_pairs);
	if (s->sim)
		sim_free(s->sim);
	if (s->jobs)
		jobs_free(s->jobs);
	run_alone_fini(s);
	report_samples_fini(&s->samples);
	free(s->rates.items);
	strbuf_fini(&s->restart);
	strbuf_fini(&s->unsaved);
	report_observers_fini(&s->watch);
	if (!s->options.load)
		fabric_free(s->fabric);
	free(s->ports);
	free(s);
}

/* Where and when the packets that exhausted memory were queued. */
static void describe_backlog(const struct run *s, struct strbuf *out)
{
	struct sim_backlog backlog;

	sim_backlog(s->sim, &backlog);
	strbuf_puts(out, "out of memory at ");
	hd_time_print(sim_now(s->sim), out);
	strbuf_printf(out, ": %llu packets wait in the fabric, %llu of them at ",
		      (unsigned long long)backlog.packets, (unsigned long long)backlog.waiting);
	fabric_port_name(s->fabric, backlog.port, out);
}

static enum hd_status refuse_full(const struct run *s, struct diag *d)
{
	struct strbuf why = STRBUF_INIT;

	describe_backlog(s, &why);
	d->file = NULL;
	enum hd_status status =
		diag_fail(d, HD_ERR_ENV, "%s; raise the limit with --memory", why.text);

	strbuf_fini(&why);
	return status;
}

static hd_time earlier(hd_time a, hd_time b)
{
	return a < b ? a : b;
}

/* Runs up to `limit`, or until a sample, a checkpoint or a check of the jobs is due. */
static void run_on(struct run *s, hd_time limit)
{
	bool sampled = s->options.sampled;
	hd_time sample = sampled ? report_samples_next(&s->samples) : HD_TIME_NEVER;
	hd_time look = run_next_job_check(s), rates = run_rates_next(s);
	hd_time until =
		run_checkpoint_next(s, earlier(earlier(limit, rates), earlier(sample, look)));

	run_repeats_begin(&s->repeats, s->jobs, s->sim);
	s->state = sim_run(s->sim, until, run_checkpoint_progress, s);
	if (sim_now(s->sim) == rates)
		run_rates_take(s);
	if (s->state == SIM_PAUSED && sim_now(s->sim) == look &&
	    sim_ask_first(s->sim, jobs_done(s->jobs)))
		sim_end(s->sim);
	bool is_sample = sampled && sim_now(s->sim) == sample;

	if (sampled && (is_sample || s->state != SIM_PAUSED))
		report_samples_take(&s->samples);
	if (s->state != SIM_PAUSED)
		return;
	/* The first process decides for all. */
	s->is_stopped = sim_ask_first(s->sim, s->is_stopped);
	sim_forget_pause(s->sim);
	run_checkpoint_pause(s);
	if (!s->is_stopped && run_repeats_skip(&s->repeats, &s->jobs, &s->sim, until))
		report_observers_attach(&s->watch, s->sim);
}

/* Among processes, if there are several. */
static enum hd_status share(struct run *s, struct diag *d)
{
	const struct world *world = s->options.world;
	const char *why = world ? sim_share(s->sim) : NULL;

	if (!why)
		return HD_OK;
	d->file = s->fabric->scenario->file;
	return diag_fail(d, HD_ERR_UNFIT, "%u processes cannot compute this run together: %s",
			 world->n, why);
}

enum hd_status run_refuse_broken(struct run *s, const struct sim *sim, struct diag *d)
{
	s->state = SIM_BROKEN;
	d->file = NULL;
	return diag_fail(d, HD_ERR_ENV, "rank %u sent invalid data to rank %u", sim_broken_by(sim),
			 s->options.world->rank);
}

/* Called when the run has ended, or was stopped for good. */
static enum hd_status finish(struct run *s, enum hd_status status, struct diag *d)
{
	if (s->state == SIM_BROKEN)
		return run_refuse_broken(s, s->sim, d);
	/* Last, for what is shown of the run follows at once. */
	if (status == HD_OK)
		status = commit_files(s, d);
	s->is_over = true;
	return status == HD_OK && s->state == SIM_FULL ? refuse_full(s, d) : status;
}

/* Whether the run, or the run of a job without other load, has something left to compute. */
static bool has_more(const struct run *s)
{
	return s->state == SIM_PAUSED ||
	       (s->state != SIM_FULL && s->state != SIM_BROKEN && run_alone_is_left(s));
}

static enum hd_status run_alone(struct run *s, struct diag *d)
{
	return s->state != SIM_PAUSED && has_more(s) && !s->is_stopped ? run_jobs_alone(s, d)
								       : HD_OK;
}

enum hd_status run_to_end(struct run *s, struct diag *d)
{
	enum hd_status status = share(s, d);

	if (status != HD_OK)
		return status;
	do
		run_on(s, HD_TIME_NEVER);
	while (s->state == SIM_PAUSED && !s->is_stopped);
	return finish(s, run_alone(s, d), d);
}

enum hd_status run_advance(struct run *s, hd_time until, struct diag *d)
{
	bool is_left = s->state == SIM_PAUSED;

	for (s->is_stopped = false; is_left;
	     is_left = s->state == SIM_PAUSED && !s->is_stopped && sim_now(s->sim) < until)
		run_on(s, until);
	enum hd_status status = run_alone(s, d);

	return status == HD_OK && has_more(s) ? HD_OK : finish(s, status, d);
}

enum hd_status run_stop(struct run *s, struct diag *d)
{
	return s->is_over ? HD_OK : finish(s, HD_OK, d);
}

enum hd_status run_until(struct run *s, hd_time until, struct diag *d)
{
	s->is_stopped = false;
	s->state = sim_run(s->sim, until, run_checkpoint_progress, s);
	return s->state == SIM_FULL ? refuse_full(s, d) : HD_OK;
}

void run_interrupt(struct run *s)
{
	s->is_stopped = true;
}

uint64_t run_left_out(const struct run *s, hd_time *period)
{
	*period = s->repeats.period;
	return s->repeats.n_skipped;
}

bool run_is_over(const struct run *s)
{
	return s->is_over;
}

bool run_is_stopped(const struct run *s)
{
	return s->is_stopped;
}

uint32_t run_outside(const struct run *s)
{
	return s->outside;
}

struct fabric *run_fabric(const struct run *s)
{
	return s->fabric;
}

struct sim *run_sim(const struct run *s)
{
	return s->sim;
}

enum sim_state run_state(const struct run *s)
{
	return s->state;
}

static struct report_input findings_of(const struct run *s, bool all)
{
	return (struct report_input){
		.fabric = s->fabric,
		.sim = s->sim,
		.metrics = sim_metrics(s->sim),
		.state = s->state,
		.all = all,
	};
}

static void put_setting(void *context, const char *name, const char *value)
{
	results_parameter(context, name, value);
}

struct results *run_results(const struct run *s, bool all, bool *met)
{
	const struct report_input f = findings_of(s, all);
	struct results *r = results_new("sim");

	results_set_scenario(r, s->fabric->scenario->text);
	scenario_settings(s->fabric->scenario, put_setting, r);
	*met = report_tables(&f, r);
	if (s->jobs)
		*met &= jobs_tables(s->jobs, s->alone.completion, f.metrics, all, r);
	if (s->queue_pairs)
		traffic_rows_table(s->queue_pairs, f.metrics, r);
	report_end_tables(&f, r);
	run_rates_table(s, r);
	report_observers_similarity(&s->watch, f.metrics, r);
	run_checkpoint_remark(s, r);
	if (s->state == SIM_FULL) {
		struct strbuf why = STRBUF_INIT;

		describe_backlog(s, &why);
		results_remark(r, "%s; this is what came before", why.text);
		strbuf_fini(&why);
	}
	return r;
}

struct results *run_record(const struct run *s)
{
	const struct report_input f = findings_of(s, true);
	bool met;
	struct results *r = run_results(s, true, &met);

	report_picture_curves(&f, r);
	report_samples_tables(&s->samples, r);
	report_picture_fabric(&f, r);
	return r;
}

void run_samples(const struct run *s, struct results *r)
{
	report_samples_tables(&s->samples, r);
}

void run_picture(const struct run *s, struct results *r)
{
	const struct report_input f = findings_of(s, true);

	report_picture_fabric(&f, r);
}

uint64_t run_sum(const struct run *s)
{
	return sim_checksum(sim_metrics(s->sim));
}

void run_checksum(const struct run *s, struct strbuf *out)
{
	strbuf_printf(out, "%016llx\n", (unsigned long long)run_sum(s));
}

void run_counters(const struct run *s, struct strbuf *out)
{
	perfquery_print(s->fabric, sim_metrics(s->sim), s->ports, out);
}
