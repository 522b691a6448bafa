/* SPDX-License-Identifier: BSD-2-Clause */
#include "scenario/notations.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "scenario/scenario.h"
#include "subnet/routing/route.h"

static enum hd_status kind_parse(const char *text, struct diag *d, void *out)
{
	const struct generator *g = NULL;

	if (strcmp(text, "file") != 0) {
		g = generator_find(text, d);
		if (!g)
			return d->status;
	}
	*(const struct generator **)out = g;
	return HD_OK;
}

static void kind_print(const void *value, struct strbuf *out)
{
	const struct generator *g = *(const struct generator *const *)value;

	strbuf_puts(out, g ? g->name : "file");
}

static void kind_words(struct strbuf *out)
{
	generator_words(out);
	strbuf_puts(out, "file ");
}

const struct schema_custom notation_topology_kind = {
	.what = "a kind of topology ('heddle topo gen --help' lists them) or 'file'",
	.size = sizeof(const struct generator *),
	.parse = kind_parse,
	.print = kind_print,
	.words = kind_words,
};

static enum hd_status engine_parse(const char *text, struct diag *d, void *out)
{
	enum hd_status status = route_engine_known(text, d);

	if (status == HD_OK)
		*(char **)out = hd_strdup(text);
	return status;
}

static void engine_print(const void *value, struct strbuf *out)
{
	strbuf_puts(out, *(char *const *)value);
}

static void engine_release(void *value)
{
	free(*(char **)value);
}

const struct schema_custom notation_engine = {
	.what = "a routing engine ('heddle route --help' lists them)",
	.size = sizeof(char *),
	.parse = engine_parse,
	.print = engine_print,
	.release = engine_release,
	.words = route_engine_words,
};

/* The number at the front of `text`, at most `most`; NULL without one. */
static const char *read_number(const char *text, unsigned most, uint8_t *out)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (end == text || text[0] < '0' || text[0] > '9' || value > most)
		return NULL;
	*out = (uint8_t)value;
	return end;
}

static enum hd_status refuse_vlarb(const char *text, struct diag *d)
{
	return diag_fail(
		d, HD_ERR_INPUT,
		"'%.40s' is not a VL arbitration table (expected up to 64 pairs VL:weight, VL 0 to 14, weight 0 to 255, e.g. 0:4,1:8)",
		text);
}

static enum hd_status vlarb_parse(const char *text, struct diag *d, void *out)
{
	struct scn_vlarb table = { .given = true };
	const char *at = text;

	if (strcmp(text, "auto") == 0) {
		*(struct scn_vlarb *)out = (struct scn_vlarb){ 0 };
		return HD_OK;
	}
	while (strcmp(text, "none") != 0) {
		struct vlarb_entry e;

		while (*at == ' ')
			at++;
		at = read_number(at, N_DATA_VLS - 1, &e.vl);
		if (!at || *at != ':')
			return refuse_vlarb(text, d);
		at = read_number(at + 1, 255, &e.weight);
		if (!at || table.n == VLARB_MAX || (*at && *at != ','))
			return refuse_vlarb(text, d);
		table.entries[table.n++] = e;
		if (!*at++)
			break;
	}
	*(struct scn_vlarb *)out = table;
	return HD_OK;
}

static void vlarb_print(const void *value, struct strbuf *out)
{
	const struct scn_vlarb *table = value;

	if (!table->given || table->n == 0)
		strbuf_puts(out, table->given ? "none" : "auto");
	for (unsigned i = 0; i < table->n; i++)
		strbuf_printf(out, "%s%u:%u", i ? "," : "", table->entries[i].vl,
			      table->entries[i].weight);
}

const struct schema_custom notation_vlarb = {
	.what = "a list of VL:weight (e.g. 0:4,1:8), 'none' or 'auto'",
	.size = sizeof(struct scn_vlarb),
	.parse = vlarb_parse,
	.print = vlarb_print,
};

static enum hd_status sl2vl_parse(const char *text, struct diag *d, void *out)
{
	struct scn_sl2vl map = { .given = true };
	const char *at = text;

