/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs that wait: for events, for room, for ever, for memory. */
#include "hca/ends_for_tests.h"

/* ---- events ------------------------------------------------------ */

static void send_three(void *argument)
{
	struct end *e = argument;

	for (unsigned i = 0; i < 3; i++) {
		const struct send_wr wr = request(e, WR_SEND, 0, 8, 0);

		lab_work(e->lab, HD_MS);
		assert_int_equal(v_post_send(e->qp, &wr), HD_OK);
	}
}

/* Arms, sleeps, polls all: as UCX does. */
static void take_by_events(void *argument)
{
	struct end *e = argument;

	for (unsigned i = 0; i < 3; i++)
		post_recv(e, i, 0, 64);
	while (e->count < 3) {
		v_arm(e->cq, false);
		while (v_poll(e->cq, &e->wc, 1))
			e->count++;
		if (e->count == 3)
			break;
		assert_ptr_equal(v_event_wait(e->channel), e->cq);
		e->times[0]++;
		while (v_poll(e->cq, &e->wc, 1))
			e->count++;
	}
}

static void events_wake_once_for_each_completion(void **state)
{
	struct fixture *f = open_lab("mt23108", QP_RC, 2, false);

	(void)state;
	lab_spawn(f->lab, 0, send_three, &f->end[0]);
	lab_spawn(f->lab, 1, take_by_events, &f->end[1]);
	assert_int_equal(run_lab(f), LAB_DONE);
	assert_int_equal(f->end[1].times[0], 3);
	close_lab(f);
}

/*
 * Arming: a completion that arrived since the last event and was not polled causes an event at
 * once; one that existed at the last event does not.
 */
static void arm_after_arrival(void *argument)
{
	struct end *e = argument;

	for (unsigned i = 0; i < 3; i++)
		post_recv(e, i, 0, 64);
	lab_work(e->lab, 1500 * HD_US); /* the first has arrived */
	lab_settle(e->lab);
	v_arm(e->cq, false);
	assert_non_null(v_event_wait(e->channel));
	/* Armed again before polling: no new completion, so no event yet. */
	v_arm(e->cq, false);
	assert_null(v_event_try(e->channel));
	assert_int_equal(v_poll(e->cq, &e->wc, 1), 1);
	assert_non_null(v_event_wait(e->channel)); /* by the second */
	lab_work(e->lab, 2 * HD_MS);               /* the third arrives */
	assert_null(v_event_try(e->channel));
	assert_int_equal(v_poll(e->cq, &e->wc, 1), 1);
	v_arm(e->cq, false); /* the third is there, unpolled, untold */
	assert_non_null(v_event_wait(e->channel));
	assert_int_equal(v_poll(e->cq, &e->wc, 1), 1);
	assert_int_equal(v_poll(e->cq, &e->wc, 1), 0);
}

static void arming_counts_what_came_since_the_last_event(void **state)
{
	struct fixture *f = open_lab("mt23108", QP_RC, 2, false);

	(void)state;
	lab_spawn(f->lab, 0, send_three, &f->end[0]);
	lab_spawn(f->lab, 1, arm_after_arrival, &f->end[1]);
	assert_int_equal(run_lab(f), LAB_DONE);
	close_lab(f);
}

/* ---- limits ------------------------------------------------------ */

static void overfill(void *argument)
{
	struct end *e = argument;
	const struct send_wr wr = request(e, WR_WRITE, 0, 8, 0);
	struct send_wr many = wr;

	many.n_sge = 5; /* the queue pair was made for 4 */
	assert_int_equal(v_post_send(e->qp, &many), HD_ERR_RANGE);
	for (unsigned i = 0; i < 32; i++)
		assert_int_equal(v_post_send(e->qp, &wr), HD_OK);
	assert_int_equal(v_post_send(e->qp, &wr), HD_ERR_FULL);
	for (unsigned i = 0; i < 32; i++) {
		v_poll_wait(e->cq, &e->wc);
		assert_int_equal(e->wc.status, WC_SUCCESS);
	}
	assert_int_equal(v_post_send(e->qp, &wr), HD_OK);
	v_poll_wait(e->cq, &e->wc);
}

