/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/rng.h"
#include "cli/fabric.h"
#include "cli/output.h"
#include "sim/collective/collective.h"
#include "sim/collective/fabric.h"
#include "sim/collective/study.h"
#include "subnet/deadlock.h"
#include "subnet/direction.h"
#include "subnet/mcast_load.h"

#define MAX_TEXT  ((size_t)16 << 20)
#define MAX_SEEDS 64
#define MAX_SIZE  ((uint64_t)1 << 30)
#define N_TREES   (MCAST_SHARED + 1) /* kinds that can be built */

struct compare_options {
	struct common_options common;
	const char *topology;
	const char *routing;
	const char *sources, *members;
	const char *fail;
	hd_time fail_at;
	double ber;
	uint64_t size;
	uint64_t lanes;
	bool per_packet, dedicated, headers;
	struct option_list trees;
	uint64_t seeds;
};

#define FIELD(name) offsetof(struct compare_options, name)

static const struct option options[] = {
	{ .name = "topology",
	  .kind = OPT_TEXT,
	  .offset = FIELD(topology),
	  .value = "TEXT",
	  .help = "the fabric, as after 'topology:' in a scenario; instead of "
		  "a FILE" },
	{ .name = "routing",
	  .kind = OPT_TEXT,
	  .offset = FIELD(routing),
	  .value = "ENGINE",
	  .initial = "minhop",
	  .help = "of the fabric that --topology says" },
	{ .name = "sources",
	  .kind = OPT_TEXT,
	  .offset = FIELD(sources),
	  .value = "HOSTS",
	  .initial = "one",
	  .help = "who sends: hosts as in a scenario (all, 40%, h0..h7), or "
		  "one drawn by the seed" },
	{ .name = "members",
	  .kind = OPT_TEXT,
	  .offset = FIELD(members),
	  .value = "HOSTS",
	  .initial = "all",
	  .help = "who receives" },
	{ .name = "size",
	  .kind = OPT_SIZE,
	  .offset = FIELD(size),
	  .value = "BYTES",
	  .initial = "2KiB",
	  .help = "of a message; in packets of at most 4 KiB" },
	{ .name = "tree",
	  .kind = OPT_LIST,
	  .offset = FIELD(trees),
	  .value = "KIND",
	  .help = "xy, union, shortest or shared; all that "
		  "the fabric allows if none is named" },
	{ .name = "lanes",
	  .kind = OPT_UINT,
	  .offset = FIELD(lanes),
	  .value = "N",
	  .low = 1,
	  .high = 15,
	  .initial = "1",
	  .help = "SLs that messages are spread over, from 0" },
	{ .name = "per-packet",
	  .kind = OPT_FLAG,
	  .offset = FIELD(per_packet),
	  .help = "spread packets over them, not messages" },
	{ .name = "dedicated",
	  .kind = OPT_FLAG,
	  .offset = FIELD(dedicated),
	  .help = "lanes by direction (2 or 4), on meshes and tori" },
	{ .name = "headers",
	  .kind = OPT_FLAG,
	  .offset = FIELD(headers),
	  .help = "add 26 bytes to a packet and 40 of a GRH to a multicast "
		  "one" },
	{ .name = "seeds",
	  .kind = OPT_UINT,
	  .offset = FIELD(seeds),
	  .value = "N",
	  .low = 1,
	  .high = MAX_SEEDS,
	  .initial = "1",
	  .help = "draws of shares of hosts, for intervals" },
	{ .name = "ber",
	  .kind = OPT_DOUBLE,
	  .offset = FIELD(ber),
	  .value = "RATE",
	  .initial = "0",
	  .help = "bit errors on all links" },
	{ .name = "fail",
	  .kind = OPT_TEXT,
	  .offset = FIELD(fail),
	  .value = "SWITCH",
	  .help = "a switch that fails under way" },
	{ .name = "fail-at",
	  .kind = OPT_TIME,
	  .offset = FIELD(fail_at),
	  .value = "TIME",
	  .initial = "1us",
	  .help = "when it fails" },
	{ .name = NULL },
};

