/* SPDX-License-Identifier: BSD-2-Clause */
/* MAP_ANONYMOUS is not POSIX. */
#define _DEFAULT_SOURCE
#include "bench/virtual.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "hca/verbs.h"
#include "run/run.h"
#include "subnet/multicast/mcast.h"
#include "wire/capture.h"

#define HUGE_PAGE (UINT64_C(2) << 20)

/* One run: a lab and what its ranks share. */
struct virtual_run {
	struct lab *lab;
	struct run *run; /* NULL: not open */
	nic_program *program;
	void *context;
	unsigned n_ranks;
	struct v_semaphore **mail; /* per pair of ranks */
	const void **letter;
	bool finished;
	bool pairs;
	lid_t group;
};

struct virtual_nic {
	struct nic nic;
	struct virtual_run *run;
	struct v_device *dev;
	struct v_pd *pd;
};

struct virtual_cq {
	struct v_cq *cq;
	struct v_channel *channel;
};

struct virtual_backend {
	struct testbed bed;
	struct virtual_options options;
	struct capture_writer capture;
	hd_time capture_start; /* of the next run */
	uint64_t retries;      /* of all runs */
};

static struct virtual_nic *own(struct nic *nic)
{
	return (struct virtual_nic *)nic;
}

static enum hd_status refuse(struct nic *nic, const char *why)
{
	nic->why.status = HD_OK;
	return diag_fail(&nic->why, HD_ERR_UNFIT, "%s", why);
}

static enum hd_status refuse_status(struct nic *nic, const char *what, enum hd_status status)
{
	nic->why.status = HD_OK;
	return status == HD_OK
		       ? HD_OK
		       : diag_fail(&nic->why, status, "%s: %s", what, hd_status_text(status));
}

/* A wait fails when the run has ended. */
static enum hd_status unless_ended(struct nic *nic, bool came)
{
	return came ? HD_OK : refuse(nic, "the run was ended");
}

/* ---- time and memory -------------------------------------------------- */

static hd_time op_now(struct nic *nic)
{
	return lab_now(own(nic)->run->lab);
}

static void op_work(struct nic *nic, hd_time duration)
{
	lab_work(own(nic)->run->lab, duration);
}

static void *op_alloc(struct nic *nic, uint64_t bytes, bool huge)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	(void)huge;
	if (memory != MAP_FAILED)
		return memory;
	refuse(nic, "no memory for buffers");
	return NULL;
}

static void op_release(struct nic *nic, void *memory, uint64_t bytes)
{
	(void)nic;
	munmap(memory, bytes);
}

static enum hd_status op_mr_new(struct nic *nic, void *addr, uint64_t len, bool huge,
				struct nic_mr *out)
{
	struct v_mr *mr = v_mr_new(own(nic)->pd, addr, len,
				   ACCESS_LOCAL_WRITE | ACCESS_REMOTE_WRITE | ACCESS_REMOTE_READ |
					   ACCESS_REMOTE_ATOMIC,
				   huge ? HUGE_PAGE : 0);

	*out = (struct nic_mr){ mr, v_mr_addr(mr), v_mr_key(mr), v_mr_key(mr) };
	return HD_OK;
}

static void op_mr_free(struct nic *nic, struct nic_mr *mr)
{
	(void)nic;
	v_mr_free(mr->impl);
}

/* ---- queues ----------------------------------------------------------- */

static enum hd_status op_cq_new(struct nic *nic, uint32_t entries, bool events, struct nic_cq *out)
{
	struct virtual_nic *n = own(nic);
	struct virtual_cq *c = hd_alloc(1, sizeof(*c));

	c->channel = events ? v_channel_new(n->dev) : NULL;
	c->cq = v_cq_new(n->dev, entries, c->channel);
	if (c->cq) {
		out->impl = c;
		return HD_OK;
	}
	if (c->channel)
		v_channel_free(c->channel);
	free(c);
	return refuse(nic, "more entries than the adapter has");
}

static void op_cq_free(struct nic *nic, struct nic_cq *cq)
{
	struct virtual_cq *c = cq->impl;

	(void)nic;
	v_cq_free(c->cq);
	if (c->channel)
		v_channel_free(c->channel);
	free(c);
}

