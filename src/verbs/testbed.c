/* SPDX-License-Identifier: BSD-2-Clause */
#include "verbs/testbed.h"

#include "base/strbuf.h"
#include "subnet/packet.h"
#include "verbs/device.h"

#define MIN_MTU 256

enum hd_status testbed_open(const char *profile, const char *path,
			    const struct overrides *overrides, struct diag *d,
			    struct testbed *out)
{
	struct strbuf text = STRBUF_INIT;
	enum hd_status status = profile_open(profile, d, &out->profile);

	if (status != HD_OK)
		return status;
	out->has_flows = path != NULL;
	profile_scenario(&out->profile, &text);
	status = path ? fabric_read(path, overrides, d, &out->build)
		      : fabric_load(text.text, text.len, profile, overrides, d,
				    &out->build);
	strbuf_fini(&text);
	if (status == HD_OK)
		d->file = NULL; /* it was right: nothing later is its fault */
	else
		profile_fini(&out->profile);
	return status;
}

void testbed_close(struct testbed *bed)
{
	fabric_free(bed->build);
	profile_fini(&bed->profile);
}

/* The port's own, or less if its buffer of a lane holds no such packet: that
 * would wait for ever. */
uint32_t port_mtu(const struct fabric *b, uint32_t port)
{
	const struct sim_port *p = &b->setup.ports[port];
	uint32_t mtu = b->topo.ports[p->origin].mtu;
	uint32_t blocks = p->in_blocks;

	if (p->out_blocks && p->out_blocks < blocks)
		blocks = p->out_blocks;
	while (mtu && mtu + MOST_OVERHEAD > blocks * BLOCK_BYTES)
		mtu = mtu > MIN_MTU ? mtu / 2 : 0;
	return mtu;
}

uint32_t testbed_mtu(const struct testbed *bed)
{
	const struct sim_setup *s = &bed->build->setup;
	uint32_t mtu = (uint32_t)bed->build->scenario->fabric.mtu;

	for (uint32_t i = 0; i < s->n_ports; i++) {
		if (s->ports[i].peer == SIM_NONE)
			continue;
		uint32_t own = port_mtu(bed->build, i);

		mtu = own < mtu ? own : mtu;
	}
	return mtu;
}
