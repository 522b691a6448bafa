/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The results of rank 0 equal those of one process, to the bit, whichever rank computed them; here
 * the ranks are threads. Received data are checked before use.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "base/mpi/world_for_tests.h"
#include "base/rng.h"
#include "base/seeds_for_tests.h"
#include "fabric/build_for_tests.h"
#include "sim/core/modes_for_tests.h"
#include "sim/core/same_for_tests.h"
#include "sim/core/workload_for_tests.h"
#include "sim/domains/remote.h"

/* A run of several ranks, and its expected results. */
struct shared {
	const struct sim_setup *setup;
	const struct sim_flow *flows;
	uint32_t n_flows;
	struct sim_rules rules;
	enum sim_state ends;
	bool heard;       /* by an observer */
	unsigned ranks;   /* that share it; 0: two, and then three */
	unsigned threads; /* of each */
	struct sim *one;
	struct told told;
	/* A run that is saved and continued elsewhere. */
	hd_time until;       /* it is saved; HD_TIME_NEVER: it ends */
	struct strbuf state; /* as it was saved last; empty: it begins */
	struct told so_far;
};

static struct sim *run(const struct shared *w, const struct sim_rules *r, struct told *told)
{
	struct sim *s = sim_new(w->setup, w->flows, w->n_flows, r);
	struct sim_observer o = hearer;

	o.context = told;
	if (w->heard)
		sim_observe(s, &o);
	/* A pause does not change the results. */
	assert_int_equal(sim_run(s, 3 * HD_US + 321, NULL, NULL), SIM_PAUSED);
	sim_metrics(s);
	assert_int_equal(sim_run(s, HD_TIME_NEVER, NULL, NULL), w->ends);
	return s;
}

static void same_circle(struct sim *a, struct sim *b)
{
	struct sim_wait *x, *y;
	uint32_t n = sim_deadlock(a, &x);

	assert_true(n > 0);
	assert_int_equal(n, sim_deadlock(b, &y));
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(x[i].in_port, y[i].in_port);
		assert_int_equal(x[i].out_port, y[i].out_port);
		assert_int_equal(x[i].vl, y[i].vl);
		assert_int_equal(x[i].out_vl, y[i].out_vl);
		assert_int_equal(x[i].flow, y[i].flow);
		assert_int_equal(x[i].sequence, y[i].sequence);
	}
	free(x);
	free(y);
}

/* Rows of other ranks take memory in rank 0 only, which shows them. */
static void has_rows_of_its_own(const struct sim *s)
{
	static const struct sim_output link;
	static const struct ring ring;
	static const struct port_vl port_vl;
	uint32_t others = 0;

	for (uint32_t i = 0; i < s->setup->n_ports; i++) {
		if (has_row(s, i))
			continue;
		others++;
		assert_memory_equal(&s->links[i], &link, sizeof(link));
		assert_memory_equal(&s->rings[i], &ring, sizeof(ring));
		for (uint32_t l = i * s->n_vls; l < (i + 1) * s->n_vls; l++)
			assert_memory_equal(&s->port_vls[l], &port_vl, sizeof(port_vl));
	}
	assert_true(others > 0);
}

static void play(const struct world *world, void *context)
{
	struct shared *w = context;
	struct sim_rules r = w->rules;
	struct told told = { 0, 0 };
	const char *why;

	r.world = world;
	r.threads = w->threads;
	r.cut_seed = world->n;
	struct sim *s = run(w, &r, &told);

	assert_int_equal(sim_is_cut(s, &why), world->n * r.threads);
	assert_int_equal(sim_now(w->one), sim_now(s));
	if (world->rank == 0) {
		same_metrics(sim_metrics(w->one), sim_metrics(s));
		if (w->setup->control)
			same_control(w->one, s, w->n_flows);
		same_vls(w->one, s, w->setup->n_ports);
		if (w->ends == SIM_DEADLOCK)
			same_circle(w->one, s);
		assert_int_equal(told.n, w->told.n);
		assert_int_equal(told.sum, w->told.sum);
	} else {
		assert_int_equal(told.n, 0);
		has_rows_of_its_own(s);
	}
	sim_free(s);
}

static void check(struct shared *w)
{
	/* Six threads, of which most only wait: in long runs. */
	static const struct {
		unsigned ranks, threads;
		bool is_long;
	} ways[] = { { 2, 2, false }, { 3, 1, false }, { 3, 2, true } };

	w->told = (struct told){ 0, 0 };
	w->one = run(w, &w->rules, &w->told);
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		if ((w->ranks && w->ranks != ways[i].ranks) || (ways[i].is_long && !run_is_long()))
			continue;
		w->threads = ways[i].threads;
		play_ranks(ways[i].ranks, play, w);
	}
	sim_free(w->one);
}

