/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/build_for_tests.h"

#include "base/rng.h"
#include "base/seeds_for_tests.h"
#include "base/strbuf.h"
#include "hca/traffic.h"

/*
 * Which hosts communicate (docs/timing-rules.md, A2): hosts are drawn into partitions as
 * limited members, as full ones or not at all, and rows of traffic between two
 * hosts in one of these arrive or do not, over queue pairs as without.
 */
#define HOSTS      5u
#define PARTITIONS 3u
#define ROWS       14u
#define MESSAGES   3u

enum membership { NO_MEMBER, LIMITED, FULL };

struct row {
	unsigned from, to, partition;
};

struct drawn {
	bool enforced;
	enum membership of[PARTITIONS][HOSTS];
	struct row rows[ROWS];
};

static void write_members(const struct drawn *d, unsigned partition, enum membership m,
			  struct strbuf *out)
{
	const char *between = m == FULL ? ", full: '" : ", limited: '";
	bool any = false;

	for (unsigned h = 0; h < HOSTS; h++) {
		if (d->of[partition][h] != m)
			continue;
		strbuf_printf(out, "%sh%u", between, h);
		between = ",";
		any = true;
	}
	strbuf_puts(out, any ? "'" : "");
}

static void draw(struct rng *r, struct drawn *d, struct strbuf *out)
{
	static const char *const transports[] = { "", "rc", "uc", "ud" };

	d->enforced = rng_below(r, 2);
	strbuf_printf(out,
		      "fabric:\n  topology: {kind: star, hosts: %u}\n"
		      "qos:\n  enforce: %s\n  partitions:\n",
		      HOSTS, d->enforced ? "true" : "false");
	for (unsigned p = 0; p < PARTITIONS; p++) {
		for (unsigned h = 0; h < HOSTS; h++)
			d->of[p][h] = (enum membership)rng_below(r, 3);
		strbuf_printf(out, "  - {name: p%u, key: %u", p, 7 * p + 1);
		write_members(d, p, FULL, out);
		write_members(d, p, LIMITED, out);
		strbuf_puts(out, "}\n");
	}
	strbuf_puts(out, "traffic:\n");
	for (unsigned i = 0; i < ROWS; i++) {
		unsigned from = (unsigned)rng_below(r, HOSTS);
		const struct row row = {
			.from = from,
			.to = (from + 1 + (unsigned)rng_below(r, HOSTS - 1)) % HOSTS,
			.partition = (unsigned)rng_below(r, PARTITIONS),
		};
		const char *transport = transports[rng_below(r, 4)];

		d->rows[i] = row;
		strbuf_printf(
			out,
			"- {name: r%u, kind: cbr, rate: 1Gb/s, count: %u, payload: 256, pattern: pairs, source: h%u, destination: h%u, partition: p%u%s%s}\n",
			i, MESSAGES, row.from, row.to, row.partition,
			*transport ? ", transport: " : "", transport);
	}
	strbuf_puts(out, "run: {warmup: 0s, measure: 100us}\n");
}

/*
 * Two hosts may communicate if one of them is a full member. A host outside the partition may forge
 * the key of a full member; a switch that checks keys detects it.
 */
static bool may_talk(const struct drawn *d, const struct row *row)
{
	enum membership from = d->of[row->partition][row->from];
	enum membership to = d->of[row->partition][row->to];

	if (from == NO_MEMBER)
		return !d->enforced && to != NO_MEMBER;
	return to != NO_MEMBER && (from == FULL || to == FULL);
}

/* Every loss is counted where it happened: by switches that check keys, otherwise by hosts. */
static void check_counters(const struct drawn *d, const struct fabric *fabric,
			   const struct sim_metrics *m)
{
	uint64_t refused = 0;

	for (uint32_t i = 0; i < fabric->setup.n_ports; i++) {
		struct sim_counters c;
		bool is_end = fabric->setup.nodes[fabric->setup.ports[i].node].kind == SIM_END;

		sim_port_counters(m, i, &c);
		uint64_t of_port = c.rcv_constraint_errors + c.xmit_constraint_errors;

		refused += of_port;
		if (is_end == d->enforced)
			assert_int_equal(of_port, 0);
	}
	/* Hosts refuse answers to forged keys, too: these are no data. */
	if (d->enforced)
		assert_int_equal(refused, m->lost[SIM_LOST_PARTITION]);
	else
		assert_true(refused >= m->lost[SIM_LOST_PARTITION]);
}

/* Returns how many rows talk. */
static unsigned check_rows(const struct drawn *d, const char *text, const struct sim_metrics *m)
{
	unsigned talk = 0;

	for (unsigned i = 0; i < ROWS; i++) {
		bool may = may_talk(d, &d->rows[i]);

		if (m->flows[i].delivered != (may ? MESSAGES : 0))
			fail_msg("row %u: %u messages\n%s", i, (unsigned)m->flows[i].delivered,
				 text);
		talk += may;
	}
	return talk;
}

static unsigned check_one(struct rng *r)
{
	struct strbuf text = STRBUF_INIT;
	struct diag d = { .status = HD_OK };
	struct lab *rows = NULL;
	struct drawn drawn;
	struct fabric *fabric;

	draw(r, &drawn, &text);
	must_build(text.text, &fabric);
	struct sim_rules rules = fabric->rules;

	lab_rules(&rules);
	struct sim *s = sim_new(&fabric->setup, fabric->flows, fabric->n_flows, &rules);

	if (traffic_rows_any(fabric))
		assert_int_equal(qp_rows_new(fabric, s, &d, &rows), HD_OK);
	sim_run(s, HD_TIME_NEVER, NULL, NULL);
	assert_int_equal(fabric->n_flows, ROWS);
	unsigned talk = check_rows(&drawn, text.text, sim_metrics(s));

	check_counters(&drawn, fabric, sim_metrics(s));
	lab_free(rows);
	sim_free(s);
	fabric_free(fabric);
	strbuf_fini(&text);
	return talk;
}

static void members_talk_if_one_is_a_full_one(void **state)
{
	unsigned talk = 0, n = run_is_long() ? 5000 : 150;
	struct rng r;

	(void)state;
	rng_init(&r, 20, 1);
	for (unsigned k = 0; k < n; k++)
		talk += check_one(&r);
	assert_in_range(talk, n * ROWS / 4, n * ROWS * 3 / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_talk_if_one_is_a_full_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