static enum hd_status op_qp_new(struct nic *nic, const struct nic_qp_init *init, struct nic_qp *out)
{
	struct virtual_nic *n = own(nic);
	const struct v_qp_init v = {
		.kind = init->kind,
		.send_cq = ((struct virtual_cq *)init->send_cq->impl)->cq,
		.recv_cq = ((struct virtual_cq *)init->recv_cq->impl)->cq,
		.max_send = init->max_send,
		.max_recv = init->max_recv,
		.max_sge = init->max_sge,
	};
	struct v_qp *qp = v_qp_new(n->pd, &v);

	if (!qp)
		return refuse(nic, "queue pair beyond the adapter's limits");
	*out = (struct nic_qp){ qp, init->kind, v_qpn(qp) };
	return HD_OK;
}

static void op_qp_free(struct nic *nic, struct nic_qp *qp)
{
	(void)nic;
	v_qp_free(qp->impl);
}

/* Like the response of a subnet manager: the minimum along the route. */
static uint32_t path_mtu(const struct v_device *dev, const struct nic_path *p)
{
	uint32_t most = p->to.lid && p->to.lid < LID_FIRST_MCAST ? v_path_mtu(dev, p->to.lid) : 0;

	return most && most < p->mtu ? most : p->mtu;
}

static enum hd_status op_qp_step(struct nic *nic, struct nic_qp *qp, enum qp_state to,
				 const struct nic_path *path)
{
	struct qp_attr a = {
		.state = to,
		.access = ACCESS_REMOTE_WRITE | ACCESS_REMOTE_READ | ACCESS_REMOTE_ATOMIC,
		.pkey = path->pkey,
		.qkey = path->qkey,
		.slid = v_lid(own(nic)->dev),
		.dlid = path->to.lid,
		.sl = v_path_sl(own(nic)->dev, path->to.lid, path->sl),
		.mtu = path_mtu(own(nic)->dev, path),
		.dest_qpn = path->to.qpn,
		.rq_psn = path->to.psn,
		.sq_psn = path->psn,
		.max_dest_rd = 16,
		.max_rd = 16,
		.min_rnr = 1,
		.timeout = 18,
		.retry = 7,
		.rnr_retry = 7,
	};
	return refuse_status(nic, "modify", v_modify(qp->impl, &a, qp_step_mask(qp->kind, to)));
}

static void op_address(struct nic *nic, const struct nic_qp *qp, struct nic_address *out)
{
	out->lid = v_lid(own(nic)->dev);
	out->qpn = qp->qpn;
	out->psn = 0xfffff0 + nic->rank; /* wraps early: as good as any */
	v_gid(own(nic)->dev, out->gid);
}

static void op_datagram(struct nic *nic, const struct nic_path *path, struct send_wr *wr)
{
	const struct v_pd *pd = own(nic)->pd;

	wr->to = path->to.lid >= LID_FIRST_MCAST ? v_ah_multicast(pd, path->to.lid, path->sl)
						 : v_ah(pd, path->to.lid, path->sl);
	wr->to.qpn = path->to.qpn;
	wr->to.qkey = path->qkey;
}

static enum hd_status op_join(struct nic *nic, struct nic_qp *qp, struct nic_address *group)
{
	struct virtual_nic *n = own(nic);

	*group = (struct nic_address){ .lid = n->run->group, .qpn = V_MULTICAST };
	if (nic->rank == 0)
		return HD_OK; /* it only sends */
	return refuse_status(nic, "attach", v_attach(qp->impl, n->run->group, NULL));
}

static enum hd_status op_weigh(struct nic *nic, struct nic_qp *qp, uint32_t weight)
{
	v_qp_weigh(qp->impl, weight, 0);
	return lab_profile(own(nic)->run->lab)->schedule == SCHEDULE_WEIGHTED
		       ? HD_OK
		       : refuse(nic, "the profile's schedule is not 'weighted'");
}

/* ---- data -------------------------------------------------------- */

static enum hd_status op_post_send(struct nic *nic, struct nic_qp *qp, const struct send_wr *wr)
{
	return refuse_status(nic, "post send", v_post_send(qp->impl, wr));
}

static enum hd_status op_post_recv(struct nic *nic, struct nic_qp *qp, const struct recv_wr *wr)
{
	return refuse_status(nic, "post receive", v_post_recv(qp->impl, wr));
}

static bool op_poll(struct nic *nic, struct nic_cq *cq, struct completion *wc)
{
	(void)nic;
	return v_poll(((struct virtual_cq *)cq->impl)->cq, wc, 1) == 1;
}