static void ranks_measure_what_one_process_does(void **state)
{
	struct workload w;

	(void)state;
	workload_init(&w, workload_find("fat tree, 16 hosts"));
	struct shared shared = {
		.setup = &w.fabric.setup, .flows = w.flows, .n_flows = w.n_flows, .ends = SIM_ENDED
	};

	for (unsigned which = 0; which < RULES; which++) {
		rules_of(which, &shared.rules);
		check(&shared);
	}
	workload_fini(&w);
}

/* Flows that end, where timers of flow control would never end. */
static void ranks_become_idle_at_the_same_time(void **state)
{
	static const enum sim_credits credits[] = { SIM_CREDITS_DELAY, SIM_CREDITS_EXACT };
	struct workload w;

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		workload_init(&w, workload_find("fat tree, 16 hosts"));
		struct shared shared = { .setup = &w.fabric.setup,
					 .flows = w.flows,
					 .n_flows = w.n_flows,
					 .ends = SIM_IDLE };

		for (uint32_t k = 0; k < w.n_flows; k++)
			w.flows[k].count = 6;
		w.fabric.setup.credits = credits[i % 2];
		for (uint32_t k = 0; k < w.fabric.setup.n_ports; k++) {
			w.fabric.setup.ports[k].update_loss = i < 2 ? 0 : 0.2;
			w.fabric.setup.ports[k].propagation = 3 * HD_US;
		}
		sim_rules_init(&shared.rules);
		check(&shared);
		workload_fini(&w);
	}
}

/* ---- saved, and continued by other numbers of ranks ------------------ */

static void same_end(struct shared *w, struct sim *s)
{
	same_metrics(sim_metrics(w->one), sim_metrics(s));
	if (w->setup->control)
		same_control(w->one, s, w->n_flows);
	same_vls(w->one, s, w->setup->n_ports);
	assert_int_equal(w->so_far.n, w->told.n);
	assert_int_equal(w->so_far.sum, w->told.sum);
}

/* Runs up to the next checkpoint. */
static void go_on(const struct world *world, void *context)
{
	struct shared *w = context;
	const bool is_first = !world || world->rank == 0;
	struct sim_rules r = w->rules;
	struct sim_observer o = hearer;
	struct told told = w->so_far;
	const uint64_t before = told.n;

	r.world = world;
	r.threads = world ? 1 + world->n % 2 : 1;
	struct sim *s = sim_new(w->setup, w->flows, w->n_flows, &r);

	o.context = &told;
	if (w->heard)
		sim_observe(s, &o);
	if (w->state.len)
		assert_true(sim_load(s, w->state.text, w->state.len));
	assert_int_equal(sim_run(s, w->until, NULL, NULL),
			 w->until == HD_TIME_NEVER ? w->ends : SIM_PAUSED);
	struct strbuf state = STRBUF_INIT;

	if (w->until != HD_TIME_NEVER)
		sim_save(s, &state); /* all ranks have read the one before */
	if (is_first) {
		strbuf_fini(&w->state);
		w->state = state;
		w->so_far = told;
		if (w->until == HD_TIME_NEVER)
			same_end(w, s);
	} else {
		assert_int_equal(told.n, before);
		strbuf_fini(&state);
	}
	sim_free(s);
}

static void check_restarts(struct shared *w, const hd_time *at)
{
	static const unsigned ranks[] = { 2, 3, 1, 2 };

	w->told = w->so_far = (struct told){ 0, 0 };
	w->one = run(w, &w->rules, &w->told);
	w->state = (struct strbuf)STRBUF_INIT;
	for (unsigned i = 0; i < 4; i++) {
		w->until = i < 3 ? at[i] : HD_TIME_NEVER;
		if (ranks[i] == 1)
			go_on(NULL, w);
		else
			play_ranks(ranks[i], go_on, w);
	}
	strbuf_fini(&w->state);
	sim_free(w->one);
}

static void ranks_resume_checkpoints_of_others(void **state)
{
	static const hd_time at[] = { 4 * HD_US + 17, 13300123, 28 * HD_US };

	(void)state;
	for (size_t i = 0; i < MODES + MODES_WATCHED; i++) {
		const char *text = i < MODES ? mode_scenarios[i] : modes_watched[i - MODES];
		struct fabric *fabric;

		/* These also have state of other ranks. */
		if (!run_is_long() && (i == 1 || (i >= 4 && i <= 6) || i == 11))
			continue;
		must_build(text, &fabric);
		struct shared shared = { .setup = &fabric->setup,
					 .flows = fabric->flows,
					 .n_flows = fabric->n_flows,
					 .rules = fabric->rules,
					 .heard = i >= MODES,
					 .ends = SIM_ENDED };

		check_restarts(&shared, at);
		fabric_free(fabric);
	}
}

