/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_HCA_LAB_H
#define HD_HCA_LAB_H

/*
 * A fabric with an adapter at every end port and programs that run on its
 * hosts, all in the simulation's time.
 *
 *	struct lab *lab = lab_new(&build, &profile);
 *	lab_spawn(lab, 0, ping, &mine);
 *	lab_spawn(lab, 1, pong, &yours);
 *	lab_use_sim(lab, run_sim(run));
 *	enum lab_outcome o = lab_run(lab, NULL, NULL);
 *
 * A program is a function that calls verbs (verbs.h) as on a real host. Each
 * call takes the processor time that the profile gives it, on the clock of
 * the program's thread. That clock may run ahead of the simulation for as long
 * as the program only does things that take effect at its own time; where it
 * looks at what others did, it waits for them. So a loop that polls is a
 * single wait, and a run depends on nothing but its inputs.
 *
 * Threads are coroutines; each has a processor to itself. Build and profile
 * are borrowed until lab_free.
 */

#include <stdbool.h>
#include <stdint.h>

#include "fabric/fabric.h"
#include "hca/profile.h"
#include "sim/sim.h"

struct lab;
struct v_device;
struct capture_writer;

enum lab_outcome {
	LAB_DONE,    /* every program has returned */
	LAB_STUCK,   /* some wait for what will never come */
	LAB_STARVED, /* none continued for run.horizon, with traffic */
	LAB_STOPPED, /* the progress callback said so */
};

struct lab *lab_new(struct fabric *fabric, const struct hca_profile *profile);
/* Adapters and hosts that cost no time. */
HD_MUST_CHECK enum hd_status lab_new_ideal(struct fabric *fabric, struct diag *d, struct lab **out);
void lab_free(struct lab *lab);

/*
 * Background traffic of the scenario, queue pairs among it (traffic.h): only if
 * asked for, before lab_run.
 */
HD_MUST_CHECK enum hd_status lab_use_flows(struct lab *lab, struct diag *d);
/*
 * Attaches the adapters to a simulation made with lab_rules or
 * lab_program_rules, before its first instant. The caller owns it and frees it
 * after the lab. A lab with programs attaches after they are spawned: this
 * run computes in one domain.
 */
void lab_use_sim(struct lab *lab, struct sim *s);
/* Makes room for packets of adapters. */
void lab_rules(struct sim_rules *rules);
/* The rules of a run without measured traffic rows. */
void lab_program_rules(struct sim_rules *rules);
/*
 * Every packet that an adapter sends or receives; before lab_run. The lab's
 * time 0 is `start` there, so that several labs may follow each other in a
 * capture. Begun and finished by the caller.
 */
void lab_capture(struct lab *lab, struct capture_writer *capture, hd_time start);

/* How often queue pairs that programs have freed sent something again. */
uint64_t lab_retries(const struct lab *lab);

uint32_t lab_hosts(const struct lab *lab);
struct v_device *lab_device(struct lab *lab, uint32_t host);
const struct hca_profile *lab_profile(const struct lab *lab);

/* Before lab_run, or from a program. */
void lab_spawn(struct lab *lab, uint32_t host, void (*fn)(void *), void *arg);
/* Advances the simulation until all programs have returned; after lab_use_sim. */
enum lab_outcome lab_run(struct lab *lab, sim_progress_fn *progress, void *context);
/*
 * Nothing will come any more: every wait that programs are in, or begin,
 * returns at once and says so. After lab_run has ended early this lets them
 * return, and so free what they have; a program may call it, too. Programs
 * must not wait for ever in spite of it.
 */
void lab_cancel(struct lab *lab);

/* A multicast tree of these hosts, for UD; before lab_run. */
HD_MUST_CHECK enum hd_status lab_multicast(struct lab *lab, const uint32_t *hosts, uint32_t n,
					   struct diag *d, lid_t *out);

/* Packets that switches and links lost, of those that adapters sent. */
uint64_t lab_lost(const struct lab *lab);

/* ---- called by programs ----------------------------------------------- */

/* The caller's clock; outside of programs the simulation's. */
hd_time lab_now(const struct lab *lab);
/* Computes for this long. */
void lab_work(struct lab *lab, hd_time duration);
/* Waits until the simulation has come to the caller's time. */
void lab_settle(struct lab *lab);

/* A counting semaphore between threads of one host. */
struct v_semaphore;
struct v_semaphore *v_semaphore_new(struct lab *lab);
void v_semaphore_free(struct v_semaphore *s);
void v_semaphore_post(struct v_semaphore *s);
bool v_semaphore_wait(struct v_semaphore *s); /* false: cancelled */

/* Waits until all `parties` programs of this lab are here; false: cancelled. */
bool lab_barrier(struct lab *lab, uint32_t parties);

#endif
