/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/report/perfquery.h"

#include <string.h>

#include "wire/mad.h"

/* PortXmitWait is supported: bit 12 of the class's capability mask. */
#define CAP_MASK 0x1000

struct counter {
	const char *name;
	uint64_t value;
	unsigned bits;
};

static void set(uint8_t *mad, const struct counter *c)
{
	uint64_t most = (UINT64_C(1) << c->bits) - 1;

	mad_set(mad, c->name, c->value < most ? c->value : most);
}

/*
 * PortXmitData of packets: words of 4 bytes without the VCRC. Packets of one byte without overhead
 * have no VCRC.
 */
static uint64_t words_of(uint64_t bytes, uint64_t packets)
{
	return bytes > 2 * packets ? (bytes - 2 * packets) / 4 : 0;
}

/*
 * Words of each of 16 SLs or VLs, so that they add up to the words of all. Sizes that are not
 * multiples of 4 leave parts of words; sizes below a VCRC take the missing bytes from other rows.
 */
static void share_words(const uint64_t *bytes, const uint64_t *packets, uint64_t *out)
{
	uint64_t all_bytes = 0, all_packets = 0, given = 0;

	for (unsigned i = 0; i < 16; i++) {
		all_bytes += bytes[i];
		all_packets += packets[i];
	}
	uint64_t all = words_of(all_bytes, all_packets);

	all_bytes = all_packets = 0;
	for (unsigned i = 0; i < 16; i++) {
		all_bytes += bytes[i];
		all_packets += packets[i];
		uint64_t words = words_of(all_bytes, all_packets);

		words = words < all ? words : all;
		out[i] = words > given ? words - given : 0;
		given += out[i];
	}
}

/* PortXmitWait of a time, in ticks; one tick is the time of a word on the link. */
static uint64_t ticks_of(const struct sim_port *p, hd_time wait)
{
	return wait / hd_rate_duration(p->rate, 4);
}

static void begin(uint8_t *mad, uint16_t attribute, unsigned number)
{
	const struct mad_header h = { .mgmt_class = MAD_PERF,
				      .method = MAD_GET_RESP,
				      .attribute = attribute };

	mad_write(&h, mad);
	mad_set(mad, "PortSelect", number);
}

static void print(const uint8_t *mad, struct strbuf *out)
{
	struct mad m;
	struct diag d = { .status = HD_OK };

	if (mad_decode(mad, MAD_SIZE, &d, &m) == HD_OK)
		field_record_print(m.record, m.data, "", out);
}

/* All ports of a switch have one LID. */
static unsigned lid_of(const struct fabric *fabric, port_id port)
{
	const struct topo_node *node = topo_node_of(&fabric->topo, port);
	bool is_switch = node->kind == NODE_SWITCH;

	return fabric->subnet.lid_of_port[is_switch ? node->first_port : port];
}

enum { N_PLAIN = 12 };

static void plain_counters(const struct fabric *fabric, const struct sim_port *p,
			   const struct sim_counters *c, struct counter out[N_PLAIN])
{
	bool is_end = fabric->setup.nodes[p->node].kind == SIM_END;
	const struct counter counters[N_PLAIN] = {
		{ "LinkDownedCounter", c->link_downed, 8 },
		{ "PortRcvErrors", c->rcv_errors, 16 },
		{ "PortRcvSwitchRelayErrors", c->rcv_relay_errors, 16 },
		{ "PortXmitDiscards", c->xmit_discards, 16 },
		{ "PortXmitConstraintErrors", c->xmit_constraint_errors, 8 },
		/* End ports count these errors in PortInfo. */
		{ "PortRcvConstraintErrors", is_end ? 0 : c->rcv_constraint_errors, 8 },
		{ "VL15Dropped", c->vl15_dropped, 16 },
		{ "PortXmitData", words_of(c->xmit_bytes, c->xmit_packets), 32 },
		{ "PortRcvData", words_of(c->rcv_bytes, c->rcv_packets), 32 },
		{ "PortXmitPkts", c->xmit_packets, 32 },
		{ "PortRcvPkts", c->rcv_packets, 32 },
		{ "PortXmitWait", ticks_of(p, c->xmit_wait), 32 },
	};

	memcpy(out, counters, sizeof(counters));
}

static void print_port(const struct fabric *fabric, uint32_t port, const struct sim_counters *c,
		       struct strbuf *out)
{
	const struct sim_port *p = &fabric->setup.ports[port];
	unsigned number = fabric->topo.ports[p->origin].number;
	struct counter counters[N_PLAIN];
	uint8_t mad[MAD_SIZE];

	plain_counters(fabric, p, c, counters);
	begin(mad, ATTR_PORT_COUNTERS, number);
	for (size_t i = 0; i < N_PLAIN; i++)
		set(mad, &counters[i]);
	strbuf_printf(out, "# Port counters: Lid %u port %u (CapMask: 0x%x)\n",
		      lid_of(fabric, p->origin), number, CAP_MASK);
	print(mad, out);
}

/* Counters of 16 SLs or VLs: an attribute, and its name in perfquery. */
struct counter_family {
	const char *title, *name; /* the name precedes the number */
	unsigned bits;
	uint16_t attribute;
};

