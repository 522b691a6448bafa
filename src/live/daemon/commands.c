/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live/daemon/capture.h"
#include "live/daemon/daemon_internal.h"
#include "live/daemon/recording.h"
#include "subnet/subnet.h"
#include "subnet/tables/tables.h"
#include "topo/pack.h"

/* ---- names of ports: "leaf3:19", or "h4" for the port of an adapter with one port */

void daemon_node_names(const struct topo *t, struct text_map *out)
{
	for (node_id v = 0; v < t->n_nodes; v++)
		text_map_put(out, t->nodes[v].name, strlen(t->nodes[v].name), v);
}

enum hd_status daemon_port_named(const struct topo *t, const struct text_map *nodes,
				 const char *name, struct diag *d, port_id *out)
{
	const char *colon = strrchr(name, ':');
	uint32_t v = text_map_get(nodes, name, strlen(name));
	char *end = NULL;
	/* Only an adapter with one port can be named without a port number. */
	unsigned long number = v != MAP_NONE && !topo_is_switch(t, v) && t->nodes[v].n_ports == 1;

	if (v == MAP_NONE && colon) {
		v = text_map_get(nodes, name, (size_t)(colon - name));
		number = strtoul(colon + 1, &end, 10);
		if (colon[1] == '\0' || *end != '\0')
			v = MAP_NONE;
	}
	if (v == MAP_NONE)
		return diag_fail(d, HD_ERR_NOT_FOUND, "no port '%s' here", name);
	if (number > t->nodes[v].n_ports || (number == 0 && !end))
		return diag_fail(d, HD_ERR_NOT_FOUND,
				 "'%s' has the ports 1 to %u: which one is '%s'?", t->nodes[v].name,
				 t->nodes[v].n_ports, name);
	*out = topo_port_of(t, v, (unsigned)number);
	return HD_OK;
}

static enum hd_status find_port(const struct live *l, const char *name, struct diag *d,
				port_id *out)
{
	return daemon_port_named(l->topo, &l->node_of_name, name, d, out);
}

/* ---- link PORT down|up|speed NAME|width N */

static const char *const width_names[] = { "1x", "4x", "8x", "12x", "2x" };

static enum hd_status set_width(struct live *l, port_id p, const char *word, struct diag *d)
{
	for (unsigned i = 0; i < 5; i++) {
		if (strncmp(width_names[i], word, strlen(word)) != 0 ||
		    strlen(word) + 1 < strlen(width_names[i]))
			continue; /* "4x" or "4" */
		if (!(agents_port_get(l->agents, p, PORT_WIDTHS) >> i & 1))
			return diag_fail(d, HD_ERR_RANGE, "the port does not support '%s'", word);
		agents_port_set(l->agents, p, PORT_WIDTHS_ENABLED, 1U << i);
		agents_retrain(l->agents, p, daemon_now(l));
		return HD_OK;
	}
	return diag_fail(d, HD_ERR_INPUT, "'%s' is not a width (1x, 2x, 4x, 8x, 12x)", word);
}

static enum hd_status set_speed(struct live *l, port_id p, const char *word, struct diag *d)
{
	enum link_speed speed;

	if (link_speed_parse(word, &speed) != HD_OK)
		return diag_fail(d, HD_ERR_INPUT, "'%s' is not a speed (SDR ... NDR)", word);
	bool plain = speed <= SPEED_QDR;
	enum port_field of = plain ? PORT_SPEEDS : PORT_EXT_SPEEDS;
	uint64_t bit = UINT64_C(1) << (plain ? speed : speed - (unsigned)SPEED_FDR);

	if (speed == SPEED_FDR10 || !(agents_port_get(l->agents, p, of) & bit))
		return diag_fail(d, HD_ERR_RANGE, "the port does not support '%s'", word);
	agents_port_set(l->agents, p, PORT_SPEEDS_ENABLED, plain ? bit : 7);
	agents_port_set(l->agents, p, PORT_EXT_SPEEDS_ENABLED, plain ? 0 : bit);
	agents_retrain(l->agents, p, daemon_now(l));
	return HD_OK;
}

