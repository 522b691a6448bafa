/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BENCH_PARAMS_H
#define HD_BENCH_PARAMS_H

/*
 * Parameters and results of one measurement. Every test is a series of such
 * points with one varied parameter.
 */

#include <stdbool.h>
#include <stdint.h>

#include "bench/nic.h"
#include "measure/histogram.h"

enum bench_core {
	CORE_LATENCY,       /* ping-pong; for reads and atomics, the response */
	CORE_BANDWIDTH,     /* a window of messages, one direction */
	CORE_BIDIRECTIONAL, /* both directions simultaneously */
	CORE_COMPUTE,       /* both directions, with computation in between */
	CORE_SHARES,        /* one direction, every queue pair kept busy */
	CORE_THREADS,       /* pairs of threads on two hosts, one direction */
	CORE_MULTICAST,     /* one datagram to all, and an answer */
	CORE_COST,          /* duration of a verb that moves no data */
};

enum bench_verb { VERB_SEND, VERB_WRITE, VERB_READ, VERB_ATOMIC };

/* Verbs of CORE_COST. */
enum bench_cost {
	COST_QP_CREATE,
	COST_QP_MODIFY,
	COST_QP_DESTROY,
	COST_CONNECT,
	COST_DISCONNECT,
	COST_CQ_CREATE,
	COST_CQ_DESTROY,
	COST_MR_REGISTER,
	COST_MR_DEREGISTER,
	COST_POST_SEND,
	COST_POST_RECV,
	COST_POST_WRITE,
	COST_POST_READ,
	COST_POST_ATOMIC,
	COST_POLL_FULL,
	COST_POLL_EMPTY,
};

#define BENCH_MAX_QPS 1024

/* Parameters that can be an axis are uint32_t; bench/params_codec.c serialises all of them. */
struct bench_params {
	enum bench_core core;
	enum bench_verb verb;
	enum bench_cost cost;
	enum qp_kind transport;
	uint64_t size;
	uint64_t iterations; /* 0: limited by `duration` */
	uint64_t warmup;     /* iterations that are not counted */
	hd_time duration;    /* 0: limited by `iterations` */
	hd_time limit;       /* upper limit that reduces the iterations; 0: none */
	uint32_t window;     /* messages in flight */
	uint32_t qps;
	uint32_t segments; /* per message */
	uint32_t max_sge;  /* scatter/gather entries that the queue pairs are created for */
	uint32_t mtu;
	uint32_t contenders; /* ranks that write 4 bytes to rank 0 */
	uint32_t loaders;    /* ranks that load rank 1 on load_sl */
	uint32_t receivers;  /* CORE_MULTICAST */
	uint32_t threads;    /* CORE_THREADS: on each host */
	unsigned scheme;     /* of buffer reuse: 0 (one buffer), 1, 2 */
	uint32_t reuse;      /* percent */
	uint32_t work_share; /* CORE_COMPUTE: percent of the time without computation */
	uint32_t entries;    /* CORE_COST: of a queue */
	uint16_t pkey, peer_pkey;
	uint8_t sl, load_sl;
	uint32_t events; /* 1: sleep until an event, 0: poll */
	bool huge;
	bool weighted; /* queue pair i has weight i + 1 */
	bool may_fail; /* the test measures whether messages arrive */
};

/* Measurements of rank 0; initially zero. */
struct bench_found {
	struct histogram latency; /* ps, per iteration */
	uint64_t messages, bytes;
	hd_time elapsed;
	double window_min; /* MB/s over the worst half window */
	double peak;       /* MB/s (peak.h) */
	double work_share; /* fraction of the time, percent */
	uint64_t per_qp[BENCH_MAX_QPS];
	bool opened; /* all required resources were available */
	bool done;
	struct diag why; /* the first error */
};

struct bench_point {
	struct bench_params params;
	struct bench_found found;
};

/* Program of all ranks. */
nic_program bench_program; /* context: struct bench_point */
unsigned bench_ranks(const struct bench_params *p);

/* MB/s: 10^6 bytes per second. */
double bench_bandwidth(const struct bench_found *f);

/* The index of the buffer of message i under a scheme of reuse, of `pool` buffers. */
uint64_t bench_buffer(unsigned scheme, unsigned reuse, uint64_t pool, uint64_t i);

#endif
