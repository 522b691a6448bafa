/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "live/protocol.h"
#include "live/verbs/roce.h"
#include "live/verbs/timed.h"
#include "live/verbs/verbs_internal.h"

/* ---- the device: one, the adapter of the program's host */

/* Provider libraries read private members after the device; the padding gives them zeros. */
struct device {
	struct ibv_device ibv;
	/* cppcheck-suppress unusedStructMember */
	char behind[512];
};

static struct device *device(void)
{
	static struct device one = {
		.ibv = { .node_type = IBV_NODE_CA,
			 .transport_type = IBV_TRANSPORT_IB,
			 .name = LIVE_DEVICE,
			 .dev_name = "uverbs0",
			 .dev_path = "/sys/class/infiniband_verbs/uverbs0",
			 .ibdev_path = "/sys/class/infiniband/" LIVE_DEVICE },
	};

	return &one;
}

struct ibv_device **(ibv_get_device_list)(int *n)
{
	struct ibv_device **list = calloc(2, sizeof(struct ibv_device *));
	struct live_node node;

	if (!list) {
		errno = ENOMEM;
		return NULL;
	}
	/* A switch has no queue pairs for programs. */
	if (verbs_query_node(&node) == 0 && node.n_ports > 0)
		list[0] = &device()->ibv;
	if (n)
		*n = list[0] ? 1 : 0;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

const char *ibv_get_device_name(struct ibv_device *d)
{
	return d->name;
}

__be64 ibv_get_device_guid(struct ibv_device *d)
{
	struct live_node node;

	(void)d;
	return verbs_query_node(&node) == 0 ? htobe64(node.guid) : 0;
}

int ibv_get_device_index(struct ibv_device *d)
{
	(void)d;
	return 0;
}

/* ---- opening the device */

/* Creates a context with that command descriptor, which it closes. */
static struct ibv_context *context_new(struct ibv_device *d, int command)
{
	struct context *c = calloc(1, sizeof(*c));

	if (!c || pipe2(c->async, O_CLOEXEC) != 0) {
		free(c);
		close(command);
		errno = ENOMEM;
		return NULL;
	}
	fcntl(c->async[1], F_SETFL, O_NONBLOCK);
	struct ibv_context *v = &c->verbs.context;

	verbs_context_fill(&c->verbs);
	v->device = d;
	v->cmd_fd = command;
	v->async_fd = c->async[0];
	v->num_comp_vectors = 1;
	c->forks = verbs_adapter.forks;
	pthread_mutex_init(&v->mutex, NULL);
	pthread_mutex_lock(&verbs_adapter.lock);
	c->next = verbs_adapter.contexts;
	verbs_adapter.contexts = c;
	pthread_mutex_unlock(&verbs_adapter.lock);
	return v;
}

struct ibv_context *ibv_open_device(struct ibv_device *d)
{
	int error = verbs_attach();
	int command = error ? -1 : memfd_create("heddle-verbs", MFD_CLOEXEC);

	if (command < 0) {
		errno = error ? error : errno;
		return NULL;
	}
	return context_new(d, command);
}

static bool is_same_file(int fd, const struct stat *file)
{
	struct stat other;

	return fstat(fd, &other) == 0 && other.st_dev == file->st_dev &&
	       other.st_ino == file->st_ino;
}

/* Objects are in the memory of their process: descriptors of another process are refused. */
struct ibv_context *ibv_import_device(int fd)
{
	struct stat file;
	struct ibv_device *d = NULL;

