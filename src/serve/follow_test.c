/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/rng.h"
#include "serve/follow_for_tests.h"

#define SCENARIO                                                               \
	"fabric:\n  topology: {kind: fat-tree, radix: 4, levels: 2}\n"         \
	"  routing: ftree\n"                                                   \
	"qos: {vls: 2, low: \"0:64,1:64\"}\n"                                  \
	"traffic:\n"                                                           \
	"  - {name: '{a}: \"b\"', kind: poisson, load: 50%}\n"                 \
	"  - {name: v, kind: cbr, rate: 1Gb/s, sl: 1, pattern: permutation}\n" \
	"run: {warmup: 5us, measure: 100us}\n"                                 \
	"goals: [{row: v, lost: 0}]\n"
#define LINKS 32

struct one {
	struct followed run;
	char path[32];
};

static void begin_with(struct one *x, const char *text)
{
	const struct overrides none = { .items = NULL };

	snprintf(x->path, sizeof(x->path), "/tmp/heddle-follow-XXXXXX");
	int fd = mkstemp(x->path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	follow_begin(&x->run, x->path, &none);
}

static void begin(struct one *x)
{
	begin_with(x, SCENARIO);
}

static void stop(struct one *x)
{
	follow_stop(&x->run);
}

static void end(struct one *x)
{
	follow_free(x->run.s);
	unlink(x->path);
}

static unsigned ask(struct one *x, const struct http_request *r, struct strbuf *out)
{
	return follow_ask(&x->run, r, out);
}

/* Advances by `ns` nanoseconds, or to the end of the run. */
static void step(struct one *x, uint64_t ns)
{
	struct strbuf state = STRBUF_INIT;

	follow_step(&x->run, ns * HD_NS, &state);
	strbuf_fini(&state);
}

static unsigned change(struct one *x, struct change c)
{
	const struct http_request r = { .kind = REQUEST_CHANGE, .change = c };

	return ask(x, &r, NULL);
}

static struct change any_change(struct rng *g)
{
	struct change c = { .kind = (enum change_kind)rng_below(g, 5) };

	c.link = (uint32_t)rng_below(g, LINKS);
	c.row = (uint32_t)rng_below(g, 3);
	snprintf(c.value, sizeof(c.value), "%u%%", 10 + (unsigned)rng_below(g, 60));
	snprintf(c.low, sizeof(c.low), "0:%u,1:%u", 1 + (unsigned)rng_below(g, 200),
		 1 + (unsigned)rng_below(g, 200));
	return c;
}

/* Checksum of the results of a run of this scenario. */
static void checksum_of(const char *text, struct strbuf *out)
{
	const struct run_options options = { .sampled = true };
	struct diag d = { .status = HD_OK };
	struct run *s = NULL;
	struct fabric *fabric;

	if (fabric_load(text, strlen(text), "x.yaml", NULL, &d, &fabric) != HD_OK ||
	    run_open(fabric, &options, &d, &s) != HD_OK || run_to_end(s, &d) != HD_OK)
		fail_msg("%u:%u: %s", d.line, d.column, d.message);
	run_checksum(s, out);
	run_close(s);
}

/* Random steps and changes; then a run of the resulting scenario. */
static void a_changed_run_is_the_run_of_its_scenario(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 8; seed++) {
		struct strbuf text = STRBUF_INIT, ours = STRBUF_INIT;
		struct strbuf alone = STRBUF_INIT;
		struct rng g;
		struct one x = { .path = "" };
		unsigned made = 0;

		rng_init(&g, seed, 0);
		begin(&x);
		for (unsigned i = 0; i < 6; i++) {
			step(&x, 1 + rng_below(&g, 20000));
			made += change(&x, any_change(&g)) == 200;
		}
		assert_true(made > 1);
		step(&x, 1000000);
		stop(&x);
		follow_scenario(x.run.s, &text);
		run_checksum(follow_simulation(x.run.s), &ours);
		checksum_of(text.text, &alone);
		assert_string_equal(ours.text, alone.text);
		end(&x);
		strbuf_fini(&alone);
		strbuf_fini(&ours);
		strbuf_fini(&text);
	}
}

