/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/mpi/world_for_tests.h"

#include "base/rng.h"

static void ranks_are_known_by_their_launcher(void **state)
{
	struct diag d = { .status = HD_OK };
	size_t rank, n;

	(void)state;
	unsetenv("OMPI_COMM_WORLD_RANK");
	unsetenv("PMI_RANK");
	unsetenv("SLURM_STEP_NUM_TASKS");
	setenv("SLURM_PROCID", "2", 1);
	assert_int_equal(rank_of_launcher(&d, &rank, &n), HD_OK);
	assert_int_equal(rank, 0);
	assert_int_equal(n, 1);
	setenv("SLURM_STEP_NUM_TASKS", "4", 1);
	assert_int_equal(rank_of_launcher(&d, &rank, &n), HD_OK);
	assert_int_equal(rank, 2);
	assert_int_equal(n, 4);
	setenv("PMI_RANK", "1", 1);
	setenv("PMI_SIZE", "3", 1);
	assert_int_equal(rank_of_launcher(&d, &rank, &n), HD_OK);
	assert_int_equal(rank, 1);
	setenv("PMI_SIZE", "1", 1);
	assert_int_equal(rank_of_launcher(&d, &rank, &n), HD_ERR_USAGE);
	unsetenv("PMI_RANK");
	unsetenv("PMI_SIZE");
	unsetenv("SLURM_PROCID");
	unsetenv("SLURM_STEP_NUM_TASKS");
}

static void forgotten_ranks_are_none(void **state)
{
	struct diag d = { .status = HD_OK };
	size_t rank, n;

	(void)state;
	setenv("OMPI_COMM_WORLD_RANK", "1", 1);
	setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
	world_forget_rank();
	assert_int_equal(rank_of_launcher(&d, &rank, &n), HD_OK);
	assert_int_equal(n, 1);
}

static void one_process_is_alone_and_loads_nothing(void **state)
{
	struct diag d = { .status = HD_OK };
	struct world r;

	(void)state;
	world_forget_rank();
	assert_int_equal(world_open(&r, &d), HD_OK);
	assert_int_equal(r.n, 1);
	assert_int_equal(r.rank, 0);
	assert_null(r.library);
	world_close(&r);
}

/* ---- talking ------------------------------------------------------------ */

/* Bytes from `from` to `to` in a turn, of any length including 0. */
static void speech(unsigned from, unsigned to, unsigned turn, struct strbuf *out)
{
	struct rng g;

	rng_init(&g, from * 100u + to, turn);
	for (uint64_t n = rng_below(&g, 3) * rng_below(&g, 5000); n > 0; n--)
		strbuf_putc(out, (char)rng_below(&g, 256));
}

static void heard(const struct world_bytes *b, unsigned from, unsigned to, unsigned turn)
{
	struct strbuf said = STRBUF_INIT;

	speech(from, to, turn, &said);
	assert_int_equal(b->len, said.len);
	assert_memory_equal(b->bytes, said.text, said.len);
	strbuf_fini(&said);
}

static void talk(const struct world *r, void *context)
{
	struct world_bytes from[PLAYERS];
	struct strbuf to[PLAYERS];

	(void)context;
	for (unsigned turn = 0; turn < 40; turn++) {
		for (unsigned i = 0; i < r->n; i++) {
			to[i] = (struct strbuf)STRBUF_INIT;
			speech(r->rank, i, turn, &to[i]);
		}
		world_exchange(r, to, from);
		for (unsigned i = 0; i < r->n; i++) {
			if (i != r->rank)
				heard(&from[i], i, r->rank, turn);
			strbuf_fini(&to[i]);
		}
	}
}

static void every_rank_receives_every_message(void **state)
{
	(void)state;
	for (unsigned n = 1; n <= 5; n++)
		play_ranks(n, talk, NULL);
}

static void complain(const struct world *r, void *context)
{
	const unsigned *unwell = context;
	struct diag d = { .status = HD_OK, .file = "a.yaml", .line = 3 };
	enum hd_status mine = HD_OK;

	if (*unwell >> r->rank & 1)
		mine = diag_fail(&d, HD_ERR_INPUT, "no %u", r->rank);
	enum hd_status all = world_agree(r, mine, &d);
	unsigned first = *unwell ? (unsigned)__builtin_ctz(*unwell) : 0;
	char text[80];

	assert_int_equal(all, *unwell ? HD_ERR_INPUT : HD_OK);
	if (!*unwell)
		return;
	struct strbuf line = STRBUF_INIT;

	diag_print(&d, &line);
	snprintf(text, sizeof(text), "a.yaml:3: no %u (on rank %u)", first, first);
	if (r->rank == first)
		snprintf(text, sizeof(text), "a.yaml:3: no %u", first);
	assert_string_equal(line.text, text);
	strbuf_fini(&line);
}

static void first_failure_fails_all_ranks(void **state)
{
	(void)state;
	for (unsigned unwell = 0; unwell < 16; unwell++)
		play_ranks(4, complain, &unwell);
}

static void compare(const struct world *r, void *context)
{
	const unsigned *other = context;
	struct diag d = { .status = HD_OK };
	struct strbuf mine = STRBUF_INIT;

	strbuf_puts(&mine, r->rank == *other ? "that" : "this");
	assert_int_equal(world_same(r, "thing", &mine, &d), *other < r->n ? HD_ERR_INPUT : HD_OK);
	if (*other == 2)
		assert_string_equal(d.message, "rank 2 has a different thing than rank 0");
	strbuf_fini(&mine);
}

static void differing_ranks_are_named(void **state)
{
	(void)state;
	for (unsigned other = 0; other < 4; other++)
		play_ranks(3, compare, &other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_are_known_by_their_launcher),
		cmocka_unit_test(forgotten_ranks_are_none),
		cmocka_unit_test(one_process_is_alone_and_loads_nothing),
		cmocka_unit_test(every_rank_receives_every_message),
		cmocka_unit_test(first_failure_fails_all_ranks),
		cmocka_unit_test(differing_ranks_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
