/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/file.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "qos/opensm.h"

struct values {
	struct common_options common;
	uint64_t vls;
	uint64_t mtu;
	uint64_t entries;
};

static const struct option options[] = {
	{ .name = "vls",
	  .kind = OPT_UINT,
	  .offset = offsetof(struct values, vls),
	  .value = "N",
	  .initial = "8",
	  .low = 1,
	  .high = 15,
	  .help = "data lanes of the fabric's links" },
	{ .name = "mtu",
	  .kind = OPT_SIZE,
	  .offset = offsetof(struct values, mtu),
	  .value = "SIZE",
	  .initial = "4096",
	  .help = "payload of the largest packets" },
	{ .name = "entries",
	  .kind = OPT_UINT,
	  .offset = offsetof(struct values, entries),
	  .value = "N",
	  .initial = "64",
	  .low = 1,
	  .high = 64,
	  .help = "entries that a port's arbitration tables have" },
	{ .name = NULL },
};

static const struct column finding_columns[] = {
	{ "line", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "code", NULL, VALUE_TEXT, ORIGIN_COMPUTED, 0 },
	{ "finding", NULL, VALUE_TEXT, ORIGIN_COMPUTED, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static const struct column lane_columns[] = {
	{ "sl", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "vl", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "high weight", "64 B", VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "low weight", "64 B", VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static uint64_t weight_of(const struct vlarb_entry *entry, unsigned n,
			  unsigned vl)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += entry[i].vl == vl ? entry[i].weight : 0;
	return sum;
}

/* The tables that a port of this kind ends up with. */
static void show_effective(struct results *r, const struct opensm_conf *conf,
			   const struct opensm_port *port)
{
	struct opensm_tables t;
	struct table *out = results_table(
		r, "lanes", "what OpenSM programs into switch ports",
		lane_columns);

	opensm_effective(conf, port, &t);
	for (unsigned sl = 0; sl < N_SLS; sl++) {
		unsigned vl = t.sl2vl.vl[sl];

		table_put_uint(out, sl);
		table_put_uint(out, vl);
		table_put_uint(out,
			       weight_of(t.vlarb.high, t.vlarb.n_high, vl));
		table_put_uint(out, weight_of(t.vlarb.low, t.vlarb.n_low, vl));
	}
}

/* Then it may be another file than was meant. */
static bool has_no_qos_key(const struct opensm_conf *conf)
{
	unsigned lines = conf->qos_line;

	for (unsigned i = 0; i < OPENSM_SCOPES; i++) {
		const struct opensm_set *set = &conf->set[i];

		lines |= set->high_limit_line | set->max_vls_line |
			 set->high.line | set->low.line | set->sl2vl.line;
	}
	return lines == 0;
}

static int lint(const struct values *v, const struct opensm_conf *conf)
{
	struct opensm_port port = { .scope = OPENSM_SWE,
				    .vls = (unsigned)v->vls,
				    .low_cap = (unsigned)v->entries,
				    .high_cap = (unsigned)v->entries };
	struct opensm_findings found = { 0 };
	struct results *r = results_new("qos lint");
	struct table *t = results_table(r, "findings",
					"what is likely not meant this way",
					finding_columns);

	opensm_lint(conf, &port, (unsigned)v->mtu, &found);
	for (size_t i = 0; i < found.n; i++) {
		if (found.items[i].line)
			table_put_uint(t, found.items[i].line);
		else
			table_put_none(t);
		table_put_text(t, found.items[i].code);
		table_put_text(t, found.items[i].message);
	}
	show_effective(r, conf, &port);
	if (has_no_qos_key(conf))
		results_remark(r, "no QoS key is in this file, so OpenSM's "
				  "defaults stand: is it the right one?");
	if (conf->max_op_vls < 5 && conf->max_op_vls_line)
		results_remark(
			r,
			"OpenSM lowers the links' lanes to max_op_vls in its first sweep and folds tables by what it read before: switch ports have the tables shown from its second heavy sweep on");
	bool clean = found.n == 0;

	opensm_findings_fini(&found);
	return output_results(&v->common, r, clean);
}

/* Of a binary file, OpenSM would read nothing and say nothing. */
static enum hd_status read_conf(const char *path, struct strbuf *text,
				struct diag *d, struct opensm_conf *out)
{
	if (file_read(path, FILE_LIMIT, d, text) != HD_OK)
		return d->status;
	size_t odd = text_find_binary(text->text, text->len);

	if (odd < text->len)
		return diag_fail(d, HD_ERR_INPUT,
				 "not a text file: byte %zu is 0x%02x", odd,
				 (unsigned char)text->text[odd]);
	opensm_conf_read(text->text, out);
	return HD_OK;
}

static int run(const struct command *self, int argc, char **argv)
{
	struct values v = { 0 };
	struct strbuf text = STRBUF_INIT;
	struct diag d = { .status = HD_OK };
	struct opensm_conf conf = { 0 };
	int n, status;

	if (!command_parse(self, &v, argc, argv, &n, &status))
		return status;
	if (n != 1)
		return command_usage(self, "which file?");
	if (v.mtu == 0 || v.mtu > 4096)
		return command_usage(self, "an MTU is 256 to 4096 bytes");
	if (read_conf(argv[0], &text, &d, &conf) != HD_OK) {
		strbuf_fini(&text);
		return command_refuse(&d);
	}
	status = lint(&v, &conf);
	opensm_conf_fini(&conf);
	strbuf_fini(&text);
	return status;
}

static const struct example examples[] = {
	{ "heddle qos lint /etc/opensm/opensm.conf",
	  "check a configuration for links with 8 lanes and 4 KiB packets" },
	{ "heddle qos lint --vls 4 --mtu 2048 --entries 8 opensm.conf",
	  "the same for smaller hardware" },
	{ NULL, NULL },
};

const struct command command_qos_lint = {
	.name = "qos lint",
	.summary = "what OpenSM will really do with its configuration",
	.arguments = "FILE",
	.description =
		"Reads the QoS options of an opensm.conf the way OpenSM does and\n"
		"reports where the outcome differs from what the file looks like:\n"
		"weights below one packet, lists that are too short, lanes that the\n"
		"links do not have, keys without effect, lines that are cut. Then\n"
		"shows the tables that switch ports end up with. Exit status 1 if\n"
		"there is a finding.\n",
	.options = options,
	.examples = examples,
	.run = run,
};
