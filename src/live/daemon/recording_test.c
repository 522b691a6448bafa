/* SPDX-License-Identifier: BSD-2-Clause */
#include "live/daemon/recording.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/rng.h"
#include "base/seeds_for_tests.h"
#include "topo/generate.h"
#include "wire/cursor.h"

/* Counts of the agents' callbacks: MADs that arrive, and MADs on cables. */
struct heard {
	struct strbuf arrived, crossed;
	struct recorder *recorder;
};

static void put(struct strbuf *out, const void *bytes, size_t size)
{
	strbuf_add(out, bytes, size);
}

static void arrived(void *context, port_id port, const struct mad_address *from, const uint8_t *mad,
		    size_t size)
{
	struct heard *h = context;

	put(&h->arrived, &port, sizeof(port));
	put(&h->arrived, &from->lid, sizeof(from->lid));
	put(&h->arrived, mad, size);
}

static void crossed(void *context, const struct agents_link_event *c)
{
	struct heard *h = context;

	put(&h->crossed, &c->now, sizeof(c->now));
	put(&h->crossed, &c->out, sizeof(c->out));
	put(&h->crossed, &c->psn, sizeof(c->psn));
	put(&h->crossed, &c->dlid, sizeof(c->dlid));
	put(&h->crossed, &c->vl, sizeof(c->vl));
	put(&h->crossed, c->mad, c->size);
}

static void noted(void *context, const struct agent_change *d)
{
	const struct heard *h = context;

	if (h->recorder)
		recorder_note(h->recorder, d);
}

static struct agents *make_agents(const struct topo *t, const struct agents_timing *times,
				  struct heard *h)
{
	const struct agents_options o = { .times = times };
	const struct agents_events e = { arrived, h, noted, crossed };

	h->arrived = h->crossed = (struct strbuf)STRBUF_INIT;
	return agents_new(t, &o, &e);
}

/* Describes all observable state of the agents. */
static void describe(struct agents *a, struct strbuf *out)
{
	const struct topo *t = agents_topo(a);
	hd_time next = agents_next(a);

	agents_save(a, out);
	put(out, &next, sizeof(next));
	for (port_id p = 0; p < t->n_ports; p++)
		for (unsigned c = 0; c < N_PORT_COUNTERS; c++) {
			uint64_t n = agents_counter(a, p, c);

			put(out, &n, sizeof(n));
		}
}

/* ---- random changes of a fabric */

static port_id some_end_port(const struct topo *t, struct rng *r)
{
	port_id p;

	do
		p = (port_id)rng_below(r, t->n_ports);
	while (!topo_is_end_port(t, p));
	return p;
}

static uint16_t some_attribute(struct rng *r)
{
	static const uint16_t all[] = {
		ATTR_NODE_INFO,         ATTR_SWITCH_INFO,
		ATTR_PORT_INFO,         ATTR_PKEY_TABLE,
		ATTR_SL_TO_VL,          ATTR_VL_ARBITRATION,
		ATTR_LINEAR_FORWARDING, ATTR_MULTICAST_FORWARDING,
	};

	return all[rng_below(r, sizeof(all) / sizeof(all[0]))];
}

/* An SMP with a directed route, or a MAD to a LID. */
static void some_mad(struct agents *a, struct rng *r, hd_time now)
{
	const struct topo *t = agents_topo(a);
	bool directed = rng_below(r, 4) > 0;
	struct mad_header h = {
		.mgmt_class = directed ? MAD_SMP_DIRECT : (rng_below(r, 2) ? MAD_PERF : MAD_SMP),
		.method = rng_below(r, 2) ? MAD_SET : MAD_GET,
		.hop_count = directed ? (uint8_t)rng_below(r, 4) : 0,
		.tid = rng_below(r, 1000),
		.attribute = some_attribute(r),
		.modifier = (uint32_t)rng_below(r, 5),
	};
	struct mad_address to = { .lid = directed ? 0xFFFF : (uint16_t)rng_below(r, 9),
				  .pkey = 0xFFFF,
				  .qp = h.mgmt_class == MAD_PERF,
				  .qkey = MAD_QKEY };
	uint8_t mad[2 * MAD_SIZE] = { 0 };

	mad_write(&h, mad);
	if (directed)
		memset(mad + 32, 0xFF, 4);
	for (unsigned i = 1; directed && i <= h.hop_count; i++)
		mad[128 + i] = (uint8_t)(1 + rng_below(r, 4));
	for (unsigned i = 0; i < 64; i++)
		mad[64 + i] = (uint8_t)(rng_below(r, 3) ? 0 : rng_below(r, 256));
	agents_send(a, some_end_port(t, r), &to, mad, rng_below(r, 20) ? MAD_SIZE : sizeof(mad),
		    now);
}

