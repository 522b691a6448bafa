/* SPDX-License-Identifier: BSD-2-Clause */
#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "sim/report/watch.h"
#include "subnet/tables/packet.h"
#include "wire/capture.h"
#include "wire/cursor.h"
#include "wire/mad.h"
#include "wire/opcode.h"
#include "wire/packet.h"

#define RC_SEND_ONLY    (SERVICE_RC | OP_SEND_ONLY)
#define RC_SEND_IMM     (SERVICE_RC | OP_SEND_ONLY_IMM)
#define RC_ACK          (SERVICE_RC | OP_ACK)
#define UC_SEND_ONLY    (SERVICE_UC | OP_SEND_ONLY)
#define UD_SEND_ONLY    (SERVICE_UD | OP_SEND_ONLY)
#define FIRST_QP        0x100
#define FIRST_SENDER_QP 0x800000 /* QPs of flows with acknowledgements */

/* NOLINTNEXTLINE(misc-redundant-expression): that is the claim */
_Static_assert(SIM_CNP_BYTES == PLAIN_OVERHEAD + CNP_RESERVED_BYTES,
	       "what is simulated is what is captured");
#define MAD_VENDOR 0x09 /* first vendor-specific class */

/* MADs of admission, in a vendor-specific class. */
enum { ATTR_PROBE = 0x10, ATTR_ACCEPT, ATTR_REJECT };

/* A packet to be written. Received packets are recorded before their time of arrival. */
struct pending_record {
	hd_time at;
	uint64_t order; /* among equal times */
	union {
		struct sim_packet packet;
		struct sim_update update;
	};
	uint8_t interface;
	bool is_update;
	bool arrived; /* recorded at the far end */
};

struct report_capture {
	const struct fabric *fabric;
	const bool *ports;
	struct capture_writer writer;
	struct pending_record *heap; /* earliest time on top */
	size_t n, cap;
	uint64_t order;
	uint8_t *interface; /* per sim port: Wireshark supports 4 interfaces */
};

static uint64_t overhead_of(const struct fabric *fabric, uint32_t flow)
{
	const struct scenario *s = fabric->scenario;

	return scenario_overhead(s, &s->traffic[fabric->flows[flow].row]);
}

/* Bytes of a packet in addition to its payload, without the GRH of R1. */
static uint64_t overhead_on_wire(const struct fabric *fabric, const struct sim_packet *p)
{
	const struct scenario *s = fabric->scenario;

	if (p->dlid < LID_FIRST_MCAST)
		return s->fabric.overhead;
	return p->flow < fabric->n_flows ? overhead_of(fabric, p->flow)
					 : s->fabric.overhead + scenario_group_grh(s);
}

/* A GRH always has 40 bytes and is not considered here. */
static enum hd_status check_payload(const struct fabric *fabric, uint32_t bytes, const char *row,
				    struct diag *d)
{
	uint64_t payload = bytes - fabric->scenario->fabric.overhead;

	if (payload % 4 == 0)
		return HD_OK;
	return diag_fail(
		d, HD_ERR_UNFIT,
		"traffic '%s' has packets of %llu bytes of payload; a capture needs multiples of 4, because simulated packets have no padding",
		row, (unsigned long long)payload);
}

static enum hd_status check_sizes(const struct fabric *fabric, struct diag *d)
{
	uint64_t overhead = fabric->scenario->fabric.overhead;

