/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Settings that a manager changes during the run: VLs (docs/timing-rules.md, T11l); for
 * congestion control (C9) see pace.c. An adapter applies changes before each use and at the
 * instant of each change, since waiting packets may then be sent.
 */
#include <string.h>

#include "hca/hca_internal.h"

/* Requeues the waiting queue pairs by their current VLs. */
static void line_up_anew(struct v_device *dev)
{
	struct qp_list was[N_VLS][N_PRIORITIES];

	memcpy(was, dev->active, sizeof(was));
	memset(dev->active, 0, sizeof(dev->active));
	dev->active_vls = 0;
	for (unsigned i = 0; i < N_VLS * N_PRIORITIES; i++) {
		struct v_qp *qp = was[i / N_PRIORITIES][i % N_PRIORITIES].first;

		while (qp) {
			struct v_qp *next = qp->next;

			device_queue(dev, qp);
			qp = next;
		}
	}
}

static void follow_vls(struct v_device *dev)
{
	const struct sim_setup *s = &dev->lab->fabric->setup;
	port_id origin = s->ports[dev->port].origin;
	bool changed = false;

	for (; dev->vls_change < s->n_paths && s->paths[dev->vls_change].time <= dev->lab->now;
	     dev->vls_change++) {
		const struct sim_path_change *to = &s->paths[dev->vls_change];

		if (!to->vls)
			continue;
		changed = true;
		memcpy(dev->vl_of_sl, sl2vl_of(to->subnet, origin)->vl, sizeof(dev->vl_of_sl));
	}
	if (changed)
		line_up_anew(dev);
}

hd_time device_follow(struct v_device *dev)
{
	const struct sim_setup *s = &dev->lab->fabric->setup;
	hd_time control = pace_next_change(dev->lab);

	follow_vls(dev);
	for (uint32_t i = dev->vls_change; i < s->n_paths; i++)
		if (s->paths[i].vls)
			return s->paths[i].time < control ? s->paths[i].time : control;
	return control;
}

unsigned device_vl(struct v_device *dev, unsigned sl)
{
	follow_vls(dev);
	return dev->vl_of_sl[sl] % N_VLS;
}