static const struct example examples[] = {
	{ "heddle mcast compare --topology 'kind: fat-tree, radix: 8, levels: 2'",
	  "one source to all: trees of the source's own, and OpenSM's" },
	{ "heddle mcast compare --topology 'kind: mesh, columns: 8, rows: 8' "
	  "--routing xy --sources 40% --members 40% --seeds 10",
	  "many sources, with intervals over ten draws" },
	{ "heddle mcast compare --topology 'kind: ring, switches: 6, hosts: 1' "
	  "--fail s-2 --fail-at 300ns",
	  "who does not get the message when a switch fails" },
	{ NULL, NULL },
};

static const struct column row_columns[] = {
	{ "sent", NULL, VALUE_TEXT },
	{ "MLIDs", NULL, VALUE_UINT, ORIGIN_COMPUTED },
	{ "MFT entries", NULL, VALUE_UINT, ORIGIN_COMPUTED },
	{ "busiest cable", "messages", VALUE_UINT, ORIGIN_COMPUTED },
	{ "which", NULL, VALUE_TEXT, ORIGIN_COMPUTED },
	{ "all cables", "messages", VALUE_UINT, ORIGIN_COMPUTED },
	{ "cycle", "channels", VALUE_UINT, ORIGIN_COMPUTED },
	{ "bound", "us", VALUE_REAL, ORIGIN_COMPUTED, .places = 3 },
	{ "completion", "us", VALUE_REAL, ORIGIN_SIMULATED, .places = 3 },
	{ "+-", "us", VALUE_REAL, ORIGIN_SIMULATED, .places = 3 },
	{ "mean", "us", VALUE_REAL, ORIGIN_SIMULATED, .places = 3 },
	{ "speedup", NULL, VALUE_REAL, ORIGIN_SIMULATED, .places = 2 },
	{ "received", "packets", VALUE_UINT, ORIGIN_SIMULATED },
	{ "lacking", "messages", VALUE_UINT, ORIGIN_SIMULATED },
	{ NULL },
};

static const struct column lacking_columns[] = {
	{ "sent", NULL, VALUE_TEXT },
	{ "seed", NULL, VALUE_UINT },
	{ "source", NULL, VALUE_TEXT, ORIGIN_SIMULATED },
	{ "member", NULL, VALUE_TEXT, ORIGIN_SIMULATED },
	{ NULL },
};

/* One way to send it, over all seeds. */
struct row {
	enum coll_scheme scheme;
	enum mcast_method tree;
	const char *name;
	double completion[MAX_SEEDS];
	double mean, bound;
	uint64_t received, lacking;
	uint32_t n_mlids;
	uint64_t entries;
	struct mcast_peak peak;
	uint32_t cycle;
	bool refused;
};

struct session {
	struct compare_options o;
	struct strbuf text;
	struct coll_fabric f;
	struct row rows[1 + N_TREES];
	unsigned n_rows;
	struct results *r;
	struct table *lacking;
	bool all_well;
};

static const char *host_name(const struct session *s, port_id p)
{
	return topo_node_of(&s->f.build.topo, p)->name;
}

/* ---- one operation --------------------------------------------------------
 */

static enum hd_status draw(const struct session *s, struct rng *rng,
			   const char *text, struct selection *out,
			   struct diag *d)
{
	const struct selector *hosts = s->f.build.selector;
	char one[32];

	if (strcmp(text, "one") == 0) {
		snprintf(one, sizeof(one), "%llu",
			 (unsigned long long)rng_below(
				 rng, selector_hosts(hosts)->n));
		text = one;
	}
	return select_hosts(hosts, text, rng, d, out);
}

static uint64_t count_entries(const struct subnet *s)
{
	const struct mft *m = &s->mft[0];
	uint64_t n = 0;

	for (size_t i = 0; i < (size_t)m->n_mlids * s->n_switches; i++) {
		bool used = false;

		for (uint32_t w = 0; w < m->words; w++)
			used |= m->ports[i * m->words + w] != 0;
		n += used;
	}
	return n;
}