static void rules_continue_counting_after_a_restart(void **state)
{
	static const hd_time at[] = { HD_US, 2100077, 3 * HD_US };
	struct workload w;

	(void)state;
	workload_init(&w, workload_find("fat tree, 16 hosts"));
	struct shared shared = {
		.setup = &w.fabric.setup, .flows = w.flows, .n_flows = w.n_flows, .ends = SIM_ENDED
	};

	for (unsigned which = 0; which < RULES; which++) {
		rules_of(which, &shared.rules);
		check_restarts(&shared, at);
	}
	workload_fini(&w);
}

/* Ranks spend most of a run waiting for each other: they take turns. */
static unsigned ranks_in_turn(size_t i)
{
	return run_is_long() ? 0 : 2 + i % 2;
}

static void check_text(const char *text, bool heard, enum sim_state ends, unsigned ranks)
{
	struct fabric *fabric;

	must_build(text, &fabric);
	struct shared shared = { .setup = &fabric->setup,
				 .flows = fabric->flows,
				 .n_flows = fabric->n_flows,
				 .rules = fabric->rules,
				 .heard = heard,
				 .ends = ends,
				 .ranks = ranks };

	check(&shared);
	fabric_free(fabric);
}

static void control_probes_and_vl_sharing_are_the_same_over_ranks(void **state)
{
	(void)state;
	for (size_t i = 0; i < MODES; i++)
		check_text(mode_scenarios[i], false, SIM_ENDED, ranks_in_turn(i));
}

static void observers_of_rank_0_are_notified_of_all(void **state)
{
	(void)state;
	for (size_t i = 0; i < MODES_WATCHED; i++)
		check_text(modes_watched[i], true, SIM_ENDED, ranks_in_turn(i));
}

/* Both ends of a link determine its credits when it comes up. */
static void links_come_up_between_ranks(void **state)
{
	(void)state;
	check_text(TREE "  credits: exact\n" LOADED "faults: {update_loss: 1e-2, events: ["
			"{at: 10us, kind: link-down, port: 's2-0:1'}, "
			"{at: 15us, kind: link-up, port: 's2-0:1'}, "
			"{at: 20us, kind: link-down, port: 's1-1:3'}, "
			"{at: 26us, kind: link-up, port: 's1-1:3'}, "
			"{at: 21us, kind: link-down, port: 's2-2:2'}, "
			"{at: 31us, kind: link-up, port: 's2-2:2'}]}\n" ENDS,
		   true, SIM_ENDED, 0);
}

static void a_circle_through_ranks_is_found(void **state)
{
	(void)state;
	check_text(
		"fabric:\n"
		"  topology: {kind: ring, switches: 6, hosts: 1}\n"
		"  routing: minhop\n"
		"  switch: {input_buffer: 1 packet}\n"
		"  host: {input_buffer: 1 packet}\n"
		"qos: {vls: 1}\n"
		"traffic:\n"
		"- {name: around, kind: saturating, pattern: pairs, source: 'h0,h1,h2,h3,h4,h5', destination: 'h2,h3,h4,h5,h0,h1'}\n"
		"run: {warmup: 0s, measure: 1ms}\n",
		false, SIM_DEADLOCK, 0);
}

static void refuse_to_share(const struct world *world, void *context)
{
	struct shared *w = context;
	struct sim_rules r = w->rules;

	r.world = world;
	struct sim *s = sim_new(w->setup, w->flows, w->n_flows, &r);

	assert_string_equal(sim_share(s), "it has fewer switches");
	sim_free(s);
}

static void more_ranks_than_switches_are_too_many(void **state)
{
	struct fabric *fabric;

	(void)state;
	must_build("fabric: {topology: {kind: ring, switches: 4, hosts: 1}}\n"
		   "traffic:\n- {name: a, kind: poisson, load: 10%}\n"
		   "run: {measure: 10us}\n",
		   &fabric);
	struct shared shared = { .setup = &fabric->setup,
				 .flows = fabric->flows,
				 .n_flows = fabric->n_flows,
				 .rules = fabric->rules };

	play_ranks(5, refuse_to_share, &shared);
	fabric_free(fabric);
}

/* ---- what others send --------------------------------------------------- */

