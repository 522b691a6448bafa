/* SPDX-License-Identifier: BSD-2-Clause */
#include "verbs/traffic.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "verbs/objects.h"
#include "verbs/traffic_parts.h"

bool qp_rows_any(const struct fabric *build)
{
	for (size_t i = 0; i < build->scenario->n_traffic; i++) {
		if (build->scenario->traffic[i].transport)
			return true;
	}
	return false;
}

/* How many flows are posted, and the longest of their messages. */
static uint32_t count_postings(const struct fabric *b, uint64_t *longest)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < b->n_flows; i++) {
		const struct scn_traffic *row = &b->scenario->traffic[b->flows[i].row];

		if (!b->flows[i].posted)
			continue;
		n++;
		if (row->payload > *longest)
			*longest = row->payload;
	}
	return n;
}

void traffic_cut(struct traffic *t, uint32_t n)
{
	size_t rows = t->lab->build->scenario->n_traffic;

	t->shares = hd_realloc(t->shares, n, sizeof(*t->shares));
	for (; t->n_shares < n; t->n_shares++) {
		struct share *share = &t->shares[t->n_shares];

		*share = (struct share){
			.rows = hd_alloc(rows, sizeof(*share->rows)),
		};
		for (size_t i = 0; i < rows; i++)
			histogram_init(&share->rows[i].times);
	}
}

/* The next posting: the queue pairs of this flow. */
static enum hd_status posting_open(struct traffic *t, uint32_t flow, struct diag *d)
{
	struct lab *lab = t->lab;
	const struct fabric *b = lab->build;
	const struct sim_flow *f = &b->flows[flow];
	const struct scn_traffic *row = &b->scenario->traffic[f->row];
	uint32_t target = b->end_of_origin[b->flow_target[flow]];
	struct posting *p = &t->postings[t->n_postings];
	const struct depths room = { SEND_DEPTH, RECV_DEPTH };
	const struct connecting how = { .from = room,
					.to = room,
					.pkey = f->pkey,
					.sl = f->sl,
					.ack_timeout = row->ack_timeout };

	*p = (struct posting){
		.link = { .kind = kind_of_transport[row->transport],
			  .length = (uint32_t)row->payload },
		.flow = flow,
		.row = f->row,
		.born_size = 16,
	};
	p->born = hd_alloc(p->born_size, sizeof(*p->born));
	p->first_noted = p->last_noted = hd_alloc(1, sizeof(*p->last_noted));
	t->of_flow[flow] = t->n_postings++;
	t->shares->rows[f->row].pairs++;
	if (connection_open(&p->link, &lab->devices[lab->device_of_node[f->source]],
			    &lab->devices[lab->device_of_node[target]], &how) == HD_OK)
		return HD_OK;
	return scenario_refuse(b->scenario, d, &row->transport,
			       "traffic '%s': no packet of a queue pair fits on the way and back",
			       row->name);
}

static void posting_fini(struct posting *p)
{
	struct notes *n;

	connection_fini(&p->link);
	free(p->born);
	while ((n = p->first_noted)) {
		p->first_noted = n->next;
		free(n);
	}
}

static void settle(struct side *side);

enum hd_status traffic_open(struct lab *lab, struct diag *d)
{
	const struct fabric *b = lab->build;
	uint64_t longest = 0;
	uint32_t n = count_postings(b, &longest);
	enum hd_status status = HD_OK;

	if (!n)
		return HD_OK;
	struct traffic *t = hd_alloc(1, sizeof(*t));

	lab->traffic = t;
	t->lab = lab;
	t->postings = hd_alloc(n, sizeof(*t->postings));
	t->of_flow = hd_alloc(b->n_flows, sizeof(*t->of_flow));
	traffic_cut(t, 1);
	pairs_open(lab, settle, longest);
	for (uint32_t i = 0; i < b->n_flows && status == HD_OK; i++) {
		if (b->flows[i].posted)
			status = posting_open(t, i, d);
	}
	return status;
}

void rows_free(struct posting_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		histogram_fini(&rows[i].times);
	free(rows);
}

