/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_HCA_LAB_H
#define HD_HCA_LAB_H

/*
 * A fabric with an adapter at every end port, and programs on its hosts, all in simulated time.
 *
 *	struct lab *lab = lab_new(&build, &profile);
 *	lab_spawn(lab, 0, ping, &mine);
 *	lab_spawn(lab, 1, pong, &yours);
 *	lab_use_sim(lab, run_sim(run));
 *	enum lab_outcome o = lab_run(lab, NULL, NULL);
 *
 * A program is a function that calls verbs (verbs.h) as on a real host. Each call takes the
 * processor time given by the profile, on the clock of the program's thread. This clock may run
 * ahead of the simulation while the effects of the program's calls are at its own time; a call that
 * reads the effects of others waits for the simulation. A polling loop is therefore a
 * single wait, and the results of a run depend only on its inputs.
 *
 * Threads are coroutines, each with a processor of its own. The lab borrows the fabric and the
 * profile until lab_free.
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
	LAB_DONE,    /* all programs have returned */
	LAB_STUCK,   /* programs wait for events that cannot occur */
	LAB_STARVED, /* with traffic: no program advanced for run.horizon */
	LAB_STOPPED, /* stopped by the progress callback */
};

struct lab *lab_new(struct fabric *fabric, const struct hca_profile *profile);
/* Adapters and hosts without processing time. */
HD_MUST_CHECK enum hd_status lab_new_ideal(struct fabric *fabric, struct diag *d, struct lab **out);
void lab_free(struct lab *lab);

/*
 * Adds the background traffic of the scenario, including rows over queue pairs (traffic.h). Call
 * before lab_run.
 */
HD_MUST_CHECK enum hd_status lab_use_flows(struct lab *lab, struct diag *d);
/*
 * Attaches the adapters to a simulation made with lab_rules or lab_program_rules, before its
 * first instant. The caller owns the simulation and frees it after the lab. A lab with programs
 * attaches after they are spawned; that run is not partitioned.
 */
void lab_use_sim(struct lab *lab, struct sim *s);
/* Extends the rules to packets of adapters. */
void lab_rules(struct sim_rules *rules);
/* Rules for a run without measured traffic rows. */
void lab_program_rules(struct sim_rules *rules);
/*
 * Captures every packet that an adapter sends or receives; call before lab_run. The lab's time 0
 * is written as `start`, so that the capture can hold several labs. The caller opens and closes
 * the capture.
 */
void lab_capture(struct lab *lab, struct capture_writer *capture, hd_time start);

/* Retransmissions of queue pairs that programs have freed. */
uint64_t lab_retries(const struct lab *lab);

uint32_t lab_hosts(const struct lab *lab);
struct v_device *lab_device(struct lab *lab, uint32_t host);
const struct hca_profile *lab_profile(const struct lab *lab);

/* Call before lab_run, or from a program. */
void lab_spawn(struct lab *lab, uint32_t host, void (*fn)(void *), void *arg);
/* Runs the simulation until all programs have returned. Call after lab_use_sim. */
enum lab_outcome lab_run(struct lab *lab, sim_progress_fn *progress, void *context);
/*
 * Cancels all current and future waits of programs: they return at once with a failure. Lets
 * programs return and free their objects after lab_run has ended early; a program may call it,
 * too. Programs must not loop for ever when cancelled.
 */
void lab_cancel(struct lab *lab);

/* Creates a multicast tree of these hosts, for UD. Call before lab_run. */
HD_MUST_CHECK enum hd_status lab_multicast(struct lab *lab, const uint32_t *hosts, uint32_t n,
					   struct diag *d, lid_t *out);

/* Packets of adapters that were lost in switches and links. */
uint64_t lab_lost(const struct lab *lab);

/* ---- called by programs ----------------------------------------------- */

/* The clock of the calling program; outside of programs, of the simulation. */
hd_time lab_now(const struct lab *lab);
/* Advances the caller's clock by `duration`. */
void lab_work(struct lab *lab, hd_time duration);
/* Waits until the simulation has reached the caller's time. */
void lab_settle(struct lab *lab);

/* A counting semaphore between threads of one host. */
struct v_semaphore;
struct v_semaphore *v_semaphore_new(struct lab *lab);
void v_semaphore_free(struct v_semaphore *s);
void v_semaphore_post(struct v_semaphore *s);
bool v_semaphore_wait(struct v_semaphore *s); /* false: cancelled */

/* Waits until `parties` programs of this lab have called it; false: cancelled. */
bool lab_barrier(struct lab *lab, uint32_t parties);

#endif
