/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/perfquery.h"

#include <string.h>

#include "wire/mad.h"

/* PortXmitWait is there: bit 12 of the class's capabilities. */
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

static uint64_t words(uint64_t bytes, uint64_t packets)
{
	return (bytes - 2 * packets) / 4;
}

static uint64_t ticks(const struct sim_port *p, hd_time wait)
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
		record_print(m.record, m.data, "", out);
}

/* A switch has one LID for all its ports. */
static unsigned lid_of(const struct sim_build *b, port_id port)
{
	const struct topo_node *node = topo_node_of(&b->topo, port);
	bool is_switch = node->kind == NODE_SWITCH;

	return b->subnet.lid_of_port[is_switch ? node->first_port : port];
}

static void print_port(const struct sim_build *b, uint32_t port,
		       const struct sim_counters *c, struct strbuf *out)
{
	const struct sim_port *p = &b->setup.ports[port];
	unsigned number = b->topo.ports[p->origin].number;
	const struct counter counters[] = {
		{ "PortRcvErrors", c->rcv_errors, 16 },
		{ "PortRcvSwitchRelayErrors", c->rcv_relay_errors, 16 },
		{ "PortXmitDiscards", c->xmit_discards, 16 },
		{ "PortXmitConstraintErrors", c->xmit_constraint_errors, 8 },
		{ "PortRcvConstraintErrors", c->rcv_constraint_errors, 8 },
		{ "VL15Dropped", c->vl15_dropped, 16 },
		{ "PortXmitData", words(c->xmit_bytes, c->xmit_packets), 32 },
		{ "PortRcvData", words(c->rcv_bytes, c->rcv_packets), 32 },
		{ "PortXmitPkts", c->xmit_packets, 32 },
		{ "PortRcvPkts", c->rcv_packets, 32 },
		{ "PortXmitWait", ticks(p, c->xmit_wait), 32 },
	};
	uint8_t mad[MAD_SIZE];

	begin(mad, ATTR_PORT_COUNTERS, number);
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
		set(mad, &counters[i]);
	strbuf_printf(out, "# Port counters: Lid %u port %u (CapMask: 0x%x)\n",
		      lid_of(b, p->origin), number, CAP_MASK);
	print(mad, out);
}

/* The words of one SL: its share of all. */
static uint64_t sl_words(uint64_t bytes, uint64_t all_bytes, uint64_t all_words)
{
	if (!all_bytes)
		return 0;
	return (uint64_t)((double)bytes / (double)all_bytes *
				  (double)all_words +
			  0.5);
}

static void print_sls(const struct sim_build *b, uint32_t port,
		      const struct sim_counters *c, bool sent,
		      struct strbuf *out)
{
	const struct sim_port *p = &b->setup.ports[port];
	uint64_t bytes = sent ? c->xmit_bytes : c->rcv_bytes;
	uint64_t packets = sent ? c->xmit_packets : c->rcv_packets;
	uint8_t mad[MAD_SIZE];

	begin(mad, sent ? ATTR_PORT_XMIT_DATA_SL : ATTR_PORT_RCV_DATA_SL,
	      b->topo.ports[p->origin].number);
	for (unsigned sl = 0; sl < N_SLS; sl++) {
		struct strbuf name = STRBUF_INIT;
		uint64_t part =
			sent ? c->xmit_bytes_sl[sl] : c->rcv_bytes_sl[sl];

		strbuf_printf(&name, "%sDataSL%u", sent ? "Xmt" : "Rcv", sl);
		const struct counter counter = {
			name.text, sl_words(part, bytes, words(bytes, packets)),
			32
		};

		set(mad, &counter);
		strbuf_fini(&name);
	}
	strbuf_printf(out, "# Port%sDataSL counters: Lid %u port %u\n",
		      sent ? "Xmit" : "Rcv", lid_of(b, p->origin),
		      b->topo.ports[p->origin].number);
	print(mad, out);
}

void perfquery_print(const struct sim_build *b, const struct sim_metrics *m,
		     const bool *ports, struct strbuf *out)
{
	for (uint32_t i = 0; i < b->setup.n_ports; i++) {
		if (b->setup.ports[i].peer == SIM_NONE || (ports && !ports[i]))
			continue;
		print_port(b, i, &m->counters[i], out);
		print_sls(b, i, &m->counters[i], true, out);
		print_sls(b, i, &m->counters[i], false, out);
	}
}
