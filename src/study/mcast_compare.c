/* SPDX-License-Identifier: BSD-2-Clause */
#include "study/mcast_compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/rng.h"
#include "fabric/fabric.h"
#include "measure/interval.h"
#include "subnet/multicast/mcast_load.h"
#include "subnet/routing/deadlock.h"
#include "subnet/tables/packet.h"

#define MTU      4096
#define MAX_SIZE ((uint64_t)1 << 30) /* bytes of a message */

/* One method over all seeds; times are in picoseconds. */
struct mcast_variant {
	enum collective_scheme scheme;
	enum mcast_method tree;
	const char *name, *which;
	double completions[MCAST_COMPARE_MAX_SEEDS];
	uint32_t n_draws; /* completed draws */
	double mean, bound, completion, half_width, speedup;
	uint64_t received, lacking;
	uint32_t n_mlids;
	uint64_t entries;
	struct mcast_peak peak;
	uint32_t cycle;
	bool refused;
};
static const struct column way_columns[] = {
	{ "sent", NULL, CELL(mcast_variant, name) },
	{ "MLIDs", NULL, CELL(mcast_variant, n_mlids), ORIGIN_COMPUTED },
	{ "MFT entries", NULL, CELL(mcast_variant, entries), ORIGIN_COMPUTED },
	{ "busiest cable", "messages", CELL(mcast_variant, peak.link), ORIGIN_COMPUTED },
	{ "which", NULL, CELL(mcast_variant, which), ORIGIN_COMPUTED },
	{ "all cables", "messages", CELL(mcast_variant, peak.total), ORIGIN_COMPUTED },
	{ "cycle", "channels", CELL(mcast_variant, cycle), ORIGIN_COMPUTED },
	{ "bound", "us", CELL_TIME(mcast_variant, bound), ORIGIN_COMPUTED, 3 },
	{ "completion", "us", CELL_TIME(mcast_variant, completion), ORIGIN_SIMULATED, 3 },
	{ "+-", "us", CELL_TIME(mcast_variant, half_width), ORIGIN_SIMULATED, 3 },
	{ "mean", "us", CELL_TIME(mcast_variant, mean), ORIGIN_SIMULATED, 3 },
	{ "speedup", NULL, CELL(mcast_variant, speedup), ORIGIN_SIMULATED, 2 },
	{ "received", "packets", CELL(mcast_variant, received), ORIGIN_SIMULATED },
	{ "lacking", "messages", CELL(mcast_variant, lacking), ORIGIN_SIMULATED },
	{ NULL },
};

struct lacking_row {
	const char *sent, *source, *member;
	uint64_t seed;
};
static const struct column lacking_columns[] = {
	{ "sent", NULL, CELL(lacking_row, sent) },
	{ "seed", NULL, CELL(lacking_row, seed) },
	{ "source", NULL, CELL(lacking_row, source), ORIGIN_SIMULATED },
	{ "member", NULL, CELL(lacking_row, member), ORIGIN_SIMULATED },
	{ NULL },
};

struct drawn {
	uint64_t seed, amiss;
	const char *sent;
	hd_time completion, bound;
	double mean;
};
static const struct column draw_columns[] = {
	{ "seed", NULL, CELL(drawn, seed) },
	{ "sent", NULL, CELL(drawn, sent) },
	{ "completion", "us", CELL_TIME(drawn, completion), ORIGIN_SIMULATED, 3 },
	{ "mean", "us", CELL_TIME(drawn, mean), ORIGIN_SIMULATED, 3 },
	{ "bound", "us", CELL_TIME(drawn, bound), ORIGIN_COMPUTED, 3 },
	{ "amiss", "copies", CELL(drawn, amiss), ORIGIN_SIMULATED },
	{ NULL },
};

struct mcast_comparison {
	const struct mcast_compare_options *o;
	struct strbuf text; /* of the scenario */
	struct fabric *fabric;
	struct mcast_variant rows[1 + MCAST_COMPARE_TREES];
	unsigned n_rows;
	struct results *r;
	struct table *lacking, *draws;
	unsigned done; /* completed runs, including those that a fabric does not support */
	bool all_well, stopped;
};

static const char *host_name(const struct mcast_comparison *s, port_id p)
{
	return topo_node_of(&s->fabric->topo, p)->name;
}

/* ---- one operation ------------------------------------------------------ */

static enum hd_status draw(const struct mcast_comparison *s, struct rng *rng, const char *text,
			   struct selection *out, struct diag *d)
{
	const struct selector *hosts = s->fabric->selector;
	char one[32];

	if (strcmp(text, "one") == 0) {
		snprintf(one, sizeof(one), "%llu",
			 (unsigned long long)rng_below(rng, selector_hosts(hosts)->n));
		text = one;
	}
	return select_hosts(hosts, text, rng, d, out);
}

