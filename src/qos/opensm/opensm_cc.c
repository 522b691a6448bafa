/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/opensm/opensm_cc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "base/units.h"
#include "qos/opensm/opensm.h"

#define LONGEST_MULTIPLIER 999
#define MOST_TEXT          ((size_t)1 << 20)

uint16_t opensm_cct_entry(double packets)
{
	unsigned shift = 3;

	/* The finest step with a multiplier that is short enough. */
	while (shift > 0 && packets * (1u << shift) > LONGEST_MULTIPLIER)
		shift--;
	double multiplier = round(packets * (1u << shift));

	if (multiplier > LONGEST_MULTIPLIER)
		multiplier = LONGEST_MULTIPLIER;
	return (uint16_t)(shift << 14 | (unsigned)multiplier);
}

/* ---- writing ----------------------------------------------------------- */

static void write_switches(const struct opensm_cc *c, struct strbuf *out)
{
	strbuf_puts(out, "# which of the settings below hold\n");
	strbuf_printf(out, "cc_sw_cong_setting_control_map 0x%x\n",
		      MARK_MAP_THRESHOLD | MARK_MAP_RATE | (c->victims ? MARK_MAP_VICTIMS : 0u));
	strbuf_puts(out, c->victims ? "# outputs without credits mark too\n"
				    : "# outputs without credits do not mark\n");
	strbuf_puts(out, "cc_sw_cong_setting_victim_mask 0x");
	for (unsigned i = 0; i < 64; i++) /* bit 255 is reserved */
		strbuf_puts(out, !c->victims ? "0" : i == 0 ? "7" : "f");
	strbuf_puts(out, "\n# 1 marks late, 15 early\n");
	strbuf_printf(out, "cc_sw_cong_setting_threshold 0x%02x\n", c->threshold);
	strbuf_puts(out, "# smaller packets are not marked; in 64 bytes\n");
	strbuf_printf(out, "cc_sw_cong_setting_packet_size %u\n", c->packet_size);
	strbuf_puts(out, "# packets between marks\n");
	strbuf_printf(out, "cc_sw_cong_setting_marking_rate %u\n", c->marking_rate);
}

static void write_adapters(const struct opensm_cc *c, struct strbuf *out)
{
	strbuf_puts(out,
		    c->per_sl ? "# one index per SL and port\n" : "# one index per queue pair\n");
	strbuf_printf(out, "cc_ca_cong_setting_port_control 0x%04x\n", c->per_sl);
	strbuf_puts(out, "# the SLs under control\n");
	strbuf_printf(out, "cc_ca_cong_setting_control_map 0x%04x\n", c->sls);
	strbuf_puts(out, "# SL, then: units of 1.024 us per step down; steps up with a mark\n");
	for (unsigned sl = 0; sl < N_SLS; sl++) {
		if (!(c->sls >> sl & 1))
			continue;
		strbuf_printf(out, "cc_ca_cong_setting_ccti_timer %u %u\n", sl, c->ccti_timer);
		strbuf_printf(out, "cc_ca_cong_setting_ccti_increase %u %u\n", sl,
			      c->ccti_increase);
		strbuf_printf(out, "cc_ca_cong_setting_trigger_threshold %u %u\n", sl, c->trigger);
		strbuf_printf(out, "cc_ca_cong_setting_ccti_min %u %u\n", sl, c->ccti_min);
	}
}

void opensm_cc_write(const struct opensm_cc *c, struct strbuf *out)
{
	strbuf_printf(out, "congestion_control %s\n", c->enabled ? "TRUE" : "FALSE");
	write_switches(c, out);
	write_adapters(c, out);
	strbuf_puts(out, "# shift:multiplier, the delay after a packet\n"
			 "cc_cct ");
	for (unsigned i = 0; i < c->n_cct; i++)
		strbuf_printf(out, "%s%u:%u", i ? "," : "", c->cct[i] >> 14, c->cct[i] & 0x3fffu);
	strbuf_puts(out, c->n_cct ? "\n" : "(null)\n");
}

enum hd_status opensm_cc_save(const struct opensm_cc *conf, const char *path, struct diag *d)
{
	struct strbuf text = STRBUF_INIT;

	opensm_cc_write(conf, &text);
	enum hd_status status = file_write(path, text.text, text.len, d);

	strbuf_fini(&text);
	return status;
}

/* ---- reading ----------------------------------------------------------- */

struct line {
	unsigned number;
	const char *key;
	char *value;
};