	if (overhead != PLAIN_OVERHEAD && overhead != GRH_OVERHEAD)
		return diag_fail(
			d, HD_ERR_UNFIT,
			"packets with an overhead of %llu bytes have no format; a capture needs fabric.packet.overhead 26 or 66",
			(unsigned long long)overhead);
	if (overhead + scenario_group_grh(fabric->scenario) > GRH_OVERHEAD &&
	    scenario_jobs_multicast(fabric->scenario))
		return diag_fail(
			d, HD_ERR_UNFIT,
			"what jobs send to groups has two GRHs: with fabric.packet.overhead 66, multicast_grh must be 'no'");
	for (uint32_t i = 0; i < fabric->n_flows; i++) {
		const struct sim_flow *f = &fabric->flows[i];
		const char *row = fabric->scenario->traffic[f->row].name;
		enum hd_status status = HD_OK;

		if (overhead_of(fabric, i) > GRH_OVERHEAD)
			status = diag_fail(
				d, HD_ERR_UNFIT,
				"traffic '%s' has two GRHs: with fabric.packet.overhead 66, multicast_grh must be 'no'",
				row);
		else if (f->size_scv > 0)
			status = diag_fail(
				d, HD_ERR_UNFIT,
				"traffic '%s' has packets of any size; a capture needs multiples of 4",
				row);
		else if (f->kind != SIM_TRACE)
			status = check_payload(fabric, f->bytes, row, d);
		if (status == HD_OK && f->last_bytes)
			status = check_payload(fabric, f->last_bytes, row, d);
		for (size_t k = 0; k < f->n_trace && status == HD_OK; k++)
			status = check_payload(fabric, f->trace[k].bytes, row, d);
		if (status != HD_OK)
			return status;
	}
	return HD_OK;
}

enum hd_status report_capture_new(const struct fabric *fabric, FILE *stream, const bool *ports,
				  enum report_capture_flow flow, struct diag *d,
				  struct report_capture **out)
{
	enum hd_status status = check_sizes(fabric, d);
	uint8_t next = 0;

	if (status != HD_OK)
		return status;
	if (flow != REPORT_FLOW_NONE && fabric->setup.credits != SIM_CREDITS_EXACT)
		return diag_fail(
			d, HD_ERR_UNFIT,
			"flow-control packets are on the links only with 'fabric.credits: exact'");
	struct report_capture *c = hd_alloc(1, sizeof(*c));

	c->fabric = fabric;
	c->ports = ports;
	c->interface = hd_alloc(fabric->setup.n_ports, sizeof(*c->interface));
	for (uint32_t i = 0; ports && i < fabric->setup.n_ports; i++) {
		if (ports[i])
			c->interface[i] = next++ & 3;
	}
	capture_begin(&c->writer, stream, flow == REPORT_FLOW_PADDED);
	*out = c;
	return HD_OK;
}

void report_capture_free(struct report_capture *c)
{
	if (!c)
		return;
	free(c->heap);
	free(c->interface);
	free(c);
}

static bool is_before(const struct pending_record *a, const struct pending_record *b)
{
	return a->at < b->at || (a->at == b->at && a->order < b->order);
}

static void push(struct report_capture *c, const struct pending_record *p)
{
	c->heap = hd_grow(c->heap, &c->cap, c->n + 1, sizeof(*c->heap));
	size_t i = c->n++;

	for (; i > 0 && is_before(p, &c->heap[(i - 1) / 2]); i = (i - 1) / 2)
		c->heap[i] = c->heap[(i - 1) / 2];
	c->heap[i] = *p;
}

static struct pending_record pop(struct report_capture *c)
{
	struct pending_record top = c->heap[0], last = c->heap[--c->n];
	size_t i = 0;

	for (;;) {
		size_t child = 2 * i + 1;

		if (child + 1 < c->n && is_before(&c->heap[child + 1], &c->heap[child]))
			child++;
		if (child >= c->n || is_before(&last, &c->heap[child]))
			break;
		c->heap[i] = c->heap[child];
		i = child;
	}
	c->heap[i] = last;
	return top;
}

static void put_gid(const struct fabric *fabric, port_id port, uint8_t *gid)
{
	store_be64(gid, subnet_gid_prefix(&fabric->subnet, port));
	store_be64(gid + 8, fabric->topo.ports[port].guid);
}

static void set_grh(const struct fabric *fabric, const struct sim_packet *p, port_id source,
		    struct packet *out)
{
	unsigned subnet = fabric->topo.ports[source].subnet;