	if (fstat(fd, &file) != 0)
		return NULL;
	pthread_mutex_lock(&verbs_adapter.lock);
	for (const struct context *c = verbs_adapter.contexts; c && !d; c = c->next)
		if (is_same_file(c->verbs.context.cmd_fd, &file))
			d = c->verbs.context.device;
	pthread_mutex_unlock(&verbs_adapter.lock);
	if (!d) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return context_new(d, fd);
}

/* The process remains attached for the next ibv_open_device. */
int ibv_close_device(struct ibv_context *context)
{
	struct context *c = context_of(context);
	struct context **link = &verbs_adapter.contexts;

	pthread_mutex_lock(&verbs_adapter.lock);
	while (*link && *link != c)
		link = &(*link)->next;
	if (*link)
		*link = c->next;
	pthread_mutex_unlock(&verbs_adapter.lock);
	close(c->async[0]);
	close(c->async[1]);
	close(context->cmd_fd);
	free(c);
	return 0;
}

/* ---- attributes */

bool verbs_has_extensions(void)
{
	return !is_timed() && !verbs_is_roce();
}

static void describe_device(struct ibv_device_attr *a)
{
	const int reads = is_timed() ? LIVE_READS : verbs_is_roce() ? ROCE_READS : 128;

	*a = (struct ibv_device_attr){
		.fw_ver = "1.0.0",
		.node_guid = htobe64(verbs_adapter.node.guid),
		.sys_image_guid = htobe64(verbs_adapter.node.system_guid),
		.max_mr_size = UINT64_MAX,
		.page_size_cap = UINT64_C(0xFFFFFFFFFFFFF000),
		.vendor_id = verbs_adapter.node.vendor ? verbs_adapter.node.vendor : LIVE_VENDOR,
		.vendor_part_id = verbs_adapter.node.device,
		.hw_ver = LIVE_HW_VERSION,
		.max_qp = LIVE_QPS,
		.max_qp_wr = MAX_DEPTH,
		.device_cap_flags =
			IBV_DEVICE_BAD_PKEY_CNTR | IBV_DEVICE_BAD_QKEY_CNTR |
			IBV_DEVICE_CURR_QP_STATE_MOD | IBV_DEVICE_PORT_ACTIVE_EVENT |
			IBV_DEVICE_SYS_IMAGE_GUID | IBV_DEVICE_RC_RNR_NAK_GEN |
			IBV_DEVICE_SHUTDOWN_PORT |
			(verbs_has_extensions() ? IBV_DEVICE_XRC | IBV_DEVICE_MEM_WINDOW |
							  IBV_DEVICE_MEM_WINDOW_TYPE_2B
						: 0U),
		.max_sge = (int)most_sge(),
		.max_sge_rd = (int)most_sge(),
		.max_cq = MAX_CQS,
		.max_cqe = MAX_CQE,
		.max_mr = MAX_REGIONS,
		.max_mw = verbs_has_extensions() ? MAX_REGIONS : 0,
		.max_pd = 1 << 24,
		.max_qp_rd_atom = reads,
		.max_res_rd_atom = 128 * LIVE_QPS,
		.max_qp_init_rd_atom = reads,
		.atomic_cap = IBV_ATOMIC_HCA,
		.max_mcast_grp = 4096,
		.max_mcast_qp_attach = LIVE_QPS,
		.max_total_mcast_qp_attach = 1 << 16,
		.max_ah = 1 << 24,
		.max_srq = MAX_SRQS,
		.max_srq_wr = MAX_DEPTH,
		.max_srq_sge = (int)most_sge(),
		.max_pkeys = LIVE_PKEYS,
		.local_ca_ack_delay = 15,
		.phys_port_cnt = (uint8_t)verbs_adapter.node.n_ports,
	};
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *a)
{
	if (context_is_inherited(context))
		return EPERM;
	describe_device(a);
	return 0;
}

static struct ibv_odp_caps odp_caps(void)
{
	const uint32_t receives = IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_SRQ_RECV;
	struct ibv_odp_caps c = { .general_caps = IBV_ODP_SUPPORT | IBV_ODP_SUPPORT_IMPLICIT };

	if (verbs_is_roce())
		return (struct ibv_odp_caps){ 0 };
	c.per_transport_caps.ud_odp_caps = IBV_ODP_SUPPORT_SEND | receives;
	c.per_transport_caps.uc_odp_caps = c.per_transport_caps.ud_odp_caps | IBV_ODP_SUPPORT_WRITE;
	c.per_transport_caps.rc_odp_caps =
		c.per_transport_caps.uc_odp_caps | IBV_ODP_SUPPORT_READ | IBV_ODP_SUPPORT_ATOMIC;
	return c;
}

static int query_device_ex(struct ibv_context *context,
			   const struct ibv_query_device_ex_input *input,
			   struct ibv_device_attr_ex *a, size_t size)
{
	struct ibv_device_attr_ex all = {
		.odp_caps = odp_caps(),
		.completion_timestamp_mask = UINT64_MAX,
		.hca_core_clock = 1000000, /* kHz; time stamps are in nanoseconds */
		.phys_port_cnt_ex = verbs_adapter.node.n_ports,
	};