/* Keeps the lines of port counters; changes add lines for rows. */
static void keep_ports(struct strbuf *metrics)
{
	const char *ports = strstr(metrics->text, "# HELP node_infiniband");

	assert_non_null(ports);
	memmove(metrics->text, ports, strlen(ports) + 1);
}

static void a_change_keeps_earlier_results(void **state)
{
	static const enum change_kind kinds[] = { CHANGE_CUT, CHANGE_REROUTE, CHANGE_LOAD,
						  CHANGE_WEIGHTS };
	const struct http_request look = { .kind = REQUEST_METRICS };
	struct strbuf before = STRBUF_INIT, after = STRBUF_INIT;
	struct one x = { .path = "" };

	(void)state;
	begin(&x);
	for (size_t i = 0; i < 4; i++) {
		/*
		 * The cable is idle then: a packet that is lost on the cable has been counted as
		 * received since its grant.
		 */
		step(&x, 16000);
		ask(&x, &look, &before);
		keep_ports(&before);
		assert_int_equal(change(&x, (struct change){ .kind = kinds[i],
							     .link = 9,
							     .value = "30%",
							     .low = "0:1,1:9" }),
				 200);
		ask(&x, &look, &after);
		keep_ports(&after);
		assert_string_equal(before.text, after.text);
	}
	stop(&x);
	end(&x);
	strbuf_fini(&before);
	strbuf_fini(&after);
}

static unsigned long lost_packets(struct one *x)
{
	static const char family[] = "heddle_row_lost_packets_total{row=\"all\"} ";
	const struct http_request look = { .kind = REQUEST_METRICS };
	struct strbuf text = STRBUF_INIT;
	const char *at;
	unsigned long lost;

	ask(x, &look, &text);
	at = strstr(text.text, family);
	assert_non_null(at);
	lost = strtoul(at + strlen(family), NULL, 10);
	strbuf_fini(&text);
	return lost;
}

/* Packets over the failed cable are lost until the manager has re-routed. */
static void a_manager_reroutes_around_a_failed_cable(void **state)
{
	const struct http_request look = { .kind = REQUEST_STATE };
	const struct change reroute = { .kind = CHANGE_REROUTE };
	struct strbuf text = STRBUF_INIT;
	struct one x = { .path = "" };
	unsigned long lost;

	(void)state;
	begin_with(&x, "fabric: {topology: {kind: fat-tree, radix: 4, levels: 2}, routing: ftree}\n"
		       "traffic: [{name: all, kind: poisson, load: 20%}]\n"
		       "run: {warmup: 5us, measure: 20ms}\n");
	step(&x, 10000);
	assert_int_equal(change(&x, reroute), 409); /* no cable has failed */
	assert_int_equal(change(&x, (struct change){ .kind = CHANGE_CUT, .link = 11 }),
			 200); /* the cable of a leaf and a spine */
	step(&x, 50000);
	assert_int_equal(ask(&x, &look, &text), 200);
	assert_non_null(strstr(text.text, "\"manager\":false"));
	assert_int_equal(change(&x, reroute), 200);
	assert_int_equal(change(&x, reroute), 409); /* the scenario already has a subnet manager */
	step(&x, 10000000);
	ask(&x, &look, &text);
	assert_non_null(strstr(text.text, "\"manager\":true"));
	lost = lost_packets(&x);
	assert_true(lost > 0);
	step(&x, 1000000);
	assert_int_equal(lost_packets(&x), lost);
	stop(&x);
	end(&x);
	strbuf_fini(&text);
}

