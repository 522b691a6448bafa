/* SPDX-License-Identifier: BSD-2-Clause */
#include "hca/traffic.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "hca/hca_internal.h"
#include "hca/message_channel.h"
#include "measure/histogram.h"

/*
 * Each flow of these rows is a channel (message_channel.h). The simulator says
 * when a message is made; the channel says when it has arrived or is done.
 *
 * A run may be computed in parts (sim.h), so the two ends of a flow have
 * nothing in common but when messages were made: the source writes that down,
 * and the destination reads it when the message has come.
 */

#define RECV_DEPTH 64
#define BLOCK      62 /* times per block */

struct time_block {
	struct time_block *next;
	hd_time times[BLOCK];
};

/*
 * Creation times of messages, in order. One end appends, the other removes; they may be in
 * different domains.
 */
struct time_list {
	struct time_block *first, *last;
	uint64_t n_put, n_taken;
};

/*
 * A flow over a channel of the same number. Messages are numbered from 0 in order of creation;
 * each is one SEND.
 */
struct traffic_posting {
	uint32_t flow, row;
	const struct v_device *from, *to;
	struct time_list made; /* source: removed when done */
	struct time_list due;  /* destination: removed when received or missed */
	bool is_broken;        /* all later messages fail */
};

/* Counted while measuring. */
struct posting_row {
	uint64_t pairs, posted, done, failed, received;
	struct histogram times;
};

/* State shared by the adapters of one lab (index lab.number). */
struct traffic_share {
	struct posting_row *rows;
};

struct hca_traffic {
	struct lab *lab;
	struct traffic_posting *postings;
	uint32_t n_postings;
	uint32_t *of_flow; /* flow to posting */
	struct traffic_share *shares;
	uint32_t n_shares;
};

static const enum qp_kind kind_of_transport[] = {
	[SCN_RC] = QP_RC,
	[SCN_UC] = QP_UC,
	[SCN_UD] = QP_UD,
};

bool traffic_rows_any(const struct fabric *fabric)
{
	for (size_t i = 0; i < fabric->scenario->n_traffic; i++) {
		if (fabric->scenario->traffic[i].transport)
			return true;
	}
	return false;
}

/* Number of flows that post messages. */
static uint32_t count_postings(const struct fabric *fabric)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < fabric->n_flows; i++)
		n += fabric->flows[i].posted;
	return n;
}

void traffic_cut(struct hca_traffic *t, uint32_t n)
{
	size_t rows = t->lab->fabric->scenario->n_traffic;

	t->shares = hd_realloc(t->shares, n, sizeof(*t->shares));
	for (; t->n_shares < n; t->n_shares++) {
		struct traffic_share *share = &t->shares[t->n_shares];

		*share = (struct traffic_share){
			.rows = hd_alloc(rows, sizeof(*share->rows)),
		};
		for (size_t i = 0; i < rows; i++)
			histogram_init(&share->rows[i].times);
	}
}

static const struct channel_listener listener;

/* Creates the next posting: the queue pairs of this flow. */
static enum hd_status posting_open(struct hca_traffic *t, uint32_t flow, struct diag *d)
{
	struct lab *lab = t->lab;
	const struct fabric *fabric = lab->fabric;
	const struct sim_flow *f = &fabric->flows[flow];
	const struct scn_traffic *row = &fabric->scenario->traffic[f->row];
	uint32_t target = fabric->end_of_origin[fabric->flow_target[flow]];
	struct traffic_posting *p = &t->postings[t->n_postings];
	const struct channel_params channel = {
		.kind = kind_of_transport[row->transport],
		.from = f->source,
		.to = target,
		.piece = (uint32_t)row->payload,
		.receives = RECV_DEPTH,
		.pkey = f->pkey,
		.sl = f->sl,
		/* The receiver of UC and UD finds losses by the numbers; RC loses no message. */
		.has_number = row->transport != SCN_RC,
		.ack_timeout = row->ack_timeout,
		.listener = &listener,
		.context = t,
	};

