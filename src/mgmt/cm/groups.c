/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "mgmt/cm/cm_internal.h"
#include "wire/cursor.h"

/* Multicast groups, named and joined as by the kernel's rdma_cm. */

enum { MULTICAST_QPN = 0xFFFFFF, FULL_MEMBER = 1, SEND_ONLY = 8 };

/*
 * MGID of a group: IPv4 addresses by IPoIB's mapping, with another signature for port spaces other
 * than IPoIB; IPv6 addresses that are MGIDs (ff1x:a01b::/32). False: not a group.
 */
static bool mgid_of(const struct cm_id *i, const struct sockaddr_in6 *from, uint8_t mgid[16])
{
	static const uint8_t of_ip[16] = { 0xFF, 0x12, 0x40, 0x1B };
	enum { OF_RDMA = 0x01, SIGNATURE = 3 };
	struct sockaddr_in a;
	const uint8_t *raw = from->sin6_addr.s6_addr;

	memcpy(&a, from, sizeof(a));
	if (a.sin_family == AF_INET6) {
		memcpy(mgid, raw, 16);
		return raw[0] == 0xFF && (raw[1] & 0xF0) == 0x10 && raw[2] == 0xA0 &&
		       raw[3] == 0x1B;
	}
	memcpy(mgid, of_ip, sizeof(of_ip));
	if (i->space == RDMA_PS_UDP)
		mgid[SIGNATURE] = OF_RDMA;
	store_be16(mgid + 4, i->path.pkey);
	store_be32(mgid + 12, ntohl(a.sin_addr.s_addr) & 0x0FFFFFFF);
	return a.sin_family == AF_INET && IN_MULTICAST(ntohl(a.sin_addr.s_addr));
}

int cm_group_join(struct cm *m, uint32_t number, const struct cm_join *j, hd_time now,
		  uint32_t *out)
{
	struct cm_id of = *cm_id_find(m, number);
	uint8_t mgid[16];

	if (of.local.port == TOPO_NONE || !cm_id_is_datagram(&of))
		return EINVAL;
	if (!mgid_of(&of, j->address, mgid))
		return EADDRNOTAVAIL;
	struct cm_id *i = cm_id_new(m, of.host, of.channel);

	i->has_context = true;
	i->member_of = number;
	i->uid = j->uid;
	i->space = of.space;
	i->qkey = of.qkey;
	i->local = of.local;
	i->path = of.path;
	memcpy(i->path.dgid, mgid, sizeof(mgid));
	i->join_state = j->only_sends ? SEND_ONLY : FULL_MEMBER;
	*out = i->number;
	cm_set_membership(m, i, MAD_SET, now);
	return 0;
}

void cm_group_response(struct cm *m, struct cm_id *i, const uint8_t *mad)
{
	struct rdma_ucm_event_resp e = { .event = EVENT_MULTICAST_JOIN };
	struct rdma_ucm_ud_param *p = &e.param.ud;

	i->due = HD_TIME_NEVER;
	if (load_be16(mad + MAD_STATUS) != MAD_OK) {
		i->state = ID_ENDED;
		e.event = EVENT_MULTICAST_ERROR;
		e.status = (uint32_t)-EINVAL;
		cm_id_event(m, i, NULL, &e);
		return;
	}
	i->state = ID_JOINED;
	p->qp_num = MULTICAST_QPN;
	p->qkey = (uint32_t)mad_get(mad, "Q_Key");
	p->ah_attr = (struct ib_uverbs_ah_attr){
		.grh = { .flow_label = (uint32_t)mad_get(mad, "FlowLabel"),
			 .hop_limit = (uint8_t)mad_get(mad, "HopLimit"),
			 .traffic_class = (uint8_t)mad_get(mad, "TClass") },
		.dlid = (uint16_t)mad_get(mad, "MLID"),
		.sl = (uint8_t)mad_get(mad, "SL"),
		.is_global = 1,
		.port_num = m->topo->ports[i->local.port].number,
	};
	memcpy(p->ah_attr.grh.dgid, i->path.dgid, sizeof(i->path.dgid));
	cm_id_event(m, i, NULL, &e);
}

void cm_group_leave(struct cm *m, struct cm_id *i)
{
	for (size_t k = 0; k < m->n_ids; k++) {
		const struct cm_id *o = &m->ids[k];

		if (o->used && o != i && o->state == ID_JOINED && o->local.port == i->local.port &&
		    o->join_state == i->join_state && memcmp(o->path.dgid, i->path.dgid, 16) == 0)
			return;
	}
	cm_set_membership(m, i, MAD_DELETE, 0);
}

uint32_t cm_groups_leave(struct cm *m, uint32_t number, hd_time now)
{
	uint32_t unread = 0;

	for (size_t k = 0; k < m->n_ids; k++)
		if (m->ids[k].used && m->ids[k].member_of == number)
			unread += cm_id_destroy(m, &m->ids[k], now);
	return unread;
}
