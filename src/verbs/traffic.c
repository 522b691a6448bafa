/* SPDX-License-Identifier: BSD-2-Clause */
#include "verbs/traffic.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "measure/histogram.h"
#include "transport/codes.h"
#include "verbs/objects.h"

/*
 * The simulator says when a message is made, completion queues say when one
 * has arrived or is done. The latter come while an adapter is at work: such
 * flows wait in a list until it is done (traffic_settle).
 *
 * A run may be computed in parts (sim.h), so the two ends of a flow have
 * nothing in common but when messages were made: the source writes that down,
 * and the destination reads it when the message has come.
 */

#define SEND_DEPTH 128 /* requests under way per queue pair */
#define RECV_DEPTH 64  /* restocked after every event */
#define GRH_ROOM   40  /* of received datagrams */
#define QKEY       0x11111111u

#define NOTES 62

/* When messages were made, one after the other. */
struct notes {
	struct notes *next;
	hd_time born[NOTES];
};

struct posting;

/* One of the two ends. */
struct side {
	struct posting *of;
	struct v_cq *cq;
	bool is_waiting;
	struct side *next; /* that waits to be looked at */
};

/* Messages are numbered from 0, in the order in which they are made. */
struct posting {
	uint32_t flow, row;
	enum qp_kind kind;
	uint32_t length;
	/* The source's. */
	struct v_qp *from;
	struct side sends;
	uint64_t made, sent, done;
	hd_time *born; /* ring, of those not yet done */
	size_t born_size;
	bool is_broken; /* what comes now fails */
	struct notes *last_noted;
	/* The destination's. */
	struct v_qp *to;
	struct side receives;
	uint64_t received;
	struct notes *first_noted;
};

/* While measuring, but for retries. */
struct posting_row {
	uint64_t pairs, posted, done, failed, received;
	struct histogram times;
};

/* What a host has for all of its queue pairs. */
struct posting_host {
	struct v_pd *pd;
	struct v_mr *mr;
};

/* What the adapters of one lab have in common (lab.number). */
struct share {
	struct posting_row *rows;
	uint8_t *memory; /* what is in it matters to nobody */
	struct side *first;
};

struct traffic {
	struct lab *lab;
	struct posting *postings;
	uint32_t n_postings;
	uint32_t *of_flow; /* its posting */
	struct posting_host *hosts;
	uint64_t memory_len;
	struct share *shares;
	uint32_t n_shares;
};

static struct share *share_of(const struct v_device *dev)
{
	return &dev->lab->traffic->shares[dev->lab->number];
}

static const enum qp_kind kind_of_transport[] = {
	[SCN_RC] = QP_RC,
	[SCN_UC] = QP_UC,
	[SCN_UD] = QP_UD,
};

bool qp_rows_any(const struct fabric *build)
{
	for (size_t i = 0; i < build->scenario->n_traffic; i++) {
		if (build->scenario->traffic[i].transport)
			return true;
	}
	return false;
}

/* ---- queue pairs ------------------------------------------------------ */

static unsigned timeout_code(hd_time least)
{
	unsigned code = 1;

	while (code < 31 && ack_timeout(code) < least)
		code++;
	return code;
}

static const struct posting_host *host_of(struct traffic *t,
					  struct v_device *dev)
{
	struct posting_host *h = &t->hosts[dev->host];

	if (!h->pd) {
		h->pd = v_pd_new(dev);
		h->mr = v_mr_new(h->pd, share_of(dev)->memory, t->memory_len,
				 ACCESS_LOCAL_WRITE, 0);
	}
	return h;
}

static struct v_qp *make_pair(struct traffic *t, struct posting *p,
			      struct v_device *dev)
{
	const struct v_qp_init init = {
		.kind = p->kind,
		.send_cq = p->sends.cq,
		.recv_cq = p->receives.cq,
		.max_send = SEND_DEPTH,
		.max_recv = RECV_DEPTH,
		.max_sge = 1,
	};

	return v_qp_new(host_of(t, dev)->pd, &init);
}

