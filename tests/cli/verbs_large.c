/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_large: a write of 2 GiB, the largest message, in three pieces that end around the limit of
 * one call of the kernel (2 GiB less a page). Needs 2 GiB of memory.
 */
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "verbs_pair.h"

static void demand(int holds, const char *what)
{
	if (holds)
		return;
	printf("%s\n", what);
	exit(1);
}

static char *map(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	demand(at != MAP_FAILED, "no memory");
	return at;
}

int main(void)
{
	const size_t size = (size_t)1 << 31, first = 1000003, last = 5, limit = 0x7FFFF000;
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = list && list[0] ? ibv_open_device(list[0]) : NULL;
	struct ibv_port_attr port;
	struct ibv_qp *qp[2];
	struct ibv_wc wc;

	demand(context && !ibv_query_port(context, 1, &port), "no adapter");
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct ibv_cq *cq = ibv_create_cq(context, 16, NULL, NULL, 0);
	struct ibv_qp_init_attr init = { .send_cq = cq,
					 .recv_cq = cq,
					 .cap = { 4, 4, 3, 3, 0 },
					 .qp_type = IBV_QPT_RC,
					 .sq_sig_all = 1 };
	const struct pair_rules rules = {
		.lid = port.lid, .access = IBV_ACCESS_REMOTE_WRITE, .timeout = 14, .retries = 7
	};
	char *from = map(size), *to = map(size);
	struct ibv_mr *source = ibv_reg_mr(pd, from, size, 0);
	struct ibv_mr *target =
		ibv_reg_mr(pd, to, size, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);

	demand(port.max_msg_sz == size && source && target, "no regions");
	for (int i = 0; i < 2; i++)
		qp[i] = ibv_create_qp(pd, &init);
	for (int i = 0; i < 2; i++)
		demand(qp[i] && !pair_raise(qp[i], qp[!i], &rules), "not connected");
	for (size_t i = 0; i < size; i += 4096 * 1024 + 777)
		from[i] = (char)(i * 31 + 7);
	from[limit - 1] = 1;
	from[limit] = 2;
	from[size - 1] = 3;
	struct ibv_sge pieces[] = {
		{ (uintptr_t)from, (uint32_t)first, source->lkey },
		{ (uintptr_t)from + first, (uint32_t)(size - first - last), source->lkey },
		{ (uintptr_t)from + size - last, (uint32_t)last, source->lkey },
	};
	struct ibv_send_wr *bad,
		wr = { .sg_list = pieces, .num_sge = 3, .opcode = IBV_WR_RDMA_WRITE };

	wr.wr.rdma.remote_addr = (uintptr_t)to;
	wr.wr.rdma.rkey = target->rkey;
	demand(ibv_post_send(qp[0], &wr, &bad) == 0, "post");
	while (ibv_poll_cq(cq, 1, &wc) == 0)
		;
	demand(wc.status == IBV_WC_SUCCESS, ibv_wc_status_str(wc.status));
	demand(memcmp(from, to, size) == 0, "other bytes");
	return 0;
}
