/* SPDX-License-Identifier: BSD-2-Clause */
/* Findings about keys of congestion control that OpenSM, switches or adapters ignore. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cc/marking.h"
#include "qos/opensm/opensm.h"

/* A switch setting and its bit of cc_sw_cong_setting_control_map. */
static const struct switch_key {
	const char *key;
	unsigned bit;
} switch_keys[] = {
	{ "cc_sw_cong_setting_victim_mask", MARK_MAP_VICTIMS },
	{ "cc_sw_cong_setting_threshold", MARK_MAP_THRESHOLD },
	{ "cc_sw_cong_setting_packet_size", MARK_MAP_THRESHOLD },
	{ "cc_sw_cong_setting_marking_rate", MARK_MAP_RATE },
};

static const char *const adapter_keys[] = {
	"cc_ca_cong_setting_ccti_timer",
	"cc_ca_cong_setting_ccti_increase",
	"cc_ca_cong_setting_trigger_threshold",
	"cc_ca_cong_setting_ccti_min",
};

/* The effective (last) line of a key; NULL: absent. */
static const struct opensm_cc_line *line_of(const struct opensm_conf *conf, const char *key)
{
	const struct opensm_cc_line *found = NULL;

	for (size_t i = 0; i < conf->n_cc; i++) {
		if (strcmp(conf->cc[i].key, key) == 0)
			found = &conf->cc[i];
	}
	return found;
}

static unsigned long number_of(const struct opensm_conf *conf, const char *key)
{
	const struct opensm_cc_line *l = line_of(conf, key);

	return l ? strtoul(l->value, NULL, 0) : 0;
}

/* Without 'congestion_control TRUE' in capitals, no cc_ line has an effect. */
static bool lint_switched_off(const struct opensm_conf *conf, struct opensm_findings *out)
{
	const struct opensm_cc_line *on = line_of(conf, "congestion_control");
	unsigned n = 0;

	if (on && strcmp(on->value, "TRUE") == 0)
		return false;
	/* The other keys concern OpenSM's own MADs. */
	for (size_t i = 0; i < conf->n_cc; i++)
		n += strcmp(conf->cc[i].key, "cc_sw_cong_setting_control_map") != 0 &&
		     (strncmp(conf->cc[i].key, "cc_sw_", 6) == 0 ||
		      strncmp(conf->cc[i].key, "cc_ca_", 6) == 0 ||
		      strcmp(conf->cc[i].key, "cc_cct") == 0) &&
		     strcmp(conf->cc[i].value, "(null)") != 0 &&
		     strtoul(conf->cc[i].value, NULL, 0) != 0;
	if (n == 0)
		return true;
	struct opensm_finding f = { .code = "W18", .line = on ? on->line : conf->cc[0].line };

	snprintf(f.message, sizeof(f.message),
		 "congestion_control is not TRUE (capitals): OpenSM ignores all cc_ lines");
	snprintf(f.effect, sizeof(f.effect), "%u settings are ignored, switches mark 0 packets", n);
	snprintf(f.write, sizeof(f.write), "congestion_control TRUE");
	opensm_findings_add(out, &f);
	return true;
}

/* Whether the key has a value other than 0. */
static bool is_set(const struct opensm_conf *conf, const char *key)
{
	const struct opensm_cc_line *l = line_of(conf, key);

	return l && l->value[strspn(l->value, "0x")] != '\0';
}

static void lint_switch_map(const struct opensm_conf *conf, struct opensm_findings *out)
{
	const unsigned long map = number_of(conf, "cc_sw_cong_setting_control_map");
	unsigned long wanted = map;

	for (size_t i = 0; i < sizeof(switch_keys) / sizeof(*switch_keys); i++)
		wanted |= is_set(conf, switch_keys[i].key) ? switch_keys[i].bit : 0;
	for (size_t i = 0; i < sizeof(switch_keys) / sizeof(*switch_keys); i++) {
		const struct opensm_cc_line *l = line_of(conf, switch_keys[i].key);

		if (!is_set(conf, switch_keys[i].key) || map & switch_keys[i].bit)
			continue;
		struct opensm_finding f = { .code = "W18", .line = l->line };

		snprintf(
			f.message, sizeof(f.message),
			"%s: bit 0x%x of cc_sw_cong_setting_control_map is 0, so switches ignore the value",
			l->key, switch_keys[i].bit);
		snprintf(f.effect, sizeof(f.effect), "value in effect: 0, not %.40s", l->value);
		snprintf(f.write, sizeof(f.write), "cc_sw_cong_setting_control_map 0x%lx", wanted);
		opensm_findings_add(out, &f);
	}
}