static void a_full_queue_refuses_and_recovers(void **state)
{
	struct fixture *f = open_lab("mt23108", QP_RC, 2, false);

	(void)state;
	lab_spawn(f->lab, 0, overfill, &f->end[0]);
	assert_int_equal(run_lab(f), LAB_DONE);
	close_lab(f);
}

static void wait_for_nothing(void *argument)
{
	struct end *e = argument;

	v_poll_wait(e->cq, &e->wc);
}

static void a_program_that_waits_for_ever_is_reported(void **state)
{
	struct fixture *f = open_lab("mt23108", QP_RC, 2, false);

	(void)state;
	lab_spawn(f->lab, 0, wait_for_nothing, &f->end[0]);
	assert_int_equal(run_lab(f), LAB_STUCK);
	close_lab(f);
}

/* ---- cancelling ---------------------------------------------------------- */

struct waiting {
	struct end *end;
	struct v_semaphore *semaphore;
	unsigned kind;
	unsigned refused; /* waits that were ended, or not even begun */
};

static bool wait_for(struct waiting *w)
{
	struct end *e = w->end;

	switch (w->kind) {
	case 0:
		return v_poll_wait(e->cq, &e->wc);
	case 1:
		return v_event_wait(e->channel) != NULL;
	case 2:
		return v_semaphore_wait(w->semaphore);
	case 3:
		return lab_barrier(e->lab, 100);
	default: {
		struct v_watch *watch = v_watch_new(e->dev, e->memory);
		bool written = v_watch_wait(watch, 1);

		v_watch_free(watch);
		return written;
	}
	}
}

static void wait_twice(void *argument)
{
	struct waiting *w = argument;

	w->refused += !wait_for(w);
	w->refused += !wait_for(w);
}

static void a_cancelled_run_lets_its_programs_return(void **state)
{
	struct fixture *f = open_lab("mt23108", QP_RC, 2, false);
	struct v_semaphore *semaphore = v_semaphore_new(f->lab);
	struct waiting w[5];

	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		w[i] = (struct waiting){ &f->end[i & 1], semaphore, i, 0 };
		lab_spawn(f->lab, i & 1, wait_twice, &w[i]);
	}
	assert_int_equal(run_lab(f), LAB_STUCK);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(w[i].refused, 0);
	lab_cancel(f->lab);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(w[i].refused, 2);
	v_semaphore_free(semaphore);
	close_lab(f);
}

static void spin_on_memory(void *argument)
{
	struct end *e = argument;
	struct v_watch *w = v_watch_new(e->dev, e->memory + 8192 + 63);

	v_watch_wait(w, 1);
	e->times[0] = lab_now(e->lab);
	assert_int_equal(e->memory[8192 + 63], 9);
	v_watch_free(w);
}

static void write_once(void *argument)
{
	struct end *e = argument;
	const struct send_wr wr = request(e, WR_WRITE, 0, 64, 8192);

	e->memory[63] = 9;
	assert_int_equal(v_post_send(e->qp, &wr), HD_OK);
	v_poll_wait(e->cq, &e->wc);
	e->times[0] = lab_now(e->lab);
}

static void a_program_may_spin_on_memory(void **state)
{
	struct fixture *f = open_lab("mt23108", QP_RC, 2, false);

	(void)state;
	lab_spawn(f->lab, 0, write_once, &f->end[0]);
	lab_spawn(f->lab, 1, spin_on_memory, &f->end[1]);
	assert_int_equal(run_lab(f), LAB_DONE);
	/* The receiver sees it before the sender's completion. */
	assert_true(f->end[1].times[0] > 0 && f->end[1].times[0] < f->end[0].times[0]);
	close_lab(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_wake_once_for_each_completion),
		cmocka_unit_test(arming_counts_what_came_since_the_last_event),
		cmocka_unit_test(a_full_queue_refuses_and_recovers),
		cmocka_unit_test(a_program_that_waits_for_ever_is_reported),
		cmocka_unit_test(a_cancelled_run_lets_its_programs_return),
		cmocka_unit_test(a_program_may_spin_on_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
