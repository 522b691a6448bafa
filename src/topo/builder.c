/* SPDX-License-Identifier: BSD-2-Clause */
#include "topo/builder.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum hd_status build_check_size(const struct topo_params *p, uint64_t switches, uint64_t hosts,
				struct diag *d)
{
	uint64_t most = p->max_nodes ? p->max_nodes : BUILD_MAX_NODES;

	if (switches > most || hosts > most || switches + hosts > most)
		return diag_fail(d, HD_ERR_RANGE, "that makes more than %llu nodes",
				 (unsigned long long)most);
	return HD_OK;
}

enum hd_status build_check_ports(uint64_t ports, struct diag *d)
{
	if (ports > TOPO_MAX_PORTS)
		return diag_fail(d, HD_ERR_RANGE,
				 "that needs nodes of %llu ports; there are at most %u",
				 (unsigned long long)ports, TOPO_MAX_PORTS);
	return HD_OK;
}

node_id build_switch(struct topo *t, unsigned n_ports, const char *format, ...)
{
	struct strbuf name = STRBUF_INIT;
	va_list args;

	va_start(args, format);
	strbuf_vprintf(&name, format, args);
	va_end(args);
	node_id id = topo_add_node(t, NODE_SWITCH, n_ports, name.text);

	strbuf_fini(&name);
	return id;
}

void build_cable(struct topo *t, node_id a, unsigned pa, node_id b, unsigned pb)
{
	topo_link(t, topo_port_of(t, a, pa), topo_port_of(t, b, pb));
}

void build_hosts(struct topo *t, const struct topo_params *p, node_id sw, unsigned first,
		 uint32_t *n_hosts)
{
	unsigned port = first;

	for (uint64_t i = 0; i < p->hosts; i++) {
		char name[32];

		snprintf(name, sizeof(name), "h%u", (*n_hosts)++);
		node_id host = topo_add_node(t, NODE_CA, (unsigned)p->host_ports, name);

		memcpy(t->nodes[host].coord, t->nodes[sw].coord, sizeof(t->nodes[host].coord));
		t->nodes[host].is_tca = i >= p->hosts - p->tcas;
		for (unsigned n = 1; n <= p->host_ports; n++)
			build_cable(t, host, n, sw, port++);
	}
}

enum hd_status build_read_list(const char *text, const char *what, unsigned max, struct diag *d,
			       uint32_t *out, unsigned *n)
{
	const char *at = text;
	unsigned count = 0;

	do {
		char *end;
		unsigned long value = strtoul(at, &end, 10);

		if (end == at || *at < '0' || *at > '9' || value == 0 || value > UINT16_MAX ||
		    count == max || (*end && *end != ',' && *end != 'x'))
			return diag_fail(
				d, HD_ERR_INPUT,
				"%s '%s': expected up to %u numbers of 1 to %u, as in 4,4,8 or 4x4x8",
				what, text, max, UINT16_MAX);
		out[count++] = (uint32_t)value;
		at = *end ? end + 1 : end;
		if (*end && !*at)
			at = ""; /* a separator at the end: no number follows */
		else if (!*end)
			break;
	} while (true);
	*n = count;
	return HD_OK;
}