	out->headers |= HEADER_BIT(HEADER_GRH);
	out->grh = (struct grh){ .ip_ver = GRH_IP_VERSION,
				 .next_header = GRH_NEXT_IBA,
				 .hop_limit = 1 };
	put_gid(fabric, source, out->grh.sgid);
	if (p->target != TOPO_NONE) {
		out->grh.tclass = p->tclass;
		out->grh.hop_limit = p->hop_limit;
		put_gid(fabric, p->target, out->grh.dgid);
	} else if (p->dlid >= LID_FIRST_MCAST) {
		/* A group with the scope of the link that contains its MLID. */
		store_be64(out->grh.dgid, MCAST_MGID_PREFIX);
		store_be64(out->grh.dgid + 8, p->dlid);
	} else if (fabric->subnet.port_of_lid[subnet][p->dlid] != TOPO_NONE) {
		put_gid(fabric, fabric->subnet.port_of_lid[subnet][p->dlid], out->grh.dgid);
	}
}

/* Bytes on the wire; the payload is zeros, or a MAD on VL15. */
static size_t encode(const struct fabric *fabric, const struct sim_packet *p, uint8_t *bytes)
{
	const struct sim_node *node = &fabric->setup.nodes[p->source];
	/* A reduction switch is addressed by its port 0. */
	port_id source = fabric->setup.ports[node->first_port + (node->kind == SIM_END)].origin;
	bool smp = p->vl == VL_MANAGEMENT && p->bytes == SIM_MAD_BYTES;
	struct packet out;
	uint8_t mad[MAD_SIZE];
	size_t size = 0;

	packet_init(&out, smp ? UD_SEND_ONLY : UC_SEND_ONLY);
	out.lrh.vl = p->vl;
	out.lrh.sl = p->sl;
	out.lrh.dlid = p->dlid;
	out.lrh.slid = p->slid ? p->slid : fabric->subnet.lid_of_port[source];
	out.bth.pkey = p->pkey;
	out.bth.psn = p->sequence & 0xffffff;
	out.bth.fecn = p->marked;
	out.bth.dest_qp = smp ? 0 : (FIRST_QP + p->flow) & 0xffffff;
	uint64_t overhead = overhead_on_wire(fabric, p);

	out.payload_len =
		p->bytes - (uint32_t)overhead - (p->target != TOPO_NONE ? fabric->grh_bytes : 0);
	if (smp) {
		const struct mad_header h = { .mgmt_class = MAD_SMP,
					      .method = MAD_GET,
					      .tid = p->sequence,
					      .attribute = ATTR_NODE_INFO };

		mad_write(&h, mad);
		out.payload = mad;
		out.payload_len = MAD_SIZE;
	} else if (p->target != TOPO_NONE || overhead == GRH_OVERHEAD) {
		set_grh(fabric, p, source, &out);
	}
	enum hd_status status = packet_encode(&out, bytes, PACKET_MAX, &size);

	/* Messages of jobs have any size and are padded on the wire. */
	assert(status == HD_OK && size - p->bytes < 4);
	(void)status;
	return size;
}

/* ---- packets of congestion control ----------------------------------- */

/* MAD of admission (C8): flow, kb/s, SL, device. */
static void fill_mad(const struct sim_packet *p, struct packet *out, uint8_t *mad)
{
	static const uint16_t attributes[] = {
		[SIM_PROBE] = ATTR_PROBE,
		[SIM_ACCEPT] = ATTR_ACCEPT,
		[SIM_REJECT] = ATTR_REJECT,
	};
	const struct mad_header h = {
		.mgmt_class = MAD_VENDOR,
		.method = p->kind == SIM_PROBE ? MAD_SET : MAD_GET_RESP,
		.tid = (uint64_t)p->flow << 8 | (p->cookie & 255),
		.attribute = attributes[p->kind],
	};

	mad_write(&h, mad);
	store_be64(mad + MAD_HEADER_SIZE,
		   (uint64_t)p->flow << 32 | ((p->reserve / 1000) & UINT32_MAX));
	mad[MAD_HEADER_SIZE + 8] = p->sl;
	mad[MAD_HEADER_SIZE + 9] = p->cookie & 255;
	out->bth.dest_qp = 1;
	out->deth.qkey = MAD_QKEY;
	out->deth.src_qp = 1;
	out->payload = mad;
	out->payload_len = MAD_SIZE;
}