/* A host that sends at half its link's rate from time 0 on. */
static void links_show_their_use_during_the_warm_up(void **state)
{
	const struct http_request look = { .kind = REQUEST_STATE };
	struct strbuf text = STRBUF_INIT;
	struct one x = { .path = "" };

	(void)state;
	begin_with(&x, "fabric: {topology: {kind: star, hosts: 2}}\n"
		       "traffic: [{name: a, kind: cbr, load: 50%, source: h0, destination: h1}]\n"
		       "run: {warmup: 1ms, measure: 1ms}\n");
	for (unsigned i = 0; i < 3; i++) {
		unsigned long most = 0;
		char *at;

		step(&x, i < 2 ? 200000 : 1000000); /* the last step is after the warm-up */
		ask(&x, &look, &text);
		at = strstr(text.text, "\"used\":[");
		assert_non_null(at);
		for (at += strlen("\"used\":["); *at != ']'; at += *at == ',') {
			unsigned long used = strtoul(at, &at, 10);

			most = used > most ? used : most;
		}
		assert_in_range(most, 490, 510);
	}
	stop(&x);
	end(&x);
	strbuf_fini(&text);
}

static void a_refused_change_changes_nothing(void **state)
{
	struct strbuf before = STRBUF_INIT, after = STRBUF_INIT;
	const struct http_request scenario = { .kind = REQUEST_SCENARIO };
	struct one x = { .path = "" };

	(void)state;
	begin(&x);
	step(&x, 3000);
	ask(&x, &scenario, &before);
	assert_int_equal(change(&x, (struct change){ CHANGE_CUT, .link = LINKS }), 404);
	assert_int_equal(change(&x, (struct change){ CHANGE_LOAD, .row = 2, .value = "1%" }), 404);
	assert_int_equal(change(&x, (struct change){ CHANGE_LOAD, .value = "b/s" }), 422);
	assert_int_equal(change(&x, (struct change){ CHANGE_WEIGHTS, .low = "99:1" }), 422);
	ask(&x, &scenario, &after);
	assert_string_equal(before.text, after.text);
	step(&x, 1000000);
	assert_int_equal(change(&x, (struct change){ CHANGE_CUT }), 409);
	stop(&x);
	end(&x);
	strbuf_fini(&before);
	strbuf_fini(&after);
}

/* The load as a share of the link or as a rate, as in the scenario. */
static void rows_show_their_load(void **state)
{
	struct strbuf text = STRBUF_INIT;
	const struct http_request look = { .kind = REQUEST_STATE };
	struct one x = { .path = "" };

	(void)state;
	begin(&x);
	assert_int_equal(ask(&x, &look, &text), 200);
	assert_non_null(strstr(text.text, "\"row\":0,"));
	assert_non_null(strstr(text.text, "\"load\":\"50%\""));
	assert_non_null(strstr(text.text, "\"row\":1,\"name\":\"v\",\"load\":\"1Gb/s\""));
	stop(&x);
	end(&x);
	strbuf_fini(&text);
}

/* Saturating rows have no load to show or to change. */
static void rows_without_a_load_show_none(void **state)
{
	struct strbuf text = STRBUF_INIT;
	const struct http_request look = { .kind = REQUEST_STATE };
	struct one x = { .path = "" };

	(void)state;
	begin_with(&x, "fabric: {topology: {kind: star, hosts: 4}}\n"
		       "traffic: [{name: all, kind: saturating}]\n"
		       "run: {warmup: 0s, measure: 10us}\n");
	step(&x, 2000);
	assert_int_equal(ask(&x, &look, &text), 200);
	assert_non_null(strstr(text.text, "\"name\":\"all\",\"load\":\"\""));
	assert_int_equal(change(&x, (struct change){ CHANGE_LOAD, .value = "30%" }), 422);
	stop(&x);
	end(&x);
	strbuf_fini(&text);
}