static enum hd_status refuse(const struct line *l, struct diag *d, const char *expected)
{
	return diag_fail_at(d, HD_ERR_INPUT, l->number, 0,
			    "'%.60s' is not a value of %s (expected %s)", l->value, l->key,
			    expected);
}

/* Parses a number in C notation, at most `most`, up to the end of the text. */
static bool read_number(const char *text, unsigned long most, unsigned long *out)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	*out = strtoul(text, &end, 0);
	return *end == '\0' && *out <= most;
}

/* "shift:multiplier,..." or "(null)". */
static enum hd_status read_table(const struct line *l, struct diag *d, struct opensm_cc *c)
{
	char *rest = l->value, *item;

	c->n_cct = 0;
	if (strcmp(l->value, "(null)") == 0)
		return HD_OK;
	while ((item = strtok_r(rest, ", \t", &rest))) {
		char *colon = strchr(item, ':');
		unsigned long shift, multiplier;

		if (colon)
			*colon = '\0';
		if (!colon || c->n_cct == CCT_MAX_ENTRIES || !read_number(item, 3, &shift) ||
		    !read_number(colon + 1, 0x3fff, &multiplier))
			return refuse(
				l, d,
				"up to 128 pairs shift:multiplier, shift 0 to 3, multiplier 0 to 16383");
		c->cct[c->n_cct++] = (uint16_t)(shift << 14 | multiplier);
	}
	return HD_OK;
}

/* Keys with plain numbers and their members. */
struct number_key {
	const char *key;
	unsigned long most;
	unsigned setting;
	bool per_sl; /* "SL value" */
};

enum setting {
	SET_MAP,
	SET_THRESHOLD,
	SET_PACKET_SIZE,
	SET_RATE,
	SET_PORT_CONTROL,
	SET_SLS,
	SET_TIMER,
	SET_INCREASE,
	SET_TRIGGER,
	SET_MIN,
	SETTINGS
};

static const struct number_key number_keys[] = {
	{ "cc_sw_cong_setting_control_map", UINT32_MAX, SET_MAP, false },
	{ "cc_sw_cong_setting_threshold", 15, SET_THRESHOLD, false },
	{ "cc_sw_cong_setting_packet_size", 255, SET_PACKET_SIZE, false },
	{ "cc_sw_cong_setting_marking_rate", 65535, SET_RATE, false },
	{ "cc_ca_cong_setting_port_control", 65535, SET_PORT_CONTROL, false },
	{ "cc_ca_cong_setting_control_map", 65535, SET_SLS, false },
	{ "cc_ca_cong_setting_ccti_timer", 65535, SET_TIMER, true },
	{ "cc_ca_cong_setting_ccti_increase", 255, SET_INCREASE, true },
	{ "cc_ca_cong_setting_trigger_threshold", 255, SET_TRIGGER, true },
	{ "cc_ca_cong_setting_ccti_min", 255, SET_MIN, true },
};

struct reading {
	unsigned long set[SETTINGS];
	unsigned long of_sl[SETTINGS][N_SLS];
	unsigned lines[SETTINGS];
	bool victims;
};

static enum hd_status read_numbers(const struct line *l, const struct number_key *k, struct diag *d,
				   struct reading *r)
{
	unsigned long sl = 0;
	char *value = l->value;

	if (k->per_sl) {
		char *gap = value + strcspn(value, " \t");
		bool two = *gap != '\0';

		*gap = '\0';
		if (!two || !read_number(value, N_SLS - 1, &sl)) {
			if (two)
				*gap = ' ';
			return refuse(l, d, "an SL and a number");
		}
		value = gap + 1 + strspn(gap + 1, " \t");
	}
	unsigned long number;

	if (!read_number(value, k->most, &number))
		return refuse(l, d, "a number in range");
	r->lines[k->setting] = l->number;
	r->set[k->setting] = number;
	r->of_sl[k->setting][sl] = number;
	return HD_OK;
}

static enum hd_status read_line(const struct line *l, struct diag *d, struct reading *r,
				struct opensm_cc *c)
{
	if (strcmp(l->key, "congestion_control") == 0)
		c->enabled = strcmp(l->value, "TRUE") == 0;
	if (strcmp(l->key, "cc_sw_cong_setting_victim_mask") == 0)
		r->victims = l->value[strspn(l->value, "0x")] != '\0';
	if (strcmp(l->key, "cc_cct") == 0)
		return read_table(l, d, c);
	for (size_t i = 0; i < sizeof(number_keys) / sizeof(*number_keys); i++) {
		if (strcmp(l->key, number_keys[i].key) == 0)
			return read_numbers(l, &number_keys[i], d, r);
	}
	return HD_OK;
}

