/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/opensm/opensm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/iba.h"
#include "base/text.h"

static const char *const prefixes[OPENSM_SCOPES] = {
	[OPENSM_DEFAULT] = "qos_", [OPENSM_CA] = "qos_ca_",      [OPENSM_SW0] = "qos_sw0_",
	[OPENSM_SWE] = "qos_swe_", [OPENSM_ROUTER] = "qos_rtr_",
};

/* OpenSM's built-in tables. */
static struct opensm_list builtin(bool high)
{
	struct opensm_list list = { .n = N_DATA_VLS };

	for (unsigned vl = 0; vl < N_DATA_VLS; vl++) {
		list.vl[vl] = vl;
		list.weight[vl] = high == (vl == 0) ? 4 : 0;
	}
	return list;
}

static struct opensm_list builtin_sl2vl(void)
{
	struct opensm_list list = { .n = N_SLS };

	for (unsigned sl = 0; sl < N_SLS; sl++)
		list.vl[sl] = sl < 15 ? sl : 7;
	return list;
}

struct conf_line {
	unsigned number;
	bool is_rest; /* rest of a split line */
	char *key, *value;
};

/*
 * A number as strtoul reads it. All characters up to the separator are skipped:
 * OpenSM does not check them.
 */
static uint32_t next_number(char **at, char separator, struct opensm_list *list)
{
	char *end;
	const char *first = *at + strspn(*at, " \t");
	unsigned long value = strtoul(*at, &end, 0);

	list->malformed |= value > UINT32_MAX;
	list->octal |= first[0] == '0' && first[1] >= '0' && first[1] <= '9';
	list->malformed |= end == *at || (*end && *end != separator);
	*at = end + (*end != '\0');
	return (uint32_t)value;
}

static void read_list(const struct conf_line *line, bool weighted, struct opensm_list *out)
{
	struct opensm_list list = { .line = line->number };
	char *at = line->value;

	for (; *at; list.n++) {
		uint32_t vl = next_number(&at, weighted ? ':' : ',', &list);
		uint32_t weight = 0;

		if (weighted) {
			list.malformed |= !*at;
			weight = *at ? next_number(&at, ',', &list) : 0;
		}
		if (list.n < VLARB_MAX) {
			list.vl[list.n] = vl;
			list.weight[list.n] = weight;
		}
	}
	*out = list;
}

static long read_number(const struct conf_line *line, bool *malformed)
{
	char *end;
	long value = strtol(line->value, &end, 0);

	*malformed = end == line->value || *end != '\0';
	return value;
}

/* Reads a key of one of the five sets without its prefix; false: unknown key. */
static bool read_set_key(struct opensm_set *set, bool general, const char *suffix,
			 const struct conf_line *line)
{
	struct opensm_list *list = strcmp(suffix, "vlarb_high") == 0  ? &set->high
				   : strcmp(suffix, "vlarb_low") == 0 ? &set->low
				   : strcmp(suffix, "sl2vl") == 0     ? &set->sl2vl
								      : NULL;

	if (list && strcmp(line->value, "(null)") == 0) {
		*list = (struct opensm_list){ 0 };
	} else if (list) {
		read_list(line, list != &set->sl2vl, list);
	} else if (strcmp(suffix, "max_vls") == 0) {
		/* 0 is OpenSM's default, as 'opensm -c' writes it. */
		set->max_vls_line = strcmp(line->value, "0") == 0 ? 0 : line->number;
	} else if (strcmp(suffix, "high_limit") == 0) {
		set->high_limit_line = line->number;
		set->high_limit = read_number(line, &set->high_limit_malformed);
		/* A value out of range becomes the default: 0, or the value of the general set. */
		set->high_limit_malformed |= set->high_limit > 255;
		if (set->high_limit > 255)
			set->high_limit = general ? 0 : -1;
	} else {
		return false;
	}
	return true;
}