	*p = (struct traffic_posting){
		.flow = flow,
		.row = f->row,
		.from = &lab->devices[lab->device_of_node[f->source]],
		.to = &lab->devices[lab->device_of_node[target]],
	};
	p->made.first = p->made.last = hd_alloc(1, sizeof(struct time_block));
	p->due.first = p->due.last = hd_alloc(1, sizeof(struct time_block));
	t->of_flow[flow] = t->n_postings++;
	t->shares->rows[f->row].pairs++;
	if (channel_open(lab, &channel) == HD_OK)
		return HD_OK;
	return scenario_refuse(fabric->scenario, d, &row->transport,
			       "traffic '%s': no packet of a queue pair fits on the way and back",
			       row->name);
}

static void times_fini(struct time_list *l)
{
	struct time_block *b;

	while ((b = l->first)) {
		l->first = b->next;
		free(b);
	}
}

enum hd_status traffic_open(struct lab *lab, struct diag *d)
{
	const struct fabric *fabric = lab->fabric;
	uint32_t n = count_postings(fabric);
	enum hd_status status = HD_OK;

	if (!n)
		return HD_OK;
	struct hca_traffic *t = hd_alloc(1, sizeof(*t));

	lab->traffic = t;
	t->lab = lab;
	t->postings = hd_alloc(n, sizeof(*t->postings));
	t->of_flow = hd_alloc(fabric->n_flows, sizeof(*t->of_flow));
	traffic_cut(t, 1);
	hca_channels_open(lab, n);
	for (uint32_t i = 0; i < fabric->n_flows && status == HD_OK; i++) {
		if (fabric->flows[i].posted)
			status = posting_open(t, i, d);
	}
	return status;
}

static void rows_free(struct posting_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		histogram_fini(&rows[i].times);
	free(rows);
}

void traffic_close(struct hca_traffic *t)
{
	size_t rows = t->lab->fabric->scenario->n_traffic;

	for (uint32_t i = 0; i < t->n_postings; i++) {
		times_fini(&t->postings[i].made);
		times_fini(&t->postings[i].due);
	}
	for (uint32_t i = 0; i < t->n_shares; i++)
		rows_free(t->shares[i].rows, rows);
	free(t->shares);
	free(t->postings);
	free(t->of_flow);
	free(t);
}

/* ---- messages --------------------------------------------------------- */

static bool is_measured(const struct lab *lab, hd_time when)
{
	struct sim_progress now;

	sim_progress(lab->sim, &now);
	return when >= now.from;
}

static struct posting_row *row_of(const struct hca_traffic *t, const struct traffic_posting *p,
				  uint32_t part)
{
	return &t->shares[part].rows[p->row];
}

static void time_put(struct time_list *l, hd_time time)
{
	if (l->n_put && l->n_put % BLOCK == 0)
		l->last = l->last->next = hd_alloc(1, sizeof(*l->last));
	l->last->times[l->n_put++ % BLOCK] = time;
}

/* Removes the next time. */
static hd_time time_take(struct time_list *l)
{
	struct time_block *b = l->first;

	if (l->n_taken && l->n_taken % BLOCK == 0) {
		l->first = b->next;
		free(b);
	}
	return l->first->times[l->n_taken++ % BLOCK];
}

void traffic_born(struct hca_traffic *t, uint32_t posting, hd_time born)
{
	time_put(&t->postings[posting].due, born);
}

uint32_t traffic_postings(const struct hca_traffic *t)
{
	return t->n_postings;
}

/* A flow has created a message. */
static void take_message(const struct hca_traffic *t, uint32_t number)
{
	struct traffic_posting *p = &t->postings[number];
	const struct lab *lab = p->from->lab;
	struct posting_row *row = row_of(t, p, lab->number);
	bool counts = is_measured(lab, lab->now);

	row->posted += counts;
	if (p->is_broken) {
		row->failed += counts;
		return;
	}
	channel_queue(t->lab, number, (uint32_t)p->made.n_put,
		      lab->fabric->scenario->traffic[p->row].payload);
	time_put(&p->made, lab->now);
	if (!hca_born_is_told(p->from, p->to, number, lab->now))
		time_put(&p->due, lab->now);
}