static enum hd_status op_wait(struct nic *nic, struct nic_cq *cq, struct completion *wc)
{
	return unless_ended(nic, v_poll_wait(((struct virtual_cq *)cq->impl)->cq, wc));
}

/* The profile's time of an event includes handler and semaphore. */
static enum hd_status op_wait_event(struct nic *nic, struct nic_cq *cq, struct completion *wc)
{
	struct virtual_cq *c = cq->impl;

	while (v_poll(c->cq, wc, 1) == 0) {
		v_arm(c->cq, false);
		if (!v_event_wait(c->channel))
			return unless_ended(nic, false);
	}
	return HD_OK;
}

static void *op_watch_new(struct nic *nic, const uint8_t *at)
{
	return v_watch_new(own(nic)->dev, at);
}

static void op_watch_free(struct nic *nic, void *watch)
{
	(void)nic;
	v_watch_free(watch);
}

static enum hd_status op_watch_wait(struct nic *nic, void *watch, uint64_t turn)
{
	(void)turn;
	return unless_ended(nic, v_watch_wait(watch, 1));
}

/* ---- ranks among themselves: out of band, and free of time ------------ */

static size_t pair_of(const struct virtual_run *run, unsigned from, unsigned to)
{
	return (size_t)from * run->n_ranks + to;
}

static enum hd_status op_exchange(struct nic *nic, unsigned with, const void *mine, void *theirs,
				  size_t len)
{
	struct virtual_run *run = own(nic)->run;
	size_t out = pair_of(run, nic->rank, with);
	size_t in = pair_of(run, with, nic->rank);

	run->letter[out] = mine;
	v_semaphore_post(run->mail[out]);
	if (!v_semaphore_wait(run->mail[in]))
		return unless_ended(nic, false);
	memcpy(theirs, run->letter[in], len);
	/* Both messages stay valid until both ranks have read them. */
	v_semaphore_post(run->mail[out]);
	return unless_ended(nic, v_semaphore_wait(run->mail[in]));
}

static enum hd_status op_carry(struct nic *nic, unsigned a, unsigned b, size_t len)
{
	(void)nic;
	(void)a;
	(void)b;
	(void)len;
	return HD_OK; /* all reach each other */
}

static enum hd_status op_barrier(struct nic *nic)
{
	return unless_ended(nic, lab_barrier(own(nic)->run->lab, nic->n_ranks));
}

static void op_abandon(struct nic *nic)
{
	lab_cancel(own(nic)->run->lab);
}

static void op_finish(struct nic *nic)
{
	own(nic)->run->finished = true;
}

static bool op_finished(struct nic *nic)
{
	return own(nic)->run->finished;
}

static const struct nic_ops virtual_ops = {
	.name = "virtual",
	.origin = ORIGIN_SIMULATED,
	NIC_OPS_HERE,
};

/* ---- running ----------------------------------------------------- */

static void rank_main(void *argument)
{
	struct virtual_nic *n = argument;

	n->run->program(&n->nic, n->run->context);
}

static enum hd_status make_group(struct virtual_run *run, struct diag *d)
{
	uint32_t *hosts = hd_alloc(run->n_ranks, sizeof(*hosts));

	for (uint32_t i = 0; i < run->n_ranks; i++)
		hosts[i] = i;
	enum hd_status status = lab_multicast(run->lab, hosts, run->n_ranks, d, &run->group);

	free(hosts);
	return status;
}

static bool still_going(void *context, const struct sim_progress *p)
{
	const struct virtual_options *o = context;

	(void)p;
	return !o->going || o->going(o->going_context);
}

static enum hd_status open_run(struct virtual_backend *v, struct virtual_run *run, struct diag *d)
{
	const struct fabric *fabric = v->bed.fabric;
	struct run_load load = { .flows = fabric->flows,
				 .n_flows = v->bed.has_flows ? fabric->n_flows : 0,
				 .ends_without_memory = true };
	const struct run_options options = { .load = &load };

	lab_program_rules(&load.rules);
	return run_open(v->bed.fabric, &options, d, &run->run);
}

static enum hd_status run_lab(struct virtual_backend *v, struct virtual_run *run, struct diag *d)
{
	enum hd_status status = open_run(v, run, d);

	if (status != HD_OK) {
		run->run = NULL;
		return status;
	}
	lab_use_sim(run->lab, run_sim(run->run));
	enum lab_outcome outcome = lab_run(run->lab, still_going, &v->options);

