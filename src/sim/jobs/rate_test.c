/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A port and SL has one rate, whichever adapters its queue pairs belong to, and the queue pairs
 * take turns (docs/timing-rules.md, Q7).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "hca/traffic.h"
#include "sim/jobs/jobs.h"

#define BYTE 40 /* ps, on 4x HDR */
#define MOST 4096

/* Requests that the first host has sent. */
struct sent {
	uint32_t port;
	size_t n;
	hd_time at[MOST];
	uint32_t bytes[MOST];
	uint16_t dlid[MOST];
};

static void granted(void *context, hd_time now, uint32_t port, const struct sim_packet *p)
{
	struct sent *s = context;

	if (port != s->port || p->kind != SIM_DATA || s->n == MOST)
		return;
	s->at[s->n] = now;
	s->bytes[s->n] = p->bytes;
	s->dlid[s->n++] = p->dlid;
}

static uint32_t first_port(const struct fabric *fabric)
{
	uint32_t i = 0;

	while (fabric->setup.nodes[i].kind != SIM_END)
		i++;
	return fabric->setup.nodes[i].first_port + 1;
}

/* Text after "congestion: {" and the lines of rows and jobs. */
static struct sent run(const char *control, const char *rest)
{
	char text[2048];
	struct diag d = { .status = HD_OK };
	struct fabric *fabric = NULL;
	struct jobs *jobs = NULL;
	struct lab *rows = NULL;
	static struct sent sent;

	snprintf(
		text, sizeof(text),
		"fabric: {topology: {kind: star, hosts: 4}, link: {rate: 4x HDR}}\nrun: {warmup: 0s, measure: 60us, horizon: 60us}\n"
		"congestion: {%s}\n%s",
		control, rest);
	if (fabric_load(text, strlen(text), "x.yaml", NULL, &d, &fabric) != HD_OK ||
	    jobs_new(fabric, JOBS_ALL, &d, &jobs) != HD_OK)
		fail_msg("%s\n%s", text, d.message);
	struct sim_rules rules = fabric->rules;
	const struct sim_observer o = { .context = &sent, .granted = granted };

	lab_rules(&rules);
	jobs_rules(fabric, &rules);
	struct sim *s = sim_new(&fabric->setup, fabric->flows, fabric->n_flows, &rules);

	sent = (struct sent){ .port = first_port(fabric) };
	sim_observe(s, &o);
	if (traffic_rows_any(fabric) && qp_rows_new(fabric, s, &d, &rows) != HD_OK)
		fail_msg("%s", d.message);
	jobs_attach(jobs, s);
	sim_run(s, 60 * HD_US, NULL, NULL);
	if (rows)
		lab_free(rows);
	sim_free(s);
	jobs_free(jobs);
	fabric_free(fabric);
	return sent;
}

static size_t to_lid(const struct sent *s, uint16_t dlid)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		n += s->dlid[i] == dlid;
	return n;
}

#define ROW(to)                                                                                 \
	"- {name: to-" to ", kind: cbr, source: h0, destination: " to ", transport: rc, rate: " \
	"80Gb/s, payload: 4096}\n"
#define JOB(name, to)                                                    \
	"- {name: " name ", transport: rc, ranks: 2, on: [h0, " to "], " \
	"program: [{shift: 8MiB}]}\n"

/* The straight table's entry 12 adds three times what a packet takes. */
static void port_and_sl_have_one_rate(void **state)
{
	static const char *const cases[] = {
		"traffic:\n" ROW("h1") ROW("h2"),
		"jobs:\n" JOB("a", "h1") JOB("b", "h2"),
		"traffic:\n" ROW("h1") "jobs:\n" JOB("a", "h2"),
		"traffic:\n" ROW("h1") ROW("h2") "jobs:\n" JOB("a", "h3"),
	};
	static const size_t sharers[] = { 2, 2, 2, 3 };

	(void)state;
	for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
		struct sent s = run("algorithm: cct, cct: {per: sl, min: 12}", cases[c]);
		const hd_time gap = 4 * (hd_time)BYTE * (4096 + 26);

		assert_in_range(s.n, 60 * HD_US / (gap + 4 * BYTE * 8), 60 * HD_US / gap + 1);
		for (size_t i = 1; i < s.n; i++)
			assert_true(s.at[i] - s.at[i - 1] >= 4 * (hd_time)BYTE * s.bytes[i - 1]);
		/* In turns: no destination is more than one message behind,
		 * except those that begin later. */
		size_t seen = 0;

		for (uint16_t lid = 0; lid < 32; lid++) {
			size_t n = to_lid(&s, lid);

			seen += n > 0;
			if (n)
				assert_in_range(n, s.n / sharers[c] - 2, s.n / sharers[c] + 2);
		}
		assert_int_equal(seen, sharers[c]);
	}
}

/*
 * A sixth of the link until an ACK arrives: requests of 100 bytes are sent before that. Messages
 * inside a host neither wait nor raise the rate.
 */
static void messages_inside_hosts_are_not_paced(void **state)
{
	static const char *const pers[] = { "sl", "qp" };
	char control[128];

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		snprintf(control, sizeof(control), "algorithm: fimd, rate_steps: 6, cct: {per: %s}",
			 pers[i]);
		struct sent s = run(
			control,
			"jobs:\n"
			"- {name: a, transport: rc, ranks: 1, on: h0, program: [{write: 3000, request: 100, to: h0}, {write: 300, request: 100, outstanding: 3, to: h1}]}\n");

		assert_int_equal(s.n, 3);
		assert_int_equal(s.at[0], 0);
		for (size_t k = 1; k < 3; k++)
			assert_int_equal(s.at[k] - s.at[k - 1], 6 * BYTE * s.bytes[k - 1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(port_and_sl_have_one_rate),
		cmocka_unit_test(messages_inside_hosts_are_not_paced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
