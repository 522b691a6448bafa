/* SPDX-License-Identifier: BSD-2-Clause */
#include "study/commands.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/text.h"

#define REAL(name, unit, origin, places)               \
	{                                              \
		name, unit, VALUE_REAL, origin, places \
	}
#define SIMULATED(name, unit, places) REAL(name, unit, ORIGIN_SIMULATED, places)
#define COMPUTED(name, unit, places)  REAL(name, unit, ORIGIN_COMPUTED, places)

static const struct study_measure sim_measures[] = {
	{ SIMULATED("offered", "Gb/s", 3), "summary", "offered", CURVE_MEAN },
	{ SIMULATED("delivered", "Gb/s", 3), "summary", "delivered", CURVE_SPREAD },
	{ SIMULATED("mean", "us", 3), "summary", "latency mean", CURVE_SPREAD },
	{ SIMULATED("p50", "us", 3), "point", "p50", CURVE_MEAN },
	{ SIMULATED("p99", "us", 3), "summary", "latency p99", CURVE_SPREAD },
	{ SIMULATED("max", "us", 3), "summary", "latency max", CURVE_MEAN },
	{ SIMULATED("fairness", NULL, 3), "traffic", "fairness", CURVE_MEAN, REDUCE_LEAST },
	{ SIMULATED("host links", "%", 1), "summary", "host links used", CURVE_MEAN },
	{ SIMULATED("busiest link", "%", 1), "summary", "busiest link used", CURVE_MEAN },
	{ { "lost", NULL, VALUE_UINT, ORIGIN_SIMULATED }, "summary", "lost", CURVE_MEAN },
	{ { "broken", NULL, VALUE_UINT, ORIGIN_SIMULATED },
	  "connections",
	  "broken",
	  CURVE_MEAN,
	  REDUCE_SUM },
	{ { GOALS_MET, NULL, VALUE_BOOL, ORIGIN_SIMULATED }, "point", "goals met", CURVE_NONE },
};

/* Measures of a scenario with jobs, after those of sim. */
static const struct study_measure job_measures[] = {
	{ SIMULATED("completion", "us", 3), "jobs", "completion", CURVE_SPREAD, REDUCE_SLOWEST },
	{ SIMULATED("slowdown", NULL, 4), "jobs", "slowdown", CURVE_SPREAD, REDUCE_SLOWEST },
	{ { "unfinished jobs", NULL, VALUE_UINT, ORIGIN_SIMULATED },
	  "jobs",
	  "completion",
	  CURVE_MEAN,
	  REDUCE_MISSING },
};
#define N_JOB_MEASURES (sizeof(job_measures) / sizeof(*job_measures))
#define N_OF_EACH_JOB  2 /* completion, slowdown */

/* Tables of 'heddle sim --all'. */
static const char *const report_tables[] = {
	"summary",
	"fabric",
	"traffic",
	"flows",
	"service levels",
	"deadlines",
	"jitter",
	"self-similarity",
	"ports",
	"VLs",
	"port VLs",
	"sl2vl",
	"vl arbitration",
	"links-down",
	"losses",
	"deadlock",
	"goals",
	"connections",
	"broken promises",
	"connections over time",
	"admission",
	"control",
	"uncontrolled",
	"marks",
	"VL sharing",
	"adaptive",
	"around",
	"sm",
	"queue pairs",
	"jobs",
	"job goals",
	"ranks",
	"rank timeline",
	"steps",
	"iterations",
	"compute and wait",
	"critical paths",
	"path links",
	"path messages",
	"job pairs",
	"job links",
	"job queue pairs",
	"aggregation trees",
	"failed operations",
};

static const struct study_measure cc_measures[] = {
	{ SIMULATED("delivered", "Gb/s", 3), "summary", "delivered", CURVE_SPREAD },
	{ SIMULATED("p99", "us", 3), "summary", "latency p99", CURVE_SPREAD },
	{ SIMULATED("busiest link", "%", 1), "summary", "busiest link used", CURVE_MEAN },
	{ SIMULATED("fairness", NULL, 3), "traffic", "fairness", CURVE_SPREAD, REDUCE_LEAST },
	{ SIMULATED("marks heard", "1/s", 1), "control", "marks heard", CURVE_MEAN, REDUCE_SUM },
};