static void suffer(const struct world *world, void *context)
{
	struct shared *w = context;
	struct sim_rules r = w->rules;

	r.world = world;
	struct sim *s = sim_new(w->setup, w->flows, w->n_flows, &r);

	assert_null(sim_share(s));
	struct mailbox m = { 0 };
	struct rng g;

	rng_init(&g, 7, world->rank);
	for (uint64_t i = 0; i < cases_of_run(2000, 20000); i++) {
		struct strbuf bytes = STRBUF_INIT;
		struct pack k;

		for (uint64_t n = rng_below(&g, 400); n > 0; n--)
			strbuf_putc(&bytes, (char)(rng_below(&g, 3) == 0 ? rng_below(&g, 256) : 1));
		pack_from(&k, bytes.text, bytes.len);
		mailbox_pack(&k, s->parts->part[0], &m, 1);
		if (k.refused)
			assert_int_equal(m.n_packets + m.n_credits + m.n_deliveries, 0);
		strbuf_fini(&bytes);
	}
	mailbox_fini(&m);
	sim_free(s);
}

/* Mail in the format of a domain, of packets that it has sent. */
static void mail_of(const struct sim *s, uint32_t from, uint32_t to, struct rng *g,
		    struct mailbox *m)
{
	const uint32_t n_ports = s->setup->n_ports;

	for (uint32_t i = 0; i < n_ports; i++) {
		uint32_t peer = s->setup->ports[i].peer;

		if (peer == NONE || s->cut->part_of_port[i] != from ||
		    s->cut->part_of_port[peer] != to)
			continue;
		struct packet_record p = { .up = i,
					   .bytes = PACKET_BYTES &
						    (1 + (uint32_t)rng_below(g, s->max_bytes)),
					   .born = rng_below(g, HD_S),
					   .sequence = (uint32_t)rng_below(g, 1000),
					   .sl = s->flows[0].sl };

		m->packets = hd_grow(m->packets, &m->packets_cap, m->n_packets + 1, sizeof(p));
		m->packets[m->n_packets++] = p;
		const struct partition_credit c = { .when = rng_below(g, HD_S),
						    .area = rng_below(g, HD_S),
						    .up = peer,
						    .what = 1 };

		m->credits = hd_grow(m->credits, &m->credits_cap, m->n_credits + 1, sizeof(c));
		m->credits[m->n_credits++] = c;
	}
}

static void write_and_read(const struct world *world, void *context)
{
	struct shared *w = context;
	struct sim_rules r = w->rules;

	r.world = world;
	struct sim *s = sim_new(w->setup, w->flows, w->n_flows, &r);
	struct mailbox sent = { 0 }, got = { 0 };
	struct strbuf bytes = STRBUF_INIT;
	struct rng g;
	struct pack k;

	assert_null(sim_share(s));
	rng_init(&g, 11, 0);
	mail_of(s->parts->part[1], 1, 0, &g, &sent);
	assert_true(sent.n_packets > 2);
	pack_to(&k, &bytes);
	mailbox_pack(&k, s->parts->part[0], &sent, 1);
	pack_from(&k, bytes.text, bytes.len);
	mailbox_pack(&k, s->parts->part[0], &got, 1);
	assert_true(pack_is_done(&k));
	assert_int_equal(got.n_packets, sent.n_packets);
	assert_memory_equal(got.packets, sent.packets, sent.n_packets * sizeof(*sent.packets));
	assert_int_equal(got.n_credits, sent.n_credits);
	assert_memory_equal(got.credits, sent.credits, sent.n_credits * sizeof(*sent.credits));
	/* To a port that is another part's, from one that is. */
	sent.credits[0].up = s->links[sent.credits[0].up].peer;
	strbuf_clear(&bytes);
	pack_to(&k, &bytes);
	mailbox_pack(&k, s->parts->part[0], &sent, 1);
	pack_from(&k, bytes.text, bytes.len);
	mailbox_pack(&k, s->parts->part[0], &got, 1);
	assert_true(k.refused);
	strbuf_fini(&bytes);
	mailbox_fini(&sent);
	mailbox_fini(&got);
	sim_free(s);
}

static void mail_is_what_was_sent_or_refused(void **state)
{
	struct workload w;

	(void)state;
	workload_init(&w, workload_find("fat tree, 16 hosts"));
	struct shared shared = { .setup = &w.fabric.setup, .flows = w.flows, .n_flows = w.n_flows };

	rules_of(0, &shared.rules);
	play_ranks(2, write_and_read, &shared);
	play_ranks(2, suffer, &shared);
	workload_fini(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_measure_what_one_process_does),
		cmocka_unit_test(ranks_become_idle_at_the_same_time),
		cmocka_unit_test(control_probes_and_vl_sharing_are_the_same_over_ranks),
		cmocka_unit_test(observers_of_rank_0_are_notified_of_all),
		cmocka_unit_test(ranks_resume_checkpoints_of_others),
		cmocka_unit_test(rules_continue_counting_after_a_restart),
		cmocka_unit_test(links_come_up_between_ranks),
		cmocka_unit_test(a_circle_through_ranks_is_found),
		cmocka_unit_test(more_ranks_than_switches_are_too_many),
		cmocka_unit_test(mail_is_what_was_sent_or_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