	if (outcome != LAB_DONE)
		lab_cancel(run->lab);
	do
		v->capture_start += HD_S;
	while (v->capture_start <= v->capture.last);
	if (v->options.capture && capture_finish(&v->capture) != HD_OK)
		return diag_fail(d, HD_ERR_IO, "cannot write the capture");
	if (outcome == LAB_STOPPED)
		return diag_fail(d, HD_ERR_ENV, "interrupted");
	if (outcome == LAB_STUCK)
		return diag_fail(d, HD_ERR_UNFIT, "a program waits for what will never come");
	if (outcome == LAB_STARVED)
		return diag_fail(
			d, HD_ERR_UNFIT,
			"the scenario's traffic leaves nothing to the test: no program went on for run.horizon");
	return HD_OK;
}

/* One rank more than there are hosts: it shares the receiver's. */
static uint32_t host_of(const struct virtual_run *run, unsigned rank)
{
	if (run->pairs)
		return rank & 1;
	return rank < lab_hosts(run->lab) ? rank : 1;
}

/* Two hosts of which one cannot send to the other. */
static enum hd_status refuse_pair(const struct v_device *a, const struct v_device *b,
				  struct diag *d)
{
	struct strbuf from = STRBUF_INIT, to = STRBUF_INIT;

	v_name(a, &from);
	v_name(b, &to);
	diag_fail(
		d, HD_ERR_UNFIT, "no path from %s to %s%s", from.text, to.text,
		v_same_subnet(a, b)
			? ""
			: ": they are in different subnets, and packets of adapters cross no router");
	strbuf_fini(&from);
	strbuf_fini(&to);
	return d->status;
}

/* Every rank has a host, and all of them reach the first two. */
static enum hd_status check_hosts(const struct virtual_run *run, struct diag *d)
{
	uint32_t n = lab_hosts(run->lab), least = run->n_ranks > 1 ? 2 : 1;

	if (n < least)
		return diag_fail(d, HD_ERR_UNFIT,
				 "the test needs %u hosts with a cable, and the fabric has %u",
				 least, n);
	for (uint32_t i = 0; i < run->n_ranks * least; i++) {
		struct v_device *a = lab_device(run->lab, i % least);
		struct v_device *b = lab_device(run->lab, host_of(run, i / least));

		if (a == b)
			continue;
		if (!v_same_subnet(a, b) || !v_path_mtu(a, v_lid(b)))
			return refuse_pair(a, b, d);
		if (!v_path_mtu(b, v_lid(a)))
			return refuse_pair(b, a, d);
	}
	return HD_OK;
}

static void start_ranks(struct virtual_run *run, struct virtual_nic *nics)
{
	size_t pairs = (size_t)run->n_ranks * run->n_ranks;

	run->mail = hd_alloc(pairs, sizeof(struct v_semaphore *));
	run->letter = hd_alloc(pairs, sizeof(*run->letter));
	for (size_t i = 0; i < pairs; i++)
		run->mail[i] = v_semaphore_new(run->lab);
	for (unsigned i = 0; i < run->n_ranks; i++) {
		nics[i] = (struct virtual_nic){
			.nic = { .ops = &virtual_ops, .rank = i, .n_ranks = run->n_ranks },
			.run = run,
			.dev = lab_device(run->lab, host_of(run, i)),
		};
		nics[i].pd = v_pd_new(nics[i].dev);
		lab_spawn(run->lab, host_of(run, i), rank_main, &nics[i]);
	}
}

static void end_ranks(struct virtual_run *run, struct virtual_nic *nics)
{
	for (size_t i = 0; i < (size_t)run->n_ranks * run->n_ranks; i++)
		v_semaphore_free(run->mail[i]);
	free(run->mail);
	free(run->letter);
	lab_free(run->lab);
	if (run->run)
		run_close(run->run);
	for (unsigned i = 0; i < run->n_ranks; i++)
		v_pd_free(nics[i].pd);
}

