/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A port on an Ethernet whose frames are the input: each begins with a byte
 * that says whether its ICRC is made right, and two with its length. Whatever
 * comes, it sends only frames that can be read again, and touches memory only
 * where it may.
 */
#include <stdlib.h>
#include <string.h>

#include "transport/roce/port.h"
#include "transport/wire_for_tests.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t address[4] = { 10, 0, 0, 1 }, other[4] = { 10, 0, 0, 2 };

static bool take_shared(void *context, struct recv_wr *out)
{
	(void)context;
	*out = pair_recv(1, 4096, 8192);
	return true;
}

static void complete(void *context, struct qp *qp, const struct completion *wc, bool receive)
{
	(void)context;
	(void)qp;
	(void)wc;
	(void)receive;
}

static void connect_side(struct side *s, struct roce_port *port, enum qp_kind kind)
{
	const struct qp_params params = { .kind = kind,
					  .qpn = 0x4000 + (uint32_t)kind,
					  .pd = PD,
					  .max_send = 4,
					  .shared_recv = true };
	struct roce_address own, peer;
	struct qp_attr a = pair_attr(0);

	own = roce_address_of(address);
	peer = roce_address_of(other);
	a.slid = a.dlid = 0;
	a.global = true;
	a.dest_qpn = params.qpn;
	a.rq_psn = a.sq_psn = 0;
	memcpy(a.sgid, own.gid[ROCE_GID_IPV4], GID_SIZE);
	memcpy(a.dgid, peer.gid[ROCE_GID_IPV4], GID_SIZE);
	s->owner = (struct qp_owner){ s,          side_allows, side_read,
				      side_write, side_atomic, side_invalidate,
				      complete,   side_event,  take_shared };
	s->qp = qp_new(&params, &s->owner);
	if (pair_raise(s->qp, a, kind) != HD_OK)
		abort();
	roce_port_add(port, s->qp);
}

/* The same frame with the ICRC that it should have, if it is of RoCEv2. */
static size_t mend(uint8_t *frame, size_t size)
{
	struct diag d = { .status = HD_OK };
	static uint8_t again[ROCE_MAX];
	struct roce r;
	size_t made;

	if (wire_roce_decode(frame, size, &d, &r) != HD_OK ||
	    wire_roce_encode(&r, again, sizeof(again), &made) != HD_OK || made > ROCE_MAX)
		return size;
	memcpy(frame, again, made);
	return made;
}

static void drain(struct roce_port *port, hd_time now)
{
	static uint8_t frame[ROCE_MAX];
	size_t size;

	for (int i = 0; i < 100 && roce_port_next(port, now, frame, &size); i++) {
		struct diag d = { .status = HD_OK };
		struct roce r;

		if (size < 42 || size > ROCE_MAX)
			abort();
		if (wire_roce_decode(frame, size, &d, &r) == HD_OK &&
		    wire_roce_check(frame, size) != CRC_GOOD)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct side sides[3];
	static uint8_t frame[ROCE_MAX];
	struct roce_address own;
	hd_time now = 0;

	own = roce_address_of(address);
	struct roce_port *port = roce_port_new(&own, 14);

	memset(sides, 0, sizeof(sides));
	for (unsigned k = 0; k < 3; k++)
		connect_side(&sides[k], port, (enum qp_kind)k);
	while (size >= 3) {
		size_t length = (size_t)(data[1] << 8 | data[2]) % ROCE_MAX;
		bool is_mended = data[0] & 1;

		data += 3;
		size -= 3;
		length = length < size ? length : size;
		memcpy(frame, data, length);
		data += length;
		size -= length;
		roce_port_receive(port, frame, is_mended ? mend(frame, length) : length, now);
		drain(port, now);
		now += HD_MS;
		roce_port_timer(port, now);
	}
	for (unsigned k = 0; k < 3; k++) {
		roce_port_remove(port, sides[k].qp);
		qp_free(sides[k].qp);
	}
	roce_port_free(port);
	return 0;
}
