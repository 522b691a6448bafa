/* SPDX-License-Identifier: BSD-2-Clause */
#include "scenario/fields.h"

/* Jobs: what their ranks do, and where. */

#define JOB(member)  offsetof(struct scn_job, member)
#define STEP(member) offsetof(struct scn_step, member)

#define STEP_BYTES                                                      \
	.initial = "none", .word = "none", .word_value = SCN_NOT_GIVEN, \
	.high = "1TiB"

const struct schema_row scenario_job_fields[] = {
	{ "jobs", SCHEMA_LIST, offsetof(struct scenario, jobs),
	  .count = offsetof(struct scenario, n_jobs),
	  .item_size = sizeof(struct scn_job),
	  .help = "parallel programs on the fabric; a run with jobs lasts "
		  "until they are done" },
	{ "jobs[].name", SCHEMA_TEXT, JOB(name), .help = "for results" },
	{ "jobs[].ranks", SCHEMA_UINT, JOB(ranks), .initial = "auto",
	  .word = "auto", .low = "1", .high = "16777216",
	  .help = "how many there are; auto: as many as hosts, or as the file "
		  "has" },
	{ "jobs[].on", SCHEMA_TEXT, JOB(on), .initial = "all", .joins = true,
	  .help = "hosts to choose from, a rank each " HOSTS_HELP },
	{ "jobs[].place", SCHEMA_CHOICE, JOB(place), .initial = "linear",
	  .choices = scn_place_words,
	  .help = "who gets which: in the order of 'on', at random, all hosts "
		  "of a switch before the next one's, or one of each switch "
		  "in turn" },
	{ "jobs[].rails", SCHEMA_CHOICE, JOB(rails), .initial = "own",
	  .choices = scn_rails_words,
	  .help = "by which port a rank sends to another host: its own; or "
		  "(peer) that of the rank of its host whose port has the "
		  "number of the receiver's, through fabric.inner, as NCCL "
		  "does with PXN" },
	{ "jobs[].transport", SCHEMA_CHOICE, JOB(transport), .initial = "plain",
	  .choices = scn_job_transport_words,
	  .help = "how messages go: as plain packets, of which a loss is never "
		  "repaired; or (rc) over queue pairs, one for each two that "
		  "talk, which repeat what is not acknowledged (multicasts "
		  "and reductions by switches stay plain)" },
	{ "jobs[].ack_timeout", SCHEMA_TIME, JOB(ack_timeout), .initial = "1ms",
	  .low = "8us", .high = "8000s", .when = "jobs[].transport",
	  .only = BIT(SCN_JOB_RC),
	  .help = "when a queue pair repeats what is not acknowledged: 4.096 "
		  "us times the next power of 2" },
	{ "jobs[].class", SCHEMA_TEXT, JOB(service), .optional = true,
	  .help = "one of qos.classes, whose SL its packets have" },
	{ "jobs[].sl", SCHEMA_UINT, JOB(sl), .initial = "auto", .word = "auto",
	  .word_value = SCN_SL_AUTO, .high = "15",
	  .help = "instead of a class; auto: the class's, or 0" },
	{ "jobs[].reserve", SCHEMA_RATE, JOB(reserve), .initial = "none",
	  .word = "none",
	  .help = "payload that each host of the job may send to the others, "
		  "and receive of them, as admission reserves it; for classes "
		  "of kind DB" },
	{ "jobs[].partition", SCHEMA_TEXT, JOB(partition), .optional = true,
	  .help = "whose P_Key its packets have; absent: as traffic[].partition" },
	{ "jobs[].repeat", SCHEMA_UINT, JOB(repeat), .initial = "1", .low = "1",
	  .high = "1000000",
	  .help = "iterations; each rank goes on without waiting for others" },
	{ "jobs[].start", SCHEMA_TIME, JOB(start), .initial = "0s",
	  .help = "when it begins" },
	{ "jobs[].program", SCHEMA_LIST, JOB(program), .count = JOB(n_program),
	  .item_size = sizeof(struct scn_step),
	  .help = "what all ranks do, one step after the other" },
	{ "jobs[].program[].compute", SCHEMA_TIME, STEP(amount[SCN_COMPUTE]),
	  .initial = "none", .word = "none", .word_value = SCN_NOT_GIVEN,
	  .help = "each rank computes so long" },
	{ "jobs[].program[].barrier", SCHEMA_SIZE, STEP(amount[SCN_BARRIER]),
	  .initial = "none", .word = "none", .word_value = SCN_NOT_GIVEN,
	  .high = "0",
	  .help = "0: nobody goes on before all are here: dissemination, or "
		  "in-network, by the switches" },
	{ "jobs[].program[].broadcast", SCHEMA_SIZE,
	  STEP(amount[SCN_BROADCAST]), STEP_BYTES,
	  .help = "so many bytes from the root to all: binomial, or multicast "
		  "by the switches" },
	{ "jobs[].program[].reduce", SCHEMA_SIZE, STEP(amount[SCN_REDUCE]),
	  STEP_BYTES, .help = "so many bytes of each to the root: binomial" },
	{ "jobs[].program[].allreduce", SCHEMA_SIZE,
	  STEP(amount[SCN_ALLREDUCE]), STEP_BYTES,
	  .help = "so many bytes of each, reduced, to all: ring, doubling, "
		  "rabenseifner, tree (two binary trees), or in-network, by the "
		  "switches" },
	{ "jobs[].program[].allgather", SCHEMA_SIZE,
	  STEP(amount[SCN_ALLGATHER]), STEP_BYTES,
	  .help = "so many bytes of each to all: ring, or doubling" },
	{ "jobs[].program[].reduce_scatter", SCHEMA_SIZE,
	  STEP(amount[SCN_REDUCE_SCATTER]), STEP_BYTES,
	  .help = "so many bytes of each, reduced, a block to each: ring, or "
		  "halving" },
	{ "jobs[].program[].alltoall", SCHEMA_SIZE, STEP(amount[SCN_ALLTOALL]),
	  STEP_BYTES,
	  .help = "so many bytes of each to each other: pairwise, bruck, or "
		  "linear (all at once)" },
	{ "jobs[].program[].halo", SCHEMA_SIZE, STEP(amount[SCN_HALO]),
	  STEP_BYTES,
	  .help = "so many bytes to each neighbour on a grid, all around" },
	{ "jobs[].program[].shift", SCHEMA_SIZE, STEP(amount[SCN_SHIFT]),
	  STEP_BYTES, .help = "so many bytes to the next rank of the group" },
	{ "jobs[].program[].read", SCHEMA_SIZE, STEP(amount[SCN_READ]),
	  STEP_BYTES, .help = "each rank reads so many bytes from servers" },
	{ "jobs[].program[].write", SCHEMA_SIZE, STEP(amount[SCN_WRITE]),
	  STEP_BYTES, .help = "each rank writes so many bytes to servers" },
	{ "jobs[].program[].algorithm", SCHEMA_TEXT, STEP(algorithm),
	  .optional = true,
	  .help = "how; absent: the one that is named first" },
	{ "jobs[].program[].root", SCHEMA_UINT, STEP(root), .initial = "0",
	  .high = "16777215", .help = "of broadcast and reduce, in the group" },
	{ "jobs[].program[].groups", SCHEMA_UINT, STEP(groups), .initial = "1",
	  .low = "1", .high = "16777216",
	  .help = "into how many groups the ranks are divided, each of which "
		  "does this by itself" },
	{ "jobs[].program[].layout", SCHEMA_CHOICE, STEP(layout),
	  .initial = "blocks", .choices = scn_layout_words,
	  .help = "of groups: ranks that follow each other, or those with the "
		  "same remainder" },
	{ "jobs[].program[].grid", SCHEMA_TEXT, STEP(grid), .optional = true,
	  .help = "of halo: 8x8 or 4x4x4, rank 1 beside rank 0; absent: two "
		  "dimensions, as square as it gets" },
	{ "jobs[].program[].segment", SCHEMA_SIZE, STEP(segment),
	  .initial = "none", .word = "none", .low = "1",
	  .help = "of tree: pieces that follow each other through it" },
	{ "jobs[].program[].to", SCHEMA_TEXT, STEP(to), .optional = true,
	  .joins = true, .help = "servers of read and write " HOSTS_HELP },
	{ "jobs[].program[].request", SCHEMA_SIZE, STEP(request),
	  .initial = "1MiB", .low = "1", .help = "of read and write" },
	{ "jobs[].program[].outstanding", SCHEMA_UINT, STEP(outstanding),
	  .initial = "8", .low = "1", .high = "65536",
	  .help = "requests of a rank under way at a time" },
	{ "jobs[].goal", SCHEMA_TEXT, JOB(goal), .optional = true,
	  .help = "instead of a program: a file of operations in GOAL, or a "
		  "connection matrix of htsim" },
	{ "jobs[].eager", SCHEMA_SIZE, JOB(eager), .initial = "always",
	  .word = "always", .word_value = SCN_UNLIMITED,
	  .help = "larger messages are announced, and sent when their receive "
		  "is there" },
	{ "jobs[].overhead", SCHEMA_TIME, JOB(overhead), .initial = "0s",
	  .high = "1s", .help = "of a CPU for each send and receive (o)" },
	{ "jobs[].per_byte", SCHEMA_TIME, JOB(per_byte), .initial = "0s",
	  .high = "1us", .help = "the same for each byte (O)" },
	{ "jobs[].gap", SCHEMA_TIME, JOB(gap), .initial = "0s", .high = "1s",
	  .help = "between the first packets of a rank's messages (g)" },
	{ "jobs[].alone", SCHEMA_BOOL, JOB(alone), .initial = "true",
	  .help = "beside other traffic, find out too how long it takes "
		  "without" },
	{ .path = NULL, .rest = scenario_run_fields },
};