static void something(struct agents *a, struct rng *r, hd_time now)
{
	const struct topo *t = agents_topo(a);
	port_id p = (port_id)rng_below(r, t->n_ports);
	const struct key_violation v = { .slid = 1, .dlid = 2, .key = 0x8001 };

	switch (rng_below(r, 40)) {
	case 0:
		agents_set_cable(a, p, rng_below(r, 2), now);
		break;
	case 1:
		agents_set_sm(a, some_end_port(t, r), rng_below(r, 2), now);
		break;
	case 2:
		agents_port_set(a, p, PORT_WIDTHS_ENABLED, 1 + rng_below(r, 3));
		agents_retrain(a, p, now);
		break;
	case 3:
		agents_refuse(a, p, &v, 1 + rng_below(r, 5), now);
		break;
	case 4:
		agents_count(a, p, (unsigned)rng_below(r, N_PORT_COUNTERS), rng_below(r, 100));
		break;
	case 5:
		agents_error(a, p, COUNT_LINK_INTEGRITY, 1, now);
		break;
	case 6:
		agents_port_set(a, some_end_port(t, r), PORT_LID, 1 + rng_below(r, 8));
		break;
	default:
		some_mad(a, r, now);
	}
	agents_run(a, now);
}

static void some_fabric(struct rng *r, struct topo *t)
{
	static const char *const recipes[] = {
		"star --hosts=3",
		"mesh --rows=2 --columns=2",
		"fat-tree --radix=4 --levels=2",
	};
	struct diag d = { .status = HD_OK };

	assert_int_equal(topo_generate_text(recipes[rng_below(r, 3)], 1, 0, &d, t), HD_OK);
}

struct tape {
	char path[32];
	struct strbuf bytes;
};

static void write_tape(const struct tape *tape, size_t size)
{
	struct diag d = { .status = HD_OK };

	assert_int_equal(file_write(tape->path, tape->bytes.text, size, &d), HD_OK);
}

static void some_times(const struct topo *t, struct rng *r, struct agents_timing *out)
{
	*out = (struct agents_timing){
		.switch_delay = rng_below(r, HD_US),
		.agent_delay = rng_below(r, 20 * HD_US),
		.vl15_blocks = 5 + (uint32_t)rng_below(r, 60),
		.oldest = rng_below(r, 2),
		.cables = hd_alloc(t->n_ports, sizeof(*out->cables)),
	};
	for (port_id p = 0; p < t->n_ports; p++) {
		out->cables[p].propagation = 1 + rng_below(r, HD_US);
		if (rng_below(r, 2))
			out->cables[p].rate = hd_rate_make(1000 + rng_below(r, HD_S), 1);
	}
}

/* Records random changes of a fabric; `state` describes it at the end. */
static void record(struct rng *r, bool timed, struct tape *tape, struct strbuf *state,
		   struct heard *h)
{
	struct diag d = { .status = HD_OK };
	struct agents_timing times = { 0 };
	struct topo t;
	hd_time now = 0;

	some_fabric(r, &t);
	if (timed)
		some_times(&t, r, &times);
	struct agents *a = make_agents(&t, timed ? &times : NULL, h);

	strcpy(tape->path, "recording-XXXXXX");
	close(mkstemp(tape->path));
	assert_int_equal(recorder_open(tape->path, &t, timed ? &times : NULL, &d, &h->recorder),
			 HD_OK);
	for (unsigned i = 0; i < 400; i++) {
		now += rng_below(r, 10) ? rng_below(r, 3000000) : rng_below(r, 1000000000000);
		something(a, r, now);
	}
	assert_true(recorder_close(h->recorder));
	h->recorder = NULL;
	describe(a, state);
	agents_free(a);
	free(times.cables);
	topo_fini(&t);
	tape->bytes = (struct strbuf)STRBUF_INIT;
	assert_int_equal(file_read(tape->path, FILE_LIMIT, &d, &tape->bytes), HD_OK);
}