/* Properties of the tables in the first draw. */
static void look_at_tables(struct mcast_comparison *s, struct mcast_variant *row,
			   const struct collective_op *op)
{
	const struct subnet *subnet = &s->fabric->subnet;
	struct deadlock_check lock;
	struct mcast_load l;

	mcast_load_init(&l, subnet);
	for (uint32_t i = 0; i < op->n_sources; i++) {
		uint32_t first = 0, n = 0;

		if (row->scheme == COLLECTIVE_MULTICAST)
			n = collective_groups(subnet, op, i, &first);
		for (uint32_t k = first; k < first + n; k++)
			mcast_load_tree(&l, op->sources[i], subnet->groups[k].mlid);
		for (uint32_t k = 0; row->scheme == COLLECTIVE_UNICAST && k < op->n_members; k++) {
			if (op->members[k] != op->sources[i])
				mcast_load_unicast(&l, op->sources[i], op->members[k]);
		}
	}
	row->peak = mcast_load_peak(&l);
	mcast_load_fini(&l);
	row->entries = mcast_entries(subnet, 0);
	row->n_mlids = subnet->n_groups;
	route_check_deadlock(subnet, DEADLOCK_PLAIN, &lock);
	row->cycle = lock.n_cycle;
	route_deadlock_fini(&lock);
}

static void note_result(struct mcast_comparison *s, struct mcast_variant *row, uint32_t seed,
			const struct collective_op *op, const struct collective_result *r)
{
	row->completions[seed] = r->n_lacking ? -1 : (double)r->completion;
	row->n_draws++;
	row->mean += r->mean / (double)s->o->seeds;
	row->received += r->delivered;
	row->lacking += r->n_lacking;
	s->all_well &= r->n_lacking + r->duplicates + r->strays == 0;
	if (r->n_lacking && !s->lacking)
		s->lacking = results_table(s->r, "lacking", "who did not get a message whole",
					   lacking_columns);
	for (size_t i = 0; i < r->n_lacking; i++)
		table_put_row(s->lacking,
			      &(struct lacking_row){
				      .sent = row->name,
				      .seed = s->o->seed + seed,
				      .source = host_name(s, op->sources[r->lacking[i].source]),
				      .member = host_name(s, op->members[r->lacking[i].member]),
			      });
}

static void put_draw(struct mcast_comparison *s, const struct mcast_variant *row, uint32_t seed,
		     const struct collective_result *r, hd_time bound)
{
	struct drawn drawn = {
		.seed = s->o->seed + seed,
		.sent = row->name,
		.completion = r->n_lacking ? HD_TIME_NEVER : r->completion,
		.mean = r->mean,
		.bound = bound,
		.amiss = r->n_lacking + r->duplicates + r->strays + r->out_of_order,
	};

	table_put_row(s->draws, &drawn);
}

static void note_run(struct mcast_comparison *s, struct mcast_variant *row, uint32_t seed,
		     const struct collective_op *op, const struct collective_result *r)
{
	const struct fabric *fabric = s->fabric;
	hd_time bound = collective_bound(&fabric->setup, &fabric->subnet, op, row->scheme);

	row->bound += (double)bound / (double)s->o->seeds;
	if (seed == 0)
		look_at_tables(s, row, op);
	note_result(s, row, seed, op, r);
	put_draw(s, row, seed, r, bound);
}

static bool show_share(void *context, double share)
{
	const struct mcast_comparison *s = context;

	return !s->o->progress || s->o->progress(s->o->context, s->done + share);
}

static enum hd_status run_row(struct mcast_comparison *s, struct mcast_variant *row, uint32_t seed,
			      struct collective_op *op, struct diag *d)
{
	struct fabric *fabric = s->fabric;
	struct collective_result r;

	s->stopped = !show_share(s, 0);
	if (s->stopped)
		return HD_OK;
	op->tree = row->tree;
	mcast_clear(&fabric->subnet);
	enum hd_status status = collective_run(fabric, op, row->scheme, d, &r);

	if (status != HD_OK)
		return status;
	s->stopped = r.state == SIM_PAUSED;
	if (!s->stopped)
		note_run(s, row, seed, op, &r);
	collective_result_fini(&r);
	return HD_OK;
}

/* Runs all rows with the draw of one seed. */
static enum hd_status run_seed(struct mcast_comparison *s, uint32_t seed, struct diag *d)
{
	struct selection sources = { 0 }, members = { 0 };
	struct rng rng;
	enum hd_status status;

