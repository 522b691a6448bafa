/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "fabric/fabric_internal.h"

#define MAX_FIELDS 5

/* A trace being read: lines "time,source,destination,payload[,sl]". */
struct trace {
	struct fabric *fabric;
	const struct scn_traffic *t;
	struct diag *d;
	unsigned line;
	struct sim_arrival *packets;
	port_id *sources; /* per packet */
	size_t n, cap, sources_cap;
};

/* The n-th field of a line in `text`, NUL-terminated in place. */
static unsigned split(char *line, char **fields)
{
	unsigned n = 0;

	for (char *at = line; n < MAX_FIELDS; n++) {
		while (*at == ' ' || *at == '\t')
			at++;
		fields[n] = at;
		char *comma = strchr(at, ',');
		char *end = comma ? comma : at + strlen(at);

		while (end > at && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
			end--;
		if (!comma) {
			*end = '\0';
			return n + 1;
		}
		*end = '\0';
		at = comma + 1;
	}
	return MAX_FIELDS + 1;
}

static enum hd_status refuse(const struct trace *r, const char *message)
{
	return diag_fail_at(r->d, HD_ERR_INPUT, r->line, 0, "%s", message);
}

static enum hd_status read_host(const struct trace *r, const char *name, port_id *out)
{
	struct diag inner = { .status = HD_OK };
	struct selection hosts;

	if (select_hosts(r->fabric->selector, name, NULL, &inner, &hosts) != HD_OK)
		return refuse(r, inner.message);
	uint32_t n = hosts.n;

	*out = hosts.ports[0];
	selection_fini(&hosts);
	return n == 1 ? HD_OK : refuse(r, "more than one host");
}

static enum hd_status read_numbers(const struct trace *r, char **fields, unsigned n,
				   struct sim_arrival *out)
{
	const struct scenario *s = r->fabric->scenario;
	struct diag inner = { .status = HD_OK };
	uint64_t payload, sl = scenario_sl(s, r->t);
	hd_time time;

	if (hd_time_parse(fields[0], &inner, &time) != HD_OK ||
	    hd_size_parse(fields[3], &inner, &payload) != HD_OK ||
	    (n > 4 && hd_uint_parse(fields[4], &inner, &sl) != HD_OK))
		return refuse(r, inner.message);
	if (payload > s->fabric.mtu)
		return refuse(r, "a payload larger than the MTU");
	if (sl >= N_SLS)
		return refuse(r, "an SL above 15");
	if (time > HD_TIME_NEVER - 1 - r->t->start)
		return refuse(r, "a time beyond the end of time");
	out->time = time + r->t->start;
	out->bytes = (uint32_t)(payload + s->fabric.overhead);
	out->sl = (uint8_t)sl;
	if (r->n && out->time < r->packets[r->n - 1].time)
		return refuse(r, "a time before that of the line above");
	return HD_OK;
}

static enum hd_status read_line(struct trace *r, char *line)
{
	char *fields[MAX_FIELDS];
	struct sim_arrival a = { .pkey = 0xffff, .management = r->t->management };
	struct sim_address address;
	port_id source = TOPO_NONE, destination = TOPO_NONE;

	if (line[0] == '#' || !line[strspn(line, " \t\r")])
		return HD_OK;
	unsigned n = split(line, fields);

	if (n < 4 || n > MAX_FIELDS)
		return refuse(r, "expected time,source,destination,payload[,sl]");
	if (read_numbers(r, fields, n, &a) != HD_OK || read_host(r, fields[1], &source) != HD_OK ||
	    read_host(r, fields[2], &destination) != HD_OK)
		return r->d->status;
	if (source == destination)
		return refuse(r, "source and destination are the same");
	if (!fabric_address(r->fabric, source, destination, &address))
		return refuse(r, "no path to the destination");
	a.source = r->fabric->end_of_origin[source];
	a.dlid = address.dlid;
	if (address.target != TOPO_NONE) {
		a.global = true;
		a.target = address.target;
		a.tclass = fabric_tclass(r->t, a.sl);
		a.hop_limit = (uint8_t)r->t->hop_limit;
		a.bytes += r->fabric->grh_bytes;
	}
	r->packets = hd_grow(r->packets, &r->cap, r->n + 1, sizeof(*r->packets));
	r->sources = hd_grow(r->sources, &r->sources_cap, r->n + 1, sizeof(*r->sources));
	r->sources[r->n] = source;
	r->packets[r->n++] = a;
	return HD_OK;
}

static enum hd_status read_lines(struct trace *r, char *text)
{
	enum hd_status status = HD_OK;

	while (text && *text && status == HD_OK) {
		char *end = strchr(text, '\n');

		if (end)
			*end = '\0';
		r->line++;
		status = read_line(r, text);
		text = end ? end + 1 : NULL;
	}
	if (status == HD_OK && r->n == 0)
		return diag_fail(r->d, HD_ERR_INPUT, "a trace without packets");
	return status;
}

/* Adds one flow per source, with its packets in order. */
static void add_flows(struct trace *r, uint32_t row)
{
	struct fabric *fabric = r->fabric;
	uint32_t n_ports = fabric->topo.n_ports;
	size_t *count = hd_alloc(n_ports, sizeof(*count));
	uint32_t *most = hd_alloc(n_ports, sizeof(*most));
	struct {
		struct sim_arrival *at;
	} *next = hd_alloc(n_ports, sizeof(*next));

	for (size_t i = 0; i < r->n; i++) {
		port_id p = r->sources[i];

		count[p]++;
		if (r->packets[i].bytes > most[p])
			most[p] = r->packets[i].bytes;
	}
	for (port_id p = 0; p < n_ports; p++) {
		if (!count[p])
			continue;
		next[p].at = fabric_keep(fabric, count[p], sizeof(*r->packets));
		struct sim_flow *f = fabric_add_flow(fabric, row, p, TOPO_NONE);

		f->trace = next[p].at;
		f->n_trace = count[p];
		f->packets = 1;
		f->bytes = most[p];
	}
	for (size_t i = 0; i < r->n; i++)
		*next[r->sources[i]].at++ = r->packets[i];
	free(count);
	free(most);
	free(next);
}

enum hd_status fabric_build_trace(struct fabric *fabric, uint32_t row, struct diag *d)
{
	const struct scn_traffic *t = &fabric->scenario->traffic[row];
	struct diag inner = { .status = HD_OK };
	struct trace r = { .fabric = fabric, .t = t, .d = &inner };
	struct strbuf text = STRBUF_INIT;
	char *path = scenario_path(fabric->scenario, &t->file);
	enum hd_status status = file_read(path, FILE_LIMIT, &inner, &text);

	if (status == HD_OK)
		status = read_lines(&r, text.text);
	if (status != HD_OK && inner.line)
		scenario_refuse(fabric->scenario, d, &t->file, "%s:%u: %s", t->file, inner.line,
				inner.message);
	else if (status != HD_OK)
		fabric_refuse(fabric, d, &t->file, "traffic[].file", &inner);
	else
		add_flows(&r, row);
	free(r.packets);
	free(r.sources);
	free(path);
	strbuf_fini(&text);
	return status;
}
