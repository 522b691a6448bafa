/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checkpoints: whatever a file says, it is refused or makes a run that can be
 * saved and freed. The first byte says what the others are: a whole file, or
 * changes to the state of one of the scenarios, four bytes each: where, and
 * the new value. A state has no digest; the file has.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/fabric.h"
#include "hca/traffic.h"
#include "run/checkpoint.h"
#include "sim/jobs/jobs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define STAR(more) "fabric:\n  topology: {kind: star, hosts: 3}\n" more "\n"
#define RUN        "run: {warmup: 1us, measure: 4us}\n"

static const char *const texts[] = {
	STAR("  switch: {order: fifo}") "traffic:\n"
					"- {name: a, kind: poisson, load: 60%, payload: 512}\n" RUN,
	STAR("  credits: exact") "traffic:\n"
				 "- {name: a, kind: saturating, pattern: incast, destination: h0, payload: 1KiB}\n"
				 "congestion: {algorithm: cct, marking: {rule: iba, threshold: 15, rate: 1}}\n"
				 "faults: {ber: 1e-6, hoq_life: 2us}\n" RUN,
	STAR("") "traffic:\n"
		 "- {name: a, kind: saturating, transport: rc, pattern: incast, destination: h0, payload: 5000}\n"
		 "- {name: b, kind: poisson, transport: ud, pattern: permutation, load: 10%, payload: 64}\n" RUN,
	STAR("  switch: {queueing: cioq}") "qos: {vls: 4, high: none, low: '0:1,1:1,2:1,3:1', thresholds: {mechanism: et, at: 4, capacity: 10}}\n"
					   "traffic:\n- {name: a, kind: ge, scv: 5, sl: 0, load: 90%, payload: 128}\n" RUN,
	STAR("") "jobs:\n"
		 "- {name: a, overhead: 50ns, eager: 2KiB, program: [{alltoall: 9000, algorithm: linear}, {write: 9000, to: h1, request: 2000}]}\n"
		 "- {name: b, transport: rc, ack_timeout: 8us, program: [{allreduce: 30000, algorithm: ring}]}\n",
};
#define TEXTS (sizeof(texts) / sizeof(*texts))

static struct fabric *fabric_at(unsigned i)
{
	static struct fabric *made[TEXTS];
	struct diag d = { .status = HD_OK };

	if (!made[i] &&
	    fabric_load(texts[i], strlen(texts[i]), "fuzz.yaml", NULL, &d, &made[i]) != HD_OK)
		abort();
	return made[i];
}

struct course {
	struct sim *s;
	struct lab *rows;
	struct jobs *jobs;
};

static struct course course_begin(struct fabric *fabric)
{
	struct diag d = { .status = HD_OK };
	struct sim_rules rules = fabric->rules;
	struct course c = { NULL };

	if (fabric->scenario->n_jobs && jobs_new(fabric, JOBS_ALL, &d, &c.jobs) != HD_OK)
		abort();
	if (traffic_rows_any(fabric))
		lab_rules(&rules);
	if (c.jobs)
		jobs_rules(fabric, &rules);
	c.s = sim_new(&fabric->setup, fabric->flows, fabric->n_flows, &rules);
	if (traffic_rows_any(fabric) && qp_rows_new(fabric, c.s, &d, &c.rows) != HD_OK)
		abort();
	if (c.jobs)
		jobs_attach(c.jobs, c.s);
	return c;
}

static void course_end(struct course *c)
{
	if (c->rows)
		lab_free(c->rows);
	sim_free(c->s);
	if (c->jobs)
		jobs_free(c->jobs);
}

/* The state of a run in the middle. */
static const struct strbuf *state_at(unsigned i)
{
	static struct strbuf made[TEXTS];

	if (!made[i].text) {
		struct course c = course_begin(fabric_at(i));

		made[i] = (struct strbuf)STRBUF_INIT;
		sim_run(c.s, 3 * HD_US, NULL, NULL);
		sim_save(c.s, &made[i]);
		course_end(&c);
	}
	return &made[i];
}

static void load_changed(unsigned i, const uint8_t *data, size_t size)
{
	const struct strbuf *from = state_at(i);
	struct strbuf state = STRBUF_INIT, again = STRBUF_INIT;
	struct course c = course_begin(fabric_at(i));

	strbuf_add(&state, from->text, from->len);
	for (; size >= 4; data += 4, size -= 4) {
		size_t at = data[0] | (size_t)data[1] << 8 | (size_t)data[2] << 16;

		state.text[at % state.len] = (char)data[3];
	}
	if (sim_load(c.s, state.text, state.len))
		sim_save(c.s, &again);
	strbuf_fini(&state);
	strbuf_fini(&again);
	course_end(&c);
}

static void parse(const char *bytes, size_t size)
{
	static const struct digest content = { 1, 2 };
	struct diag d = { .status = HD_OK };
	struct pack p;

	if (checkpoint_parse(bytes, size, &content, &d, &p) == HD_OK)
		return;
	if (!d.message[0])
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	if (data[0] < TEXTS)
		load_changed(data[0], data + 1, size - 1);
	else
		parse((const char *)data + 1, size - 1);
	return 0;
}
