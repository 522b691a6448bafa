/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "subnet/routing/route.h"
#include "topo/generate.h"

struct world {
	struct topo topo;
	struct subnet subnet;
};

static void make_with(struct world *f, const char *kind, const char *size,
		      const struct lid_options *lids)
{
	struct diag d = { .status = HD_OK };
	char *word = hd_strdup(size), *words[] = { word };

	assert_int_equal(topo_generate_words(generator_find(kind, &d), *size ? 1 : 0, words, 1, &d,
					     &f->topo),
			 HD_OK);
	free(word);
	subnet_init(&f->subnet, &f->topo);
	subnet_limit_vls(&f->subnet, 8);
	assert_int_equal(subnet_assign_lids(&f->subnet, lids, &d), HD_OK);
}

static void make(struct world *f, const char *kind, const char *size)
{
	const struct lid_options lids = { .order = LIDS_NODES, .sm_port = TOPO_NONE };
	struct diag d = { .status = HD_OK };

	make_with(f, kind, size, &lids);
	assert_int_equal(subnet_route(&f->subnet, "minhop", NULL, &d), HD_OK);
}

static void unmake(struct world *f)
{
	subnet_fini(&f->subnet);
	topo_fini(&f->topo);
}

/* Sets n random entries, so that hardly any two blocks are equal. */
static void scatter(struct subnet *s, struct rng *r, unsigned n)
{
	size_t size = (size_t)s->n_switches * s->lft_stride;

	for (unsigned i = 0; i < n; i++)
		s->lft[rng_below(r, size)] = (uint8_t)rng_below(r, 256);
}

static void assert_forwards(const struct subnet *s, const uint8_t *rows)
{
	for (switch_id sw = 0; sw < s->n_switches; sw++) {
		for (uint32_t lid = 0; lid <= UINT16_MAX; lid++) {
			uint8_t want =
				lid < s->lft_stride ? rows[sw * s->lft_stride + lid] : LFT_NO_PORT;

			/* Without asking where the tables end, too. */
			if (s->lft_at)
				assert_int_equal(lft_row_get(lft_row_of(s, sw), (lid_t)lid), want);
			assert_int_equal(lft_get(s, sw, (lid_t)lid), want);
		}
	}
}

static void shared_tables_equal_their_rows(void **state)
{
	static const char *const fabrics[][2] = {
		{ "fat-tree", "--radix=8" },
		{ "torus", "--sizes=4x4" },
		{ "star", "--hosts=100" },
		{ "back-to-back", "" },
	};
	struct rng r;

	(void)state;
	rng_init(&r, 1, 1);
	for (unsigned i = 0; i < 12; i++) {
		struct world f;

		make(&f, fabrics[i % 4][0], fabrics[i % 4][1]);
		struct subnet *s = &f.subnet;

		scatter(s, &r, s->n_switches ? i / 4 * 40 : 0);
		uint8_t *rows = lft_rows(s);
		size_t size = (size_t)s->n_switches * s->lft_stride;

		assert_forwards(s, rows);
		subnet_share(s);
		assert_non_null(s->lft_at);
		assert_forwards(s, rows);
		subnet_share(s); /* once more is as once */
		assert_forwards(s, rows);
		uint8_t *again = lft_rows(s);

		assert_memory_equal(again, rows, size);
		subnet_own(s);
		assert_null(s->lft_at);
		assert_memory_equal(s->lft, rows, size);
		free(again);
		free(rows);
		unmake(&f);
	}
}

/* Number of different blocks, by pairwise comparison. */
static size_t count_blocks(const uint8_t *rows, size_t n)
{
	size_t different = 0;

	for (size_t i = 0; i < n; i++) {
		size_t k = 0;

		while (k < i && memcmp(rows + k * LFT_BLOCK_LIDS, rows + i * LFT_BLOCK_LIDS,
				       LFT_BLOCK_LIDS) != 0)
			k++;
		different += k == i;
	}
	return different;
}

