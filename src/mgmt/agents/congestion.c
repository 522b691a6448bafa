/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "base/alloc.h"
#include "mgmt/agents/agents_internal.h"
#include "wire/cursor.h"

/*
 * The congestion control agent. Attributes are stored as a manager sets them: a switch has settings
 * of its own and of its ports; an adapter's port has source settings and a congestion control
 * table.
 */

enum { CC_KEY = 24 }; /* offset of the CC_Key in the header */

static uint16_t class_port_info(struct agent_request *r)
{
	if (r->method == MAD_SET)
		return MAD_UNSUPPORTED;
	r->data[0] = MAD_BASE_VERSION;
	r->data[1] = mad_class(MAD_CC)->version;
	return MAD_OK;
}

static uint16_t congestion_info(struct agent_request *r)
{
	if (r->method == MAD_SET)
		return MAD_UNSUPPORTED;
	r->data[2] = at_switch(r) ? 0 : CCT_BLOCKS;
	return MAD_OK;
}

static uint16_t congestion_log(struct agent_request *r)
{
	enum { LOG_SWITCH = 1, LOG_CA = 2 };

	if (r->method == MAD_SET)
		return MAD_UNSUPPORTED;
	r->data[0] = at_switch(r) ? LOG_SWITCH : LOG_CA;
	return MAD_OK;
}

static uint16_t time_stamp(struct agent_request *r)
{
	if (r->method == MAD_SET)
		return MAD_UNSUPPORTED;
	store_be32(r->data, (uint32_t)(r->now / 1024000));
	return MAD_OK;
}

static uint16_t get_or_set(struct agent_request *r, struct congestion_settings *s)
{
	switch (r->attribute) {
	case ATTR_CONGESTION_KEY_INFO:
		return request_exchange(r, s->key_info, KEY_INFO_SIZE);
	case ATTR_SWITCH_CONGESTION:
		return at_switch(r) ? request_exchange(r, s->switch_setting, SWITCH_SETTING_SIZE)
				    : MAD_UNSUPPORTED;
	case ATTR_SWITCH_PORT_CONGESTION:
		if (!at_switch(r))
			return MAD_UNSUPPORTED;
		return r->modifier < SWITCH_PORT_BLOCKS
			       ? request_exchange(r, s->port_settings[r->modifier],
						  SWITCH_PORT_BLOCK)
			       : MAD_INVALID_FIELD;
	case ATTR_CA_CONGESTION:
		return at_switch(r) ? MAD_UNSUPPORTED
				    : request_exchange(r, s->ca_setting, CC_SETTING_SIZE);
	case ATTR_CONGESTION_CONTROL_TABLE:
		if (at_switch(r))
			return MAD_UNSUPPORTED;
		return r->modifier < CCT_BLOCKS
			       ? request_exchange(r, s->table[r->modifier], CC_SETTING_SIZE)
			       : MAD_INVALID_FIELD;
	default:
		return MAD_UNSUPPORTED;
	}
}

const uint8_t *agents_congestion(const struct agents *a, port_id port, uint16_t attribute,
				 unsigned block)
{
	const struct congestion_settings *s = a->ports[port].congestion;

	if (!s)
		return NULL;
	switch (attribute) {
	case ATTR_SWITCH_CONGESTION:
		return s->switch_setting;
	case ATTR_SWITCH_PORT_CONGESTION:
		return block < SWITCH_PORT_BLOCKS ? s->port_settings[block] : NULL;
	case ATTR_CA_CONGESTION:
		return s->ca_setting;
	case ATTR_CONGESTION_CONTROL_TABLE:
		return block < CCT_BLOCKS ? s->table[block] : NULL;
	default:
		return NULL;
	}
}

/* A Set needs the CC_Key; a Get needs it only if the key is protected. */
static bool has_key(const struct agent_request *r, const struct congestion_settings *s)
{
	uint64_t key = s ? load_be64(s->key_info) : 0;
	bool is_protected = s && s->key_info[8] & 0x80;

	return key == 0 || load_be64(r->bytes + CC_KEY) == key ||
	       (r->method == MAD_GET && !is_protected);
}

uint16_t agents_handle_cc(struct agent_request *r)
{
	static const struct congestion_settings none;
	struct agent_port *p = &r->agents->ports[agents_owner(r->agents, r->port)];
	struct congestion_settings scratch = none;

	if (!has_key(r, p->congestion))
		return MAD_NO_ANSWER;
	switch (r->attribute) {
	case ATTR_CLASS_PORT_INFO:
		return class_port_info(r);
	case ATTR_CONGESTION_INFO:
		return congestion_info(r);
	case ATTR_CONGESTION_LOG:
		return congestion_log(r);
	case ATTR_TIME_STAMP:
		return time_stamp(r);
	default:
		if (r->method == MAD_SET)
			ensure(p->congestion, 1);
		return get_or_set(r, p->congestion ? p->congestion : &scratch);
	}
}