	if (context_is_inherited(context))
		return EPERM;
	if (input && input->comp_mask)
		return EINVAL;
	if (verbs_has_extensions())
		all.xrc_odp_caps = all.odp_caps.per_transport_caps.rc_odp_caps;
	describe_device(&all.orig_attr);
	all.device_cap_flags_ex = all.orig_attr.device_cap_flags;
	memset(a, 0, size);
	memcpy(a, &all, size < sizeof(all) ? size : sizeof(all));
	return 0;
}

static uint32_t n_gids(void)
{
	return verbs_is_roce() ? ROCE_TABLE : 1;
}

/* VLCap of PortInfo and ibv_port_attr use the same code. */
static void describe_port(const struct live_port *p, struct ibv_port_attr *a)
{
	static const uint8_t extended[] = { 16, 32, 64, 128 };

	*a = (struct ibv_port_attr){
		.state = (enum ibv_port_state)p->state,
		.max_mtu = (enum ibv_mtu)p->mtu_cap,
		.active_mtu = (enum ibv_mtu)p->mtu,
		.gid_tbl_len = (int)n_gids(),
		.port_cap_flags = p->cap_mask,
		.max_msg_sz = UINT32_C(1) << 31,
		.bad_pkey_cntr = p->bad_pkeys,
		.qkey_viol_cntr = p->bad_qkeys,
		.pkey_tbl_len = p->n_pkeys,
		.lid = p->lid,
		.sm_lid = p->sm_lid,
		.lmc = p->lmc,
		.max_vl_num = p->vls,
		.sm_sl = p->sm_sl,
		.subnet_timeout = p->subnet_timeout,
		.init_type_reply = p->init_type,
		.active_width = p->width,
		.active_speed = p->speed,
		.phys_state = p->physical,
		.link_layer = verbs_is_roce() ? IBV_LINK_LAYER_ETHERNET : IBV_LINK_LAYER_INFINIBAND,
		.port_cap_flags2 = p->cap_mask2,
	};
	for (unsigned i = 0; i < sizeof(extended); i++)
		if (p->ext_speed >> i & 1)
			a->active_speed = extended[i];
}

/* Returns an errno. */
static int port_of(struct ibv_context *context, uint32_t number, struct live_port *out)
{
	return context_is_inherited(context) ? EPERM : verbs_query_live_port(number, out);
}

static int query_port(struct ibv_context *context, uint8_t number, struct ibv_port_attr *a,
		      size_t size)
{
	struct ibv_port_attr whole;
	struct live_port port;
	int error = port_of(context, number, &port);

	if (error)
		return error;
	describe_port(&port, &whole);
	memset(a, 0, size);
	memcpy(a, &whole, size < sizeof(whole) ? size : sizeof(whole));
	return 0;
}

#undef ibv_query_port

/* Entry point of old programs: fills the structure without the members added later. */
int ibv_query_port(struct ibv_context *context, uint8_t number, struct _compat_ibv_port_attr *a)
{
	return query_port(context, number, (struct ibv_port_attr *)a,
			  offsetof(struct ibv_port_attr, port_cap_flags2));
}

int ibv_query_gid(struct ibv_context *context, uint8_t port_num, int index, union ibv_gid *gid)
{
	struct live_port port;
	int error = index >= 0 && (uint32_t)index < n_gids() ? port_of(context, port_num, &port)
							     : EINVAL;

	if (error) {
		errno = error;
		return -1;
	}
	if (verbs_is_roce()) {
		verbs_roce_gid((uint32_t)index, gid);
		return 0;
	}
	gid->global.subnet_prefix = htobe64(port.prefix);
	gid->global.interface_id = htobe64(port.guid);
	return 0;
}

int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port_num, uint32_t gid_index,
		      struct ibv_gid_entry *entry, uint32_t flags, size_t entry_size)
{
	struct ibv_gid_entry e = { .gid_index = gid_index,
				   .port_num = port_num,
				   .gid_type = verbs_is_roce() ? IBV_GID_TYPE_ROCE_V2
							       : IBV_GID_TYPE_IB };

