/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/qos/tolerant.h"
#include "subnet/ends.h"
#include "cli/scenario.h"
#include "qos/broker.h"
#include "qos/establish.h"
#include "qos/requests.h"
#include "qos/reservations.h"

static const char *const mode_names[] = { "strict", "paper", "et", NULL };
static const char *const place_names[] = { "first", "spread", NULL };

struct values {
	struct common_options common;
	struct fabric_choice fabric;
	const char *requests;
	const char *save;
	const char *load;
	struct hd_rate link;
	struct hd_ratio best_effort;
	struct hd_ratio violations;
	uint64_t payload, overhead;
	uint64_t random;
	unsigned mode, place;
	struct option_list groups;
};

static const struct option options[] = {
	{ .name = "requests",
	  .kind = OPT_TEXT,
	  .offset = offsetof(struct values, requests),
	  .value = "FILE",
	  .help = "connections to ask for, one a line: source destination class rate [burst]; rate and burst are of payload" },
	{ .name = "group",
	  .kind = OPT_LIST,
	  .offset = offsetof(struct values, groups),
	  .value = "NAME:GROUP",
	  .help = "a multicast group, as 'heddle route --mcast' has it, that requests call group:NAME" },
	{ .name = "random",
	  .kind = OPT_UINT,
	  .offset = offsetof(struct values, random),
	  .value = "N",
	  .initial = "0",
	  .low = 0,
	  .high = 1000000,
	  .help = "instead, try to establish N random connections as paper 000 does" },
	OPTION_ENGINE(struct values, fabric.engine),
	OPTION_SET(struct values, fabric.set),
	{ .name = "mode",
	  .kind = OPT_CHOICE,
	  .offset = offsetof(struct values, mode),
	  .choices = mode_names,
	  .initial = "strict",
	  .help = "64 entries enforced, slots only, or full entries" },
	{ .name = "place",
	  .kind = OPT_CHOICE,
	  .offset = offsetof(struct values, place),
	  .choices = place_names,
	  .initial = "first",
	  .help = "where a lane's next table entry goes" },
	{ .name = "best-effort",
	  .kind = OPT_RATIO,
	  .offset = offsetof(struct values, best_effort),
	  .value = "SHARE",
	  .initial = "20%",
	  .help = "of every link, kept for best-effort traffic" },
	{ .name = "violations",
	  .kind = OPT_RATIO,
	  .offset = offsetof(struct values, violations),
	  .value = "SHARE",
	  .initial = "0",
	  .help = "admit on-off sources (rate PEAK~MEAN) statistically: a link may be asked for too much in this part of the time" },
	{ .name = "link",
	  .kind = OPT_RATE,
	  .offset = offsetof(struct values, link),
	  .value = "RATE",
	  .help = "take this for every link's data rate, not the fabric's own" },
	{ .name = "payload",
	  .kind = OPT_SIZE,
	  .offset = offsetof(struct values, payload),
	  .value = "SIZE",
	  .initial = "2048",
	  .help = "payload of packets; a burst that is not given is one packet" },
	{ .name = "overhead",
	  .kind = OPT_SIZE,
	  .offset = offsetof(struct values, overhead),
	  .value = "SIZE",
	  .initial = "26",
	  .help = "bytes beside the payload that count as reserved" },
	{ .name = "load",
	  .kind = OPT_TEXT,
	  .offset = offsetof(struct values, load),
	  .value = "FILE",
	  .help = "start from reservations saved before" },
	{ .name = "save",
	  .kind = OPT_TEXT,
	  .offset = offsetof(struct values, save),
	  .value = "FILE",
	  .help = "save the reservations, by the ends' GUIDs and names" },
	{ .name = NULL },
};

