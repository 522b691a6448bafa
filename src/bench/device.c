/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/device.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/iba.h"
#include "bench/device_nic.h"
#include "bench/message.h"

#define POINT_LIMIT HD_S /* on a device slower than the defaults are for */

/* ---- running ------------------------------------------------------------- */

static bool open_rank(struct device_backend *v, struct bench_ranks *ranks, struct device_nic *out,
		      struct diag *d)
{
	*out = (struct device_nic){
		.nic = { .ops = &bench_device_ops, .rank = ranks->self, .n_ranks = ranks->n },
		.device = v,
		.lib = &v->lib,
		.ranks = ranks,
		.pd = v->lib.alloc_pd(v->context),
	};
	if (out->pd)
		return true;
	diag_fail(d, HD_ERR_ENV, "ibv_alloc_pd: %s", strerror(errno));
	return false;
}

/* Waiting for another rank can be interrupted. */
static void watch_interrupts(const struct device_backend *v, struct bench_ranks *r)
{
	r->going = v->options.going;
	r->context = v->options.going_context;
}

static void close_rank(struct device_nic *n)
{
	for (unsigned i = 0; i < n->n_addresses; i++) {
		if (n->addresses[i])
			n->lib->destroy_ah(n->addresses[i]);
	}
	n->lib->dealloc_pd(n->pd);
}

static void *rank_main(void *argument)
{
	struct device_nic *n = argument;

	n->program(&n->nic, n->argument);
	return NULL;
}