/* Eight hosts on four leaves and two spines. */
static void the_fabric_is_drawn_whole(void **state)
{
	static const char hosts[] = "\"h0\",\"h1\",\"h2\",\"h3\",\"h4\",\"h5\",\"h6\",\"h7\"]",
			  tiers[] = "[1,1,1,1,2,2,0,0,0,0,0,0,0,0]";
	const struct http_request draw = { .kind = REQUEST_FABRIC };
	struct strbuf text = STRBUF_INIT;
	struct one x = { .path = "" };

	(void)state;
	begin(&x);
	assert_int_equal(ask(&x, &draw, &text), 200);
	assert_non_null(strstr(text.text, hosts));
	assert_non_null(strstr(text.text, tiers));
	stop(&x);
	end(&x);
	strbuf_fini(&text);
}

/* All times count from the start of the run, independent of the time of the request. */
static void an_event_has_one_time(void **state)
{
	static const uint64_t steps[] = { 1000, 9000, 2, 8000, 50000, 29000, 10000, 90000 };
	const struct http_request draw = { .kind = REQUEST_FABRIC };
	struct strbuf text = STRBUF_INIT;
	struct one x = { .path = "" };
	uint64_t now = 0;

	(void)state;
	begin_with(
		&x,
		"fabric: {topology: {kind: star, hosts: 4}}\n"
		"traffic: [{name: a, kind: poisson, load: 30%}]\n"
		"faults: {events: [{at: 10001ns, kind: link-down, port: h1}, {at: 120002ns, kind: link-up, port: h1}]}\n"
		"run: {warmup: 100us, measure: 100us}\n");
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		step(&x, steps[i]);
		now += steps[i];
		assert_int_equal(ask(&x, &draw, &text), 200);
		const char *events = strstr(text.text, "\"events\"");

		assert_non_null(events);
		assert_int_equal(strstr(events, "10.001") != NULL, now >= 10001);
		assert_int_equal(strstr(events, "120.002") != NULL, now >= 120002);
	}
	stop(&x);
	end(&x);
	strbuf_fini(&text);
}

/*
 * A change late in a run takes long. Meanwhile the old run answers other requests, and later
 * changes wait.
 */
static void a_long_change_blocks_nothing(void **state)
{
	const struct http_request look = { .kind = REQUEST_STATE };
	const struct http_request draw = { .kind = REQUEST_FABRIC };
	const struct http_request cut = { .kind = REQUEST_CHANGE,
					  .change = { .kind = CHANGE_CUT, .link = 9 } };
	struct strbuf text = STRBUF_INIT;
	struct one x = { .path = "" };
	struct asked first, second;
	unsigned looks = 0;

	(void)state;
	begin_with(&x, "fabric: {topology: {kind: fat-tree, radix: 8, levels: 2}, routing: ftree}\n"
		       "traffic: [{name: a, kind: poisson, load: 80%}]\n"
		       "run: {measure: 1ms}\n");
	step(&x, 300000);
	asked_begin(&x.run, &first, &cut);
	asked_begin(&x.run, &second, &cut);
	for (; !asked_is_done(&first); looks++) {
		assert_int_equal(ask(&x, &look, &text), 200);
		assert_true(asked_is_done(&first) || strstr(text.text, "\"changing\":true"));
		assert_int_equal(ask(&x, &draw, NULL), 200);
		assert_false(asked_is_done(&second));
	}
	assert_true(looks >= 3);
	/* Closing the queue during the second change also answers that request. */
	stop(&x);
	assert_int_equal(asked_end(&first, NULL), 200);
	assert_int_equal(asked_end(&second, NULL), 503);
	end(&x);
	strbuf_fini(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_changed_run_is_the_run_of_its_scenario),
		cmocka_unit_test(a_change_keeps_earlier_results),
		cmocka_unit_test(a_manager_reroutes_around_a_failed_cable),
		cmocka_unit_test(links_show_their_use_during_the_warm_up),
		cmocka_unit_test(a_refused_change_changes_nothing),
		cmocka_unit_test(rows_show_their_load),
		cmocka_unit_test(rows_without_a_load_show_none),
		cmocka_unit_test(the_fabric_is_drawn_whole),
		cmocka_unit_test(an_event_has_one_time),
		cmocka_unit_test(a_long_change_blocks_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