static enum hd_status link_command(struct live *l, const char *const *words, size_t n,
				   struct diag *d, struct strbuf *out)
{
	port_id p = TOPO_NONE;

	(void)out;
	if (n < 2)
		return diag_fail(
			d, HD_ERR_USAGE,
			"which PORT, and what to do to its link: down, up, speed NAME, width N?");
	enum hd_status status = find_port(l, words[0], d, &p);

	if (status != HD_OK)
		return status;
	adapters_count(l);
	l->changed = true;
	bool down = strcmp(words[1], "down") == 0;

	if (n == 2 && (down || strcmp(words[1], "up") == 0))
		return agents_set_cable(l->agents, p, !down, daemon_now(l))
			       ? HD_OK
			       : diag_fail(d, HD_ERR_NOT_FOUND, "no cable at '%s'", words[0]);
	if (n == 3 && strcmp(words[1], "width") == 0)
		return set_width(l, p, words[2], d);
	if (n == 3 && strcmp(words[1], "speed") == 0)
		return set_speed(l, p, words[2], d);
	return diag_fail(d, HD_ERR_USAGE,
			 "'%s' is nothing to do to a link (down, up, speed NAME, width N)",
			 words[1]);
}

/* ---- error PORT COUNTER N */

static enum hd_status error_command(struct live *l, const char *const *words, size_t n,
				    struct diag *d, struct strbuf *out)
{
	port_id p = TOPO_NONE;
	char *end;

	(void)out;
	if (n != 3)
		return diag_fail(d, HD_ERR_USAGE,
				 "which PORT and COUNTER, and how much is added to it?");
	enum hd_status status = find_port(l, words[0], d, &p);
	int counter = agents_counter_named(words[1]);

	errno = 0;
	unsigned long long more = strtoull(words[2], &end, 10);

	if (status != HD_OK)
		return status;
	if (counter < 0)
		return diag_fail(d, HD_ERR_NOT_FOUND,
				 "no counter '%s'; perfquery prints their names", words[1]);
	if (*end != '\0' || end == words[2] || words[2][0] == '-' || errno)
		return diag_fail(d, HD_ERR_INPUT, "'%s' is not a count", words[2]);
	agents_error(l->agents, p, (unsigned)counter, more, daemon_now(l));
	return HD_OK;
}

/* ---- show: a line per port, fields by tabs */

static const char *const state_names[] = { "?", "down", "initialize", "armed", "active", "?" };

static void show_port(const struct live *l, port_id p, struct strbuf *out)
{
	const struct topo *t = l->topo;
	port_id peer = t->ports[p].peer;
	uint64_t state = agents_port_get(l->agents, p, PORT_STATE);

	strbuf_printf(out, "%s\t%u\t%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t",
		      topo_node_of(t, p)->name, t->ports[p].number,
		      state_names[state < 5 ? state : 5], agents_port_get(l->agents, p, PORT_LID),
		      agents_port_get(l->agents, p, PORT_SM_LID),
		      agents_counter(l->agents, p, COUNT_LINK_DOWNED));
	if (peer != TOPO_NONE)
		strbuf_printf(out, "%s\t%u\n", topo_node_of(t, peer)->name, t->ports[peer].number);
	else
		strbuf_puts(out, "\t0\n");
}

static enum hd_status show_command(struct live *l, const char *const *words, size_t n,
				   struct diag *d, struct strbuf *out)
{
	(void)words;
	(void)n;
	(void)d;
	for (node_id v = 0; v < l->topo->n_nodes; v++) {
		const struct topo_node *node = &l->topo->nodes[v];

		for (unsigned i = node->kind == NODE_SWITCH ? 0 : 1; i <= node->n_ports; i++)
			show_port(l, node->first_port + i, out);
	}
	return HD_OK;
}

/* ---- host NAME: checks that the host exists */

static enum hd_status host_command(struct live *l, const char *const *words, size_t n,
				   struct diag *d, struct strbuf *out)
{
	if (n != 1)
		return diag_fail(d, HD_ERR_USAGE, "host NAME");
	uint32_t v = text_map_get(&l->node_of_name, words[0], strlen(words[0]));

