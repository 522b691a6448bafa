/* SPDX-License-Identifier: BSD-2-Clause */
#include "live/tables/tables.h"

#include <string.h>

#include "cc/marking.h"
#include "mgmt/agents/agents.h"
#include "scenario/words.h"
#include "wire/mad.h"

/* Congestion control as a subnet manager has set it, for the simulator. */

static const struct record *record_of(uint16_t attribute)
{
	return mad_attribute(mad_class(MAD_CC), attribute)->record;
}

/* ---- switches */

static bool has_victims(const struct record *r, const uint8_t *setting)
{
	struct field mask;

	if (!field_record_find(r, "Victim_Mask", &mask))
		return false;
	for (size_t i = 0; i < mask.width / 8U; i++)
		if (setting[mask.offset / 8 + i])
			return true;
	return false;
}

static void take_marking(const uint8_t *setting, struct scn_congestion *c)
{
	const struct record *r = record_of(ATTR_SWITCH_CONGESTION);
	uint64_t map = field_record_get(r, setting, "Control_Map");

	c->marking = MARK_IBA;
	c->victims = map & MARK_MAP_VICTIMS && has_victims(r, setting);
	c->threshold = map & MARK_MAP_THRESHOLD ? field_record_get(r, setting, "Threshold") : 0;
	c->packet_size =
		map & MARK_MAP_THRESHOLD ? field_record_get(r, setting, "Packet_Size") * 64 : 0;
	c->marking_rate = map & MARK_MAP_RATE ? field_record_get(r, setting, "Marking_Rate") : 0;
}

/* The setting that all switches have; NULL if none has one. */
static enum hd_status common_setting(const struct agents *a, struct diag *d, const uint8_t **out)
{
	const struct topo *t = agents_topo(a);
	const size_t size = record_of(ATTR_SWITCH_CONGESTION)->size;

	*out = NULL;
	for (node_id v = 0; v < t->n_nodes; v++) {
		const uint8_t *mine = topo_is_switch(t, v)
					      ? agents_congestion(a, t->nodes[v].first_port,
								  ATTR_SWITCH_CONGESTION, 0)
					      : NULL;

		if (mine && *out && memcmp(mine, *out, size) != 0)
			return diag_fail(
				d, HD_ERR_UNFIT,
				"switch '%s' has other marking parameters than the switches before it; the simulation supports one set for all switches",
				t->nodes[v].name);
		if (mine)
			*out = mine;
	}
	return HD_OK;
}

static unsigned algorithm_named(const char *name)
{
	unsigned i = 0;

	while (strcmp(scn_algorithm_words[i], name) != 0)
		i++;
	return i;
}

/* True if a port has one CCTI per SL instead of one per queue pair. */
static bool is_per_sl(const struct agents *a)
{
	const struct topo *t = agents_topo(a);
	const struct record *r = record_of(ATTR_CA_CONGESTION);

	for (port_id p = 0; p < t->n_ports; p++) {
		const uint8_t *s = agents_congestion(a, p, ATTR_CA_CONGESTION, 0);

		if (s && topo_is_end_port(t, p) && field_record_get(r, s, "Port_Control") & 1)
			return true;
	}
	return false;
}

enum hd_status live_tables_control(const struct agents *a, struct scn_congestion *c, struct diag *d)
{
	const uint8_t *setting;
	enum hd_status status = common_setting(a, d, &setting);

	if (status != HD_OK)
		return status;
	c->algorithm = algorithm_named(setting ? "cct" : "none");
	if (setting) {
		take_marking(setting, c);
		c->per = is_per_sl(a) ? SCN_PER_SL : SCN_PER_QP;
	}
	return HD_OK;
}

enum hd_status live_tables_control_or_off(const struct agents *a, struct scn_congestion *c,
					  struct diag *d)
{
	struct scn_congestion is = *c;
	enum hd_status status = live_tables_control(a, &is, d);

	if (status != HD_OK)
		return status;
	if (is.algorithm != SCN_CONTROL_SAME) {
		*c = is;
	} else {
		c->marking = MARK_IBA;
		c->threshold = 0;
	}
	return HD_OK;
}

/* ---- adapters */

static void take_table(const struct agents *a, port_id source, struct cc_config *c)
{
	const struct record *r = record_of(ATTR_CONGESTION_CONTROL_TABLE);
	const unsigned per_block = r->group->count;

	memset(c->cct, 0, sizeof(c->cct));
	for (unsigned i = 0; i < CCT_MAX_ENTRIES; i++) {
		const uint8_t *block =
			agents_congestion(a, source, ATTR_CONGESTION_CONTROL_TABLE, i / per_block);

		if (!block)
			return;
		if (i == 0)
			c->ccti_limit = (uint16_t)field_record_get(r, block, "CCTI_Limit");
		c->cct[i] = (uint16_t)(field_record_get_entry(r, block, i % per_block, "CCT_Shift")
					       << 14 |
				       field_record_get_entry(r, block, i % per_block,
							      "CCT_Multiplier"));
	}
	if (c->ccti_limit >= CCT_MAX_ENTRIES)
		c->ccti_limit = CCT_MAX_ENTRIES - 1;
}

bool live_tables_throttle(const struct agents *a, port_id source, unsigned sl, struct cc_config *c)
{
	const struct record *r = record_of(ATTR_CA_CONGESTION);
	const uint8_t *s = agents_congestion(a, source, ATTR_CA_CONGESTION, 0);

	if (!s || !(field_record_get(r, s, "Control_Map") >> sl & 1))
		return false;
	c->ccti_timer = (uint16_t)field_record_get_entry(r, s, sl, "CCTI_Timer");
	c->ccti_increase = (uint16_t)field_record_get_entry(r, s, sl, "CCTI_Increase");
	c->ccti_min = (uint16_t)field_record_get_entry(r, s, sl, "CCTI_Min");
	c->trigger = (uint16_t)field_record_get_entry(r, s, sl, "Trigger_Threshold");
	take_table(a, source, c);
	/* A CCTI increase of 0 never throttles a flow. */
	return c->ccti_increase > 0;
}

/* Control with a CCT without delays, which does not throttle. */
bool live_tables_throttle_or_off(const struct agents *a, port_id source, unsigned sl,
				 struct cc_config *c)
{
	if (live_tables_throttle(a, source, sl, c))
		return true;
	memset(c->cct, 0, sizeof(c->cct));
	c->ccti_limit = c->ccti_min = c->trigger = 0;
	c->ccti_increase = 1;
	return true;
}