/* A saturating flow creates a message whenever there is room. */
static void on_refill(void *context, uint32_t channel)
{
	const struct hca_traffic *t = context;
	const struct traffic_posting *p = &t->postings[channel];
	const struct lab *lab = p->from->lab;

	if (lab->fabric->flows[p->flow].kind == SIM_SATURATING && p->made.n_put &&
	    sim_message_make(lab->sim, p->flow))
		take_message(t, channel);
}

void traffic_made(struct lab *lab, uint32_t flow)
{
	uint32_t number = lab->traffic->of_flow[flow];

	take_message(lab->traffic, number);
	channel_post(lab, number);
}

static void on_done(void *context, const struct message_event *e)
{
	const struct hca_traffic *t = context;
	struct traffic_posting *p = &t->postings[e->channel];
	struct posting_row *row = row_of(t, p, e->part);
	hd_time made = time_take(&p->made);
	bool counts = is_measured(p->from->lab, e->when);

	if (e->is_acknowledged) {
		row->done += counts;
		if (counts)
			histogram_record(&row->times, e->when - made);
		return;
	}
	row->failed += counts;
	if (!p->is_broken && counts)
		row->failed += p->made.n_put - channel_counts(t->lab, e->channel).sends;
	p->is_broken = true;
}

/* RC delivers all messages in order; UC and UD messages carry their number. */
static void on_arrived(void *context, const struct message_event *e)
{
	const struct hca_traffic *t = context;
	struct traffic_posting *p = &t->postings[e->channel];
	const struct lab *lab = p->to->lab;
	bool may_miss = lab->fabric->scenario->traffic[p->row].transport != SCN_RC;

	/* A datagram overtaken by a later one already counts as lost. */
	if (may_miss && (int32_t)(e->message - (uint32_t)p->due.n_taken) < 0)
		return;
	while (may_miss && e->message != (uint32_t)p->due.n_taken) {
		sim_message_lost(lab->sim, p->flow);
		time_take(&p->due);
	}
	sim_message_arrived(lab->sim, p->to->node, p->flow, time_take(&p->due));
	row_of(t, p, e->part)->received += is_measured(lab, e->when);
}

static const struct channel_listener listener = { on_arrived, on_done, on_refill, NULL };

/* ---- rows on adapters of their own ------------------------------------ */

/*
 * A packet dropped by its port counts as departed 1 ps later (Q2) and needs no acknowledgement:
 * the row would post a message every picosecond.
 */
static bool is_endless(const struct fabric *fabric, const struct sim_flow *f)
{
	const struct sim_node *n = &fabric->setup.nodes[f->source];
	const struct sim_port *p = &fabric->setup.ports[n->first_port + 1];

	return f->posted && f->kind == SIM_SATURATING && !f->count &&
	       fabric->scenario->traffic[f->row].transport != SCN_RC &&
	       sl2vl_of(fabric->setup.subnet, p->origin)->vl[f->sl & 15] >= p->vls;
}

static enum hd_status refuse_endless(const struct fabric *fabric, struct diag *d)
{
	for (uint32_t i = 0; i < fabric->n_flows; i++) {
		const struct sim_flow *f = &fabric->flows[i];
		const struct scn_traffic *t = &fabric->scenario->traffic[f->row];

		if (is_endless(fabric, f))
			return scenario_refuse(
				fabric->scenario, d, &t->transport,
				"traffic '%s': SL %u has no VL where it is sent, and a saturating row without acknowledgements would never stop posting",
				t->name, f->sl);
	}
	return HD_OK;
}

enum hd_status qp_rows_new(struct fabric *fabric, struct sim *s, struct diag *d, struct lab **out)
{
	enum hd_status status = refuse_endless(fabric, d);
	struct lab *lab = NULL;

