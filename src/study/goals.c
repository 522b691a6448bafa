/* SPDX-License-Identifier: BSD-2-Clause */
#include "study/goals.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "scenario/document.h"

static double part_of(struct hd_ratio share)
{
	return share.den ? (double)share.num / (double)share.den : 0;
}

/* A value behind a word; "" if the phrase does not begin with it. */
static const char *behind(const char *phrase, const char *word)
{
	size_t len = strlen(word);

	if (strncmp(phrase, word, len) != 0)
		return "";
	return phrase + len + strspn(phrase + len, " ");
}

static enum hd_status refuse_again(const char *phrase, struct diag *d)
{
	return diag_fail(d, HD_ERR_INPUT, "'%.40s' repeats an earlier goal", phrase);
}

static enum hd_status read_senders(const char *number, struct diag *d, struct class_goal *g)
{
	char *end;
	unsigned long n = strtoul(number, &end, 10);

	if (*end || n == 0 || n > 1000000 || *number == '-')
		return diag_fail(d, HD_ERR_RANGE,
				 "invalid number of senders '%.20s' (expected 1 to 1000000)",
				 number);
	g->senders = (uint32_t)n;
	return HD_OK;
}

static enum hd_status read_sl(const char *number, struct diag *d, struct class_goal *g)
{
	char *end;
	unsigned long sl = strtoul(number, &end, 10);

	if (*end || sl >= N_SLS || *number < '0' || *number > '9')
		return diag_fail(d, HD_ERR_RANGE, "an SL is 0 to 15, not '%.20s'", number);
	g->has_sl = true;
	g->sl = (uint8_t)sl;
	return HD_OK;
}

/* Parses one phrase of a goal without surrounding blanks. */
static enum hd_status read_phrase(const char *phrase, uint32_t mtu, struct diag *d,
				  struct class_goal *g)
{
	const char *latency = behind(phrase, "latency");
	const char *packets = behind(phrase, "packets");
	const char *senders = behind(phrase, "senders");
	const char *least = behind(phrase, "at least");
	const char *sl = behind(phrase, "sl");
	const char *share = *least ? least : phrase;
	uint64_t bytes;

	if (strcmp(phrase, "leftovers") == 0) {
		g->leftovers = true;
		return HD_OK;
	}
	if (strcmp(phrase, "default") == 0) {
		g->is_default = true;
		return HD_OK;
	}
	if (*sl)
		return g->has_sl ? refuse_again(phrase, d) : read_sl(sl, d, g);
	if (*latency) {
		if (g->latency)
			return refuse_again(phrase, d);
		if (hd_time_parse(latency, d, &g->latency) != HD_OK)
			return d->status;
		return g->latency ? HD_OK : diag_fail(d, HD_ERR_RANGE, "a latency must be above 0");
	}
	if (*packets) {
		if (g->payload)
			return refuse_again(phrase, d);
		if (hd_size_parse(packets, d, &bytes) != HD_OK)
			return d->status;
		if (bytes == 0 || bytes > mtu)
			return diag_fail(d, HD_ERR_RANGE,
					 "payloads have 1 to %u bytes, not '%.20s'", mtu, packets);
		g->payload = (uint32_t)bytes;
		return HD_OK;
	}
	if (*senders)
		return g->senders ? refuse_again(phrase, d) : read_senders(senders, d, g);
	if (!strchr(phrase, '%') || hd_ratio_parse(share, d, &g->share) != HD_OK)
		return diag_fail(
			d, HD_ERR_INPUT,
			"unknown goal '%.40s' (expected 'at least 70%%', 'latency 20us', 'senders 8', 'leftovers', 'packets 2KiB', 'sl 3' or 'default')",
			phrase);
	if (g->has_share)
		return refuse_again(phrase, d);
	g->has_share = true;
	return HD_OK;
}

/* "at least 70 %, packets 2KiB": the blank before a percent sign goes. */
static enum hd_status read_goal(const char *text, uint32_t mtu, struct diag *d,
				struct class_goal *g)
{
	char *copy = hd_strdup(text), *rest = copy, *phrase;
	enum hd_status status = HD_OK;

	while (status == HD_OK && (phrase = strtok_r(rest, ",", &rest))) {
		char *sign = strchr(phrase, '%');

		phrase += strspn(phrase, " ");
		if (sign && sign > phrase && sign[-1] == ' ')
			memmove(sign - 1, sign, strlen(sign) + 1);
		for (size_t n = strlen(phrase); n && phrase[n - 1] == ' '; n--)
			phrase[n - 1] = '\0';
		status = read_phrase(phrase, mtu, d, g);
	}
	free(copy);
	if (!g->payload)
		g->payload = mtu;
	if (status == HD_OK && g->leftovers && (g->has_share || g->latency))
		status = diag_fail(d, HD_ERR_INPUT,
				   "'leftovers' cannot be combined with a share or a latency");
	if (status == HD_OK && !g->leftovers && !g->has_share && !g->latency)
		status = diag_fail(d, HD_ERR_INPUT, "no goal is given");
	if (status == HD_OK && g->senders && !g->latency)
		status = diag_fail(d, HD_ERR_INPUT, "'senders' requires a latency");
	return status;
}

static enum hd_status add_goal(struct document *doc, const yaml_node_pair_t *pair, uint32_t mtu,
			       struct diag *d, struct goals *out)
{
	const yaml_node_t *key = document_node(doc, pair->key);
	const yaml_node_t *value = document_node(doc, pair->value);
	unsigned line = (unsigned)key->start_mark.line + 1;
	struct diag inner = { .status = HD_OK };