/* What the tables say of the first draw. */
static void look_at_tables(struct session *s, struct row *row,
			   const struct coll_op *op)
{
	const struct subnet *subnet = &s->f.build.subnet;
	struct deadlock_check lock;
	struct mcast_load l;

	mcast_load_init(&l, subnet);
	for (uint32_t i = 0; i < op->n_sources; i++) {
		if (row->scheme == COLL_MULTICAST)
			mcast_load_tree(
				&l, op->sources[i],
				subnet->groups[i < subnet->n_groups ? i : 0]
					.mlid);
		for (uint32_t k = 0;
		     row->scheme == COLL_UNICAST && k < op->n_members; k++) {
			if (op->members[k] != op->sources[i])
				mcast_load_unicast(&l, op->sources[i],
						   op->members[k]);
		}
	}
	row->peak = mcast_load_peak(&l);
	mcast_load_fini(&l);
	row->entries = count_entries(subnet);
	row->n_mlids = subnet->n_groups;
	check_deadlock(subnet, DEADLOCK_PLAIN, &lock);
	row->cycle = lock.n_cycle;
	deadlock_check_fini(&lock);
}

static void note_result(struct session *s, struct row *row, uint32_t seed,
			const struct coll_op *op, const struct coll_result *r)
{
	row->completion[seed] = r->n_lacking ? -1 : (double)r->completion;
	row->mean += r->mean / (double)s->o.seeds;
	row->received += r->delivered;
	row->lacking += r->n_lacking;
	s->all_well &= r->n_lacking + r->duplicates + r->strays == 0;
	if (r->n_lacking && !s->lacking)
		s->lacking = results_table(s->r, "lacking",
					   "who did not get a message whole",
					   lacking_columns);
	for (size_t i = 0; i < r->n_lacking; i++) {
		table_put_text(s->lacking, row->name);
		table_put_uint(s->lacking, s->o.common.seed + seed);
		table_put_text(s->lacking,
			       host_name(s, op->sources[r->lacking[i].source]));
		table_put_text(s->lacking,
			       host_name(s, op->members[r->lacking[i].member]));
	}
}

static enum hd_status run_row(struct session *s, struct row *row, uint32_t seed,
			      struct coll_op *op, struct diag *d)
{
	struct fabric *b = &s->f.build;
	struct coll_result r;

	op->tree = row->tree;
	mcast_clear(&b->subnet);
	enum hd_status status =
		coll_run(&b->setup, &b->subnet, op, row->scheme, d, &r);

	if (status != HD_OK)
		return status;
	hd_time bound = coll_bound(&b->setup, &b->subnet, op, row->scheme);

	row->bound += (double)bound / (double)s->o.seeds;
	if (seed == 0)
		look_at_tables(s, row, op);
	note_result(s, row, seed, op, &r);
	coll_result_fini(&r);
	return HD_OK;
}

/* All rows with the draw of one seed. */
static enum hd_status run_seed(struct session *s, uint32_t seed, struct diag *d)
{
	struct selection sources = { 0 }, members = { 0 };
	struct rng rng;
	enum hd_status status;

	rng_init(&rng, s->o.common.seed + seed, STREAM_GROUPS);
	status = draw(s, &rng, s->o.sources, &sources, d);
	if (status == HD_OK)
		status = draw(s, &rng, s->o.members, &members, d);
	struct coll_op op = {
		.sources = sources.ports,
		.n_sources = sources.n,
		.members = members.ports,
		.n_members = members.n,
		.bytes = s->o.size,
		.mtu = 4096,
		.overhead = s->o.headers ? 26 : 0,
		.grh = s->o.headers ? 40 : 0,
		.lanes = (uint8_t)(s->o.dedicated ? 1 : s->o.lanes),
		.per_packet = s->o.per_packet,
	};

	s->f.build.setup.seed = s->o.common.seed + seed;
	for (unsigned i = 0; i < s->n_rows && status == HD_OK; i++) {
		struct row *row = &s->rows[i];

		if (row->refused)
			continue;
		status = run_row(s, row, seed, &op, d);
		/* A tree nobody asked for by name may not fit the fabric. */
		if (status == HD_ERR_UNFIT && i > 0 && s->o.trees.n == 0) {
			row->refused = true;
			results_remark(s->r, "%s: %s", row->name, d->message);
			*d = (struct diag){ .status = HD_OK };
			status = HD_OK;
		}
	}
	selection_fini(&sources);
	selection_fini(&members);
	return status;
}

