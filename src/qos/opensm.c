/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/opensm.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/units.h"

static const char *const prefixes[OPENSM_SCOPES] = {
	[OPENSM_DEFAULT] = "qos_",    [OPENSM_CA] = "qos_ca_",
	[OPENSM_SW0] = "qos_sw0_",    [OPENSM_SWE] = "qos_swe_",
	[OPENSM_ROUTER] = "qos_rtr_",
};

/* OpenSM's built-in tables. */
static struct opensm_list builtin(bool high)
{
	struct opensm_list list = { .n = N_DATA_VLS };

	for (unsigned vl = 0; vl < N_DATA_VLS; vl++) {
		list.vl[vl] = (uint16_t)vl;
		list.weight[vl] = high == (vl == 0) ? 4 : 0;
	}
	return list;
}

static struct opensm_list builtin_sl2vl(void)
{
	struct opensm_list list = { .n = N_SLS };

	for (unsigned sl = 0; sl < N_SLS; sl++)
		list.vl[sl] = (uint16_t)(sl < 15 ? sl : 7);
	return list;
}

struct conf_line {
	unsigned number;
	char *key, *value;
};

static enum hd_status refuse(const struct conf_line *line, struct diag *d,
			     const char *expected)
{
	return diag_fail_at(d, HD_ERR_INPUT, line->number, 0,
			    "'%.60s' is no value of %s (expected %s)",
			    line->value, line->key, expected);
}

/* One "vl:weight" or, for SL2VL, one "vl". */
static bool read_item(const char *text, bool weighted, uint16_t *vl,
		      uint16_t *weight)
{
	char word[32];
	size_t len = strcspn(text, ":");
	uint64_t value;

	if (len >= sizeof(word) || (text[len] == ':') != weighted)
		return false;
	memcpy(word, text, len);
	word[len] = '\0';
	if (hd_uint_parse(word, NULL, &value) != HD_OK || value > 255)
		return false;
	*vl = (uint16_t)value;
	if (!weighted)
		return true;
	if (hd_uint_parse(text + len + 1, NULL, &value) != HD_OK || value > 255)
		return false;
	*weight = (uint16_t)value;
	return true;
}

static enum hd_status read_list(const struct conf_line *line, bool weighted,
				struct diag *d, struct opensm_list *out)
{
	struct opensm_list list = { .line = line->number };
	char *rest = line->value;

	while (*rest) {
		size_t len = strcspn(rest, ",");
		char *item = hd_strndup(rest, len);
		uint16_t vl = 0, weight = 0;
		bool good = read_item(item, weighted, &vl, &weight);

		free(item);
		if (!good)
			return refuse(line, d,
				      weighted ? "vl:weight,vl:weight,..."
					       : "vl,vl,...");
		if (list.n < VLARB_MAX) {
			list.vl[list.n] = vl;
			list.weight[list.n] = weight;
		}
		list.n++;
		rest += len + (rest[len] == ',');
	}
	*out = list;
	return HD_OK;
}

static enum hd_status read_number(const struct conf_line *line, struct diag *d,
				  long *out)
{
	bool negative = line->value[0] == '-';
	uint64_t value;

	if (hd_uint_parse(line->value + negative, NULL, &value) != HD_OK ||
	    value > 255)
		return refuse(line, d, "a number up to 255");
	*out = negative ? -(long)value : (long)value;
	return HD_OK;
}

/* A key of one of the five sets, behind its prefix. */
static enum hd_status read_set_key(struct opensm_set *set, const char *suffix,
				   const struct conf_line *line, struct diag *d)
{
	if (strcmp(suffix, "vlarb_high") == 0)
		return read_list(line, true, d, &set->high);
	if (strcmp(suffix, "vlarb_low") == 0)
		return read_list(line, true, d, &set->low);
	if (strcmp(suffix, "sl2vl") == 0)
		return read_list(line, false, d, &set->sl2vl);
	if (strcmp(suffix, "max_vls") == 0)
		set->max_vls_line = line->number;
	if (strcmp(suffix, "high_limit") == 0) {
		set->high_limit_line = line->number;
		return read_number(line, d, &set->high_limit);
	}
	return HD_OK;
}