static const struct study_measure mcast_measures[] = {
	{ SIMULATED("completion", "us", 3), "ways", "completion", CURVE_SPREAD, REDUCE_LAST },
	{ COMPUTED("bound", "us", 3), "ways", "bound", CURVE_MEAN, REDUCE_LAST },
	{ SIMULATED("mean", "us", 3), "ways", "mean", CURVE_MEAN, REDUCE_LAST },
	{ SIMULATED("speedup", NULL, 2), "ways", "speedup", CURVE_SPREAD, REDUCE_LAST },
	{ COMPUTED("busiest cable", "messages", 0), "ways", "busiest cable", CURVE_MEAN,
	  REDUCE_LAST },
	{ COMPUTED("cycle", "channels", 0), "ways", "cycle", CURVE_MEAN, REDUCE_LAST },
	{ SIMULATED("lacking", "messages", 0), "ways", "lacking", CURVE_MEAN, REDUCE_LAST },
};

static const struct study_measure admit_measures[] = {
	{ COMPUTED("established", NULL, 0), "random", "established", CURVE_SPREAD },
	{ COMPUTED("attempts", NULL, 0), "random", "attempts", CURVE_MEAN },
	{ COMPUTED("load", "%", 2), "random", "load with headers", CURVE_SPREAD },
	{ COMPUTED("admitted", NULL, 0), "requests", "admitted", CURVE_SPREAD, REDUCE_SUM },
	{ COMPUTED("live", NULL, 0), "summary", "live", CURVE_MEAN },
	{ COMPUTED("most reserved", "%", 2), "summary", "reserved there", CURVE_MEAN },
	{ COMPUTED("mean reserved", "%", 2), "summary", "mean reserved", CURVE_MEAN },
};

static const struct study_measure bound_measures[] = {
	{ COMPUTED("admitted", NULL, 0), "flows", "admitted", CURVE_MEAN, REDUCE_SUM },
	{ COMPUTED("deadline", "us", 3), "flows", "deadline", CURVE_MEAN, REDUCE_MOST },
	{ COMPUTED("bound", "us", 3), "flows", "bound", CURVE_MEAN, REDUCE_MOST },
	{ COMPUTED("buffer", "B", 0), "hops", "buffer", CURVE_MEAN, REDUCE_MOST },
};

static const struct study_measure bench_measures[] = {
	{ SIMULATED("t_min", "us", 3), NULL, "t_min", CURVE_MEAN },
	{ SIMULATED("t_avg", "us", 3), NULL, "t_avg", CURVE_SPREAD },
	{ SIMULATED("t_typical", "us", 3), NULL, "t_typical", CURVE_MEAN },
	{ SIMULATED("p99", "us", 3), NULL, "99% percentile", CURVE_SPREAD },
	{ SIMULATED("bandwidth", "MB/s", 2), NULL, "BW", CURVE_SPREAD },
	{ SIMULATED("rate", "Mpps", 6), NULL, "MsgRate", CURVE_MEAN },
	{ SIMULATED("fairness", NULL, 4), NULL, "fairness", CURVE_MEAN },
};

static const struct study_measure credit_measures[] = {
	{ COMPUTED("L1", "packets", 6), "points", "L1", CURVE_MEAN },
	{ COMPUTED("L2", "packets", 6), "points", "L2", CURVE_MEAN },
	{ COMPUTED("L", "packets", 6), "points", "L", CURVE_MEAN },
	{ COMPUTED("R", "t", 6), "points", "R", CURVE_MEAN },
	{ COMPUTED("T", "packets/t", 6), "points", "T", CURVE_MEAN },
	{ COMPUTED("loss", "share", 0), "points", "loss", CURVE_MEAN },
};

static const struct study_measure ge_measures[] = {
	{ COMPUTED("L", "packets", 6), "points", "L", CURVE_MEAN },
	{ COMPUTED("U", "share", 6), "points", "U", CURVE_MEAN },
	{ COMPUTED("blocking", "share", 0), "points", "blocking", CURVE_MEAN },
	{ COMPUTED("throughput", "packets/t", 6), "points", "throughput", CURVE_MEAN },
	{ COMPUTED("W", "t", 6), "points", "W", CURVE_MEAN },
};

static const struct study_measure queue_measures[] = {
	{ COMPUTED("L", "packets", 6), "points", "L", CURVE_MEAN },
	{ COMPUTED("W", "t", 6), "points", "W", CURVE_MEAN },
	{ COMPUTED("Wq", "t", 6), "points", "Wq", CURVE_MEAN },
	{ COMPUTED("U", "share", 6), "points", "U", CURVE_MEAN },
	{ COMPUTED("blocking", "share", 0), "points", "blocking", CURVE_MEAN },
	{ COMPUTED("throughput", "packets/t", 6), "points", "throughput", CURVE_MEAN },
};