static void read_max_op_vls(struct opensm_conf *conf, const struct conf_line *line)
{
	bool malformed;
	long code = read_number(line, &malformed);

	conf->max_op_vls_line = line->number;
	conf->max_op_vls_said = code;
	conf->max_op_vls = code >= 1 && code <= 5 ? (unsigned)code : 5;
}

/* These have a line per SL. */
static bool has_line_per_sl(const char *key)
{
	return strncmp(key, "cc_ca_cong_setting_ccti_", 24) == 0 ||
	       strcmp(key, "cc_ca_cong_setting_trigger_threshold") == 0;
}

/* Notes the line of a known key, and that it replaces an earlier line. False: unknown key. */
static bool note_known(struct opensm_conf *conf, const struct conf_line *line)
{
	size_t k = 0;

	while (opensm_keys[k] && strcmp(opensm_keys[k], line->key) != 0)
		k++;
	if (!opensm_keys[k])
		return false;
	if (conf->line_of[k] && !has_line_per_sl(line->key)) {
		conf->repeats = hd_grow(conf->repeats, &conf->repeats_cap, conf->n_repeats + 1,
					sizeof(*conf->repeats));
		conf->repeats[conf->n_repeats++] =
			(struct opensm_repeat){ line->number, conf->line_of[k], opensm_keys[k] };
	}
	conf->line_of[k] = line->number;
	return true;
}

static void note_unknown(struct opensm_conf *conf, const struct conf_line *line)
{
	conf->unknown = hd_grow(conf->unknown, &conf->unknown_cap, conf->n_unknown + 1,
				sizeof(*conf->unknown));
	struct opensm_unknown *u = &conf->unknown[conf->n_unknown++];

	u->line = line->number;
	snprintf(u->key, sizeof(u->key), "%s", line->key);
}

static void note_cc(struct opensm_conf *conf, const struct conf_line *line)
{
	if (strncmp(line->key, "cc_", 3) != 0 && strcmp(line->key, "congestion_control") != 0)
		return;
	conf->cc = hd_grow(conf->cc, &conf->cc_cap, conf->n_cc + 1, sizeof(*conf->cc));
	struct opensm_cc_line *c = &conf->cc[conf->n_cc++];

	c->line = line->number;
	snprintf(c->key, sizeof(c->key), "%s", line->key);
	snprintf(c->value, sizeof(c->value), "%s", line->value);
}

static void read_key(struct opensm_conf *conf, const struct conf_line *line)
{
	bool known = !line->is_rest && note_known(conf, line);

	conf->n_keys += !line->is_rest;
	note_cc(conf, line);
	if (strcmp(line->key, "qos") == 0) {
		conf->qos = strcmp(line->value, "TRUE") == 0;
		conf->qos_line = line->number;
		snprintf(conf->qos_value, sizeof(conf->qos_value), "%s", line->value);
		return;
	}
	if (strcmp(line->key, "max_op_vls") == 0) {
		read_max_op_vls(conf, line);
		return;
	}
	/* The longest prefix wins: qos_ca_sl2vl is not "ca_sl2vl" of qos_. */
	for (unsigned scope = OPENSM_SCOPES; scope-- > 0;) {
		size_t len = strlen(prefixes[scope]);

		if (strncmp(line->key, prefixes[scope], len) == 0 &&
		    read_set_key(&conf->set[scope], scope == OPENSM_DEFAULT, line->key + len, line))
			return;
	}
	if (!line->is_rest && !known)
		note_unknown(conf, line);
}

/* Splits a line into key and value without its comment; key "": none. */
static void split_line(char *text, struct conf_line *line)
{
	text[strcspn(text, "#\r")] = '\0';
	line->key = text + strspn(text, " \t");
	size_t len = strcspn(line->key, " \t");

	line->value = line->key + len + strspn(line->key + len, " \t");
	line->key[len] = '\0';
	size_t end = strlen(line->value);

	while (end && strchr(" \t", line->value[end - 1]))
		line->value[--end] = '\0';
	/* Quotes around the whole value do not belong to it. */
	if (end > 1 && strchr("\"'", *line->value) && line->value[end - 1] == *line->value) {
		line->value[end - 1] = '\0';
		line->value++;
	}
}