/* `values` has 16 numbers, which saturate at the maximum of their field. */
static void print_family(const struct fabric *fabric, uint32_t port, const struct counter_family *f,
			 const uint64_t *values, struct strbuf *out)
{
	port_id origin = fabric->setup.ports[port].origin;
	unsigned number = fabric->topo.ports[origin].number;
	uint8_t mad[MAD_SIZE];

	begin(mad, f->attribute, number);
	for (unsigned i = 0; i < 16; i++) {
		struct strbuf name = STRBUF_INIT;

		strbuf_printf(&name, "%s%u", f->name, i);
		const struct counter counter = { name.text, values[i], f->bits };

		set(mad, &counter);
		strbuf_fini(&name);
	}
	strbuf_printf(out, "# %s counters: Lid %u port %u\n", f->title, lid_of(fabric, origin),
		      number);
	print(mad, out);
}

enum { N_FAMILIES = 4 };

static const struct counter_family families[N_FAMILIES] = {
	{ "PortXmitDataSL", "XmtDataSL", 32, ATTR_PORT_XMIT_DATA_SL },
	{ "PortRcvDataSL", "RcvDataSL", 32, ATTR_PORT_RCV_DATA_SL },
	{ "PortVLOpPackets", "PortVLOpPackets", 16, ATTR_PORT_VL_OP_PACKETS },
	{ "PortVLOpData", "PortVLOpData", 32, ATTR_PORT_VL_OP_DATA },
};

static void family_values(const struct sim_counters *c, uint64_t out[N_FAMILIES][16])
{
	share_words(c->xmit_bytes_sl, c->xmit_packets_sl, out[0]);
	share_words(c->rcv_bytes_sl, c->rcv_packets_sl, out[1]);
	memcpy(out[2], c->rcv_packets_vl, sizeof(out[2]));
	share_words(c->rcv_bytes_vl, c->rcv_packets_vl, out[3]);
}

static void print_families(const struct fabric *fabric, uint32_t port, const struct sim_counters *c,
			   struct strbuf *out)
{
	uint64_t values[N_FAMILIES][16];

	family_values(c, values);
	for (unsigned f = 0; f < N_FAMILIES; f++)
		print_family(fabric, port, &families[f], values[f], out);
}

/* Updates are packets on the link in exact mode only. */
static void print_flow_control(const struct fabric *fabric, uint32_t port,
			       const struct sim_counters *c, struct strbuf *out)
{
	const struct counter sent = { "PortXmitFlowPkts", c->updates_sent, 32 };
	const struct counter received = { "PortRcvFlowPkts", c->updates_received, 32 };
	port_id origin = fabric->setup.ports[port].origin;
	unsigned number = fabric->topo.ports[origin].number;
	uint8_t mad[MAD_SIZE];

	begin(mad, ATTR_PORT_FLOW_CONTROL, number);
	set(mad, &sent);
	set(mad, &received);
	strbuf_printf(out, "# PortFlowCtlCounters counters: Lid %u port %u\n",
		      lid_of(fabric, origin), number);
	print(mad, out);
}

void perfquery_print(const struct fabric *fabric, const struct sim_metrics *m, const bool *ports,
		     struct strbuf *out)
{
	for (uint32_t i = 0; i < fabric->setup.n_ports; i++) {
		if (fabric->setup.ports[i].peer == SIM_NONE || (ports && !ports[i]))
			continue;
		struct sim_counters c;

		sim_port_counters(m, i, &c);
		print_port(fabric, i, &c, out);
		print_families(fabric, i, &c, out);
		if (fabric->setup.credits == SIM_CREDITS_EXACT)
			print_flow_control(fabric, i, &c, out);
	}
}

void perfquery_plain(const struct fabric *fabric, uint32_t port, const struct sim_counters *c,
		     void (*take)(void *context, const char *name, uint64_t value), void *context)
{
	struct counter plain[N_PLAIN];

	plain_counters(fabric, &fabric->setup.ports[port], c, plain);
	for (unsigned i = 0; i < N_PLAIN; i++)
		take(context, plain[i].name, plain[i].value);
}

/* Counters that PortCounters does not have, one at a time. */
static void take_further(const struct sim_counters *c,
			 void (*take)(void *context, const char *name, uint64_t value),
			 void *context)
{
	take(context, "PortUnicastXmitPkts", c->xmit_packets - c->xmit_multicast);
	take(context, "PortUnicastRcvPkts", c->rcv_packets - c->rcv_multicast);
	take(context, "PortMulticastXmitPkts", c->xmit_multicast);
	take(context, "PortMulticastRcvPkts", c->rcv_multicast);
	/* A corrupted packet is the only error that links make (F1). */
	take(context, "PortLocalPhysicalErrors", c->rcv_errors);
}

void perfquery_each(const struct fabric *fabric, uint32_t port, const struct sim_counters *c,
		    void (*take)(void *context, const char *name, uint64_t value), void *context)
{
	uint64_t values[N_FAMILIES][16];
	struct strbuf name = STRBUF_INIT;

	perfquery_plain(fabric, port, c, take, context);
	take_further(c, take, context);
	if (fabric->setup.credits == SIM_CREDITS_EXACT) {
		take(context, "PortXmitFlowPkts", c->updates_sent);
		take(context, "PortRcvFlowPkts", c->updates_received);
	}
	family_values(c, values);
	for (unsigned i = 0; i < N_FAMILIES * 16; i++) {
		strbuf_clear(&name);
		strbuf_printf(&name, "%s%u", families[i / 16].name, i % 16);
		take(context, name.text, values[i / 16][i % 16]);
	}
	strbuf_fini(&name);
}