	if (status == HD_OK)
		status = lab_new_ideal(fabric, d, &lab);
	if (status != HD_OK)
		return status;
	status = traffic_open(lab, d);
	if (status != HD_OK) {
		lab_free(lab);
		return status;
	}
	lab_use_sim(lab, s);
	*out = lab;
	return HD_OK;
}

struct messages_row {
	const char *traffic, *transport;
	uint64_t pairs, posted, completed, failed, received, retries, early;
	double mean;
	hd_time p50, p99, max;
	double goodput;
};

static const struct column columns[] = {
	{ "traffic", NULL, CELL(messages_row, traffic) },
	{ "transport", NULL, CELL(messages_row, transport) },
	{ "pairs", NULL, CELL(messages_row, pairs) },
	{ "posted", NULL, CELL(messages_row, posted), ORIGIN_SIMULATED },
	{ "completed", NULL, CELL(messages_row, completed), ORIGIN_SIMULATED },
	{ "failed", NULL, CELL(messages_row, failed), ORIGIN_SIMULATED },
	{ "received", NULL, CELL(messages_row, received), ORIGIN_SIMULATED },
	{ "retries", NULL, CELL(messages_row, retries), ORIGIN_SIMULATED },
	{ "early", NULL, CELL(messages_row, early), ORIGIN_SIMULATED },
	{ "mean", "us", CELL_TIME(messages_row, mean), ORIGIN_SIMULATED, 3 },
	{ "p50", "us", CELL_TIME(messages_row, p50), ORIGIN_SIMULATED, 3 },
	{ "p99", "us", CELL_TIME(messages_row, p99), ORIGIN_SIMULATED, 3 },
	{ "max", "us", CELL_TIME(messages_row, max), ORIGIN_SIMULATED, 3 },
	{ "goodput", "Gb/s", CELL(messages_row, goodput), ORIGIN_SIMULATED, 3 },
	{ NULL },
};

static struct posting_row *rows_sum(const struct hca_traffic *t)
{
	size_t n = t->lab->fabric->scenario->n_traffic;
	struct posting_row *sums = hd_alloc(n, sizeof(*sums));

	for (size_t i = 0; i < n; i++) {
		struct posting_row *sum = &sums[i];

		histogram_init(&sum->times);
		for (uint32_t k = 0; k < t->n_shares; k++) {
			const struct posting_row *r = &t->shares[k].rows[i];

			sum->pairs += r->pairs;
			sum->posted += r->posted;
			sum->done += r->done;
			sum->failed += r->failed;
			sum->received += r->received;
			histogram_merge(&sum->times, &r->times);
		}
	}
	return sums;
}

/* Counters of the queue pairs of a row. */
static struct channel_counts row_counts(const struct hca_traffic *t, size_t row)
{
	struct channel_counts sum = { 0 };

	for (uint32_t i = 0; i < t->n_postings; i++) {
		if (t->postings[i].row != row)
			continue;
		const struct channel_counts c = channel_counts(t->lab, i);

		sum.retries += c.retries;
		sum.early += c.early;
	}
	return sum;
}

static const struct pack_member counted_members[] = {
	PACK(posting_row, posted),
	PACK(posting_row, done),
	PACK(posting_row, failed),
	PACK(posting_row, received),
};

static void pack_row(struct pack *k, struct posting_row *row)
{
	PACK_STRUCT(k, counted_members, row);
	histogram_pack(k, &row->times);
}

void traffic_collect(struct hca_traffic *t, struct pack *k, uint32_t part)
{
	for (size_t i = 0; i < t->lab->fabric->scenario->n_traffic; i++)
		pack_row(k, &t->shares[part].rows[i]);
}

/* HD_TIME_NEVER if no message has completed. */
static hd_time time_within(const struct histogram *h, double percent)
{
	return h->n ? histogram_percentile(h, percent) : HD_TIME_NEVER;
}