/* ---- the fabric -----------------------------------------------------------
 */

static void write_scenario(struct session *s)
{
	uint64_t packet = s->o.size < 4096 ? s->o.size : 4096;
	bool square = strcmp(s->o.routing, "xy") == 0;

	strbuf_printf(&s->text,
		      "fabric:\n"
		      "  topology: {%s}\n"
		      "  switch: {routing: 95ns, arbitration: 0ns}\n"
		      "  packet: {overhead: %u}\n"
		      "  routing: {engine: %s%s}\n"
		      "qos: {lanes: %u}\n"
		      "traffic: [{name: op, kind: messages, payload: %u}]\n",
		      s->o.topology, s->o.headers ? 66 : 0, s->o.routing,
		      square ? ", lids: paper" : "", s->o.lanes > 8 ? 15u : 8u,
		      (unsigned)packet);
}

static enum hd_status open_fabric(struct session *s, const char *file,
				  struct diag *d)
{
	enum hd_status status = HD_OK;

	if (file)
		status = file_read(file, MAX_TEXT, d, &s->text);
	else
		write_scenario(s);
	if (status == HD_OK)
		status = coll_fabric_init(&s->f, s->text.text,
					  file ? file : "--topology", d);
	return status;
}

static enum hd_status change_fabric(struct session *s, struct diag *d)
{
	struct fabric *b = &s->f.build;

	for (uint32_t p = 0; s->o.ber > 0 && p < b->setup.n_ports; p++)
		b->setup.ports[p].ber = s->o.ber;
	if (s->o.dedicated &&
	    direction_set_lanes(&b->subnet,
				s->o.lanes < 4 ? &lanes_ne_sw : &lanes_n_e_s_w,
				d) != HD_OK)
		return d->status;
	if (s->o.fail)
		return coll_fabric_fail(&s->f, s->o.fail, s->o.fail_at, d);
	return HD_OK;
}

/* ---- output ---------------------------------------------------------------
 */

static void put_cable(const struct session *s, struct table *t, port_id p)
{
	const struct topo *topo = &s->f.build.topo;

	if (p == TOPO_NONE) {
		table_put_none(t);
		return;
	}
	table_put_textf(t, "%s:%u -> %s", topo_node_of(topo, p)->name,
			topo->ports[p].number,
			topo_node_of(topo, topo->ports[p].peer)->name);
}

static void put_times(const struct session *s, struct table *t,
		      const struct row *row)
{
	uint32_t n = (uint32_t)s->o.seeds;
	struct interval all = interval_of(row->completion, n, 0.95);
	struct interval first = interval_of(s->rows[0].completion, n, 0.95);
	bool whole = row->lacking == 0;

	table_put_real(t, row->bound / HD_US);
	if (whole)
		table_put_real(t, all.mean / HD_US);
	else
		table_put_none(t);
	if (whole && n > 1)
		table_put_real(t, all.half_width / HD_US);
	else
		table_put_none(t);
	table_put_real(t, row->mean / HD_US);
	if (whole && s->rows[0].lacking == 0)
		table_put_real(t, first.mean / all.mean);
	else
		table_put_none(t);
}

static void put_rows(struct session *s, struct table *t)
{
	for (unsigned i = 0; i < s->n_rows; i++) {
		const struct row *row = &s->rows[i];

		if (row->refused)
			continue;
		table_put_text(t, row->name);
		table_put_uint(t, row->n_mlids);
		table_put_uint(t, row->entries);
		table_put_uint(t, row->peak.link);
		put_cable(s, t, row->peak.link_at);
		table_put_uint(t, row->peak.total);
		table_put_uint(t, row->cycle);
		put_times(s, t, row);
		table_put_uint(t, row->received);
		table_put_uint(t, row->lacking);
		if (row->cycle)
			results_remark(s->r,
				       "%s: a cycle of %u channels; with small "
				       "buffers packets can lock up",
				       row->name, row->cycle);
	}
}