static void equal_blocks_are_kept_once(void **state)
{
	struct world f;

	(void)state;
	make(&f, "fat-tree", "--radix=24");
	struct subnet *s = &f.subnet;
	size_t per_row = s->lft_stride / LFT_BLOCK_LIDS;
	size_t most = 0, n = count_blocks(s->lft, s->n_switches * per_row);

	subnet_share(s);
	for (switch_id sw = 0; sw < s->n_switches; sw++) {
		for (size_t i = 0; i < per_row; i++) {
			int32_t at = s->lft_at[sw * LFT_BLOCKS + i] + (int32_t)(i * LFT_BLOCK_LIDS);

			assert_true(at >= 0 && at % LFT_BLOCK_LIDS == 0);
			most = (size_t)at > most ? (size_t)at : most;
		}
	}
	assert_int_equal(most / LFT_BLOCK_LIDS + 1, n);
	assert_true(n < s->n_switches * per_row);
	unmake(&f);
}

/* Compares all engines with several LIDs per port; returns whether blocks were shared at once. */
static bool routes_are_the_same(const char *const *fabric, const char *engine, unsigned lmc)
{
	struct lid_options lids = { .order = LIDS_OPENSM, .lmc = lmc, .sm_port = TOPO_NONE };
	struct diag d = { .status = HD_OK };
	enum hd_status status = HD_OK;
	struct world apart, shared;

	make_with(&apart, fabric[0], fabric[1], &lids);
	lids.shares = true;
	make_with(&shared, fabric[0], fabric[1], &lids);
	assert_non_null(shared.subnet.lft_at);
	for (switch_id sw = 0; sw < shared.subnet.n_switches; sw++)
		assert_int_equal(lft_get(&shared.subnet, sw, 1), LFT_NO_PORT);
	/* Twice: what was there before is forgotten. */
	for (unsigned i = 0; i < 2; i++) {
		status = subnet_route(&apart.subnet, engine, NULL, &d);
		assert_int_equal(subnet_route(&shared.subnet, engine, NULL, &d), status);
		assert_null(apart.subnet.lft_at);
		uint8_t *rows = lft_rows(&shared.subnet);

		assert_memory_equal(rows, apart.subnet.lft,
				    (size_t)apart.subnet.n_switches * apart.subnet.lft_stride);
		free(rows);
	}
	bool at_once = status == HD_OK && shared.subnet.lft_at;

	unmake(&apart);
	unmake(&shared);
	return at_once;
}

static void routes_are_shared_as_they_are_made(void **state)
{
	static const char *const fabrics[][2] = { { "fat-tree", "--radix=24" },
						  { "torus", "--sizes=4x4" },
						  { "mesh", "--columns=9" },
						  { "dragonfly", "" } };
	unsigned at_once = 0;

	(void)state;
	for (unsigned i = 0; i < 4 * route_n_engines; i++) {
		const char *engine = route_engines[i / 4]->name;

		at_once += routes_are_the_same(fabrics[i % 4], engine, 0);
		routes_are_the_same(fabrics[i % 4], engine, 2);
	}
	assert_true(at_once >= 5); /* dor of a torus, xy of a mesh, ... */
}

/* A change at one switch does not change others with the same row. */
static void shared_vls_are_set_apart(void **state)
{
	struct sl2vl odd = sl2vl_default(2);
	struct world f;

	(void)state;
	make(&f, "torus", "--sizes=4x4");
	struct subnet *s = &f.subnet;

	odd.vl[3] = 6;
	subnet_set_sl2vl(s, 5, 1, 2, &odd);
	subnet_share(s);
	assert_ptr_equal(s->sl2vl_of_pair[0], s->sl2vl_of_pair[15]);
	assert_ptr_not_equal(s->sl2vl_of_pair[0], s->sl2vl_of_pair[5]);
	assert_int_equal(sl2vl_at(s, 5, 1, 2)->vl[3], 6);
	subnet_set_sl2vl(s, 7, 2, 1, &odd);
	for (switch_id sw = 0; sw < s->n_switches; sw++) {
		assert_int_equal(sl2vl_at(s, sw, 2, 1)->vl[3] == 6, sw == 7);
		assert_int_equal(sl2vl_at(s, sw, 1, 2)->vl[3] == 6, sw == 5);
	}
	subnet_share(s);
	subnet_reset_vls(s);
	assert_int_equal(sl2vl_at(s, 5, 1, 2)->vl[3], 3);
	unmake(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shared_tables_equal_their_rows),
		cmocka_unit_test(equal_blocks_are_kept_once),
		cmocka_unit_test(routes_are_shared_as_they_are_made),
		cmocka_unit_test(shared_vls_are_set_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
