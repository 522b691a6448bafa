/* SPDX-License-Identifier: BSD-2-Clause */
#include "rig.h"

static void rig_links(struct rig *r, uint32_t in_blocks, uint8_t vls)
{
	fabric_links_set(&r->f, &(struct fabric_link){
					.rate = byte_per_ps,
					.propagation = 5,
					.in_blocks = in_blocks,
					.out_blocks = 64,
					.vl15_blocks = 64,
					.vls = vls,
				});
}

void rig_pair(struct rig *r, uint32_t in_blocks, uint8_t vls)
{
	*r = (struct rig){ 0 };
	fabric_init(&r->f);
	node_id a = fabric_host(&r->f), b = fabric_host(&r->f);

	fabric_cable(&r->f, a, 1, b, 1);
	fabric_finish(&r->f);
	rig_links(r, in_blocks, vls);
}

void rig_star(struct rig *r, unsigned n, uint32_t in_blocks, uint8_t vls)
{
	*r = (struct rig){ 0 };
	fabric_init(&r->f);
	node_id sw = fabric_switch(&r->f, n);

	for (unsigned k = 1; k <= n; k++)
		fabric_cable(&r->f, sw, k, fabric_host(&r->f), 1);
	fabric_finish(&r->f);
	for (unsigned k = 1; k <= n; k++)
		fabric_route(&r->f, sw, (lid_t)k, k);
	rig_links(r, in_blocks, vls);
}

struct sim_arrival *rig_send(struct rig *r, hd_time time, uint32_t end, lid_t dlid, uint32_t bytes)
{
	struct sim_arrival *a = &r->arrivals[r->n_arrivals];

	*a = (struct sim_arrival){
		.time = time,
		.flow = (uint32_t)r->n_arrivals,
		.source = r->f.ends[end],
		.dlid = dlid,
		.pkey = 0xffff,
		.bytes = bytes,
	};
	r->n_arrivals++;
	return a;
}

void rig_send_on(struct rig *r, uint8_t sl, unsigned times, uint32_t bytes)
{
	for (unsigned i = 0; i < times; i++)
		rig_send(r, 0, 0, 2, bytes)->sl = sl;
}

void rig_run(struct rig *r)
{
	struct oracle_case c = { &r->f.setup, r->arrivals, r->n_arrivals, HORIZON, 1 };

	oracle_run(&c, ORACLE_TRUE, &r->record, &r->stats);
}

void rig_fini(struct rig *r)
{
	oracle_record_fini(&r->record);
	fabric_fini(&r->f);
}

hd_time rig_when(const struct rig *r, uint32_t flow, enum sim_fate fate, uint32_t where)
{
	for (size_t i = 0; i < r->record.n_events; i++) {
		const struct sim_event_record *e = &r->record.events[i];

		if (e->flow == flow && e->fate == fate && (where == SIM_NONE || e->where == where))
			return e->time;
	}
	return LOST;
}

hd_time rig_delivered(const struct rig *r, uint32_t flow)
{
	return rig_when(r, flow, SIM_DELIVERED, SIM_NONE);
}