	rng_init(&rng, s->o->seed + seed, STREAM_GROUPS);
	status = draw(s, &rng, s->o->sources, &sources, d);
	if (status == HD_OK)
		status = draw(s, &rng, s->o->members, &members, d);
	struct collective_op op = {
		.sources = sources.ports,
		.n_sources = sources.n,
		.members = members.ports,
		.n_members = members.n,
		.bytes = s->o->size,
		.mtu = MTU,
		.overhead = s->o->headers ? PLAIN_OVERHEAD : 0,
		.grh = s->o->headers ? GRH_BYTES : 0,
		.sl = (uint8_t)s->o->sl,
		.vls = (uint8_t)s->o->vls,
		.per_packet = s->o->per_packet,
		.progress = show_share,
		.context = s,
	};

	for (unsigned i = 0; i < s->n_rows && status == HD_OK && !s->stopped;
	     i++, s->done += !s->stopped) {
		struct mcast_variant *row = &s->rows[i];

		if (row->refused)
			continue;
		status = run_row(s, row, seed, &op, d);
		/* A kind of tree that was not requested by name may not fit the fabric. */
		if (status == HD_ERR_UNFIT && i > 0 && s->o->trees.n == 0) {
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

/* ---- the fabric --------------------------------------------------------- */

/* A scenario without a topology, for calls that have a topology only. */
static const char bare_fabric[] =
	"fabric: {switch: {routing_delay: 95ns, arbitration_delay: 0ns}, packet: {overhead: 0}}\n"
	"traffic: [{name: op, kind: messages, payload: 1}]\n";

static void put_topology(const struct mcast_compare_options *o, struct overrides *out)
{
	overrides_put(out, "--topology", "fabric.topology", "{%s}", o->topology);
	if (o->headers)
		overrides_put(out, "--headers", "fabric.packet.overhead", "%u", GRH_OVERHEAD);
	if (o->routing && strcmp(o->routing, "xy") == 0)
		overrides_put(out, "--engine", "fabric.routing.lids", "paper");
	overrides_put(out, "--vls", "qos.vls", "%u", o->vls > 8 ? 15 : 8);
}

/* Sets input buffers to this number of packets of the message. */
static void put_buffers(const struct mcast_compare_options *o, struct overrides *out)
{
	uint32_t packet =
		(uint32_t)(o->size < MTU ? o->size : MTU) + (o->headers ? GRH_OVERHEAD : 0);
	unsigned bytes = (unsigned)o->buffer * blocks_of(packet) * BLOCK_BYTES;

	overrides_put(out, "--buffer", "fabric.switch.input_buffer", "%uB", bytes);
	overrides_put(out, "--buffer", "fabric.host.input_buffer", "%uB", bytes);
}

/* A message needs a source and another host as its receiver. */
static enum hd_status check_hosts(const struct mcast_comparison *s, struct diag *d)
{
	uint32_t n = selector_hosts(s->fabric->selector)->n;

	return n >= 2 ? HD_OK
		      : diag_fail(d, HD_ERR_UNFIT,
				  "multicast needs at least 2 connected hosts; the fabric has %u",
				  n);
}

/* Opens the fabric of one seed with the options applied. */
static enum hd_status open_fabric(struct mcast_comparison *s, uint32_t seed,
				  struct overrides *overrides, struct diag *d)
{
	const struct mcast_compare_options *o = s->o;

	if (o->topology)
		put_topology(o, overrides);
	if (o->buffer)
		put_buffers(o, overrides);
	overrides_copy(o->overrides, overrides);
	overrides_put(overrides, "--seed", "run.seed", "%llu", (unsigned long long)o->seed + seed);
	enum hd_status status =
		fabric_load(s->text.text, s->text.len, o->file, overrides, d, &s->fabric);

	if (status != HD_OK)
		return status;
	status = scenario_lacks_jobs(s->fabric->scenario, "heddle mcast", d);
	if (status == HD_OK)
		status = check_hosts(s, d);
	if (status != HD_OK) {
		fabric_free(s->fabric);
		return status;
	}
	d->file = NULL; /* it was right: nothing later is its fault */
	return HD_OK;
}

/* ---- output ------------------------------------------------------------- */

/* NULL if no cable is used. */
static const char *cable_name(const struct mcast_comparison *s, struct table *t, port_id p)
{
	const struct topo *topo = &s->fabric->topo;

	if (p == TOPO_NONE)
		return NULL;
	return table_text(t, "%s:%u -> %s", topo_node_of(topo, p)->name, topo->ports[p].number,
			  topo_node_of(topo, topo->ports[p].peer)->name);
}

/* Times are averaged over complete messages. */
static void put_row(const struct mcast_comparison *s, struct mcast_variant *row, struct table *t)
{
	uint32_t n = row->n_draws;
	double draws = (double)s->o->seeds / n; /* of which sums have parts */
	struct interval all = interval_of(row->completions, n, 0.95);
	struct interval first = interval_of(s->rows[0].completions, n, 0.95);
	bool whole = row->lacking == 0;
	bool both = whole && s->rows[0].lacking == 0;

	row->mean *= draws;
	row->bound *= draws;
	row->which = cable_name(s, t, row->peak.link_at);
	row->completion = whole ? all.mean : NAN;
	row->half_width = whole && n > 1 ? all.half_width : NAN;
	row->speedup = both ? first.mean / all.mean : NAN;
	table_put_row(t, row);
}

static void put_rows(struct mcast_comparison *s, struct table *t)
{
	for (unsigned i = 0; i < s->n_rows; i++) {
		struct mcast_variant *row = &s->rows[i];

		if (row->refused || row->n_draws == 0)
			continue;
		put_row(s, row, t);
		if (row->cycle)
			results_remark(
				s->r,
				"%s: a cycle of %u channels; with small buffers packets can lock up",
				row->name, row->cycle);
	}
}

static bool is_asked_for(const struct option_list *trees, const char *name)
{
	for (size_t i = 0; i < trees->n; i++) {
		if (strcmp(trees->items[i], name) == 0)
			return true;
	}
	return trees->n == 0;
}

static enum hd_status check_options(const struct mcast_compare_options *o, struct diag *d)
{
	if (o->size == 0 || o->size > MAX_SIZE)
		return diag_fail(d, HD_ERR_USAGE, "option --size: must be 1 byte to 1 GiB");
	if (o->sl + o->vls > N_SLS)
		return diag_fail(d, HD_ERR_USAGE,
				 "--sl %llu and --vls %llu need SL %llu: SLs are 0 to 15",
				 (unsigned long long)o->sl, (unsigned long long)o->vls,
				 (unsigned long long)(o->sl + o->vls - 1));
	return HD_OK;
}

void mcast_compare_tree_words(struct strbuf *out)
{
	for (unsigned m = 0; m < MCAST_COMPARE_TREES; m++)
		strbuf_printf(out, "%s ", mcast_method_names[m]);
}

static enum hd_status list_rows(struct mcast_comparison *s, struct diag *d)
{
	const struct option_list *trees = &s->o->trees;

	s->rows[s->n_rows++] =
		(struct mcast_variant){ .scheme = COLLECTIVE_UNICAST, .name = "unicast" };
	for (unsigned m = 0; m < MCAST_COMPARE_TREES; m++) {
		if (is_asked_for(trees, mcast_method_names[m]))
			s->rows[s->n_rows++] =
				(struct mcast_variant){ .scheme = COLLECTIVE_MULTICAST,
							.tree = m,
							.name = mcast_method_names[m] };
	}
	for (size_t i = 0; i < trees->n; i++) {
		bool known = false;

		for (unsigned m = 0; m < MCAST_COMPARE_TREES; m++)
			known |= strcmp(trees->items[i], mcast_method_names[m]) == 0;
		if (!known)
			return diag_fail(
				d, HD_ERR_USAGE,
				"unknown tree '%s' (expected xy, union, shortest, shared, dual-path, multi-path or double-xy)",
				trees->items[i]);
	}
	return HD_OK;
}

static enum hd_status run_seeds(struct mcast_comparison *s, struct diag *d)
{
	uint64_t n = s->o->seeds;
	enum hd_status status = HD_OK;
	struct table *t = results_table(s->r, "ways", "the same messages, sent in different ways",
					way_columns);

	s->draws = results_table(s->r, "draws", "each draw of sources and members", draw_columns);
	results_set_scenario(s->r, s->text.text);
	for (uint32_t i = 0; i < n && status == HD_OK && !s->stopped; i++) {
		struct overrides overrides = { 0 };

		status = open_fabric(s, i, &overrides, d);
		if (status == HD_OK) {
			status = run_seed(s, i, d);
			if ((i + 1 == n || s->stopped) && status == HD_OK)
				put_rows(s, t);
			fabric_free(s->fabric);
		}
		overrides_fini(&overrides);
	}
	if (s->stopped)
		results_remark(s->r, "interrupted after %u of %u runs", s->done,
			       mcast_compare_count(s->o));
	return status;
}

unsigned mcast_compare_count(const struct mcast_compare_options *o)
{
	size_t trees = o->trees.n ? o->trees.n : MCAST_COMPARE_TREES;

	return (unsigned)((1 + trees) * o->seeds);
}

enum hd_status mcast_compare_run(const struct mcast_compare_options *o, struct results *r,
				 struct diag *d, bool *all_well)
{
	struct mcast_comparison s = { .o = o, .text = STRBUF_INIT, .r = r, .all_well = true };
	enum hd_status status = check_options(o, d);

	if (status == HD_OK)
		status = list_rows(&s, d);
	if (o->topology)
		strbuf_puts(&s.text, bare_fabric);
	else if (status == HD_OK)
		status = file_read(o->file, SCENARIO_LIMIT, d, &s.text);
	if (status == HD_OK)
		status = run_seeds(&s, d);
	strbuf_fini(&s.text);
	*all_well = s.all_well;
	return status;
}
