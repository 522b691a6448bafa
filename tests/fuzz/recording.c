/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files that resemble recordings of a live fabric: refused in one line, or
 * changes that agents can apply. The input is a file, or what comes behind
 * the beginning of a good one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/pack.h"
#include "live/daemon/recording.h"
#include "topo/generate.h"
#include "topo/pack.h"
#include "wire/cursor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void hear_nothing(void *context, port_id port, const struct mad_address *from,
			 const uint8_t *mad, size_t size)
{
	(void)context;
	(void)from;
	(void)mad;
	if (size < MAD_SIZE || !topo_is_end_port(context, port))
		abort();
}

/* The first line, and two hosts at two switches. */
static void begin(struct strbuf *out, bool timed)
{
	struct diag d = { .status = HD_OK };
	struct strbuf block = STRBUF_INIT;
	struct topo t;
	struct pack p;
	uint8_t length[4];

	/* MADs of links that are said, and that train. */
	struct agents_timing times = { .switch_delay = 100 * HD_NS,
				       .agent_delay = 10 * HD_US,
				       .vl15_blocks = 64 };

	if (topo_generate_text("mesh --rows=1 --columns=2", 1, 0, &d, &t) != HD_OK)
		abort();
	pack_to(&p, &block);
	pack_bool(&p, &timed);
	topo_pack(&p, &t);
	times.cables = hd_alloc(t.n_ports, sizeof(*times.cables));
	for (port_id i = 0; i < t.n_ports; i++)
		times.cables[i] =
			(struct agents_cable_timing){ 5 * HD_NS, { i % 2 ? 1000000000 : 0, 1 } };
	if (timed)
		agents_timing_pack(&p, &t, &times);
	free(times.cables);
	store_be32(length, (uint32_t)block.len);
	strbuf_puts(out, "heddle live recording 4\n");
	strbuf_add(out, (const char *)length, sizeof(length));
	strbuf_add(out, block.text, block.len);
	strbuf_fini(&block);
	topo_fini(&t);
}

static void replay(FILE *in)
{
	struct diag d = { .status = HD_OK };
	struct recording *r;
	hd_time last;

	if (daemon_recording_open(in, &d, &r) == HD_OK) {
		const struct topo *t = daemon_recording_topo(r);
		const struct agents_options o = { .times = daemon_recording_times(r) };
		const struct agents_events e = { hear_nothing, (void *)t, NULL, NULL };
		struct agents *a = agents_new(t, &o, &e);

		(void)!daemon_recording_replay(r, a, HD_TIME_NEVER, &d, &last);
		agents_free(a);
		daemon_recording_close(r);
	}
	if (d.status != HD_OK && (!d.message[0] || strchr(d.message, '\n')))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct strbuf file = STRBUF_INIT;

	if (size == 0)
		return 0;
	if (data[0] < 2)
		begin(&file, data[0]);
	strbuf_add(&file, (const char *)data + 1, size - 1);
	if (file.len > 0)
		replay(fmemopen(file.text, file.len, "rb"));
	strbuf_fini(&file);
	return 0;
}