static const struct study_measure loss_measures[] = {
	{ COMPUTED("blocking", "share", 0), "points", "blocking", CURVE_MEAN },
	{ COMPUTED("carried", "erlangs", 6), "points", "carried", CURVE_MEAN },
	{ COMPUTED("used", "share", 6), "points", "used", CURVE_MEAN },
};

static const struct study_measure fabric_measures[] = {
	{ COMPUTED("EM", "%", 2), "comparison", "EM", CURVE_SPREAD, REDUCE_MOST },
	{ SIMULATED("blocked", "%", 3), "effect", "blocked", CURVE_MEAN, REDUCE_MOST },
	{ SIMULATED("p99", "us", 3), "effect", "p99", CURVE_SPREAD, REDUCE_MOST },
};

#define LIST(list) list, sizeof(list) / sizeof(*(list))

static const struct study_command commands[] = {
	{ "sim", true, LIST(sim_measures), LIST(report_tables) },
	{ "cc compare", true, LIST(cc_measures) },
	{ "mcast compare", true, LIST(mcast_measures) },
	{ "qos admit", true, LIST(admit_measures) },
	{ "qos bound", true, LIST(bound_measures) },
	{ "bench", false, LIST(bench_measures) },
	{ "model credit", false, LIST(credit_measures) },
	{ "model ge", false, LIST(ge_measures) },
	{ "model et", false, LIST(ge_measures) },
	{ "model ajt", false, LIST(ge_measures) },
	{ "model queue", false, LIST(queue_measures) },
	{ "model loss", false, LIST(loss_measures) },
	{ "model fabric", true, LIST(fabric_measures) },
};
#define N_COMMANDS (sizeof(commands) / sizeof(*commands))

const struct study_command *study_command_default(void)
{
	return &commands[0];
}

static void measure_add(struct measures *m, const struct study_measure *x)
{
	m->items = hd_grow(m->items, &m->cap, m->n + 1, sizeof(*m->items));
	m->items[m->n++] = *x;
}

void measures_init(struct measures *m, const struct study_command *c)
{
	*m = (struct measures){ 0 };
	for (size_t i = 0; i < c->n_measures; i++)
		measure_add(m, &c->measures[i]);
}

void measures_fini(struct measures *m)
{
	free(m->items);
	value_list_fini(&m->texts);
	*m = (struct measures){ 0 };
}

/* completion[NAME] */
static void measure_add_of_job(struct measures *m, const struct study_measure *x, const char *job)
{
	struct strbuf name = STRBUF_INIT;
	struct study_measure own = *x;

	strbuf_printf(&name, "%s[%s]", x->column.name, job);
	own.column.name = strbuf_detach(&name);
	value_list_add(&m->texts, (char *)own.column.name);
	own.row = hd_strdup(job);
	value_list_add(&m->texts, (char *)own.row);
	own.take = REDUCE_ONE;
	measure_add(m, &own);
}

void measures_add_jobs(struct measures *m, size_t n, const char *const *names)
{
	for (size_t i = 0; i < N_JOB_MEASURES && n; i++)
		measure_add(m, &job_measures[i]);
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < N_OF_EACH_JOB; k++)
			measure_add_of_job(m, &job_measures[k], names[i]);
	}
}

/* Number of words that spell the name; 0 if they do not. */
static size_t spelled(const char *name, size_t n, char *const *words)
{
	for (size_t i = 0; i < n; i++) {
		size_t len = strlen(words[i]);

		if (strncmp(name, words[i], len) != 0)
			return 0;
		if (name[len] == '\0')
			return i + 1;
		if (name[len] != ' ')
			return 0;
		name += len + 1;
	}
	return 0;
}

const struct study_command *study_command_of(size_t n, char *const *words, size_t *used)
{
	for (size_t i = 0; i < N_COMMANDS; i++) {
		*used = spelled(commands[i].name, n, words);
		if (*used)
			return &commands[i];
	}
	return NULL;
}

enum hd_status study_table_check(const struct study_command *c, const char *name, struct diag *d)
{
	const char *near = NULL;

	if (strcmp(name, "all") == 0 || (!c->tables && *name))
		return HD_OK;
	for (size_t i = 0; c->tables && i < c->n_tables; i++) {
		if (strcmp(c->tables[i], name) == 0)
			return HD_OK;
	}
	if (c->tables)
		near = text_nearest(name, c->tables, c->n_tables);
	return diag_fail(d, HD_ERR_INPUT, "'heddle %s' has no table '%.80s'%s", c->name, name,
			 text_hint(near).text);
}

void study_commands_list(struct strbuf *out)
{
	for (size_t i = 0; i < N_COMMANDS; i++)
		strbuf_printf(out, "%s%s", i ? ", " : "", commands[i].name);
}
