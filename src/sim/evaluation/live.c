/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/evaluation/live.h"

#include <assert.h>

static void image(const struct live *l, port_id port, struct vlarb *out)
{
	*out = (struct vlarb){ .high_limit = l->high_limit };
	broker_image(l->broker, port, out);
}

void live_init(struct live *l, struct broker *b, struct subnet *s,
	       const uint32_t *port_of_origin)
{
	*l = (struct live){ .broker = b,
			    .port_of_origin = port_of_origin,
			    .high_limit = 255 };
	for (port_id p = 0; p < s->topo->n_ports; p++) {
		struct vlarb table;

		if (b->links[p].rate.num == 0)
			continue;
		image(l, p, &table);
		subnet_set_vlarb(s, p, &table);
	}
}

static void program(struct live *l, const struct broker_request *request)
{
	struct path path;
	enum hd_status status = path_walk(l->broker->subnet, request->source,
					  request->dlid, request->sl, &path);

	assert(status == HD_OK); /* it was admitted that way */
	(void)status;
	for (uint32_t h = 0; h < path.n_hops; h++) {
		struct vlarb table;

		image(l, path.port[h], &table);
		sim_set_vlarb(l->sim, l->port_of_origin[path.port[h]], &table);
		l->changes++;
	}
}

enum hd_status live_admit(struct live *l, const struct broker_request *request,
			  uint32_t *id, struct broker_refusal *refusal)
{
	enum hd_status status = broker_admit(l->broker, request, id, refusal);

	if (status == HD_OK)
		program(l, request);
	return status;
}

enum hd_status live_release(struct live *l, uint32_t id)
{
	if (id >= l->broker->n_connections)
		return HD_ERR_NOT_FOUND;
	struct broker_request request = l->broker->connections[id].request;
	enum hd_status status = broker_release(l->broker, id);

	if (status == HD_OK)
		program(l, &request);
	return status;
}