void traffic_rows_table(const struct lab *lab, const struct sim_metrics *m, struct results *r)
{
	static const char *const names[] = { [QP_RC] = "rc", [QP_UC] = "uc", [QP_UD] = "ud" };
	const struct hca_traffic *all = lab->traffic;
	const struct scenario *s = lab->fabric->scenario;

	if (!all)
		return; /* none of their messages has completed */
	struct posting_row *sums = rows_sum(all);
	double ps = (double)(m->to - m->from);
	struct table *t = results_table(r, "queue pairs",
					"messages, and times from posting to completion", columns);

	for (size_t i = 0; i < s->n_traffic; i++) {
		const struct posting_row *row = &sums[i];
		const struct histogram *h = &row->times;
		double bits = 8.0 * (double)row->received * (double)s->traffic[i].payload;

		if (!row->pairs)
			continue;
		const struct channel_counts counts = row_counts(all, i);
		const struct messages_row shown = {
			.traffic = s->traffic[i].name,
			.transport = names[kind_of_transport[s->traffic[i].transport]],
			.pairs = row->pairs,
			.posted = row->posted,
			.completed = row->done,
			.failed = row->failed,
			.received = row->received,
			.retries = counts.retries,
			.early = counts.early,
			.mean = h->n ? histogram_mean(h) : NAN,
			.p50 = time_within(h, 50),
			.p99 = time_within(h, 99),
			.max = time_within(h, 100),
			.goodput = ps > 0 ? bits * 1000 / ps : 0,
		};

		table_put_row(t, &shown);
	}
	rows_free(sums, s->n_traffic);
}

/* ---- as bytes ----------------------------------------------------------- */

static const struct pack_member list_members[] = {
	PACK(time_list, n_put),
	PACK(time_list, n_taken),
};

PACK_KNOWS(time_list, 32);
PACK_KNOWS(traffic_posting, 96);

/* Allocates blocks `from` to `to`; the list has the first one. */
static void blocks_make(struct time_list *l, uint64_t from, uint64_t to)
{
	for (; from < to; from++)
		l->last = l->last->next = hd_alloc(1, sizeof(*l->last));
}

/* Each remaining time takes at least a byte. */
static void pack_times(struct pack *k, struct time_list *l)
{
	PACK_STRUCT(k, list_members, l);
	if (!pack_check(k, l->n_taken <= l->n_put && l->n_put - l->n_taken <= k->left))
		l->n_put = l->n_taken = 0;
	/* A block is freed when a time of the next block is removed. */
	uint64_t first = l->n_taken ? (l->n_taken - 1) / BLOCK : 0;

	if (k->reads)
		blocks_make(l, first, l->n_put ? (l->n_put - 1) / BLOCK : 0);
	struct time_block *b = l->first;

	for (uint64_t i = l->n_taken; i < l->n_put; i++) {
		for (; first < i / BLOCK; first++)
			b = b->next;
		pack_u64(k, &b->times[i % BLOCK]);
	}
}

static void pack_source(struct traffic_posting *p, struct pack *k)
{
	pack_bool(k, &p->is_broken);
	pack_times(k, &p->made);
}

static void pack_target(struct traffic_posting *p, struct pack *k)
{
	pack_times(k, &p->due);
	/* A source in the same process has created the same number. */
	if (k->reads && p->made.n_put)
		pack_check(k, p->made.n_put == p->due.n_put);
}

static void pack_rows(struct hca_traffic *t, struct pack *k)
{
	size_t n = t->lab->fabric->scenario->n_traffic;
	struct posting_row *sums = k->reads ? t->shares[0].rows : rows_sum(t);

	for (size_t i = 0; i < n; i++)
		pack_row(k, &sums[i]);
	if (!k->reads)
		rows_free(sums, n);
}

void traffic_pack(struct hca_traffic *t, struct pack *p, const struct sim_section *section)
{
	pack_same(p, t->n_postings);
	for (uint32_t i = 0; i < t->n_postings && !p->refused; i++) {
		struct traffic_posting *x = &t->postings[i];

		if (section_has(section, x->from->node))
			pack_source(x, p);
		if (section_has(section, x->to->node))
			pack_target(x, p);
	}
	if (section->number == 0)
		pack_rows(t, p);
}