static void note_long_line(struct opensm_conf *conf, unsigned number)
{
	conf->long_lines = hd_grow(conf->long_lines, &conf->long_lines_cap, conf->n_long_lines + 1,
				   sizeof(*conf->long_lines));
	conf->long_lines[conf->n_long_lines++] = number;
}

/* Splits a line like OpenSM: what exceeds its buffer is another line. */
static void read_pieces(struct opensm_conf *conf, const char *text, size_t len, unsigned number)
{
	for (size_t at = 0; at < len; at += OPENSM_LINE_MAX - 1) {
		struct conf_line line = { .number = number, .is_rest = at > 0 };
		size_t left = len - at;
		char *copy = hd_strndup(text + at,
					left < OPENSM_LINE_MAX - 1 ? left : OPENSM_LINE_MAX - 1);

		split_line(copy, &line);
		if (*line.key)
			read_key(conf, &line);
		free(copy);
	}
}

void opensm_conf_read(const char *text, struct opensm_conf *out)
{
	struct opensm_conf conf = { .max_op_vls = 5 };
	size_t n = 0;

	while (opensm_keys[n])
		n++;
	conf.line_of = hd_alloc(n, sizeof(*conf.line_of));
	for (unsigned number = 1; *text; number++) {
		size_t len = strcspn(text, "\n");

		if (len > OPENSM_LINE_MAX - 1)
			note_long_line(&conf, number);
		read_pieces(&conf, text, len, number);
		text += len + (text[len] == '\n');
	}
	*out = conf;
}

/* A file in which more keys than this are unknown, and none is known, is not an opensm.conf. */
#define MOST_MISSPELT 3

static bool is_foreign(const struct opensm_conf *conf)
{
	return conf->n_keys == conf->n_unknown && conf->n_unknown > MOST_MISSPELT;
}

enum hd_status opensm_file_read(const char *path, struct diag *d, struct strbuf *out)
{
	enum hd_status status = file_read(path, FILE_WRITTEN_LIMIT, d, out);
	size_t odd = text_find_binary(out->text, out->len);

	if (status == HD_OK && odd < out->len)
		status = diag_fail(d, HD_ERR_INPUT, "not a text file: byte %zu is 0x%02x", odd,
				   (unsigned char)out->text[odd]);
	return status;
}

enum hd_status opensm_conf_load(const char *path, struct diag *d, struct opensm_conf *out)
{
	struct strbuf text = STRBUF_INIT;
	enum hd_status status = opensm_file_read(path, d, &text);

	if (status == HD_OK)
		opensm_conf_read(text.text, out);
	strbuf_fini(&text);
	if (status == HD_OK && is_foreign(out)) {
		status = diag_fail(
			d, HD_ERR_INPUT,
			"not an opensm.conf: OpenSM knows none of its %zu keys ('%s', ...)",
			out->n_keys, out->unknown[0].key);
		opensm_conf_fini(out);
	}
	return status;
}

void opensm_conf_fini(struct opensm_conf *conf)
{
	free(conf->long_lines);
	free(conf->unknown);
	free(conf->line_of);
	free(conf->repeats);
	free(conf->cc);
	*conf = (struct opensm_conf){ 0 };
}

unsigned opensm_vls(const struct opensm_conf *conf)
{
	return vls_of_code(conf->max_op_vls);
}

static const struct opensm_list *choose(const struct opensm_list *specific,
					const struct opensm_list *general,
					const struct opensm_list *fallback)
{
	if (specific->line)
		return specific;
	return general->line ? general : fallback;
}

uint8_t opensm_fold(uint32_t vl, unsigned vls)
{
	unsigned mask = vls == 15 ? 15 : vls - 1;

	return (uint8_t)(vl % 15 & mask);
}