	if (v == MAP_NONE)
		return diag_fail(d, HD_ERR_NOT_FOUND, "no host '%s' here", words[0]);
	if (l->topo->nodes[v].kind == NODE_SWITCH && !l->topo->nodes[v].enhanced_port0)
		return diag_fail(d, HD_ERR_UNFIT, "'%s' is a switch that runs no programs",
				 words[0]);
	/* Programs list these files before they read one. */
	if (sysfs_make(l, v) != 0)
		return diag_fail(d, HD_ERR_ENV, "cannot make the files of '%s'", words[0]);
	strbuf_printf(out, "%s\n", l->topo->nodes[v].name);
	return HD_OK;
}

/* ---- dump FORMAT: programmed tables in formats of other tools */

static enum hd_status dump_as(const struct live *l, const struct table_writer *w, struct diag *d,
			      struct strbuf *out)
{
	struct diag inner = { .status = HD_OK };
	struct topo addressed;
	struct subnet s;
	enum hd_status status = agents_subnet(l->agents, &inner, &addressed, &s);

	if (status == HD_OK)
		w->write(&s, out);
	else
		diag_fail(d, status, "no manager has been there yet: %s", inner.message);
	subnet_fini(&s);
	topo_fini(&addressed);
	return status;
}

static enum hd_status dump_command(struct live *l, const char *const *words, size_t n,
				   struct diag *d, struct strbuf *out)
{
	const struct table_writer *w = n == 1 ? tables_writer_find(words[0]) : NULL;

	return w ? dump_as(l, w, d, out) : diag_fail(d, HD_ERR_USAGE, "dump FORMAT");
}

/* ---- commands of other Heddle processes: tables and counters of their traffic */

static enum hd_status image_command(struct live *l, const char *const *words, size_t n,
				    struct diag *d, struct strbuf *out)
{
	(void)words;
	(void)n;
	(void)d;
	agents_save(l->agents, out);
	return HD_OK;
}

/* Nodes and cables, with their numbers. */
static enum hd_status topology_command(struct live *l, const char *const *words, size_t n,
				       struct diag *d, struct strbuf *out)
{
	struct topo copy;
	struct pack p;

	(void)words;
	(void)n;
	(void)d;
	topo_copy(l->topo, &copy);
	pack_to(&p, out);
	topo_pack(&p, &copy);
	topo_fini(&copy);
	return HD_OK;
}

/* Counters of these names at all ports, in port order. */
static enum hd_status counters_command(struct live *l, const char *const *words, size_t n,
				       struct diag *d, struct strbuf *out)
{
	unsigned counters[N_PORT_COUNTERS];
	struct pack p;

	for (size_t i = 0; i < n; i++) {
		int counter = i < N_PORT_COUNTERS ? agents_counter_named(words[i]) : -1;

		if (counter < 0)
			return diag_fail(d, HD_ERR_NOT_FOUND, "no counter '%s'", words[i]);
		counters[i] = (unsigned)counter;
	}
	adapters_count(l);
	pack_to(&p, out);
	for (port_id port = 0; port < l->topo->n_ports; port++) {
		for (size_t i = 0; i < n; i++) {
			uint64_t value = agents_counter(l->agents, port, counters[i]);

			pack_u64(&p, &value);
		}
	}
	return HD_OK;
}

/* Number of changes and start time of the fabric, which differs between fabrics. */
static enum hd_status version_command(struct live *l, const char *const *words, size_t n,
				      struct diag *d, struct strbuf *out)
{
	(void)words;
	(void)n;
	(void)d;
	strbuf_printf(out, "%" PRIu64 " %" PRIu64 "\n", l->version + l->changed,
		      (uint64_t)l->start);
	return HD_OK;
}

/* Parses the next `n` numbers of a text; NULL if there are fewer. */
static const char *take_numbers(const char *at, uint64_t *out, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		char *end;

		out[i] = strtoull(at, &end, 10);
		if (end == at || (*end != ' ' && *end != '\0'))
			return NULL;
		at = *end ? end + 1 : end;
	}
	return at;
}