/* Sizes the payload to fill the packet after its headers. */
static void fill_payload(const struct sim_packet *p, struct packet *out, uint8_t *mad)
{
	switch (p->kind) {
	case SIM_DATA:
		out->payload_len = p->bytes - packet_size(out);
		break;
	case SIM_ACK:
		break;
	case SIM_CNP:
		out->payload_len = CNP_RESERVED_BYTES;
		break;
	case SIM_PROBE:
	case SIM_ACCEPT:
	case SIM_REJECT:
		fill_mad(p, out, mad);
		break;
	case SIM_CONTRIBUTION:
	case SIM_RESULT:
		assert(false && "not of congestion control");
	}
}

/*
 * Data and its acknowledgements use two queue pairs per flow, with FECN forwards and BECN
 * backwards.
 */
static size_t encode_controlled(const struct fabric *fabric, const struct sim_packet *p,
				uint8_t *bytes)
{
	static const uint8_t opcodes[] = {
		[SIM_DATA] = RC_SEND_ONLY,
		[SIM_ACK] = RC_ACK,
		[SIM_CNP] = OPCODE_CNP,
		[SIM_PROBE] = UD_SEND_ONLY,
		[SIM_ACCEPT] = UD_SEND_ONLY,
		[SIM_REJECT] = UD_SEND_ONLY,
		[SIM_CONTRIBUTION] = UC_SEND_ONLY,
		[SIM_RESULT] = UC_SEND_ONLY,
	};
	const struct sim_node *node = &fabric->setup.nodes[p->source];
	port_id source = fabric->setup.ports[node->first_port + 1].origin;
	bool is_data = p->kind == SIM_DATA;
	struct packet out;
	uint8_t mad[MAD_SIZE];
	size_t size = 0;

	packet_init(&out, p->last ? RC_SEND_IMM : opcodes[p->kind]);
	out.lrh.vl = p->vl;
	out.lrh.sl = p->sl;
	out.lrh.dlid = p->dlid;
	out.lrh.slid = fabric->subnet.lid_of_port[source];
	out.bth.pkey = p->pkey;
	out.bth.psn = p->sequence & 0xffffff;
	out.bth.dest_qp = ((is_data ? FIRST_QP : FIRST_SENDER_QP) + p->flow) & 0xffffff;
	out.bth.fecn = p->marked && is_data;
	out.bth.becn = p->marked && !is_data;
	out.immdt.data = (uint32_t)(p->reserve / 1000);
	if (is_data && fabric->scenario->fabric.overhead == GRH_OVERHEAD)
		set_grh(fabric, p, source, &out);
	fill_payload(p, &out, mad);
	enum hd_status status = packet_encode(&out, bytes, PACKET_MAX, &size);

	assert(status == HD_OK && size == p->bytes);
	(void)status;
	return size;
}

/* ---- in order of time ------------------------------------------------ */

static void write_packet(struct report_capture *c, const struct pending_record *p)
{
	uint8_t bytes[PACKET_MAX];
	enum sim_packet_kind kind = p->packet.kind;
	bool reduces = kind == SIM_CONTRIBUTION || kind == SIM_RESULT;
	bool controlled = p->packet.answered || (kind != SIM_DATA && !reduces);
	size_t size = controlled ? encode_controlled(c->fabric, &p->packet, bytes)
				 : encode(c->fabric, &p->packet, bytes);

	/*
	 * The simulator does not draw the position of the bit error: the last bit before the CRCs
	 * is flipped.
	 */
	if (p->arrived && p->packet.corrupt)
		bytes[size - ICRC_SIZE - VCRC_SIZE - 1] ^= 1;
	capture_write_packet(&c->writer, p->at, p->interface, bytes, size);
}