static enum hd_status virtual_run(struct nic_backend *b, unsigned n_ranks, nic_program *program,
				  void *context, struct diag *d)
{
	struct virtual_backend *v = b->context;
	struct virtual_run run = { .program = program, .context = context, .n_ranks = n_ranks };
	struct virtual_nic *nics = hd_alloc(n_ranks, sizeof(*nics));
	struct hca_profile profile = v->bed.profile;

	if (b->wants_weights)
		profile.schedule = SCHEDULE_WEIGHTED;
	run.pairs = b->wants_pairs;
	run.lab = lab_new(v->bed.fabric, &profile);
	enum hd_status status = v->bed.has_flows ? lab_use_flows(run.lab, d) : HD_OK;

	if (v->options.capture)
		lab_capture(run.lab, &v->capture, v->capture_start);
	uint32_t groups = v->bed.fabric->subnet.n_groups;

	if (status == HD_OK)
		status = check_hosts(&run, d);

	if (status != HD_OK) {
		d->file = v->options.scenario;
		lab_free(run.lab);
		free(nics);
		return status;
	}
	if (b->wants_group)
		status = make_group(&run, d);
	start_ranks(&run, nics);
	if (status == HD_OK)
		status = run_lab(v, &run, d);
	v->retries += lab_retries(run.lab);
	end_ranks(&run, nics);
	mcast_drop(&v->bed.fabric->subnet, groups);
	free(nics);
	return status;
}

/* ---- the back-end ------------------------------------------------------- */

struct describe_row {
	const char *backend, *profile, *about;
	uint64_t hosts;
	const char *link;
	uint64_t vls, mtu;
};

static const struct column describe_columns[] = {
	{ "backend", NULL, CELL(describe_row, backend) },
	{ "profile", NULL, CELL(describe_row, profile) },
	{ "about", NULL, CELL(describe_row, about) },
	{ "hosts", NULL, CELL(describe_row, hosts) },
	{ "link", NULL, CELL(describe_row, link) },
	{ "vls", NULL, CELL(describe_row, vls) },
	{ "mtu", "B", CELL(describe_row, mtu) },
	{ NULL },
};

/* Number of ends with a cable, which are the hosts of a lab. */
static uint32_t count_ends(const struct sim_setup *setup)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < setup->n_nodes; i++)
		n += setup->nodes[i].kind == SIM_END &&
		     setup->ports[setup->nodes[i].first_port + 1].peer != SIM_NONE;
	return n;
}

static void virtual_describe(struct nic_backend *b, struct results *r)
{
	const struct virtual_backend *v = b->context;
	const struct hca_profile *p = &v->bed.profile;
	struct table *t = results_record(r, "device", "what was measured", describe_columns);

	const struct describe_row row = {
		.backend = "virtual adapter",
		.profile = p->name,
		.about = p->about,
		.hosts = count_ends(&v->bed.fabric->setup),
		.link = v->bed.has_flows ? "as in the scenario" : p->link,
		.vls = p->vls,
		.mtu = b->default_mtu,
	};

	table_put_row(t, &row);
	if (v->retries && v->bed.fabric->setup.adaptive)
		results_remark(
			r,
			"queue pairs sent again %" PRIu64
			" times: where packets overtake each other, adapters must keep as many as come before their turn (fabric.host.out_of_order)",
			v->retries);
}

static void virtual_close(struct nic_backend *b)
{
	struct virtual_backend *v = b->context;

	testbed_close(&v->bed);
	free(v);
}

struct hca_profile *virtual_profile(struct nic_backend *b)
{
	struct virtual_backend *v = b->context;

	return &v->bed.profile;
}

enum hd_status virtual_open(const struct virtual_options *o, struct diag *d,
			    struct nic_backend *out)
{
	struct virtual_backend *v = hd_alloc(1, sizeof(*v));
	enum hd_status status = testbed_open(o->profile, o->scenario, o->overrides, d, &v->bed);

	if (status != HD_OK) {
		free(v);
		return status;
	}
	uint32_t most = testbed_mtu(&v->bed);
	uint32_t hosts = count_ends(&v->bed.fabric->setup);

	if (most == 0) {
		testbed_close(&v->bed);
		free(v);
		return diag_fail(
			d, HD_ERR_UNFIT,
			"'%s': no packet of an adapter fits its input buffers; make fabric.host.input_buffer and fabric.switch.input_buffer at least 384B",
			o->scenario);
	}
	v->options = *o;
	if (o->capture)
		capture_begin(&v->capture, o->capture, true);
	*out = (struct nic_backend){
		.name = "virtual",
		.origin = ORIGIN_SIMULATED,
		.context = v,
		.max_ranks = hosts > 1 ? hosts + 1 : hosts,
		.default_mtu = most < v->bed.profile.mtu ? most : (uint32_t)v->bed.profile.mtu,
		.max_mtu = most,
		.vls = (uint32_t)v->bed.profile.vls,
		.run = virtual_run,
		.describe = virtual_describe,
		.close = virtual_close,
	};
	return HD_OK;
}