/* "PORT COUNTER VALUE ...", as numbers: adds to counters. */
static enum hd_status count_command(struct live *l, const char *const *words, size_t n,
				    struct diag *d, struct strbuf *out)
{
	const char *at = n == 1 ? words[0] : "";

	(void)out;
	while (*at) {
		uint64_t v[3];

		at = take_numbers(at, v, 3);
		if (!at)
			return diag_fail(d, HD_ERR_INPUT, "no counts");
		if (v[0] >= l->topo->n_ports || v[1] >= N_PORT_COUNTERS)
			return diag_fail(d, HD_ERR_RANGE, "no such counter");
		agents_count(l->agents, (port_id)v[0], (unsigned)v[1], v[2]);
	}
	return HD_OK;
}

/* "PORT N SLID DLID SL P_KEY": packets that a port refused. */
static enum hd_status refuse_command(struct live *l, const char *const *words, size_t n,
				     struct diag *d, struct strbuf *out)
{
	uint64_t v[6];
	const char *end = n == 1 ? take_numbers(words[0], v, 6) : NULL;

	(void)out;
	if (!end || *end || v[0] >= l->topo->n_ports || v[4] > 15)
		return diag_fail(d, HD_ERR_INPUT, "no refusal");
	const struct key_violation what = {
		.slid = (uint16_t)v[2],
		.dlid = (uint16_t)v[3],
		.sl = (uint8_t)v[4],
		.key = (uint16_t)v[5],
	};

	agents_refuse(l->agents, (port_id)v[0], &what, v[1], daemon_now(l));
	return HD_OK;
}

/* ---- capture [PORT]: MADs on cables, written to the file that came with the call */

/* Takes the file and truncates it, if a capture can start; or -1. */
static int take_file(struct live *l, const char *const *words, size_t n, struct diag *d,
		     port_id *only)
{
	int file = l->given;

	*only = TOPO_NONE;
	if (n > 1 || file < 0) {
		diag_fail(d, HD_ERR_USAGE, "capture [PORT], and a file");
		return -1;
	}
	if (n == 1 && find_port(l, words[0], d, only) != HD_OK)
		return -1;
	if (ftruncate(file, 0) != 0 && errno != EINVAL) {
		diag_fail(d, HD_ERR_ENV, "no file to write to");
		return -1;
	}
	l->given = -1;
	return file;
}

static enum hd_status stop_capture(struct live *l, struct diag *d)
{
	bool whole = live_capture_close(l->capture);

	l->capture = NULL;
	return whole ? HD_OK : diag_fail(d, HD_ERR_IO, "not all of the capture could be written");
}

static enum hd_status capture_command(struct live *l, const char *const *words, size_t n,
				      struct diag *d, struct strbuf *out)
{
	port_id only;

	(void)out;
	if (l->capture)
		return diag_fail(d, HD_ERR_FULL, "there is a capture already");
	int file = take_file(l, words, n, d, &only);
	FILE *stream = file >= 0 ? fdopen(file, "wb") : NULL;

	if (file < 0)
		return d->status;
	if (!stream) {
		close(file);
		return diag_fail(d, HD_ERR_ENV, "no file to write to");
	}
	l->capture = live_capture_new(stream, true, only);
	return HD_OK;
}

/* ---- capture of programs' data, which the engine writes */

static enum hd_status no_engine(struct diag *d)
{
	return diag_fail(
		d, HD_ERR_ENV,
		"the engine that times data is gone; 'live down' and 'live up' start another");
}

static enum hd_status capture_data_command(struct live *l, const char *const *words, size_t n,
					   struct diag *d, struct strbuf *out)
{
	struct adapters_time t;
	port_id only;

	(void)out;
	adapters_time(l, &t);
	if (!t.is_timed)
		return diag_fail(
			d, HD_ERR_UNFIT,
			"the free clock copies messages from memory to memory without packets; start the fabric with 'live up --clock simulated'");
	if (!adapters_has_engine(l))
		return no_engine(d);
	if (l->data.state != CAPTURE_NONE)
		return diag_fail(d, HD_ERR_FULL, "there is a capture already");
	int file = take_file(l, words, n, d, &only);

	if (file >= 0)
		daemon_data_capture_begin(l, only, file);
	return d->status;
}

