/* SPDX-License-Identifier: BSD-2-Clause */
#include "verbs/testbed.h"

#include "base/file.h"
#include "verbs/device.h"

#define MAX_TEXT ((size_t)16 << 20)
#define BLOCK    64
#define MIN_MTU  256
#define HEADERS  78 /* the most: LRH, GRH, BTH, DETH, immediate, CRCs */

static enum hd_status open_fabric(struct testbed *bed, const char *path,
				  struct diag *d)
{
	enum hd_status status = HD_OK;

	if (path)
		status = file_read(path, MAX_TEXT, d, &bed->text);
	else
		profile_scenario(&bed->profile, &bed->text);
	if (status != HD_OK)
		return status;
	status = scenario_parse(bed->text.text, bed->text.len,
				path ? path : bed->profile.name, d,
				&bed->scenario);
	if (status == HD_OK)
		status = fabric_build(&bed->scenario, d, &bed->build);
	if (status != HD_OK) {
		d->file = path; /* it pointed into the scenario */
		scenario_fini(&bed->scenario);
	}
	return status;
}

enum hd_status testbed_open(const char *profile, const char *path,
			    struct diag *d, struct testbed *out)
{
	enum hd_status status = profile_open(profile, d, &out->profile);

	if (status != HD_OK)
		return status;
	out->text = (struct strbuf)STRBUF_INIT;
	out->has_flows = path != NULL;
	status = open_fabric(out, path, d);
	if (status == HD_OK) {
		d->file = NULL; /* it was right: nothing later is its fault */
	} else {
		strbuf_fini(&out->text);
		profile_fini(&out->profile);
	}
	return status;
}

void testbed_close(struct testbed *bed)
{
	fabric_fini(&bed->build);
	scenario_fini(&bed->scenario);
	strbuf_fini(&bed->text);
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
	while (mtu && mtu + HEADERS > blocks * BLOCK)
		mtu = mtu > MIN_MTU ? mtu / 2 : 0;
	return mtu;
}

uint32_t testbed_mtu(const struct testbed *bed)
{
	const struct sim_setup *s = &bed->build.setup;
	uint32_t mtu = (uint32_t)bed->scenario.fabric.mtu;

	for (uint32_t i = 0; i < s->n_ports; i++) {
		if (s->ports[i].peer == SIM_NONE)
			continue;
		uint32_t own = port_mtu(&bed->build, i);

		mtu = own < mtu ? own : mtu;
	}
	return mtu;
}
