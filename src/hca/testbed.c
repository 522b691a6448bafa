/* SPDX-License-Identifier: BSD-2-Clause */
#include "hca/testbed.h"

#include <string.h>

#include "base/strbuf.h"
#include "hca/hca_internal.h"
#include "subnet/tables/packet.h"

#define MIN_MTU 256

/* One switch and its hosts; the profile gives their number and links. */
static const char bare_fabric[] =
	"fabric:\n"
	"  switch: {arbitration_delay: 0ps, input_buffer: 16KiB}\n"
	"  host: {input_buffer: 16KiB}\n"
	"traffic:\n"
	"  - {name: none, kind: messages, source: h0, destination: h1, count: 1, payload: 256}\n";

static void put_number(struct overrides *o, const char *label, const char *path, uint64_t value,
		       const char *unit)
{
	overrides_put(o, label, path, "%llu%s", (unsigned long long)value, unit);
}

static void put_profile(struct testbed *bed, const char *name)
{
	const struct hca_profile *p = &bed->profile;
	struct overrides *o = &bed->overrides;
	struct strbuf label = STRBUF_INIT;

	strbuf_printf(&label, "the fabric of profile '%s'", name);
	overrides_put(o, label.text, "fabric.topology.kind", "star");
	overrides_put(o, label.text, "fabric.topology.link", "%s", p->link);
	put_number(o, label.text, "fabric.topology.hosts", p->hosts, "");
	put_number(o, label.text, "fabric.topology.vls", p->vls, "");
	put_number(o, label.text, "fabric.link.propagation", p->propagation, "ps");
	put_number(o, label.text, "fabric.switch.routing_delay", p->switch_delay, "ps");
	put_number(o, label.text, "qos.vls", p->vls, "");
	strbuf_fini(&label);
}

static enum hd_status load_own(struct testbed *bed, const char *name,
			       const struct overrides *overrides, struct diag *d)
{
	put_profile(bed, name);
	overrides_copy(overrides, &bed->overrides);
	return fabric_load(bare_fabric, strlen(bare_fabric), name, &bed->overrides, d,
			   &bed->fabric);
}

static enum hd_status read_users(struct testbed *bed, const char *path,
				 const struct overrides *overrides, struct diag *d)
{
	enum hd_status status = fabric_read(path, overrides, d, &bed->fabric);

	if (status != HD_OK)
		return status;
	status = scenario_lacks_jobs(bed->fabric->scenario, "heddle bench", d);
	if (status == HD_OK)
		status = scenario_has_no_capacity(bed->fabric->scenario, "adapters", d);
	if (status != HD_OK)
		fabric_free(bed->fabric);
	return status;
}

enum hd_status testbed_open(const char *profile, const char *path,
			    const struct overrides *overrides, struct diag *d, struct testbed *out)
{
	*out = (struct testbed){ .has_flows = path != NULL };
	enum hd_status status = profile_open(profile, d, &out->profile);

	if (status != HD_OK)
		return status;
	status = path ? read_users(out, path, overrides, d) : load_own(out, profile, overrides, d);
	if (status == HD_OK) {
		d->file = NULL; /* parsed completely: later errors are not in this file */
		return HD_OK;
	}
	overrides_fini(&out->overrides);
	profile_fini(&out->profile);
	return status;
}

void testbed_close(struct testbed *bed)
{
	fabric_free(bed->fabric);
	overrides_fini(&bed->overrides);
	profile_fini(&bed->profile);
}

/*
 * The MTU of the port, or less if a VL buffer cannot hold a packet of that size, which would wait
 * for ever.
 */
uint32_t hca_port_mtu(const struct fabric *fabric, uint32_t port)
{
	const struct sim_port *p = &fabric->setup.ports[port];
	uint32_t mtu = fabric->topo.ports[p->origin].mtu;
	uint32_t blocks = p->in_blocks;

	if (p->out_blocks && p->out_blocks < blocks)
		blocks = p->out_blocks;
	while (mtu && mtu + MOST_OVERHEAD > blocks * BLOCK_BYTES)
		mtu = mtu > MIN_MTU ? mtu / 2 : 0;
	return mtu;
}

uint32_t testbed_mtu(const struct testbed *bed)
{
	const struct sim_setup *s = &bed->fabric->setup;
	uint32_t mtu = (uint32_t)bed->fabric->scenario->fabric.mtu;

	for (uint32_t i = 0; i < s->n_ports; i++) {
		if (s->ports[i].peer == SIM_NONE)
			continue;
		uint32_t own = hca_port_mtu(bed->fabric, i);

		mtu = own < mtu ? own : mtu;
	}
	return mtu;
}
