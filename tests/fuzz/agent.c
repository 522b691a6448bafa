/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arbitrary MADs, and cables that fail and return: each MAD has at most one
 * answer, which goes to its sender.
 */
#include <stdlib.h>
#include <string.h>

#include "mgmt/agents/agents.h"
#include "topo/generate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
	const struct topo *topo;
	unsigned n;
};

static void arrived(void *context, port_id port, const struct mad_address *from, const uint8_t *mad,
		    size_t size)
{
	struct seen *s = context;

	(void)from;
	(void)mad;
	s->n++;
	if (size < MAD_SIZE || !topo_is_end_port(s->topo, port))
		abort();
}

/* Steps: what it is, a port, and for a MAD its address and first bytes. */
static size_t step(struct agents *a, struct seen *s, const uint8_t *data, size_t size)
{
	port_id port = data[1] % s->topo->n_ports;
	uint8_t mad[MAD_SIZE] = { 0 };
	size_t used = size - 6 < 200 ? size - 6 : 200;
	struct mad_address to = {
		.lid = (uint16_t)(data[2] | data[3] << 8),
		.sl = data[4] & 15,
		.pkey = data[4] & 16 ? 0x7FFF : 0xFFFF,
	};

	if (data[0] % 8 == 0) {
		agents_set_cable(a, port, data[2] & 1, data[5]);
		return 6;
	}
	if (data[0] % 8 == 1) {
		agents_run(a, (hd_time)data[5] << 40);
		return 6;
	}
	while (!topo_is_end_port(s->topo, port))
		port = (port + 1) % s->topo->n_ports;
	memcpy(mad, data + 6, used);
	s->n = 0;
	agents_send(a, port, &to, mad, MAD_SIZE, data[5]);
	return 6 + used;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct agents_options options = { 0 };
	struct diag d = { .status = HD_OK };
	struct topo t;
	struct seen s = { .topo = &t };
	const struct agents_events events = { arrived, &s };

	if (topo_generate_text("mesh --rows=1 --columns=2", 1, 0, &d, &t) != HD_OK)
		abort();
	struct agents *a = agents_new(&t, &options, &events);

	while (size > 6) {
		size_t used = step(a, &s, data, size);

		data += used;
		size -= used;
	}
	agents_free(a);
	topo_fini(&t);
	return 0;
}