/* ---- the command ----------------------------------------------------------
 */

static bool list_rows(struct session *s, const char **unknown)
{
	const struct option_list *l = &s->o.trees;

	s->rows[s->n_rows++] =
		(struct row){ .scheme = COLL_UNICAST, .name = "unicast" };
	for (unsigned m = 0; m < N_TREES; m++) {
		bool wanted = l->n == 0;

		for (size_t i = 0; i < l->n; i++)
			wanted |=
				strcmp(l->items[i], mcast_method_names[m]) == 0;
		if (wanted)
			s->rows[s->n_rows++] =
				(struct row){ .scheme = COLL_MULTICAST,
					      .tree = m,
					      .name = mcast_method_names[m] };
	}
	for (size_t i = 0; i < l->n; i++) {
		bool known = false;

		for (unsigned m = 0; m < N_TREES; m++)
			known |=
				strcmp(l->items[i], mcast_method_names[m]) == 0;
		if (!known) {
			*unknown = l->items[i];
			return false;
		}
	}
	return true;
}

static int compare(struct session *s, const char *file)
{
	struct diag d = { .status = HD_OK };
	enum hd_status status = open_fabric(s, file, &d);

	if (status != HD_OK)
		return command_refuse(&d);
	s->r = results_new("mcast compare");
	results_set_scenario(s->r, s->text.text);
	struct table *t = results_table(
		s->r, "ways", "the same messages, sent in different ways",
		row_columns);

	s->all_well = true;
	status = change_fabric(s, &d);
	for (uint32_t i = 0; i < s->o.seeds && status == HD_OK; i++)
		status = run_seed(s, i, &d);
	int code = EXIT_BAD_INPUT;

	if (status == HD_OK) {
		put_rows(s, t);
		code = output_results(&s->o.common, s->r, s->all_well);
	} else {
		results_free(s->r);
		code = command_refuse(&d);
	}
	coll_fabric_fini(&s->f);
	return code;
}

static int run(const struct command *self, int argc, char **argv)
{
	struct session s = { .text = STRBUF_INIT };
	const char *unknown = NULL;
	int n_args, status = EXIT_DONE;

	if (!command_parse(self, &s.o, argc, argv, &n_args, &status))
		return status;
	if (n_args > 1 || (n_args == 1) == (s.o.topology != NULL))
		status = command_usage(self, "give a scenario FILE or "
					     "--topology");
	else if (s.o.size == 0 || s.o.size > MAX_SIZE)
		status = command_usage(self, "a message has 1 byte to 1 GiB");
	else if (!(s.o.ber >= 0 && s.o.ber < 1))
		status = command_usage(self, "--ber is from 0 to below 1");
	else if (s.o.dedicated && s.o.lanes != 2 && s.o.lanes != 4)
		status =
			command_usage(self, "--dedicated needs --lanes 2 or 4");
	else if (!n_args && !fabric_engine_known(self, s.o.routing, &status))
		;
	else if (!list_rows(&s, &unknown))
		status = command_usage(self,
				       "no tree '%s'; there are xy, "
				       "union, shortest, shared",
				       unknown);
	else
		status = compare(&s, n_args ? argv[0] : NULL);
	strbuf_fini(&s.text);
	option_list_fini(&s.o.trees);
	return status;
}

const struct command command_mcast_compare = {
	.name = "mcast compare",
	.summary = "trees of all kinds and unicast, on any fabric",
	.arguments = "[FILE]",
	.description =
		"Every source sends one message to every member, all at once: as one\n"
		"copy per member, and along multicast trees. 'xy' and 'union' are the\n"
		"unicast paths laid together, 'shortest' a shortest-path tree, each\n"
		"with an MLID per source; 'shared' is the one spanning tree per group\n"
		"that OpenSM builds.\n"
		"\n"
		"FILE is a scenario whose fabric is used and whose traffic is not.\n"
		"Completion is when the last member has everything, the bound what\n"
		"no run can beat, the cycle the channels that could lock up. Exit\n"
		"status 1 if a member lacks something in the end; the output says who.\n",
	.options = options,
	.examples = examples,
	.run = run,
};