/* Replays a file; returns the status and the state of the fabric on success. */
static enum hd_status replay(const char *path, struct diag *d, struct strbuf *state,
			     struct heard *h)
{
	struct recording *r;
	FILE *in;
	hd_time last;

	*d = (struct diag){ .status = HD_OK };
	assert_int_equal(file_open(path, d, &in), HD_OK);
	enum hd_status status = daemon_recording_open(in, d, &r);

	if (status != HD_OK)
		return status;
	struct agents *a = make_agents(daemon_recording_topo(r), daemon_recording_times(r), h);

	status = daemon_recording_replay(r, a, HD_TIME_NEVER, d, &last);
	describe(a, state);
	agents_free(a);
	daemon_recording_close(r);
	return status;
}

static void forget(struct heard *h)
{
	strbuf_fini(&h->arrived);
	strbuf_fini(&h->crossed);
}

static void same(const struct strbuf *a, const struct strbuf *b)
{
	assert_int_equal(a->len, b->len);
	assert_memory_equal(a->text, b->text, a->len);
}

static void a_replay_is_what_was_recorded(void **state)
{
	unsigned cases = run_is_long() ? 2000 : 40;
	size_t crossings = 0;

	(void)state;
	for (unsigned i = 0; i < cases; i++) {
		struct strbuf was = STRBUF_INIT, is = STRBUF_INIT;
		struct heard first = { 0 }, second = { 0 };
		struct tape tape;
		struct diag d;
		struct rng r;

		rng_init(&r, 21, i);
		record(&r, i % 2, &tape, &was, &first);
		assert_int_equal(replay(tape.path, &d, &is, &second), HD_OK);
		same(&was, &is);
		same(&first.arrived, &second.arrived);
		same(&first.crossed, &second.crossed);
		crossings += first.crossed.len / MAD_SIZE;
		remove(tape.path);
		strbuf_fini(&tape.bytes);
		strbuf_fini(&was);
		strbuf_fini(&is);
		forget(&first);
		forget(&second);
	}
	assert_true(crossings > cases * 100);
}

/* Expects one line of error. */
static void check_refused(const struct tape *tape, size_t size)
{
	struct strbuf is = STRBUF_INIT;
	struct heard h = { .arrived = STRBUF_INIT, .crossed = STRBUF_INIT };
	struct diag d;

	write_tape(tape, size);
	if (size < tape->bytes.len)
		assert_int_not_equal(replay(tape->path, &d, &is, &h), HD_OK);
	else
		(void)!replay(tape->path, &d, &is, &h);
	if (d.status != HD_OK) {
		assert_true(d.message[0] != '\0');
		assert_null(strchr(d.message, '\n'));
	}
	strbuf_fini(&is);
	forget(&h);
}

static void a_cut_or_broken_file_is_refused(void **state)
{
	struct strbuf was = STRBUF_INIT;
	struct heard first = { 0 };
	struct tape tape;
	struct rng r;

	(void)state;
	rng_init(&r, 22, 0);
	record(&r, true, &tape, &was, &first);
	for (unsigned i = 0; i < 200; i++)
		check_refused(&tape, rng_below(&r, tape.bytes.len));
	/* Cut between two blocks, the hardest case: only the end is missing. */
	check_refused(&tape, tape.bytes.len - 12);
	for (unsigned i = 0; i < 200; i++) {
		size_t at = rng_below(&r, tape.bytes.len);
		char old = tape.bytes.text[at];

		tape.bytes.text[at] = (char)rng_below(&r, 256);
		check_refused(&tape, tape.bytes.len);
		tape.bytes.text[at] = old;
	}
	remove(tape.path);
	strbuf_fini(&tape.bytes);
	strbuf_fini(&was);
	forget(&first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_replay_is_what_was_recorded),
		cmocka_unit_test(a_cut_or_broken_file_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