static enum hd_status connect(struct v_qp *qp, const struct v_qp *peer,
			      const struct qp_attr *common)
{
	static const unsigned masks[3][3] = {
		[QP_RC] = { QPA_PKEY | QPA_ACCESS,
			    QPA_PATH | QPA_MTU | QPA_DEST_QP | QPA_RQ_PSN |
				    QPA_MAX_DEST_RD | QPA_MIN_RNR,
			    QPA_SQ_PSN | QPA_TIMEOUT | QPA_RETRY |
				    QPA_RNR_RETRY | QPA_MAX_RD },
		[QP_UC] = { QPA_PKEY | QPA_ACCESS,
			    QPA_PATH | QPA_MTU | QPA_DEST_QP | QPA_RQ_PSN,
			    QPA_SQ_PSN },
		[QP_UD] = { QPA_PKEY | QPA_QKEY, QPA_PATH | QPA_MTU,
			    QPA_SQ_PSN },
	};
	struct qp_attr a = *common;
	enum hd_status status = HD_OK;

	a.slid = v_lid(qp->dev);
	a.dlid = v_lid(peer->dev);
	a.sl = v_path_sl(qp->dev, a.dlid, common->sl);
	a.dest_qpn = v_qpn(peer);
	for (unsigned i = 0; i < 3 && status == HD_OK; i++) {
		a.state = QPS_INIT + i;
		status = v_modify(
			qp, &a, QPA_STATE | masks[qp_params(qp->qp)->kind][i]);
	}
	return status;
}