	if (flags)
		return EOPNOTSUPP;
	if (ibv_query_gid(context, (uint8_t)port_num, (int)gid_index, &e.gid))
		return errno == EINVAL ? ENODATA : errno;
	memset(entry, 0, entry_size);
	memcpy(entry, &e, entry_size < sizeof(e) ? entry_size : sizeof(e));
	return 0;
}

ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries,
			     size_t most, uint32_t flags, size_t entry_size)
{
	size_t n = 0;

	if (most < verbs_adapter.node.n_ports * n_gids())
		return -EINVAL;
	for (uint32_t i = 0; i < verbs_adapter.node.n_ports * n_gids(); i++) {
		int error = _ibv_query_gid_ex(context, i / n_gids() + 1, i % n_gids(),
					      (void *)((char *)entries + n * entry_size), flags,
					      entry_size);

		if (error)
			return -error;
		n++;
	}
	return (ssize_t)n;
}

/* Called by ibv_devinfo; 0: InfiniBand, 1: RoCEv2. */
int ibv_query_gid_type(struct ibv_context *context, uint8_t port_num, unsigned index, int *type);
int ibv_query_gid_type(struct ibv_context *context, uint8_t port_num, unsigned index, int *type)
{
	union ibv_gid gid;

	*type = verbs_is_roce();
	return ibv_query_gid(context, port_num, (int)index, &gid);
}

int ibv_query_pkey(struct ibv_context *context, uint8_t port_num, int index, __be16 *pkey)
{
	struct live_port port;
	int error = port_of(context, port_num, &port);

	if (!error && (index < 0 || index >= port.n_pkeys || index >= LIVE_PKEYS))
		error = EINVAL;
	if (error) {
		errno = error;
		return -1;
	}
	*pkey = htons(port.pkeys[index]);
	return 0;
}

int ibv_get_pkey_index(struct ibv_context *context, uint8_t port_num, __be16 pkey)
{
	struct live_port port;
	int error = port_of(context, port_num, &port);

	for (int i = 0; !error && i < port.n_pkeys && i < LIVE_PKEYS; i++)
		if (htons(port.pkeys[i]) == pkey)
			return i;
	errno = error ? error : EINVAL;
	return -1;
}

/* ---- fork: memory is not pinned, so programs may fork at any time */

int ibv_fork_init(void)
{
	return 0;
}

enum ibv_fork_status ibv_is_fork_initialized(void)
{
	return IBV_FORK_UNNEEDED;
}

/* ---- functions that this adapter does not support */

int ibv_query_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	(void)qp;
	(void)ece;
	return EOPNOTSUPP;
}

int ibv_set_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	(void)qp;
	(void)ece;
	return EOPNOTSUPP;
}

int ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags)
{
	(void)qp;
	(void)op;
	(void)flags;
	return 0;
}

/* ---- functions that programs call through the context */

void verbs_context_fill(struct verbs_context *v)
{
	v->sz = sizeof(*v);
	v->query_port = query_port;
	v->query_device_ex = query_device_ex;
	v->alloc_td = verbs_alloc_td;
	v->dealloc_td = verbs_dealloc_td;
	v->alloc_parent_domain = verbs_alloc_parent_domain;
	v->open_xrcd = verbs_open_xrcd;
	v->close_xrcd = verbs_close_xrcd;
	v->advise_mr = verbs_advise_mr;
	v->create_cq_ex = verbs_create_cq_ex;
	v->create_qp_ex = verbs_create_qp_ex;
	v->create_srq_ex = verbs_create_srq_ex;
	v->get_srq_num = verbs_get_srq_num;
	v->context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	v->context.ops.alloc_mw = verbs_alloc_mw;
	v->context.ops.bind_mw = verbs_bind_mw;
	v->context.ops.dealloc_mw = verbs_dealloc_mw;
	v->context.ops.poll_cq = verbs_poll_cq;
	v->context.ops.req_notify_cq = verbs_req_notify_cq;
	v->context.ops.post_send = post_send;
	v->context.ops.post_recv = post_recv;
	v->context.ops.post_srq_recv = verbs_post_srq_recv;
}