static void write_update(struct report_capture *c, const struct pending_record *p)
{
	const struct flow_packet flow = {
		.op = FLOW_NORMAL,
		.vl = p->update.vl,
		.fctbs = p->update.fctbs,
		.fccl = p->update.fccl,
	};

	capture_write_flow(&c->writer, p->at, p->interface, &flow);
}

static void flush(struct report_capture *c, hd_time until)
{
	while (c->n && c->heap[0].at <= until) {
		struct pending_record p = pop(c);

		if (p.is_update)
			write_update(c, &p);
		else
			write_packet(c, &p);
	}
}

/* Records a packet that starts at `port`: at this port, and at the far end unless it is lost. */
static void see(struct report_capture *c, hd_time now, uint32_t port, struct pending_record *p,
		bool arrives)
{
	const struct sim_port *sender = &c->fabric->setup.ports[port];

	flush(c, now > 0 ? now - 1 : 0);
	if (!c->ports || c->ports[port]) {
		p->at = now;
		p->order = c->order++;
		p->interface = c->interface[port];
		push(c, p);
	}
	if (c->ports && c->ports[sender->peer] && arrives) {
		p->at = now + sender->propagation;
		p->order = c->order++;
		p->interface = c->interface[sender->peer];
		p->arrived = true;
		push(c, p);
	}
}

void report_capture_grant(struct report_capture *c, hd_time now, uint32_t port,
			  const struct sim_packet *p)
{
	struct pending_record next = { .packet = *p };

	see(c, now, port, &next, !p->lost);
}

void report_capture_update(struct report_capture *c, hd_time now, uint32_t port,
			   const struct sim_update *u)
{
	struct pending_record next = { .update = *u, .is_update = true };

	see(c, now, port, &next, !u->lost);
}

void report_capture_finish(struct report_capture *c)
{
	flush(c, HD_TIME_NEVER);
	(void)!capture_finish(&c->writer);
}

/* ---- as bytes ----------------------------------------------------------- */

static int pending_order(const void *x, const void *y)
{
	const struct pending_record *a = x, *b = y;

	return is_before(a, b) ? -1 : is_before(b, a);
}

static const struct pack_member pending_members[] = {
	PACK(pending_record, at),        PACK(pending_record, order),
	PACK(pending_record, interface), PACK(pending_record, is_update),
	PACK(pending_record, arrived),
};

static const struct pack_member update_members[] = {
	PACK(sim_update, vl),
	PACK(sim_update, fctbs),
	PACK(sim_update, fccl),
	PACK(sim_update, lost),
};

/* Whether the packet has a flow or an endpoint. */
static bool is_possible(const struct report_capture *c, const struct sim_packet *x)
{
	return x->source < c->fabric->setup.n_nodes &&
	       (x->flow == SIM_NONE || x->flow < c->fabric->n_flows);
}

static void pack_pending(struct report_capture *c, struct pack *p, struct pending_record *x)
{
	PACK_STRUCT(p, pending_members, x);
	if (x->is_update)
		PACK_STRUCT(p, update_members, &x->update);
	else
		sim_pack_packet(p, &x->packet);
	pack_check(p, x->interface < 4 && (x->is_update || is_possible(c, &x->packet)));
}

void report_capture_pack(struct report_capture *c, struct pack *p)
{
	size_t n = pack_count(p, c->n);

	pack_u64(p, &c->order);
	pack_u64(p, &c->writer.last);
	/* A sorted array is a heap. */
	if (!p->reads && c->n)
		qsort(c->heap, c->n, sizeof(*c->heap), pending_order);
	for (size_t i = 0; i < n && !p->refused; i++) {
		struct pending_record x = { 0 };

		pack_pending(c, p, p->reads ? &x : &c->heap[i]);
		if (p->reads)
			push(c, &x);
	}
}