static void stock(struct posting *p)
{
	const struct traffic *t = p->to->dev->lab->traffic;
	const struct v_mr *mr = t->hosts[p->to->dev->host].mr;
	uint32_t room = p->kind == QP_UD ? GRH_ROOM : 0;
	const struct recv_wr wr = {
		.n_sge = 1,
		.sge[0] = { v_mr_addr(mr), p->length + room, v_mr_key(mr) },
	};

	while (v_post_recv(p->to, &wr) == HD_OK)
		;
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static enum hd_status connect_both(struct traffic *t, struct posting *p,
				   struct diag *d)
{
	const struct fabric *b = t->lab->build;
	const struct sim_flow *f = &b->flows[p->flow];
	const struct scn_traffic *row = &b->scenario->traffic[p->row];
	uint32_t there = v_path_mtu(p->from->dev, v_lid(p->to->dev));
	uint32_t back = v_path_mtu(p->to->dev, v_lid(p->from->dev));
	const struct qp_attr common = {
		.pkey = f->pkey,
		.qkey = QKEY,
		.sl = f->sl,
		.mtu = least((uint32_t)b->scenario->fabric.mtu,
			     least(there, back)),
		.max_dest_rd = 1,
		.max_rd = 1,
		.min_rnr = 1,
		.timeout = (uint8_t)timeout_code(row->ack_timeout),
		.retry = 7,
		.rnr_retry = 7,
	};
	enum hd_status status =
		common.mtu ? connect(p->from, p->to, &common) : HD_ERR_UNFIT;

	if (status == HD_OK)
		status = connect(p->to, p->from, &common);
	if (status != HD_OK)
		return scenario_refuse(
			b->scenario, d, &row->transport,
			"traffic '%s': no packet of a queue pair fits on the "
			"way and back",
			row->name);
	stock(p);
	return HD_OK;
}

static void note(void *context)
{
	struct side *side = context;
	struct share *share = share_of(side->cq->dev);

	if (side->is_waiting)
		return;
	side->is_waiting = true;
	side->next = share->first;
	share->first = side;
}

static void make_side(struct side *side, struct posting *p,
		      struct v_device *dev, uint32_t entries)
{
	side->of = p;
	side->cq = v_cq_new(dev, entries, NULL);
	side->cq->note = note;
	side->cq->context = side;
}

static enum hd_status add_posting(struct traffic *t, uint32_t flow,
				  struct diag *d)
{
	struct lab *lab = t->lab;
	const struct fabric *b = lab->build;
	const struct sim_flow *f = &b->flows[flow];
	const struct scn_traffic *row = &b->scenario->traffic[f->row];
	uint32_t target = b->end_of_origin[b->flow_target[flow]];
	struct v_device *from = &lab->devices[lab->device_of_node[f->source]];
	struct v_device *to = &lab->devices[lab->device_of_node[target]];
	struct posting *p = &t->postings[t->n_postings];

	*p = (struct posting){
		.flow = flow,
		.row = f->row,
		.kind = kind_of_transport[row->transport],
		.length = (uint32_t)row->payload,
		.born_size = 16,
	};
	p->born = hd_alloc(p->born_size, sizeof(*p->born));
	p->first_noted = p->last_noted = hd_alloc(1, sizeof(*p->last_noted));
	t->of_flow[flow] = t->n_postings++;
	t->shares->rows[f->row].pairs++;
	make_side(&p->sends, p, from, SEND_DEPTH);
	make_side(&p->receives, p, to, RECV_DEPTH);
	p->from = make_pair(t, p, from);
	p->to = make_pair(t, p, to);
	return connect_both(t, p, d);
}

static void count_postings(const struct fabric *b, struct traffic *t)
{
	for (uint32_t i = 0; i < b->n_flows; i++) {
		const struct scn_traffic *row =
			&b->scenario->traffic[b->flows[i].row];

		if (!b->flows[i].posted)
			continue;
		t->n_postings++;
		if (row->payload + GRH_ROOM > t->memory_len)
			t->memory_len = row->payload + GRH_ROOM;
	}
}

static void shares_add(struct traffic *t, uint32_t n)
{
	size_t rows = t->lab->build->scenario->n_traffic;

	t->shares = hd_realloc(t->shares, n, sizeof(*t->shares));
	for (; t->n_shares < n; t->n_shares++) {
		struct share *share = &t->shares[t->n_shares];

		*share = (struct share){
			.rows = hd_alloc(rows, sizeof(*share->rows)),
			.memory = hd_alloc(t->memory_len, 1),
		};
		for (size_t i = 0; i < rows; i++)
			histogram_init(&share->rows[i].times);
	}
}

void traffic_cut(struct traffic *t, uint32_t n)
{
	shares_add(t, n);
	for (uint32_t i = 0; i < t->lab->n_devices; i++) {
		if (t->hosts[i].mr)
			t->hosts[i].mr->memory =
				share_of(&t->lab->devices[i])->memory;
	}
}

enum hd_status traffic_open(struct lab *lab, struct diag *d)
{
	const struct fabric *b = lab->build;
	struct traffic *t = hd_alloc(1, sizeof(*t));
	enum hd_status status = HD_OK;

	count_postings(b, t);
	if (!t->n_postings) {
		free(t);
		return HD_OK;
	}
	lab->traffic = t;
	t->lab = lab;
	t->postings = hd_alloc(t->n_postings, sizeof(*t->postings));
	t->n_postings = 0;
	t->of_flow = hd_alloc(b->n_flows, sizeof(*t->of_flow));
	t->hosts = hd_alloc(lab->n_devices, sizeof(*t->hosts));
	shares_add(t, 1);
	for (uint32_t i = 0; i < b->n_flows && status == HD_OK; i++) {
		if (b->flows[i].posted)
			status = add_posting(t, i, d);
	}
	return status;
}

static void posting_fini(struct posting *p)
{
	struct notes *n;

	v_cq_free(p->sends.cq);
	v_cq_free(p->receives.cq);
	free(p->born);
	while ((n = p->first_noted)) {
		p->first_noted = n->next;
		free(n);
	}
}

void traffic_close(struct traffic *t)
{
	size_t rows = t->lab->build->scenario->n_traffic;

	for (uint32_t i = 0; i < t->n_postings; i++)
		posting_fini(&t->postings[i]);
	for (uint32_t i = 0; i < t->lab->n_devices; i++)
		free(t->hosts[i].pd);
	for (uint32_t i = 0; i < t->n_shares; i++) {
		for (size_t k = 0; k < rows; k++)
			histogram_fini(&t->shares[i].rows[k].times);
		free(t->shares[i].rows);
		free(t->shares[i].memory);
	}
	free(t->shares);
	free(t->postings);
	free(t->of_flow);
	free(t->hosts);
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
	if (p->made && p->made % NOTES == 0)
		p->last_noted = p->last_noted->next =
			hd_alloc(1, sizeof(*p->last_noted));
	p->last_noted->born[p->made++ % NOTES] = now;
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
	struct lab *lab = p->from->dev->lab;
	struct posting_row *row = &share_of(p->from->dev)->rows[p->row];
	bool counts = is_measured(lab, lab->now);

	row->posted += counts;
	if (p->is_broken)
		row->failed += counts;
	else
		remember(p, lab->now);
}

static void post(struct posting *p)
{
	const struct traffic *t = p->from->dev->lab->traffic;
	const struct posting_host *host = &t->hosts[p->from->dev->host];
	struct send_wr wr = {
		.id = p->sent,
		.kind = p->kind == QP_RC ? WR_SEND : WR_SEND_IMM,
		.flags = WR_SIGNALED,
		.n_sge = 1,
		.sge[0] = { v_mr_addr(host->mr), p->length,
			    v_mr_key(host->mr) },
		.imm = (uint32_t)p->sent,
	};

	if (p->kind == QP_UD) {
		wr.to = v_ah(host->pd, v_lid(p->to->dev), p->from->sl);
		wr.to.qpn = v_qpn(p->to);
		wr.to.qkey = QKEY;
	}
	enum hd_status status = v_post_send(p->from, &wr);

	assert(status == HD_OK);
	(void)status;
	p->sent++;
}

/* Is there a message to post? A saturating flow makes one when asked. */
static bool has_message(struct posting *p)
{
	const struct lab *lab = p->from->dev->lab;

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
	struct v_device *dev = p->from->dev;
	uint64_t before = p->sent;

	while (!p->is_broken && p->sent - p->done < SEND_DEPTH &&
	       has_message(p))
		post(p);
	if (p->sent == before)
		return;
	device_activate(dev, p->from);
	device_ring(dev);
}

void traffic_made(struct lab *lab, uint32_t flow)
{
	struct posting *p =
		&lab->traffic->postings[lab->traffic->of_flow[flow]];

	take_message(p);
	post_all(p);
	traffic_settle(lab);
}

/* ---- completions ------------------------------------------------------ */

static void take_done(struct posting *p, const struct cq_entry *e)
{
	struct posting_row *row = &share_of(p->from->dev)->rows[p->row];
	uint64_t number = p->done++;
	bool counts = is_measured(p->from->dev->lab, e->when);

	if (e->wc.status == WC_SUCCESS) {
		row->done += counts;
		if (counts)
			histogram_record(&row->times,
					 e->when - *born_at(p, number));
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
	const struct v_device *dev = p->to->dev;
	struct sim *sim = dev->lab->sim;

	if (e->wc.status != WC_SUCCESS)
		return;
	while (p->kind != QP_RC && e->wc.imm != (uint32_t)p->received) {
		sim_message_lost(sim, p->flow);
		take_noted(p);
	}
	sim_message_arrived(sim, dev->node, p->flow, take_noted(p));
	share_of(dev)->rows[p->row].received += is_measured(dev->lab, e->when);
}

static void settle(struct side *side)
{
	struct posting *p = side->of;
	struct v_cq *cq = side->cq;
	bool receives = side == &p->receives;

	for (; cq->head != cq->tail; cq->head++) {
		const struct cq_entry *e = &cq->ring[cq->head % cq->size];

		if (receives)
			take_received(p, e);
		else
			take_done(p, e);
	}
	if (receives)
		stock(p);
	else
		post_all(p);
}

void traffic_settle(struct lab *lab)
{
	struct share *share = &lab->traffic->shares[lab->number];
	struct side *side;

	while ((side = share->first)) {
		share->first = side->next;
		side->is_waiting = false;
		settle(side);
	}
}

/* ---- rows on adapters of their own ------------------------------------ */

struct qp_rows {
	struct profile profile;
	struct lab *lab;
};

enum hd_status qp_rows_new(struct fabric *build, struct sim *s, struct diag *d,
			   struct qp_rows **out)
{
	struct qp_rows *rows = hd_alloc(1, sizeof(*rows));
	enum hd_status status = profile_open("ideal", d, &rows->profile);

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

static const struct column columns[] = {
	{ "traffic", NULL, VALUE_TEXT },
	{ "transport", NULL, VALUE_TEXT },
	{ "pairs", NULL, VALUE_UINT },
	{ "posted", NULL, VALUE_UINT, ORIGIN_SIMULATED },
	{ "completed", NULL, VALUE_UINT, ORIGIN_SIMULATED },
	{ "failed", NULL, VALUE_UINT, ORIGIN_SIMULATED },
	{ "received", NULL, VALUE_UINT, ORIGIN_SIMULATED },
	{ "retries", NULL, VALUE_UINT, ORIGIN_SIMULATED },
	{ "mean", "us", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "p50", "us", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "p99", "us", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "max", "us", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "goodput", "Gb/s", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ NULL },
};

/* A row of all shares; the caller frees its times. */
static void row_sum(const struct traffic *t, size_t row,
		    struct posting_row *out)
{
	*out = (struct posting_row){ 0 };
	histogram_init(&out->times);
	for (uint32_t i = 0; i < t->n_shares; i++) {
		const struct posting_row *r = &t->shares[i].rows[row];

		out->pairs += r->pairs;
		out->posted += r->posted;
		out->done += r->done;
		out->failed += r->failed;
		out->received += r->received;
		histogram_merge(&out->times, &r->times);
	}
}

static uint64_t row_retries(const struct traffic *t, size_t row)
{
	uint64_t retries = 0;

	for (uint32_t i = 0; i < t->n_postings; i++) {
		if (t->postings[i].row == row)
			retries += qp_retries(t->postings[i].from->qp);
	}
	return retries;
}

static void put_times(struct table *t, const struct histogram *h)
{
	static const double percents[] = { 50, 99, 100 };

	table_put_real(t, h->n ? histogram_mean(h) / (double)HD_US : NAN);
	for (size_t i = 0; i < sizeof(percents) / sizeof(*percents); i++) {
		if (h->n)
			table_put_time(t, histogram_percentile(h, percents[i]));
		else
			table_put_none(t);
	}
}

static void put_row(struct table *t, const struct scn_traffic *is,
		    const struct posting_row *row, uint64_t retries, double ps)
{
	static const char *const names[] = {
		[QP_RC] = "rc", [QP_UC] = "uc", [QP_UD] = "ud"
	};
	double bits = 8.0 * (double)row->received * (double)is->payload;

	table_put_text(t, is->name);
	table_put_text(t, names[kind_of_transport[is->transport]]);
	table_put_uint(t, row->pairs);
	table_put_uint(t, row->posted);
	table_put_uint(t, row->done);
	table_put_uint(t, row->failed);
	table_put_uint(t, row->received);
	table_put_uint(t, retries);
	put_times(t, &row->times);
	table_put_real(t, ps > 0 ? bits * 1000 / ps : 0);
}

void qp_rows_table(const struct qp_rows *rows, const struct sim_metrics *m,
		   struct results *r)
{
	const struct traffic *all = rows->lab->traffic;
	const struct scenario *s = rows->lab->build->scenario;
	double ps = (double)(m->to - m->from);
	struct table *t = results_table(
		r, "queue pairs",
		"messages, and times from posting to completion", columns);

	for (size_t i = 0; i < s->n_traffic; i++) {
		struct posting_row row;

		row_sum(all, i, &row);
		if (row.pairs)
			put_row(t, &s->traffic[i], &row, row_retries(all, i),
				ps);
		histogram_fini(&row.times);
	}
}