void traffic_close(struct traffic *t)
{
	size_t rows = t->lab->build->scenario->n_traffic;

	for (uint32_t i = 0; i < t->n_postings; i++)
		posting_fini(&t->postings[i]);
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

static hd_time *born_at(const struct posting *p, uint64_t number)
{
	return &p->born[number % p->born_size];
}

static uint32_t posting_number(const struct posting *p)
{
	return (uint32_t)(p - p->link.from->dev->lab->traffic->postings);
}

/* For the destination. */
static void note_born(struct posting *p, hd_time now)
{
	if (p->made && p->made % NOTES == 0)
		p->last_noted = p->last_noted->next = hd_alloc(1, sizeof(*p->last_noted));
	p->last_noted->born[p->made++ % NOTES] = now;
}

static void remember(struct posting *p, hd_time now)
{
	if (p->made - p->done == p->born_size) {
		struct posting old = *p;

		p->born_size *= 2;
		p->born = hd_alloc(p->born_size, sizeof(*p->born));
		for (uint64_t i = p->done; i < p->made; i++)
			*born_at(p, i) = *born_at(&old, i);
		free(old.born);
	}
	*born_at(p, p->made) = now;
	if (born_is_told(p->link.from->dev, p->link.to->dev, posting_number(p), now))
		p->made++;
	else
		note_born(p, now);
}

void traffic_born(struct traffic *t, uint32_t posting, hd_time born)
{
	note_born(&t->postings[posting], born);
}

uint32_t traffic_postings(const struct traffic *t)
{
	return t->n_postings;
}

/* The next one that is received, or missing: it was made long ago. */
static hd_time take_noted(struct posting *p)
{
	struct notes *n = p->first_noted;

	if (p->received && p->received % NOTES == 0) {
		p->first_noted = n->next;
		free(n);
	}
	return p->first_noted->born[p->received++ % NOTES];
}

static void take_message(struct posting *p)
{
	struct lab *lab = p->link.from->dev->lab;
	struct posting_row *row = &share_of(p->link.from->dev)->rows[p->row];
	bool counts = is_measured(lab, lab->now);

	row->posted += counts;
	if (p->is_broken)
		row->failed += counts;
	else
		remember(p, lab->now);
}

static void post(struct posting *p)
{
	struct send_wr wr = {
		.id = p->sent,
		.kind = p->link.kind == QP_RC ? WR_SEND : WR_SEND_IMM,
		.imm = (uint32_t)p->sent,
	};

	connection_post(&p->link, &wr, p->link.length);
	p->sent++;
}

/* Is there a message to post? A saturating flow makes one when asked. */
static bool has_message(struct posting *p)
{
	const struct lab *lab = p->link.from->dev->lab;

	if (p->sent < p->made)
		return true;
	if (lab->build->flows[p->flow].kind != SIM_SATURATING || !p->made ||
	    !sim_message_make(lab->sim, p->flow))
		return false;
	take_message(p);
	return true;
}

static void post_all(struct posting *p)
{
	uint64_t before = p->sent;

	while (!p->is_broken && p->sent - p->done < SEND_DEPTH && has_message(p))
		post(p);
	if (p->sent > before)
		connection_go(&p->link);
}

void traffic_made(struct lab *lab, uint32_t flow)
{
	struct posting *p = &lab->traffic->postings[lab->traffic->of_flow[flow]];

	take_message(p);
	post_all(p);
	pairs_settle(lab);
}

/* ---- completions ------------------------------------------------------ */

static void take_done(struct posting *p, const struct cq_entry *e)
{
	struct posting_row *row = &share_of(p->link.from->dev)->rows[p->row];
	uint64_t number = p->done++;
	bool counts = is_measured(p->link.from->dev->lab, e->when);

	if (e->wc.status == WC_SUCCESS) {
		row->done += counts;
		if (counts)
			histogram_record(&row->times, e->when - *born_at(p, number));
		return;
	}
	row->failed += counts;
	if (!p->is_broken && counts)
		row->failed += p->made - p->sent;
	p->is_broken = true;
}

/* Of RC nothing is missing; of others the number is in the message. */
static void take_received(struct posting *p, const struct cq_entry *e)
{
	const struct v_device *dev = p->link.to->dev;
	struct sim *sim = dev->lab->sim;

	if (e->wc.status != WC_SUCCESS)
		return;
	/* A datagram that a later one has overtaken counts as lost already. */
	if (p->link.kind != QP_RC && (int32_t)(e->wc.imm - (uint32_t)p->received) < 0)
		return;
	while (p->link.kind != QP_RC && e->wc.imm != (uint32_t)p->received) {
		sim_message_lost(sim, p->flow);
		take_noted(p);
	}
	sim_message_arrived(sim, dev->node, p->flow, take_noted(p));
	share_of(dev)->rows[p->row].received += is_measured(dev->lab, e->when);
}

/* Takes what adapters have completed. */
static void settle(struct side *side)
{
	struct posting *p = posting_of(side);
	struct v_cq *cq = side->cq;
	bool receives = side == &p->link.receives;

	for (; cq->head != cq->tail; cq->head++) {
		const struct cq_entry *e = cq_at(cq, cq->head);

		if (receives)
			take_received(p, e);
		else
			take_done(p, e);
	}
	if (receives)
		connection_stock(&p->link);
	else
		post_all(p);
}

/* ---- rows on adapters of their own ------------------------------------ */

struct qp_rows {
	struct profile profile;
	struct lab *lab;
};

/* What its port drops has left 1 ps later (Q2), and nobody acknowledges it:
 * such a row would post as many messages as there are picoseconds. */
static bool is_endless(const struct fabric *b, const struct sim_flow *f)
{
	const struct sim_node *n = &b->setup.nodes[f->source];
	const struct sim_port *p = &b->setup.ports[n->first_port + 1];

	return f->posted && f->kind == SIM_SATURATING && !f->count &&
	       b->scenario->traffic[f->row].transport != SCN_RC &&
	       sl2vl_of(b->setup.subnet, p->origin)->vl[f->sl & 15] >= p->vls;
}

static enum hd_status refuse_endless(const struct fabric *b, struct diag *d)
{
	for (uint32_t i = 0; i < b->n_flows; i++) {
		const struct sim_flow *f = &b->flows[i];
		const struct scn_traffic *t = &b->scenario->traffic[f->row];

		if (is_endless(b, f))
			return scenario_refuse(
				b->scenario, d, &t->transport,
				"traffic '%s': SL %u has no lane where it is sent, and a saturating row of what nobody acknowledges would never stop posting",
				t->name, f->sl);
	}
	return HD_OK;
}

enum hd_status qp_rows_new(struct fabric *build, struct sim *s, struct diag *d,
			   struct qp_rows **out)
{
	struct qp_rows *rows = hd_alloc(1, sizeof(*rows));
	enum hd_status status = refuse_endless(build, d);

	if (status == HD_OK)
		status = profile_open("ideal", d, &rows->profile);
	if (status != HD_OK) {
		free(rows);
		return status;
	}
	rows->lab = lab_new(build, &rows->profile);
	status = traffic_open(rows->lab, d);
	if (status != HD_OK) {
		qp_rows_free(rows);
		return status;
	}
	lab_use_sim(rows->lab, s);
	*out = rows;
	return HD_OK;
}

void qp_rows_free(struct qp_rows *rows)
{
	lab_free(rows->lab);
	profile_fini(&rows->profile);
	free(rows);
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

struct posting_row *rows_sum(const struct traffic *t)
{
	size_t n = t->lab->build->scenario->n_traffic;
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

/* What queue pairs count themselves. */
struct pair_counts {
	uint64_t retries, early;
};

/* Of those that are in that part. */
static struct pair_counts counts_of(const struct traffic *t, size_t row, uint32_t part)
{
	struct pair_counts sum = { 0 };

	for (uint32_t i = 0; i < t->n_postings; i++) {
		const struct posting *p = &t->postings[i];

		if (p->row != row)
			continue;
		if (p->link.from->dev->lab->number == part)
			sum.retries += qp_retries(p->link.from->qp);
		if (p->link.to->dev->lab->number == part)
			sum.early += qp_early(p->link.to->qp);
	}
	return sum;
}

static struct pair_counts row_counts(const struct traffic *t, size_t row)
{
	struct pair_counts sum = { 0 };

	for (uint32_t i = 0; i < t->n_shares; i++) {
		const struct posting_row *r = &t->shares[i].rows[row];
		struct pair_counts of = { r->retries, r->early };

		if (!t->lab->pools[i].is_elsewhere)
			of = counts_of(t, row, i);
		sum.retries += of.retries;
		sum.early += of.early;
	}
	return sum;
}

static const struct pack_member counted_members[] = {
	PACK(posting_row, posted),   PACK(posting_row, done),    PACK(posting_row, failed),
	PACK(posting_row, received), PACK(posting_row, retries), PACK(posting_row, early),
};

void traffic_collect(struct traffic *t, struct pack *k, uint32_t part)
{
	struct posting_row *rows = t->shares[part].rows;
	size_t n = t->lab->build->scenario->n_traffic;

	for (size_t i = 0; i < n; i++) {
		if (!k->reads) {
			const struct pair_counts of = counts_of(t, i, part);

			rows[i].retries = of.retries;
			rows[i].early = of.early;
		}
		PACK_STRUCT(k, counted_members, &rows[i]);
		histogram_pack(k, &rows[i].times);
	}
}

/* HD_TIME_NEVER if nothing completed. */
static hd_time time_within(const struct histogram *h, double percent)
{
	return h->n ? histogram_percentile(h, percent) : HD_TIME_NEVER;
}

void qp_rows_table(const struct qp_rows *rows, const struct sim_metrics *m, struct results *r)
{
	static const char *const names[] = { [QP_RC] = "rc", [QP_UC] = "uc", [QP_UD] = "ud" };
	const struct traffic *all = rows->lab->traffic;
	const struct scenario *s = rows->lab->build->scenario;

	if (!all)
		return; /* none of their connections has come */
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
		const struct pair_counts counts = row_counts(all, i);
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