static const struct column request_columns[] = {
	{ "source", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "destination", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "sl", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "rate", "Mb/s", VALUE_REAL, ORIGIN_GIVEN, 3 },
	{ "admitted", NULL, VALUE_BOOL, ORIGIN_COMPUTED, 0 },
	{ "reason", NULL, VALUE_TEXT, ORIGIN_COMPUTED, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static const struct column summary_columns[] = {
	{ "live", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "fullest link", NULL, VALUE_TEXT, ORIGIN_COMPUTED, 0 },
	{ "reserved there", "%", VALUE_REAL, ORIGIN_COMPUTED, 2 },
	{ "mean reserved", "%", VALUE_REAL, ORIGIN_COMPUTED, 2 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static const struct column random_columns[] = {
	{ "tried", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "established", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "attempts", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "load with headers", "%", VALUE_REAL, ORIGIN_COMPUTED, 2 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static const struct column group_columns[] = {
	{ "group", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "tree", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "MLID", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "members", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "senders besides", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

struct run {
	struct values v;
	struct fabric *fabric;
	struct broker broker;
	struct stat_broker tolerant; /* with --violations */
	struct results *results;
	unsigned refused;
};

static double reserved_share(const struct broker_link *link)
{
	return 100.0 * (link->high.total + link->low.total) / FRAME_SLOTS;
}

static void show_summary(const struct run *r)
{
	const struct topo *topo = &r->fabric->topo;
	struct table *t = results_record(r->results, "summary",
					 "after all requests", summary_columns);
	double sum = 0, most = -1;
	port_id fullest = 0;
	unsigned n = 0;

	for (port_id p = 0; p < topo->n_ports; p++) {
		if (r->broker.links[p].rate.num == 0)
			continue;
		double share = reserved_share(&r->broker.links[p]);

		sum += share;
		n++;
		if (share > most) {
			most = share;
			fullest = p;
		}
	}
	table_put_uint(t, r->broker.n_live);
	table_put_textf(t, "%s[%u]", topo_node_of(topo, fullest)->name,
			topo->ports[fullest].number);
	table_put_real(t, most);
	table_put_real(t, n ? sum / n : 0);
}

static void show_groups(const struct run *r)
{
	const struct subnet *s = &r->fabric->subnet;

	if (r->v.groups.n == 0)
		return;
	struct table *t = results_table(r->results, "groups",
					"multicast groups", group_columns);

	for (uint32_t i = 0; i < r->v.groups.n; i++) {
		const char *text = r->v.groups.items[i];
		const struct mcast_group *m = &s->groups[i];

		table_put_textf(t, "%.*s", (int)strcspn(text, ":"), text);
		table_put_text(t, mcast_method_names[m->method]);
		table_put_uint(t, m->mlid);
		table_put_uint(t, m->n_members);
		table_put_uint(t, m->n_senders);
	}
}

static struct qos_packets packets_of(const struct run *r)
{
	return (struct qos_packets){ .payload = (uint32_t)r->v.payload,
				     .overhead = (uint32_t)r->v.overhead };
}

static enum hd_status resolve_group(struct run *r, const struct qos_request *q,
				    struct diag *d, struct broker_request *out)
{
	struct subnet *s = &r->fabric->subnet;
	struct diag why = { .status = HD_OK };
	port_id from = fabric_find_end(r->fabric, q->source);
	struct qos_packets packets = qos_packets_global(packets_of(r));
	uint32_t group = 0;

	if (from == TOPO_NONE)
		return diag_fail_at(d, HD_ERR_NOT_FOUND, q->line, 0,
				    "no end port is called '%.80s'", q->source);
	if (named_group_find(s, &r->v.groups, q->destination, from, &why,
			     &group) != HD_OK)
		return diag_fail_at(d, why.status, q->line, 0, "%s",
				    why.message);
	*out = (struct broker_request){
		.source = from,
		.dlid = s->groups[group].mlid,
		.sl = class_sl(q->class, q->rate),
		.rate = qos_wire_rate(q, q->rate, &packets),
	};
	return HD_OK;
}

static enum hd_status resolve(struct run *r, const struct qos_request *q,
			      struct diag *d, struct broker_request *out)
{
	if (strncmp(q->destination, GROUP_PREFIX, strlen(GROUP_PREFIX)) == 0)
		return resolve_group(r, q, d, out);
	struct qos_packets packets = packets_of(r);
	port_id from = fabric_find_end(r->fabric, q->source);
	port_id to = fabric_find_end(r->fabric, q->destination);

	if (from == TOPO_NONE || to == TOPO_NONE)
		return diag_fail_at(d, HD_ERR_NOT_FOUND, q->line, 0,
				    "no end port is called '%.80s'",
				    from == TOPO_NONE ? q->source
						      : q->destination);
	if (r->fabric->topo.ports[from].subnet !=
	    r->fabric->topo.ports[to].subnet)
		return diag_fail_at(
			d, HD_ERR_UNFIT, q->line, 0,
			"'%.40s' and '%.40s' are in different subnets ('heddle qos signal' reserves across them)",
			q->source, q->destination);
	*out = (struct broker_request){
		.source = from,
		.dlid = r->fabric->subnet.lid_of_port[to],
		.sl = class_sl(q->class, q->rate),
		.rate = qos_wire_rate(q, q->rate, &packets),
	};
	return HD_OK;
}

/* By what a link may be asked for, and beside it by peaks. */
static enum hd_status ask_tolerantly(struct run *r, const struct qos_request *q,
				     struct table *t, struct diag *d)
{
	struct broker_request request = { 0 };
	struct broker_refusal by_peak;
	struct diag why = { .status = HD_OK };
	uint32_t id;
	enum hd_status status = resolve(r, q, d, &request);

	if (status != HD_OK)
		return status;
	const struct qos_packets packets = packets_of(r);
	const struct stat_request asked = {
		.source = request.source,
		.dlid = request.dlid,
		.sl = request.sl,
		.peak = hd_rate_bps(qos_wire_rate(q, q->rate, &packets)),
		.mean = hd_rate_bps(qos_wire_rate(q, q->mean, &packets)),
	};
	bool admitted = stat_broker_admit(&r->tolerant, &asked, &why) == HD_OK;

	tolerant_put(t, &(struct tolerant_answer){
				.source = q->source,
				.destination = q->destination,
				.sl = request.sl,
				.peak = q->rate,
				.mean = q->mean,
				.admitted = admitted,
				.by_peak = broker_admit(&r->broker, &request,
							&id, &by_peak) == HD_OK,
				.reason = why.message,
			});
	r->refused += !admitted;
	return HD_OK;
}

static enum hd_status ask(struct run *r, const struct qos_request *q,
			  struct table *t, struct diag *d)
{
	struct broker_request request = { 0 };
	struct broker_refusal why;
	struct strbuf reason = STRBUF_INIT;
	uint32_t id;
	enum hd_status status = resolve(r, q, d, &request);

	if (status != HD_OK)
		return status;
	bool admitted = broker_admit(&r->broker, &request, &id, &why) == HD_OK;

	if (!admitted)
		broker_refusal_print(&r->broker, &why, &reason);
	table_put_text(t, q->source);
	table_put_text(t, q->destination);
	table_put_uint(t, request.sl);
	table_put_rate(t, q->rate);
	table_put_bool(t, admitted);
	table_put_text(t, reason.text);
	strbuf_fini(&reason);
	r->refused += !admitted;
	return HD_OK;
}

static enum hd_status ask_all(struct run *r, struct diag *d)
{
	struct strbuf text = STRBUF_INIT;
	struct qos_requests list = { 0 };
	enum hd_status status = file_read(r->v.requests, FILE_LIMIT, d, &text);

	if (status == HD_OK)
		status = qos_requests_read(text.text, d, &list);
	if (status == HD_OK) {
		bool tolerant = r->v.violations.num > 0;
		struct table *t =
			tolerant ? tolerant_requests(r->results)
				 : results_table(r->results, "requests",
						 "in the order of the file",
						 request_columns);

		for (size_t i = 0; status == HD_OK && i < list.n; i++)
			status = tolerant ? ask_tolerantly(r, &list.items[i], t,
							   d)
					  : ask(r, &list.items[i], t, d);
	}
	qos_requests_fini(&list);
	strbuf_fini(&text);
	return status;
}

static enum hd_status ask_at_random(struct run *r, struct diag *d)
{
	struct establish_params p = establish_params_default();
	struct establish_result out = { 0 };

	p.seed = r->v.common.seed;
	p.tried = (uint32_t)r->v.random;
	p.payload = (uint32_t)r->v.payload;
	p.overhead = (uint32_t)r->v.overhead;
	enum hd_status status = establish(&r->broker, &p, d, &out);

	if (status != HD_OK)
		return status;
	struct table *t = results_record(r->results, "random",
					 "random connections", random_columns);

	table_put_uint(t, r->v.random);
	table_put_uint(t, out.established);
	table_put_uint(t, out.attempts);
	table_put_real(t, 100 * out.wire_load);
	r->refused += out.established < p.tried;
	return HD_OK;
}

/* Who sent to a shared tree when it was saved is led to it again. */
static enum hd_status lead_saved_senders(struct run *r,
					 const struct reservations *saved,
					 struct diag *d)
{
	struct subnet *s = &r->fabric->subnet;
	enum hd_status status = HD_OK;

	for (size_t i = 0; status == HD_OK && i < saved->n; i++) {
		const struct broker_request *q = &saved->items[i];

		for (uint32_t g = 0; status == HD_OK && g < s->n_groups; g++) {
			if (s->groups[g].mlid == q->dlid &&
			    s->groups[g].method == MCAST_SHARED)
				status = mcast_admit_sender(s, g, q->source, d);
		}
	}
	return status;
}

static enum hd_status load_state(struct run *r, struct diag *d)
{
	struct strbuf text = STRBUF_INIT;
	struct reservations saved = { 0 };
	enum hd_status status = file_read(r->v.load, FILE_LIMIT, d, &text);

	if (status == HD_OK)
		status = reservations_read(&r->fabric->subnet, text.text, d,
					   &saved);
	if (status == HD_OK)
		status = lead_saved_senders(r, &saved, d);
	if (status == HD_OK)
		status = reservations_admit(&r->broker, &saved, d);
	reservations_fini(&saved);
	strbuf_fini(&text);
	return status;
}

static enum hd_status save_state(struct run *r, struct diag *d)
{
	struct strbuf text = STRBUF_INIT;

	enum hd_status status = reservations_write(&r->broker, d, &text);

	if (status == HD_OK)
		status = file_write(r->v.save, text.text, text.len, d);
	strbuf_fini(&text);
	return status;
}

static enum hd_status work(struct run *r, struct diag *d)
{
	enum hd_status status =
		named_groups_add(&r->fabric->subnet, &r->v.groups, d);

	if (status == HD_OK && r->v.load)
		status = load_state(r, d);
	if (status == HD_OK && r->v.requests)
		status = ask_all(r, d);
	if (status == HD_OK && r->v.random)
		status = ask_at_random(r, d);
	if (status == HD_OK)
		status = broker_audit(&r->broker, d);
	if (status == HD_OK && r->v.save)
		status = save_state(r, d);
	return status;
}

/* Results in words; false if something was refused or not kept. */
static bool show(struct run *r)
{
	bool kept = true;

	show_groups(r);
	if (r->v.violations.num > 0)
		kept = tolerant_links(r->results, &r->tolerant,
				      r->v.common.seed);
	else
		show_summary(r);
	return kept && r->refused == 0;
}

static double share_of(struct hd_ratio r)
{
	return (double)r.num / (double)r.den;
}

static void tolerate(struct run *r)
{
	double rate = r->v.link.num ? hd_rate_bps(r->v.link) : 0;

	if (r->v.violations.num > 0)
		stat_broker_init(&r->tolerant, &r->fabric->subnet, rate,
				 1 - share_of(r->v.best_effort),
				 share_of(r->v.violations));
}

static int admit(struct run *r, const char *path)
{
	struct diag d = { .status = HD_OK };
	struct broker_params params = broker_params_default();

	params.mode = (enum fill_mode)r->v.mode;
	params.place = (enum fill_place)r->v.place;
	params.best_effort = r->v.best_effort;
	params.link_rate = r->v.link;
	params.high_sls = class_high_sls();
	if (fabric_choose(&r->v.fabric, path, &d, &r->fabric) != HD_OK)
		return command_refuse(&d);
	int exit_status = EXIT_DONE;

	d.file = NULL;
	if (broker_init(&r->broker, &r->fabric->subnet, &params, &d) != HD_OK) {
		exit_status = command_refuse(&d);
	} else {
		r->results = results_new("qos admit");
		tolerate(r);
		if (work(r, &d) != HD_OK) {
			results_free(r->results);
			exit_status = command_refuse(&d);
		} else {
			bool all = show(r);

			exit_status =
				output_results(&r->v.common, r->results, all);
		}
		if (r->v.violations.num > 0)
			stat_broker_fini(&r->tolerant);
		broker_fini(&r->broker);
	}
	fabric_free(r->fabric);
	return exit_status;
}

static int check_and_admit(struct run *r, const struct command *self, int n,
			   char **argv)
{
	if (n != 1)
		return command_usage(self, "which fabric?");
	if (!r->v.requests && !r->v.random && !r->v.load)
		return command_usage(self, "--requests, --random or --load?");
	if (r->v.best_effort.num > r->v.best_effort.den)
		return command_usage(
			self, "best effort cannot have more than the link");
	if (r->v.violations.num >= r->v.violations.den)
		return command_usage(self,
				     "violations all the time are no promise");
	if (r->v.violations.num > 0 &&
	    (r->v.random || r->v.load || r->v.save || r->v.groups.n > 0))
		return command_usage(
			self,
			"--violations goes with --requests, not with --random, --load, --save or --group");
	if (r->v.payload == 0 || r->v.payload > 4096 || r->v.overhead > 1024)
		return command_usage(
			self,
			"packets have 1 to 4096 bytes of payload and up to 1024 of overhead");
	int status;

	return fabric_engine_known(self, r->v.fabric.engine, &status)
		       ? admit(r, argv[0])
		       : status;
}

static int run(const struct command *self, int argc, char **argv)
{
	struct run r = { 0 };
	int n, status;

	if (command_parse(self, &r.v, argc, argv, &n, &status))
		status = check_and_admit(&r, self, n, argv);
	option_list_fini(&r.v.groups);
	fabric_choice_fini(&r.v.fabric);
	return status;
}

static const struct example examples[] = {
	{ "heddle qos admit --requests flows.txt site.ibnet",
	  "which of these connections the fabric can carry, and what refuses the others" },
	{ "heddle qos admit --group video:shared=h1,h2,h3 --requests flows.txt site.ibnet",
	  "the same with requests to a group, such as 'h0 group:video DB 64Mb/s'" },
	{ "heddle qos admit --violations 2% --requests flows.txt site.ibnet",
	  "on-off sources such as 'h0 h1 DB 400Mb/s~80Mb/s', with the violations asked for and seen" },
	{ "heddle topo gen mesh --hosts 4 | heddle qos admit --engine xy --random 3000 --mode paper --link 2.5Gb/s -",
	  "paper 000's establishment on a 4 x 4 mesh" },
	{ NULL, NULL },
};

const struct command command_qos_admit = {
	.name = "qos admit",
	.summary = "admit connections link by link over the routed paths",
	.arguments = "FABRIC",
	.description =
		"Reserves each connection on every link of its path, or on none, and\n"
		"says which link refused and why; one to a multicast group on every link\n"
		"of its tree, once. Reservations can be saved, loaded\n"
		"and are audited: the sum over connections is what every link holds.\n"
		"Loading finds each end by its GUID, whatever LID it has now, and\n"
		"refuses a line whose end is gone or cannot be told from another.\n"
		"\n"
		"Rates and bursts are of payload; what a link reserves counts the\n"
		"packets' headers too, --overhead bytes of each.\n"
		"\n"
		"With --violations sources are on and off, at the peak of their rate or\n"
		"silent, and are admitted as long as Chernoff's bound on the chance that\n"
		"a link is asked for more than it has stays within SHARE; whether they\n"
		"would be admitted by their peaks stands beside. Then the admitted ones\n"
		"are simulated, going on and off independently, and the part of the time\n"
		"in which each link was asked for too much is shown with a 95 % interval.\n"
		"Exit status 1 if something was refused, or more violations were seen\n"
		"than asked for.\n",
	.options = options,
	.examples = examples,
	.run = run,
};