/* Reports an "SL value" line of an SL that the adapters do not control. */
static void lint_adapter_map(const struct opensm_conf *conf, struct opensm_findings *out)
{
	const unsigned long map = number_of(conf, "cc_ca_cong_setting_control_map");

	for (size_t i = 0; i < conf->n_cc; i++) {
		const struct opensm_cc_line *l = &conf->cc[i];
		unsigned long sl = strtoul(l->value, NULL, 0);
		bool is_adapter = false;

		for (size_t k = 0; k < sizeof(adapter_keys) / sizeof(*adapter_keys); k++)
			is_adapter |= strcmp(l->key, adapter_keys[k]) == 0;
		if (!is_adapter || sl >= N_SLS || map >> sl & 1)
			continue;
		struct opensm_finding f = { .code = "W18", .line = l->line };

		snprintf(
			f.message, sizeof(f.message),
			"%s: SL%lu is not in cc_ca_cong_setting_control_map, so adapters ignore the value",
			l->key, sl);
		snprintf(f.effect, sizeof(f.effect), "adapters slow 0 flows of SL%lu", sl);
		snprintf(f.write, sizeof(f.write), "cc_ca_cong_setting_control_map 0x%lx",
			 map | 1ul << sl);
		opensm_findings_add(out, &f);
	}
}

/* Value of the SL in "SL value" lines of a key; 0: no line. */
static unsigned long adapter_value(const struct opensm_conf *conf, const char *key,
				   unsigned long sl)
{
	unsigned long found = 0;

	for (size_t i = 0; i < conf->n_cc; i++) {
		char *rest;

		if (strcmp(conf->cc[i].key, key) == 0 && strtoul(conf->cc[i].value, &rest, 0) == sl)
			found = strtoul(rest, NULL, 0);
	}
	return found;
}

/* Without a timer, the CCT index of a marked flow never falls. */
static void lint_timers(const struct opensm_conf *conf, struct opensm_findings *out)
{
	const struct opensm_cc_line *l = line_of(conf, "cc_ca_cong_setting_control_map");
	const unsigned long map = number_of(conf, "cc_ca_cong_setting_control_map");

	for (unsigned long sl = 0; sl < N_SLS; sl++) {
		if (!(map >> sl & 1) ||
		    !adapter_value(conf, "cc_ca_cong_setting_ccti_increase", sl) ||
		    adapter_value(conf, "cc_ca_cong_setting_ccti_timer", sl))
			continue;
		struct opensm_finding f = { .code = "W18", .line = l->line };

		snprintf(
			f.message, sizeof(f.message),
			"cc_ca_cong_setting_ccti_timer of SL%lu is 0: flows that were marked stay slow for ever",
			sl);
		snprintf(f.effect, sizeof(f.effect), "0 steps back per second");
		snprintf(f.write, sizeof(f.write), "cc_ca_cong_setting_ccti_timer %lu 10", sl);
		opensm_findings_add(out, &f);
	}
}

/* Reports marking without a congestion control table. */
static void lint_table(const struct opensm_conf *conf, struct opensm_findings *out)
{
	const struct opensm_cc_line *l = line_of(conf, "cc_ca_cong_setting_control_map");
	const struct opensm_cc_line *cct = line_of(conf, "cc_cct");

	if (!l || strtoul(l->value, NULL, 0) == 0 || (cct && strcmp(cct->value, "(null)") != 0))
		return;
	struct opensm_finding f = { .code = "W18", .line = cct ? cct->line : l->line };

	snprintf(f.message, sizeof(f.message),
		 "cc_cct has no entries: adapters count marks and wait for nothing");
	snprintf(f.effect, sizeof(f.effect), "delay after any number of marks: 0 packet times");
	snprintf(f.write, sizeof(f.write), "cc_cct 0:0,0:1,0:2,0:4,0:8,0:16,0:32");
	opensm_findings_add(out, &f);
}

void opensm_lint_cc(const struct opensm_conf *conf, struct opensm_findings *out)
{
	if (lint_switched_off(conf, out))
		return;
	lint_switch_map(conf, out);
	lint_adapter_map(conf, out);
	lint_table(conf, out);
	lint_timers(conf, out);
}
