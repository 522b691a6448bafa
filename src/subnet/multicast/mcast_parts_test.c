/* SPDX-License-Identifier: BSD-2-Clause */
/* Multicast along paths: a group in parts that one worm each visits. */
#include "subnet/multicast/mcast_for_tests.h"

#include "subnet/multicast/mcast_load.h"
#include "subnet/routing/deadlock.h"

/* Position of a node on the boustrophedon path, computed directly. */
static uint32_t snake(uint32_t columns, uint32_t x, uint32_t y)
{
	uint32_t n = 0;

	for (uint32_t row = 0; row <= y; row++) {
		for (uint32_t k = 0; k < columns; k++, n++) {
			uint32_t column = row % 2 ? columns - 1 - k : k;

			if (row == y && column == x)
				return n;
		}
	}
	return n;
}

/* LIDs are x rows + y + 1. */
static port_id node(const struct subnet *s, uint32_t rows, uint32_t x, uint32_t y)
{
	return s->port_of_lid[0][x * rows + y + 1];
}

struct draw {
	uint32_t columns, rows, n;
	uint32_t x[40], y[40]; /* the source first */
};

static void draw_nodes(struct rng *rng, struct draw *d)
{
	bool taken[8][8] = { { false } };

	d->columns = 2 + (uint32_t)rng_below(rng, 5);
	d->rows = 2 + (uint32_t)rng_below(rng, 5);
	uint32_t all = d->columns * d->rows;

	d->n = 2 + (uint32_t)rng_below(rng, all - 1);
	for (uint32_t i = 0; i < d->n; i++) {
		do {
			d->x[i] = (uint32_t)rng_below(rng, d->columns);
			d->y[i] = (uint32_t)rng_below(rng, d->rows);
		} while (taken[d->x[i]][d->y[i]]);
		taken[d->x[i]][d->y[i]] = true;
	}
}

static uint32_t apart(const struct draw *d, uint32_t i, uint32_t k)
{
	return (uint32_t)(abs((int)d->x[i] - (int)d->x[k]) + abs((int)d->y[i] - (int)d->y[k]));
}

/* The next member after a number, up or down; 0: none. */
static uint32_t next_stop(const struct draw *d, uint32_t label, bool up)
{
	uint32_t next = 0, best = 0;

	for (uint32_t i = 1; i < d->n; i++) {
		uint32_t l = snake(d->columns, d->x[i], d->y[i]);
		bool behind = up ? l > label : l < label;

		if (behind && (!next || (up ? l < best : l > best))) {
			best = l;
			next = i;
		}
	}
	return next;
}

/* Cables of dual-path between nodes: the distances from each member to the next by number. */
static uint32_t dual_cables(const struct draw *d)
{
	uint32_t cables = 0;

	for (int up = 0; up < 2; up++) {
		uint32_t at = 0, next;

		while ((next = next_stop(d, snake(d->columns, d->x[at], d->y[at]), up)) != 0) {
			cables += apart(d, at, next);
			at = next;
		}
	}
	return cables;
}

static void parts_reach_every_member_once(void **state)
{
	struct rng rng;

	(void)state;
	rng_init(&rng, 18, 1);
	for (unsigned i = 0; i < 150; i++) {
		enum mcast_method method = MCAST_DUAL + i % 3;
		struct draw w;
		struct topo t;
		struct subnet s;
		struct mcast_check c;
		struct diag d = { .status = HD_OK };
		char words[64];
		port_id members[40];

		draw_nodes(&rng, &w);
		snprintf(words, sizeof(words), "node-mesh --columns=%u --rows=%u", w.columns,
			 w.rows);
		set_up(&t, &s, words, "xy", &by_paper);
		for (uint32_t k = 1; k < w.n; k++)
			members[k - 1] = node(&s, w.rows, w.x[k], w.y[k]);
		const struct mcast_group want = {
			.method = method,
			.source = node(&s, w.rows, w.x[0], w.y[0]),
			.members = members,
			.n_members = w.n - 1,
		};

		assert_int_equal(mcast_add(&s, &want, &d), HD_ERR_UNFIT);
		d.status = HD_OK;
		assert_int_equal(mcast_add_parts(&s, &want, &d), HD_OK);
		assert_in_range(s.n_groups, 1, method == MCAST_DUAL ? 2 : 4);
		mcast_check(&s, &c);
		assert_true(mcast_check_is_clean(&c));
		assert_int_equal(c.n_expected, w.n - 1);
		if (method == MCAST_DUAL)
			assert_int_equal(c.n_cables, dual_cables(&w));
		/* A tree of shortest paths: none is longer. */
		for (uint32_t k = 1; k < w.n && method == MCAST_DOUBLE; k++)
			assert_true(apart(&w, 0, k) <= c.max_hops);
		tear_down(&t, &s);
	}
}

/* Length of a cycle of multicasts alone, and together with unicast. */
static void find_circles(const struct subnet *s, uint32_t *alone, uint32_t *together)
{
	struct deadlock_check lock;
	struct depgraph deps;
	struct channel *cycle;

	depgraph_init(&deps, s->topo);
	mcast_dependencies(s, &deps);
	*alone = depgraph_find_cycle(&deps, &cycle);
	free(cycle);
	depgraph_fini(&deps);
	route_check_deadlock(s, DEADLOCK_PLAIN, &lock);
	*together = lock.n_cycle;
	route_deadlock_fini(&lock);
}

/*
 * All send to all: no circle of channels, by any of them. Paths go down and up
 * the rows, so that they close one together with XY unicast; XY trees in
 * quadrants do not.
 */
static void parts_wait_in_no_circle(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct topo t;
		struct subnet s;
		uint32_t alone, together;
		struct diag d = { .status = HD_OK };
		port_id ends[20];

		set_up(&t, &s, "node-mesh --columns=5 --rows=4", "xy", &by_paper);
		uint32_t n = topo_end_ports(&t, ends);
		struct mcast_group want = { .method = MCAST_DUAL + i,
					    .members = ends,
					    .n_members = n };

		for (uint32_t k = 0; k < n; k++) {
			want.source = ends[k];
			assert_int_equal(mcast_add_parts(&s, &want, &d), HD_OK);
		}
		find_circles(&s, &alone, &together);
		assert_int_equal(alone, 0);
		assert_int_equal(together > 0, i < 2);
		tear_down(&t, &s);
	}
}

static void parts_need_a_mesh(void **state)
{
	struct topo t;
	struct subnet s;
	struct diag d = { .status = HD_OK };
	port_id ends[40];

	(void)state;
	set_up(&t, &s, "torus --sizes=4x4", "dor", &by_opensm);
	topo_end_ports(&t, ends);
	const struct mcast_group want = {
		.method = MCAST_DUAL, .source = ends[0], .members = ends + 1, .n_members = 3
	};

	assert_int_equal(mcast_add_parts(&s, &want, &d), HD_ERR_UNFIT);
	assert_string_equal(d.message, "multicast: 'dual-path' needs a mesh of two dimensions");
	tear_down(&t, &s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_reach_every_member_once),
		cmocka_unit_test(parts_wait_in_no_circle),
		cmocka_unit_test(parts_need_a_mesh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
