/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "base/text.h"
#include "bench/bench.h"

#define SIZES .from = 1, .to = (4u << 20)

#define LIST(...)                      \
	(const uint32_t[])             \
	{                              \
		__VA_ARGS__, BENCH_END \
	}

#define QUEUES LIST(1, 4, 16, 64, 256, 1024, 4096)

#define COST(what, verb_, text)                                                               \
	.summary = (text), .group = GROUP_NON_DATA, .metric = METRIC_COST, .core = CORE_COST, \
	.cost = (what), .verb = (verb_), .transport = QP_RC

#define DATA(core_, verb_, metric_, text)                                             \
	.summary = (text), .group = GROUP_DATA, .metric = (metric_), .core = (core_), \
	.verb = (verb_), .transport = QP_RC

#define LATENCY(verb, text)   DATA(CORE_LATENCY, verb, METRIC_LATENCY, text)
#define BANDWIDTH(verb, text) DATA(CORE_BANDWIDTH, verb, METRIC_BANDWIDTH, text)

/* clang-format off */
const struct bench_test bench_tests[] = {
	/* Verbs that move no data: the paper's section 5.1. */
	{ "qp-create", COST(COST_QP_CREATE, VERB_SEND, "create a queue pair, by its work requests"), .axis = AXIS_ENTRIES, .values = QUEUES },
	{ "qp-modify", COST(COST_QP_MODIFY, VERB_SEND, "one transition of a queue pair, by its work requests"), .axis = AXIS_ENTRIES, .values = QUEUES },
	{ "qp-destroy", COST(COST_QP_DESTROY, VERB_SEND, "destroy a queue pair that was not connected, by its work requests"), .axis = AXIS_ENTRIES, .values = QUEUES },
	{ "connect", COST(COST_CONNECT, VERB_SEND, "connect a queue pair: three transitions") },
	{ "disconnect", COST(COST_DISCONNECT, VERB_SEND, "destroy a connected queue pair") },
	{ "cq-create", COST(COST_CQ_CREATE, VERB_SEND, "create a completion queue, by its entries"), .axis = AXIS_ENTRIES, .values = QUEUES },
	{ "cq-destroy", COST(COST_CQ_DESTROY, VERB_SEND, "destroy a completion queue, by its entries"), .axis = AXIS_ENTRIES, .values = QUEUES },
	{ "mr-register", COST(COST_MR_REGISTER, VERB_SEND, "register memory, by its size"), .from = 4096, .to = 64u << 20 },
	{ "mr-register-huge", COST(COST_MR_REGISTER, VERB_SEND, "register memory on huge pages, by its size"), .from = 2u << 20, .to = 64u << 20, .huge = true },
	{ "mr-deregister", COST(COST_MR_DEREGISTER, VERB_SEND, "deregister memory, by its size"), .from = 4096, .to = 64u << 20 },
	{ "post-send", COST(COST_POST_SEND, VERB_SEND, "post a send request") },
	{ "post-recv", COST(COST_POST_RECV, VERB_SEND, "post a receive request") },
	{ "post-write", COST(COST_POST_WRITE, VERB_WRITE, "post an RDMA write") },
	{ "post-read", COST(COST_POST_READ, VERB_READ, "post an RDMA read") },
	{ "post-atomic", COST(COST_POST_ATOMIC, VERB_ATOMIC, "post a fetch-and-add") },
	{ "poll-full", COST(COST_POLL_FULL, VERB_SEND, "poll a completion queue that has an entry") },
	{ "poll-empty", COST(COST_POLL_EMPTY, VERB_SEND, "poll an empty completion queue") },

	/* Data, base configuration: 5.2.1. */
	{ "send-lat", LATENCY(VERB_SEND, "send/receive ping-pong"), SIZES },
	{ "write-lat", LATENCY(VERB_WRITE, "RDMA write ping-pong, spinning on memory"), SIZES },
	{ "read-lat", LATENCY(VERB_READ, "RDMA read, until the data are here"), SIZES },
	{ "atomic-lat", LATENCY(VERB_ATOMIC, "fetch-and-add, until the old value is here") },
	{ "send-bw", BANDWIDTH(VERB_SEND, "send/receive bandwidth by window w: wait w/2, post w/2"), SIZES },
	{ "write-bw", BANDWIDTH(VERB_WRITE, "RDMA write bandwidth"), SIZES },
	{ "read-bw", BANDWIDTH(VERB_READ, "RDMA read bandwidth"), SIZES },
	{ "atomic-bw", BANDWIDTH(VERB_ATOMIC, "fetch-and-add rate") },
	{ "send-bidir", DATA(CORE_BIDIRECTIONAL, VERB_SEND, METRIC_BANDWIDTH, "send/receive bandwidth both ways at once"), SIZES },
	{ "write-bidir", DATA(CORE_BIDIRECTIONAL, VERB_WRITE, METRIC_BANDWIDTH, "RDMA write bandwidth both ways at once"), SIZES },
	{ "window-bw", BANDWIDTH(VERB_SEND, "bandwidth by window"), .axis = AXIS_WINDOW, .values = LIST(4, 8, 16, 32, 64, 128), .from = 4096, .to = 1u << 20 },
	{ "window-bidir", DATA(CORE_BIDIRECTIONAL, VERB_SEND, METRIC_BANDWIDTH, "bandwidth both ways by window"), .axis = AXIS_WINDOW, .values = LIST(4, 8, 16, 32, 64, 128), .from = 4096, .to = 1u << 20 },
	{ "cpu", DATA(CORE_COMPUTE, VERB_SEND, METRIC_BANDWIDTH, "bandwidth both ways while computing"), .axis = AXIS_WORK, .values = LIST(0, 20, 40, 60, 80, 90, 95, 100, 120, 150), .from = 65536, .to = 65536 },

	/* Address translation: 5.2.2. */
	{ "reuse1-lat", LATENCY(VERB_SEND, "latency by buffer reuse, few buffers in turn (scheme 1)"), .axis = AXIS_REUSE, .values = LIST(100, 75, 50, 25, 0), .scheme = 1, SIZES },
	{ "reuse1-bw", BANDWIDTH(VERB_SEND, "bandwidth by buffer reuse, few buffers in turn (scheme 1)"), .axis = AXIS_REUSE, .values = LIST(100, 75, 50, 25, 0), .scheme = 1, SIZES },
	{ "reuse2-lat", LATENCY(VERB_SEND, "latency by buffer reuse, others new each time (scheme 2)"), .axis = AXIS_REUSE, .values = LIST(100, 75, 50, 25, 0), .scheme = 2, SIZES },
	{ "reuse2-bw", BANDWIDTH(VERB_SEND, "bandwidth by buffer reuse, others new each time (scheme 2)"), .axis = AXIS_REUSE, .values = LIST(100, 75, 50, 25, 0), .scheme = 2, SIZES },

	/* 5.2.3 to 5.2.8. */
	{ "qps-lat", LATENCY(VERB_SEND, "latency by connections used in turn"), .axis = AXIS_QPS, .values = LIST(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024), SIZES },
	{ "qps-bw", BANDWIDTH(VERB_SEND, "bandwidth by connections used in turn"), .axis = AXIS_QPS, .values = LIST(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024), SIZES },
	{ "segments-lat", LATENCY(VERB_SEND, "latency by data segments of a message"), .axis = AXIS_SEGMENTS, .values = LIST(1, 2, 4, 8), SIZES },
	{ "segments-bw", BANDWIDTH(VERB_SEND, "bandwidth by data segments of a message"), .axis = AXIS_SEGMENTS, .values = LIST(1, 2, 4, 8), SIZES },
	{ "mtu-lat", LATENCY(VERB_SEND, "latency by MTU"), .axis = AXIS_MTU, .values = LIST(256, 512, 1024, 2048, 4096), SIZES },
	{ "mtu-bw", BANDWIDTH(VERB_SEND, "bandwidth by MTU"), .axis = AXIS_MTU, .values = LIST(256, 512, 1024, 2048, 4096), SIZES },
	{ "sge-lat", LATENCY(VERB_SEND, "latency by segments that queue pairs are made for"), .axis = AXIS_SGE, .values = LIST(1, 2, 4, 8, 16), SIZES },
	{ "sge-bw", BANDWIDTH(VERB_SEND, "bandwidth by segments that queue pairs are made for"), .axis = AXIS_SGE, .values = LIST(1, 2, 4, 8, 16), SIZES },
	{ "event-lat", LATENCY(VERB_SEND, "latency by polling (0) and by events (1)"), .axis = AXIS_EVENTS, .values = LIST(0, 1), SIZES },
	{ "event-bw", BANDWIDTH(VERB_SEND, "bandwidth by polling (0) and by events (1)"), .axis = AXIS_EVENTS, .values = LIST(0, 1), SIZES },
	{ "load-bw", BANDWIDTH(VERB_SEND, "bandwidth while others write to the sender's adapter"), .axis = AXIS_CONTENDERS, .values = LIST(0, 1, 2, 3, 4, 5, 6, 7), SIZES },

	/* Beyond the paper. */
	{ "ud-lat", .summary = "datagram ping-pong", .group = GROUP_BEYOND, .metric = METRIC_LATENCY, .core = CORE_LATENCY, .transport = QP_UD, .from = 1, .to = 1024 },
	{ "ud-bw", .summary = "datagrams sent, by size", .group = GROUP_BEYOND, .metric = METRIC_BANDWIDTH, .core = CORE_BANDWIDTH, .transport = QP_UD, .from = 1, .to = 1024 },
	{ "uc-bw", .summary = "unreliable connection bandwidth", .group = GROUP_BEYOND, .metric = METRIC_BANDWIDTH, .core = CORE_BANDWIDTH, .transport = QP_UC, SIZES },
	{ "multicast-lat", .summary = "one datagram to all, until everyone has answered", .group = GROUP_BEYOND, .metric = METRIC_LATENCY, .core = CORE_MULTICAST, .transport = QP_UD, .axis = AXIS_RECEIVERS, .values = LIST(1, 2, 4, 7), .from = 64, .to = 64 },
	{ "fairness-bw", .summary = "bandwidth and fairness among queue pairs", .group = GROUP_BEYOND, .metric = METRIC_BANDWIDTH, .core = CORE_SHARES, .verb = VERB_WRITE, .transport = QP_RC, .axis = AXIS_QPS, .values = LIST(2, 4, 16, 64), .from = 65536, .to = 65536 },
	{ "weights-bw", .summary = "bandwidth among queue pairs of weights 1, 2, ..., and how well it follows them", .group = GROUP_BEYOND, .metric = METRIC_BANDWIDTH, .core = CORE_SHARES, .verb = VERB_WRITE, .transport = QP_RC, .axis = AXIS_QPS, .values = LIST(2, 3, 4, 8), .from = 65536, .to = 65536, .weighted = true },
	{ "threads-bw", .summary = "RDMA writes by threads that each have a queue pair", .group = GROUP_BEYOND, .metric = METRIC_BANDWIDTH, .core = CORE_THREADS, .verb = VERB_WRITE, .transport = QP_RC, .axis = AXIS_THREADS, .values = LIST(1, 2, 4, 8), .from = 8, .to = 8192 },
	{ "sl-lat", .summary = "latency while others load the receiver's link on another SL", .group = GROUP_BEYOND, .metric = METRIC_LATENCY, .core = CORE_LATENCY, .transport = QP_RC, .axis = AXIS_LOADERS, .values = LIST(0, 1, 2, 4, 6), .from = 64, .to = 64, .load_sl = 1 },
	{ "shared-sl-lat", .summary = "latency while others load the receiver's link on the same SL", .group = GROUP_BEYOND, .metric = METRIC_LATENCY, .core = CORE_LATENCY, .transport = QP_RC, .axis = AXIS_LOADERS, .values = LIST(0, 1, 2, 4, 6), .from = 64, .to = 64 },
	{ "partition", .summary = "whether P_Keys let a message through (0 same, 1 full and limited, 2 other, 3 both limited)", .group = GROUP_BEYOND, .metric = METRIC_LATENCY, .core = CORE_LATENCY, .verb = VERB_READ, .transport = QP_RC, .axis = AXIS_PARTITION, .values = LIST(0, 1, 2, 3), .from = 64, .to = 64 },
	{ .name = NULL },
};
/* clang-format on */