static enum hd_status read_key(struct opensm_conf *conf,
			       const struct conf_line *line, struct diag *d)
{
	long number = 0;

	if (strcmp(line->value, "(null)") == 0)
		return HD_OK;
	if (strcmp(line->key, "qos") == 0) {
		conf->qos = strcasecmp(line->value, "TRUE") == 0;
		conf->qos_line = line->number;
		return HD_OK;
	}
	if (strcmp(line->key, "max_op_vls") == 0) {
		enum hd_status status = read_number(line, d, &number);

		if (status == HD_OK && number >= 1 && number <= 5)
			conf->max_op_vls = (unsigned)number;
		return status;
	}
	/* The longest prefix wins: qos_ca_sl2vl is not "ca_sl2vl" of qos_. */
	for (unsigned scope = OPENSM_SCOPES; scope-- > 0;) {
		size_t len = strlen(prefixes[scope]);

		if (strncmp(line->key, prefixes[scope], len) == 0)
			return read_set_key(&conf->set[scope], line->key + len,
					    line, d);
	}
	return HD_OK;
}

/* Key and value of a line whose comment is cut off; key "" if none. */
static void split_line(char *text, struct conf_line *line)
{
	text[strcspn(text, "#\r")] = '\0';
	line->key = text + strspn(text, " \t");
	size_t len = strcspn(line->key, " \t");

	line->value = line->key + len + strspn(line->key + len, " \t");
	line->key[len] = '\0';
	for (size_t end = strlen(line->value);
	     end && strchr(" \t", line->value[end - 1]); end--)
		line->value[end - 1] = '\0';
}

static void note_long_line(struct opensm_conf *conf, unsigned number)
{
	conf->long_lines =
		hd_grow(conf->long_lines, &conf->long_lines_cap,
			conf->n_long_lines + 1, sizeof(*conf->long_lines));
	conf->long_lines[conf->n_long_lines++] = number;
}

enum hd_status opensm_conf_read(const char *text, struct diag *d,
				struct opensm_conf *out)
{
	struct opensm_conf conf = { .max_op_vls = 5 };
	enum hd_status status = HD_OK;

	for (unsigned number = 1; *text && status == HD_OK; number++) {
		size_t len = strcspn(text, "\n");
		struct conf_line line = { .number = number };

		if (len > OPENSM_LINE_MAX - 1)
			note_long_line(&conf, number);
		char *copy = hd_strndup(text, len < OPENSM_LINE_MAX - 1
						      ? len
						      : OPENSM_LINE_MAX - 1);

		split_line(copy, &line);
		if (*line.key)
			status = read_key(&conf, &line, d);
		free(copy);
		text += len + (text[len] == '\n');
	}
	if (status != HD_OK) {
		opensm_conf_fini(&conf);
		return status;
	}
	*out = conf;
	return HD_OK;
}

void opensm_conf_fini(struct opensm_conf *conf)
{
	free(conf->long_lines);
	*conf = (struct opensm_conf){ 0 };
}

static unsigned vls_of_code(unsigned code)
{
	static const unsigned vls[] = { 0, 1, 2, 4, 8, 15 };

	return code < 6 ? vls[code] : 15;
}

static const struct opensm_list *choose(const struct opensm_list *specific,
					const struct opensm_list *general,
					const struct opensm_list *fallback)
{
	if (specific->line)
		return specific;
	return general->line ? general : fallback;
}

/* VL15 becomes VL0 (modulo 15), and lanes wrap at what the link has. */
static uint8_t fold(unsigned vl, unsigned vls)
{
	unsigned mask = vls == 15 ? 15 : vls - 1;

	return (uint8_t)(vl % 15 & mask);
}