static uint8_t make_table(const struct opensm_list *list, unsigned vls, unsigned cap,
			  struct vlarb_entry *out)
{
	unsigned n = 0;

	while (n < list->n && n < cap && n < VLARB_MAX) {
		out[n].vl = opensm_fold(list->vl[n], vls);
		out[n].weight = (uint8_t)list->weight[n];
		n++;
	}
	return (uint8_t)n;
}

void opensm_effective(const struct opensm_conf *conf, const struct opensm_port *port,
		      struct opensm_tables *out)
{
	const struct opensm_set *own = &conf->set[port->scope];
	const struct opensm_set *all = &conf->set[OPENSM_DEFAULT];
	struct opensm_list high = builtin(true), low = builtin(false), vls = builtin_sl2vl();
	const struct opensm_list *sl2vl = choose(&own->sl2vl, &all->sl2vl, &vls);

	*out = (struct opensm_tables){ .vls = opensm_vls(conf) };
	if (out->vls > port->vls)
		out->vls = port->vls;
	out->vlarb.n_high = make_table(choose(&own->high, &all->high, &high), out->vls,
				       port->high_cap, out->vlarb.high);
	out->vlarb.n_low = make_table(choose(&own->low, &all->low, &low), out->vls, port->low_cap,
				      out->vlarb.low);
	if (own->high_limit_line && own->high_limit >= 0)
		out->vlarb.high_limit = (uint8_t)own->high_limit;
	else if (all->high_limit_line && all->high_limit >= 0)
		out->vlarb.high_limit = (uint8_t)all->high_limit;
	for (unsigned sl = 0; sl < N_SLS; sl++) {
		unsigned vl = sl < sl2vl->n ? sl2vl->vl[sl] & 15 : 0;

		out->sl2vl.vl[sl] = vl == 15 ? 15 : opensm_fold(vl, out->vls);
	}
}

void opensm_export_vlarb(const char *prefix, const char *name, const struct vlarb_entry *entry,
			 unsigned n, struct strbuf *out)
{
	strbuf_printf(out, "%s%s ", prefix, name);
	if (n == 0)
		strbuf_puts(out, "0:0");
	for (unsigned i = 0; i < n; i++)
		strbuf_printf(out, "%s%u:%u", i ? "," : "", entry[i].vl, entry[i].weight);
	strbuf_putc(out, '\n');
}

void opensm_export_sl2vl(const char *prefix, const struct sl2vl *map, struct strbuf *out)
{
	strbuf_printf(out, "%ssl2vl ", prefix);
	for (unsigned sl = 0; sl < N_SLS; sl++)
		strbuf_printf(out, "%s%u", sl ? "," : "", map->vl[sl]);
	strbuf_putc(out, '\n');
}

void opensm_export(enum opensm_scope scope, const struct opensm_tables *t, struct strbuf *out)
{
	const char *prefix = prefixes[scope];
	unsigned code = code_of_vls(t->vls);

	strbuf_printf(out,
		      "# Without this, none of the tables below is sent.\n"
		      "qos TRUE\n"
		      "# %u data VLs: code %u. (%smax_vls is read and never used.)\n"
		      "max_op_vls %u\n",
		      t->vls, code, prefix, code);
	strbuf_printf(out,
		      "# Bytes of high-priority data before low may send: x 4096, 255 = no limit.\n"
		      "%shigh_limit %u\n",
		      prefix, t->vlarb.high_limit);
	strbuf_puts(out, "# Weights in 64-byte blocks, rounded up to whole packets.\n");
	opensm_export_vlarb(prefix, "vlarb_high", t->vlarb.high, t->vlarb.n_high, out);
	opensm_export_vlarb(prefix, "vlarb_low", t->vlarb.low, t->vlarb.n_low, out);
	strbuf_puts(out, "# The VL of each SL, all 16: a short list sends the rest to VL 0.\n");
	opensm_export_sl2vl(prefix, &t->sl2vl, out);
}