/* The common value of all controlled SLs. */
static enum hd_status common_value(const struct reading *r, enum setting s, struct diag *d,
				   unsigned long *out)
{
	unsigned long sls = r->set[SET_SLS];
	bool any = false;

	*out = 0;
	for (unsigned sl = 0; sl < N_SLS; sl++) {
		if (!(sls >> sl & 1))
			continue;
		if (any && r->of_sl[s][sl] != *out)
			return diag_fail_at(
				d, HD_ERR_UNFIT, r->lines[s], 0,
				"SL %u differs from the SLs before it; one setting for all is what can be simulated",
				sl);
		*out = r->of_sl[s][sl];
		any = true;
	}
	return HD_OK;
}

static enum hd_status conclude(const struct reading *r, struct diag *d, struct opensm_cc *c)
{
	unsigned long value[SETTINGS];
	unsigned long map = r->set[SET_MAP];

	for (enum setting s = SET_TIMER; s <= SET_MIN; s++) {
		if (common_value(r, s, d, &value[s]) != HD_OK)
			return d->status;
	}
	/* Keys outside the map are not programmed. */
	c->victims = r->victims && map & MARK_MAP_VICTIMS;
	if (map & MARK_MAP_THRESHOLD) {
		c->threshold = (uint8_t)r->set[SET_THRESHOLD];
		c->packet_size = (uint8_t)r->set[SET_PACKET_SIZE];
	}
	if (map & MARK_MAP_RATE)
		c->marking_rate = (uint16_t)r->set[SET_RATE];
	c->per_sl = r->set[SET_PORT_CONTROL] & 1;
	c->sls = (uint16_t)r->set[SET_SLS];
	c->ccti_timer = (uint16_t)value[SET_TIMER];
	c->ccti_increase = (uint8_t)value[SET_INCREASE];
	c->trigger = (uint8_t)value[SET_TRIGGER];
	c->ccti_min = (uint8_t)value[SET_MIN];
	return HD_OK;
}

/* Whether the text, after blanks, starts with a key of congestion control. */
static bool is_our_key(const char *text)
{
	text += strspn(text, " \t");
	return strncmp(text, "cc_", 3) == 0;
}

enum hd_status opensm_cc_read(const char *text, struct diag *d, struct opensm_cc *out)
{
	struct opensm_cc conf = { 0 };
	struct reading r = { .victims = false };
	enum hd_status status = HD_OK;

	for (unsigned n = 1; *text && status == HD_OK; n++) {
		char buffer[OPENSM_LINE_MAX + 1], *key, *rest = buffer;
		size_t len = strcspn(text, "\n");

		if (len > OPENSM_LINE_MAX && is_our_key(text))
			return diag_fail_at(d, HD_ERR_INPUT, n, 0,
					    "a line of %zu bytes, of which OpenSM reads %d", len,
					    OPENSM_LINE_MAX);
		size_t taken = len > OPENSM_LINE_MAX ? 0 : len;

		memcpy(buffer, text, taken);
		buffer[taken] = '\0';
		buffer[strcspn(buffer, "#\r")] = '\0';
		text += len + (text[len] == '\n');
		key = strtok_r(rest, " \t", &rest);
		if (!key)
			continue;
		rest += strspn(rest, " \t");
		for (size_t end = strlen(rest); end && strchr(" \t", rest[end - 1]); end--)
			rest[end - 1] = '\0';
		status = read_line(&(struct line){ n, key, rest }, d, &r, &conf);
	}
	if (status == HD_OK)
		status = conclude(&r, d, &conf);
	if (status == HD_OK)
		*out = conf;
	return status;
}

enum hd_status opensm_cc_load(const char *path, struct diag *d, struct opensm_cc *out)
{
	struct strbuf text = STRBUF_INIT;
	enum hd_status status = file_read(path, MOST_TEXT, d, &text);

	if (status == HD_OK)
		status = opensm_cc_read(text.text, d, out);
	strbuf_fini(&text);
	return status;
}

/* ---- use --------------------------------------------------------------- */

struct mark_config opensm_cc_marking(const struct opensm_cc *conf)
{
	return (struct mark_config){
		.rule = MARK_IBA,
		.threshold = conf->enabled ? conf->threshold : 0,
		.mark_victims = conf->victims,
		.min_bytes = conf->packet_size * 64u,
		.mark_every = conf->marking_rate,
	};
}