	if (strcmp(text, "auto") == 0) {
		*(struct scn_sl2vl *)out = (struct scn_sl2vl){ 0 };
		return HD_OK;
	}
	for (unsigned sl = 0; sl < N_SLS && at; sl++) {
		while (*at == ' ')
			at++;
		at = read_number(at, VL_MANAGEMENT, &map.table.vl[sl]);
		if (at && *at == '\0' && sl == 0) {
			memset(map.table.vl, map.table.vl[0], N_SLS);
			break;
		}
		if (at && *at != (sl + 1 < N_SLS ? ',' : '\0'))
			at = NULL;
		if (at && sl + 1 < N_SLS)
			at++;
	}
	if (!at)
		return diag_fail(
			d, HD_ERR_INPUT,
			"'%.80s' is not a map of SLs to VLs (expected 16 numbers 0 to 15, one for each SL, or one for all; 15 drops the SL)",
			text);
	*(struct scn_sl2vl *)out = map;
	return HD_OK;
}

static void sl2vl_print(const void *value, struct strbuf *out)
{
	const struct scn_sl2vl *map = value;

	if (!map->given) {
		strbuf_puts(out, "auto");
		return;
	}
	for (unsigned sl = 0; sl < N_SLS; sl++)
		strbuf_printf(out, "%s%u", sl ? "," : "", map->table.vl[sl]);
}

const struct schema_custom notation_sl2vl = {
	.what = "16 VLs, one for each SL (e.g. 0,1,2,3,0,...), one VL for all, or 'auto'",
	.size = sizeof(struct scn_sl2vl),
	.parse = sl2vl_parse,
	.print = sl2vl_print,
};

/* One entry, "shift:multiplier"; NULL if malformed. */
static const char *read_entry(const char *text, uint16_t *out)
{
	char *end;
	unsigned long shift = strtoul(text, &end, 10);

	if (end == text || *text < '0' || *text > '9' || shift > 3 || *end != ':')
		return NULL;
	text = end + 1;
	unsigned long multiplier = strtoul(text, &end, 10);

	if (end == text || *text < '0' || *text > '9' || multiplier > 0x3fff)
		return NULL;
	*out = (uint16_t)(shift << 14 | multiplier);
	return end;
}

static enum hd_status cct_parse(const char *text, struct diag *d, void *out)
{
	struct scn_cct table = { .given = true };
	const char *at = text;

	if (strcmp(text, "straight") == 0) {
		*(struct scn_cct *)out = (struct scn_cct){ 0 };
		return HD_OK;
	}
	do {
		while (*at == ' ')
			at++;
		at = table.n < CCT_MAX_ENTRIES ? read_entry(at, &table.entries[table.n++]) : NULL;
	} while (at && *at++ == ',');
	if (!at || at[-1])
		return diag_fail(
			d, HD_ERR_INPUT,
			"'%.40s' is not a congestion control table (expected up to 128 pairs shift:multiplier, shift 0 to 3, multiplier 0 to 16383, e.g. 0:0,2:1,2:2)",
			text);
	*(struct scn_cct *)out = table;
	return HD_OK;
}

static void cct_print(const void *value, struct strbuf *out)
{
	const struct scn_cct *table = value;

	if (!table->given)
		strbuf_puts(out, "straight");
	for (unsigned i = 0; i < table->n; i++)
		strbuf_printf(out, "%s%u:%u", i ? "," : "", table->entries[i] >> 14,
			      table->entries[i] & 0x3fffu);
}

const struct schema_custom notation_cct = {
	.what = "a list of shift:multiplier (e.g. 0:0,2:1), or 'straight'",
	.size = sizeof(struct scn_cct),
	.parse = cct_parse,
	.print = cct_print,
};

static enum hd_status levels_parse(const char *text, struct diag *d, void *out)
{
	struct scn_levels levels = { 0 };
	const char *at = text;
	bool good = true;