/* Returns "ends" until the engine has ended the capture. */
static enum hd_status release_data_command(struct live *l, const char *const *words, size_t n,
					   struct diag *d, struct strbuf *out)
{
	uint32_t state = l->data.state;

	(void)words;
	(void)n;
	daemon_data_capture_end(l);
	if (state == CAPTURE_NONE)
		return diag_fail(d, HD_ERR_NOT_FOUND, "no data are captured");
	if (state == CAPTURE_BROKEN)
		return diag_fail(d, HD_ERR_IO, "not all of the capture could be written");
	if (state != CAPTURE_WHOLE)
		strbuf_puts(out, "ends");
	return HD_OK;
}

static enum hd_status release_command(struct live *l, const char *const *words, size_t n,
				      struct diag *d, struct strbuf *out)
{
	(void)words;
	(void)n;
	(void)out;
	return l->capture ? stop_capture(l, d)
			  : diag_fail(d, HD_ERR_NOT_FOUND, "nothing is captured");
}

/* ---- time [pause|resume]: the simulated clock */

static enum hd_status clock_command(struct live *l, const char *const *words, size_t n,
				    struct diag *d, struct strbuf *out)
{
	bool holds = n == 1 && strcmp(words[0], "pause") == 0;
	struct adapters_time t;

	adapters_time(l, &t);
	if (n > 1 || (n == 1 && !holds && strcmp(words[0], "resume") != 0))
		return diag_fail(
			d, HD_ERR_USAGE,
			"invalid words after 'live time': expected nothing, 'pause' or 'resume'");
	if (!t.is_timed)
		return diag_fail(
			d, HD_ERR_UNFIT,
			"the fabric has the free clock; start it with 'live up --clock simulated'");
	if (!adapters_has_engine(l))
		return no_engine(d);
	if (n == 1) {
		adapters_hold(l, holds);
		return HD_OK;
	}
	strbuf_printf(out, "%.9f s, %s, %u programs, %" PRIu64 " requests%s\n",
		      (double)t.now / (double)HD_S, t.is_held ? "paused" : "running", t.programs,
		      t.posted, l->traffic.state == TRAFFIC_RUNS ? ", traffic attached" : "");
	return HD_OK;
}

static enum hd_status down_command(struct live *l, const char *const *words, size_t n,
				   struct diag *d, struct strbuf *out)
{
	(void)words;
	(void)n;
	(void)out;
	bool captured = live_capture_close(l->capture);
	bool recorded = recorder_close(l->recorder);

	l->capture = NULL;
	l->recorder = NULL;
	l->ends = true;
	if (!captured || !recorded)
		return diag_fail(d, HD_ERR_IO, "not all of the %s could be written",
				 recorded ? "capture" : "recording");
	return HD_OK;
}

enum hd_status live_obey(struct live *l, const char *const *words, size_t n, struct diag *d,
			 struct strbuf *out)
{
	static const struct {
		const char *name;
		enum hd_status (*obey)(struct live *l, const char *const *words, size_t n,
				       struct diag *d, struct strbuf *out);
	} commands[] = {
		{ "host", host_command },
		{ "link", link_command },
		{ "inject-error", error_command },
		{ "fault", daemon_fault_command },
		{ "show", show_command },
		{ "dump", dump_command },
		{ "image", image_command },
		{ "version", version_command },
		{ "count", count_command },
		{ "refuse", refuse_command },
		{ "capture", capture_command },
		{ "release", release_command },
		{ "capture-data", capture_data_command },
		{ "release-data", release_data_command },
		{ "time", clock_command },
		{ "attach", daemon_traffic_attach },
		{ "attached", daemon_traffic_state },
		{ "detach", daemon_traffic_detach },
		{ "traffic-done", daemon_traffic_done },
		{ "down", down_command },
		{ "topology", topology_command },
		{ "counters", counters_command },
	};

	for (size_t i = 0; n > 0 && i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(commands[i].name, words[0]) == 0)
			return commands[i].obey(l, words + 1, n - 1, d, out);
	return diag_fail(d, HD_ERR_USAGE, "no command '%s'", n > 0 ? words[0] : "");
}