static enum hd_status run_threads(struct device_backend *v, unsigned n_ranks, nic_program *program,
				  void *context, struct diag *d)
{
	struct bench_ranks ranks[RANKS_MAX];
	struct device_nic nics[RANKS_MAX];
	pthread_t threads[RANKS_MAX];
	unsigned opened = 0, started = 0;
	enum hd_status status = ranks_local(ranks, n_ranks, d);

	for (unsigned i = 0; i < n_ranks; i++)
		watch_interrupts(v, &ranks[i]);
	while (status == HD_OK && opened < n_ranks &&
	       open_rank(v, &ranks[opened], &nics[opened], d))
		opened++;
	if (opened < n_ranks)
		status = d->status;
	for (; status == HD_OK && started < n_ranks; started++) {
		nics[started].program = program;
		nics[started].argument = context;
		if (pthread_create(&threads[started], NULL, rank_main, &nics[started]) != 0)
			status = diag_fail(d, HD_ERR_ENV, "no more threads");
	}
	for (unsigned i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	for (unsigned i = 0; i < opened; i++)
		close_rank(&nics[i]);
	for (unsigned i = 0; i < n_ranks; i++)
		ranks_close(&ranks[i]);
	return status;
}

#define GONE "the one who measures is gone"

static bool send_head(struct bench_ranks *r, unsigned to, const struct point_head *head)
{
	uint8_t bytes[HEAD_SIZE];

	bench_write_head(head, bytes);
	return ranks_send(r, to, bytes, sizeof(bytes));
}

static enum hd_status tell_others(struct nic_backend *b, unsigned n_ranks, struct diag *d)
{
	struct device_backend *v = b->context;

	for (unsigned i = 1; i < v->remote.n; i++) {
		struct point_head head = { .what = HEAD_NOT_WANTED };

		if (i < n_ranks)
			head = (struct point_head){ HEAD_POINT, i, n_ranks,
						    (uint32_t)b->letter_len };
		if (!send_head(&v->remote, i, &head) ||
		    (i < n_ranks && !ranks_send(&v->remote, i, b->letter, b->letter_len)))
			return diag_fail(d, HD_ERR_ENV, "host %u does not listen any more", i);
	}
	return HD_OK;
}

static enum hd_status device_run(struct nic_backend *b, unsigned n_ranks, nic_program *program,
				 void *context, struct diag *d)
{
	struct device_backend *v = b->context;
	struct device_nic nic;

	if (!v->options.connect)
		return run_threads(v, n_ranks, program, context, d);
	if (n_ranks > v->remote.n)
		return diag_fail(
			d, HD_ERR_UNFIT,
			"this test needs %u hosts besides this one: start 'heddle bench --listen' on them",
			n_ranks - 1);
	enum hd_status status = tell_others(b, n_ranks, d);
	struct bench_ranks ranks = v->remote;

	ranks.n = n_ranks;
	if (status != HD_OK)
		return status;
	if (!open_rank(v, &ranks, &nic, d))
		return d->status;
	program(&nic.nic, context);
	close_rank(&nic);
	return HD_OK;
}

/* Serves one point of the suite; its message follows the header. */
static enum hd_status serve_point(struct device_backend *v, const struct point_head *head,
				  void *letter, device_point_fn *run, struct diag *d)
{
	struct bench_ranks ranks = v->remote;
	struct device_nic nic;

	ranks.self = head->rank;
	ranks.n = head->n_ranks;
	if (!ranks_receive(&v->remote, 0, letter, head->len))
		return diag_fail(d, HD_ERR_ENV, GONE);
	if (!open_rank(v, &ranks, &nic, d))
		return d->status;
	enum hd_status status = run(&nic.nic, letter, d);

	close_rank(&nic);
	return status;
}

static enum hd_status receive_head(struct bench_ranks *r, size_t len, struct diag *d,
				   struct point_head *out)
{
	uint8_t bytes[HEAD_SIZE];

	if (!ranks_receive(r, 0, bytes, sizeof(bytes)))
		return diag_fail(d, HD_ERR_ENV, GONE);
	if (bench_read_head(bytes, sizeof(bytes), d, out) != HD_OK)
		return d->status;
	if (out->what == HEAD_POINT && out->len != len)
		return diag_fail(d, HD_ERR_INPUT, "the other side is another version");
	return HD_OK;
}

enum hd_status device_serve(struct nic_backend *b, size_t len, device_point_fn *run, struct diag *d)
{
	struct device_backend *v = b->context;
	void *letter = hd_alloc(1, len);
	struct point_head head = { .what = HEAD_NOT_WANTED };
	enum hd_status status = HD_OK;

	while (status == HD_OK && head.what != HEAD_END) {
		status = receive_head(&v->remote, len, d, &head);
		if (status == HD_OK && head.what == HEAD_POINT)
			status = serve_point(v, &head, letter, run, d);
	}
	if (status != HD_OK)
		ranks_abandon(&v->remote);
	free(letter);
	return status;
}

/* ---- the back-end ----------------------------------------------------- */

static void device_describe(struct nic_backend *b, struct results *r)
{
	struct device_row {
		const char *backend, *device, *firmware;
		uint64_t vendor, part;
		const char *link;
		uint64_t mtu;
		const char *ranks;
	};

	static const struct column columns[] = {
		{ "backend", NULL, CELL(device_row, backend) },
		{ "device", NULL, CELL(device_row, device) },
		{ "firmware", NULL, CELL(device_row, firmware) },
		{ "vendor", NULL, CELL(device_row, vendor) },
		{ "part", NULL, CELL(device_row, part) },
		{ "link", NULL, CELL(device_row, link) },
		{ "mtu", "B", CELL(device_row, mtu) },
		{ "ranks", NULL, CELL(device_row, ranks) },
		{ NULL },
	};
	const struct device_backend *v = b->context;
	struct table *t = results_record(r, "device", "what was measured", columns);

	const struct device_row row = {
		.backend = "libibverbs",
		.device = v->options.name,
		.firmware = v->attr.fw_ver,
		.vendor = v->attr.vendor_id,
		.part = v->attr.vendor_part_id,
		.link = v->port.link_layer == IBV_LINK_LAYER_ETHERNET ? "Ethernet" : "InfiniBand",
		.mtu = b->default_mtu,
		.ranks = v->options.connect ? "processes" : "threads",
	};

	table_put_row(t, &row);
}

static void device_close(struct nic_backend *b)
{
	struct device_backend *v = b->context;
	const struct point_head end = { .what = HEAD_END };

	if (v->options.connect) {
		for (unsigned i = 1; i < v->remote.n; i++)
			(void)send_head(&v->remote, i, &end);
	}
	if (v->options.connect || v->options.listen)
		ranks_close(&v->remote);
	v->lib.close_device(v->context);
	bench_device_lib_close(&v->lib);
	free(v);
}

static enum hd_status find_device(struct device_backend *v, struct diag *d)
{
	int n = 0;
	struct ibv_device **list = v->lib.get_device_list(&n);
	char names[200] = "";
	size_t len = 0;

	for (int i = 0; list && i < n; i++) {
		const char *name = v->lib.get_device_name(list[i]);

		if (strcmp(name, v->options.name) == 0)
			v->context = v->lib.open_device(list[i]);
		if (len < sizeof(names))
			len += (size_t)snprintf(names + len, sizeof(names) - len, " %s", name);
	}
	if (list)
		v->lib.free_device_list(list);
	if (v->context)
		return HD_OK;
	return diag_fail(d, HD_ERR_ENV, "no device '%s'; devices:%s%s", v->options.name,
			 n ? "" : " none", n ? names : "");
}

static enum hd_status query(struct device_backend *v, struct diag *d)
{
	if (v->lib.query_device(v->context, &v->attr) != 0 ||
	    v->lib.query_port(v->context, DEVICE_PORT, &v->port) != 0)
		return diag_fail(d, HD_ERR_ENV, "cannot query '%s'", v->options.name);
	if (v->port.link_layer == IBV_LINK_LAYER_ETHERNET &&
	    v->lib.query_gid(v->context, DEVICE_PORT, (int)v->options.gid, &v->gid) != 0)
		return diag_fail(d, HD_ERR_ENV, "'%s' has no GID %llu", v->options.name,
				 (unsigned long long)v->options.gid);
	return HD_OK;
}

static enum hd_status reach_others(struct device_backend *v, struct diag *d)
{
	watch_interrupts(v, &v->remote);
	if (v->options.connect)
		return ranks_connect(v->options.connect, d, &v->remote);
	if (v->options.listen)
		return ranks_listen(v->options.listen, d, &v->remote);
	return HD_OK;
}

enum hd_status device_open(const struct device_options *o, struct diag *d, struct nic_backend *out)
{
	struct device_backend *v = hd_alloc(1, sizeof(*v));
	enum hd_status status = bench_device_lib_open(&v->lib, d);

	v->options = *o;
	if (status == HD_OK)
		status = find_device(v, d);
	if (status == HD_OK)
		status = query(v, d);
	if (status == HD_OK)
		status = reach_others(v, d);
	if (status != HD_OK) {
		if (v->context)
			v->lib.close_device(v->context);
		bench_device_lib_close(&v->lib);
		free(v);
		return status;
	}
	*out = (struct nic_backend){
		.name = "libibverbs",
		.origin = ORIGIN_MEASURED,
		.context = v,
		.max_ranks = o->connect ? v->remote.n : RANKS_MAX,
		.default_mtu = mtu_of_code(v->port.active_mtu),
		.max_mtu = mtu_of_code(v->port.active_mtu),
		.limit = POINT_LIMIT,
		.run = device_run,
		.describe = device_describe,
		.close = device_close,
	};
	return HD_OK;
}