	while (good && *at && strcmp(text, "none") != 0) {
		char *end;
		unsigned long value = strtoul(at, &end, 10);

		good = *at >= '0' && *at <= '9' && value >= 2 && value <= 1000000 &&
		       levels.n < N_DATA_VLS - 1 &&
		       (levels.n == 0 || value > levels.at[levels.n - 1]) &&
		       (*end == '\0' || *end == ',');
		if (good)
			levels.at[levels.n++] = (uint32_t)value;
		at = *end ? end + 1 : end;
		while (*at == ' ')
			at++;
	}
	if (!good)
		return diag_fail(
			d, HD_ERR_INPUT,
			"'%.40s' is not a list of thresholds (expected up to 14 rising numbers from 2, e.g. 8,16)",
			text);
	*(struct scn_levels *)out = levels;
	return HD_OK;
}

static void levels_print(const void *value, struct strbuf *out)
{
	const struct scn_levels *levels = value;

	if (levels->n == 0)
		strbuf_puts(out, "none");
	for (unsigned i = 0; i < levels->n; i++)
		strbuf_printf(out, "%s%u", i ? "," : "", levels->at[i]);
}

const struct schema_custom notation_levels = {
	.what = "rising numbers of packets (e.g. 8,16) or 'none'",
	.size = sizeof(struct scn_levels),
	.parse = levels_parse,
	.print = levels_print,
};

/* Numbers up to `most` with commas between, a bit each; false: others. */
static bool read_set(const char *at, unsigned most, uint16_t *out)
{
	uint16_t set = 0;

	while (*at) {
		uint8_t number;
		const char *end = read_number(at, most, &number);

		if (!end || (*end && *end != ','))
			return false;
		set |= (uint16_t)(1u << number);
		at = end + (*end == ',');
		while (*at == ' ')
			at++;
	}
	*out = set;
	return true;
}

static void print_set(uint16_t set, struct strbuf *out)
{
	const char *gap = "";

	for (unsigned i = 0; i < 16; i++) {
		if (!(set >> i & 1))
			continue;
		strbuf_printf(out, "%s%u", gap, i);
		gap = ",";
	}
	if (!set)
		strbuf_puts(out, "none");
}

static enum hd_status vls_parse(const char *text, struct diag *d, void *out)
{
	struct scn_vls vls = { 0 };

	if (!read_set(strcmp(text, "none") == 0 ? "" : text, N_DATA_VLS - 1, &vls.vls))
		return diag_fail(
			d, HD_ERR_INPUT,
			"'%.40s' is not a list of VLs (expected numbers 0 to 14, e.g. 0,1)", text);
	*(struct scn_vls *)out = vls;
	return HD_OK;
}

static void vls_print(const void *value, struct strbuf *out)
{
	print_set(((const struct scn_vls *)value)->vls, out);
}

const struct schema_custom notation_vls = {
	.what = "VLs (e.g. 0,1) or 'none'",
	.size = sizeof(struct scn_vls),
	.parse = vls_parse,
	.print = vls_print,
};

static enum hd_status sls_parse(const char *text, struct diag *d, void *out)
{
	struct scn_sls set = { .sls = UINT16_MAX };

	if (strcmp(text, "all") != 0 &&
	    !read_set(strcmp(text, "none") == 0 ? "" : text, N_SLS - 1, &set.sls))
		return diag_fail(
			d, HD_ERR_INPUT,
			"'%.40s' is not a list of SLs (expected numbers 0 to 15, e.g. 0,1)", text);
	*(struct scn_sls *)out = set;
	return HD_OK;
}

static void sls_print(const void *value, struct strbuf *out)
{
	const struct scn_sls *set = value;

	if (set->sls == UINT16_MAX)
		strbuf_puts(out, "all");
	else
		print_set(set->sls, out);
}

const struct schema_custom notation_sls = {
	.what = "SLs (e.g. 0,1), 'all' or 'none'",
	.size = sizeof(struct scn_sls),
	.parse = sls_parse,
	.print = sls_print,
};