static uint8_t make_table(const struct opensm_list *list, unsigned vls,
			  unsigned cap, struct vlarb_entry *out)
{
	unsigned n = 0;

	while (n < list->n && n < cap && n < VLARB_MAX) {
		out[n].vl = fold(list->vl[n], vls);
		out[n].weight = (uint8_t)list->weight[n];
		n++;
	}
	return (uint8_t)n;
}

void opensm_effective(const struct opensm_conf *conf,
		      const struct opensm_port *port, struct opensm_tables *out)
{
	const struct opensm_set *own = &conf->set[port->scope];
	const struct opensm_set *all = &conf->set[OPENSM_DEFAULT];
	struct opensm_list high = builtin(true), low = builtin(false),
			   lanes = builtin_sl2vl();
	const struct opensm_list *sl2vl =
		choose(&own->sl2vl, &all->sl2vl, &lanes);

	*out = (struct opensm_tables){ .vls = vls_of_code(conf->max_op_vls) };
	if (out->vls > port->vls)
		out->vls = port->vls;
	out->vlarb.n_high =
		make_table(choose(&own->high, &all->high, &high), out->vls,
			   port->high_cap, out->vlarb.high);
	out->vlarb.n_low = make_table(choose(&own->low, &all->low, &low),
				      out->vls, port->low_cap, out->vlarb.low);
	if (own->high_limit_line && own->high_limit >= 0)
		out->vlarb.high_limit = (uint8_t)own->high_limit;
	else if (all->high_limit_line && all->high_limit >= 0)
		out->vlarb.high_limit = (uint8_t)all->high_limit;
	for (unsigned sl = 0; sl < N_SLS; sl++) {
		unsigned vl = sl < sl2vl->n ? sl2vl->vl[sl] : 0;

		out->sl2vl.vl[sl] = vl == 15 ? 15 : fold(vl, out->vls);
	}
}

static void export_vlarb(const char *prefix, const char *name,
			 const struct vlarb_entry *entry, unsigned n,
			 struct strbuf *out)
{
	strbuf_printf(out, "%s%s ", prefix, name);
	if (n == 0)
		strbuf_puts(out, "0:0");
	for (unsigned i = 0; i < n; i++)
		strbuf_printf(out, "%s%u:%u", i ? "," : "", entry[i].vl,
			      entry[i].weight);
	strbuf_putc(out, '\n');
}

void opensm_export(enum opensm_scope scope, const struct opensm_tables *t,
		   struct strbuf *out)
{
	const char *prefix = prefixes[scope];
	unsigned code = 1;

	while (vls_of_code(code) < t->vls)
		code++;
	strbuf_printf(
		out,
		"# Without this, none of the tables below is sent.\n"
		"qos TRUE\n"
		"# %u data lanes: code %u. (%smax_vls is read and never used.)\n"
		"max_op_vls %u\n",
		t->vls, code, prefix, code);
	strbuf_printf(
		out,
		"# Bytes of high-priority data before low may send: x 4096, 255 = no limit.\n"
		"%shigh_limit %u\n",
		prefix, t->vlarb.high_limit);
	strbuf_puts(
		out,
		"# Weights in 64-byte blocks, rounded up to whole packets.\n");
	export_vlarb(prefix, "vlarb_high", t->vlarb.high, t->vlarb.n_high, out);
	export_vlarb(prefix, "vlarb_low", t->vlarb.low, t->vlarb.n_low, out);
	strbuf_puts(
		out,
		"# The lane of each SL, all 16: a short list sends the rest to lane 0.\n");
	strbuf_printf(out, "%ssl2vl ", prefix);
	for (unsigned sl = 0; sl < N_SLS; sl++)
		strbuf_printf(out, "%s%u", sl ? "," : "", t->sl2vl.vl[sl]);
	strbuf_putc(out, '\n');
}