	if (key->type != YAML_SCALAR_NODE || value->type != YAML_SCALAR_NODE)
		return diag_fail_at(d, HD_ERR_INPUT, line, 0, "expected 'CLASS: GOAL, ...', not %s",
				    document_kind(value));
	const char *name = (const char *)key->data.scalar.value;

	if (out->n == N_SLS - 1)
		return diag_fail_at(d, HD_ERR_RANGE, line, 0, "more than %d classes", N_SLS - 1);
	for (unsigned i = 0; i < out->n; i++) {
		if (strcmp(out->items[i].name, name) == 0)
			return diag_fail_at(d, HD_ERR_INPUT, line, 0,
					    "class '%.40s' is given twice", name);
	}
	struct class_goal *g = &out->items[out->n++];

	*g = (struct class_goal){ .name = hd_strdup(name) };
	if (read_goal((const char *)value->data.scalar.value, mtu, &inner, g) != HD_OK)
		return diag_fail_at(d, inner.status, line, 0, "class '%.40s': %s", name,
				    inner.message);
	return HD_OK;
}

/* Chooses the guaranteed share of each class; stated shares have precedence. */
static void choose_shares(struct goals *g)
{
	for (unsigned i = 0; i < g->n; i++) {
		const struct class_goal *goal = &g->items[i];
		struct hd_ratio share = goal->share;

		if (!goal->has_share)
			share = (struct hd_ratio){ goal->latency ? GOALS_SOON : GOALS_LEFT, 100 };
		g->classes[i] = (struct plan_class){
			.name = goal->name,
			.share = share,
			.payload = goal->payload,
			.latency = goal->latency > 0,
			.is_default = goal->is_default,
			.has_sl = goal->has_sl,
			.sl = goal->sl,
		};
	}
}

/* Reports shares that exceed a link, with proportional shares that fit. */
static enum hd_status refuse_sum(const struct goals *g, double said, double added, struct diag *d)
{
	struct strbuf near = STRBUF_INIT, sum = STRBUF_INIT;

	for (unsigned i = 0; i < g->n; i++) {
		double part = 100 * part_of(g->classes[i].share);

		strbuf_printf(&sum, "%s%s %.4g%%", i ? " + " : "", g->items[i].name, part);
		if (g->items[i].has_share)
			/* Down to a tenth, to be sure. */
			strbuf_printf(&near, "%s%s %.1f%%", near.len ? ", " : "", g->items[i].name,
				      part * (100 - added) / said - 0.05);
	}
	enum hd_status status = diag_fail(d, HD_ERR_RANGE, "%s is %.4g%% of the link; nearest: %s",
					  sum.text, said + added, near.text);

	strbuf_fini(&near);
	strbuf_fini(&sum);
	return status;
}

/* Sum of the stated shares, or of the added shares, in percent. */
static double sum_of(const struct goals *g, bool is_said)
{
	double sum = 0;

	for (unsigned i = 0; i < g->n; i++) {
		if (g->items[i].has_share == is_said)
			sum += 100 * part_of(g->classes[i].share);
	}
	return sum;
}

static enum hd_status check_sum(const struct goals *g, struct diag *d)
{
	double said = sum_of(g, true), added = sum_of(g, false);

	return said + added > 100 + 1e-9 ? refuse_sum(g, said, added, d) : HD_OK;
}

/* All lines of the file. */
static enum hd_status add_goals(struct document *doc, uint32_t mtu, struct diag *d,
				struct goals *out)
{
	const yaml_node_t *root = document_root(doc);
	enum hd_status status = HD_OK;

	if (root->type != YAML_MAPPING_NODE)
		return diag_fail_at(d, HD_ERR_INPUT, 1, 0,
				    "expected lines 'CLASS: GOAL, ...', not %s",
				    document_kind(root));
	for (const yaml_node_pair_t *pair = root->data.mapping.pairs.start;
	     status == HD_OK && pair < root->data.mapping.pairs.top; pair++)
		status = add_goal(doc, pair, mtu, d, out);
	return status;
}

enum hd_status goals_read(const char *text, size_t len, uint32_t mtu, struct diag *d,
			  struct goals *out)
{
	struct document doc;

	*out = (struct goals){ .n = 0 };
	enum hd_status status = document_load(text, len, "the list of goals", d, &doc);

	if (status != HD_OK)
		return status;
	status = add_goals(&doc, mtu, d, out);
	document_fini(&doc);
	if (status == HD_OK && out->n == 0)
		status = diag_fail(d, HD_ERR_INPUT, "no class has a goal");
	if (status == HD_OK) {
		choose_shares(out);
		status = check_sum(out, d);
	}
	return status;
}

enum hd_status goals_load(const char *path, uint32_t mtu, struct diag *d, struct goals *out)
{
	struct strbuf text = STRBUF_INIT;

	*out = (struct goals){ .n = 0 };
	d->file = path;
	enum hd_status status = file_read(path, FILE_WRITTEN_LIMIT, d, &text);

	if (status == HD_OK)
		status = goals_read(text.text, text.len, mtu, d, out);
	if (status == HD_OK)
		d->file = NULL;
	strbuf_fini(&text);
	return status;
}

void goals_fini(struct goals *g)
{
	for (unsigned i = 0; i < g->n; i++)
		free(g->items[i].name);
	*g = (struct goals){ .n = 0 };
}