static const struct {
	const char *name, *unit;
	uint64_t low, high;
} axes[] = {
	[AXIS_NONE] = { "", "", 0, 0 },
	[AXIS_WINDOW] = { "window", "", 1, 1u << 16 },
	[AXIS_REUSE] = { "reuse", "%", 0, 100 },
	[AXIS_QPS] = { "qps", "", 1, BENCH_MAX_QPS },
	[AXIS_SEGMENTS] = { "segments", "", 1, WR_MAX_SGE },
	[AXIS_MTU] = { "mtu", "B", 256, 4096 },
	[AXIS_SGE] = { "max_sge", "", 1, WR_MAX_SGE },
	[AXIS_EVENTS] = { "events", "", 0, 1 },
	[AXIS_CONTENDERS] = { "contenders", "", 0, 1024 },
	[AXIS_WORK] = { "work", "%", 0, 10000 },
	[AXIS_ENTRIES] = { "entries", "", 1, 1u << 20 },
	[AXIS_LOADERS] = { "loaders", "", 0, 1024 },
	[AXIS_RECEIVERS] = { "receivers", "", 1, 1024 },
	[AXIS_THREADS] = { "threads", "", 1, 64 },
	[AXIS_PARTITION] = { "pkeys", "", 0, 3 },
};

bool bench_axis_has(enum bench_axis axis, uint64_t value)
{
	/* MTUs are powers of two. */
	if (axis == AXIS_MTU && (value & (value - 1)))
		return false;
	return value >= axes[axis].low && value <= axes[axis].high;
}

const char *bench_axis_name(enum bench_axis axis)
{
	return axes[axis].name;
}

const char *bench_axis_unit(enum bench_axis axis)
{
	return axes[axis].unit;
}

const struct bench_test *bench_find(const char *name, struct diag *d)
{
	const char *names[sizeof(bench_tests) / sizeof(*bench_tests)];
	size_t n = 0;

	for (; bench_tests[n].name; n++) {
		names[n] = bench_tests[n].name;
		if (strcmp(names[n], name) == 0)
			return &bench_tests[n];
	}
	const char *nearest = text_nearest(name, names, n);

	diag_fail(d, HD_ERR_NOT_FOUND, "unknown test '%s'%s; 'heddle bench list' shows all", name,
		  text_hint(nearest).text);
	return NULL;
}
