/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/port_fields.h"

#include <assert.h>

static const char *const port_names[N_PORT_FIELDS] = {
	[PORT_MKEY] = "Mkey",
	[PORT_GID_PREFIX] = "GidPrefix",
	[PORT_LID] = "Lid",
	[PORT_SM_LID] = "SMLid",
	[PORT_CAP_MASK] = "CapMask",
	[PORT_LEASE] = "MkeyLeasePeriod",
	[PORT_NUMBER] = "LocalPort",
	[PORT_WIDTHS_ENABLED] = "LinkWidthEnabled",
	[PORT_WIDTHS] = "LinkWidthSupported",
	[PORT_WIDTH] = "LinkWidthActive",
	[PORT_SPEEDS] = "LinkSpeedSupported",
	[PORT_STATE] = "LinkState",
	[PORT_PHYSICAL] = "PhysLinkState",
	[PORT_DOWN_DEFAULT] = "LinkDownDefState",
	[PORT_PROTECT] = "ProtectBits",
	[PORT_LMC] = "LMC",
	[PORT_SPEED] = "LinkSpeedActive",
	[PORT_SPEEDS_ENABLED] = "LinkSpeedEnabled",
	[PORT_NEIGHBOR_MTU] = "NeighborMTU",
	[PORT_SM_SL] = "SMSL",
	[PORT_VL_CAP] = "VLCap",
	[PORT_INIT_TYPE] = "InitType",
	[PORT_HIGH_LIMIT] = "VLHighLimit",
	[PORT_HIGH_CAP] = "VLArbHighCap",
	[PORT_LOW_CAP] = "VLArbLowCap",
	[PORT_MTU_CAP] = "MtuCap",
	[PORT_STALL_COUNT] = "VLStallCount",
	[PORT_HOQ_LIFE] = "HoqLife",
	[PORT_OPER_VLS] = "OperVLs",
	[PORT_ENFORCE_IN] = "PartEnforceInb",
	[PORT_ENFORCE_OUT] = "PartEnforceOutb",
	[PORT_FILTER_IN] = "FilterRawInb",
	[PORT_FILTER_OUT] = "FilterRawOutb",
	[PORT_MKEY_VIOLATIONS] = "MkeyViolations",
	[PORT_PKEY_VIOLATIONS] = "PkeyViolations",
	[PORT_QKEY_VIOLATIONS] = "QkeyViolations",
	[PORT_GUID_CAP] = "GuidCap",
	[PORT_REREGISTER] = "ClientReregister",
	[PORT_MCAST_TRAP] = "McastPkeyTrapSuppressionEnabled",
	[PORT_SUBNET_TIMEOUT] = "SubnetTimeout",
	[PORT_RESPONSE_TIME] = "RespTimeVal",
	[PORT_PHYSICAL_ERRORS] = "LocalPhysErr",
	[PORT_OVERRUN_ERRORS] = "OverrunErr",
	[PORT_CAP_MASK2] = "CapabilityMask2",
	[PORT_EXT_SPEED] = "LinkSpeedExtActive",
	[PORT_EXT_SPEEDS] = "LinkSpeedExtSupported",
	[PORT_EXT_SPEEDS_ENABLED] = "LinkSpeedExtEnabled",
};

static const char *const switch_names[N_SWITCH_FIELDS] = {
	[SWITCH_LINEAR_CAP] = "LinearFdbCap",
	[SWITCH_MCAST_CAP] = "McastFdbCap",
	[SWITCH_LINEAR_TOP] = "LinearFdbTop",
	[SWITCH_DEFAULT_PORT] = "DefPort",
	[SWITCH_MCAST_PRIMARY] = "DefMcastPrimPort",
	[SWITCH_MCAST_OTHER] = "DefMcastNotPrimPort",
	[SWITCH_LIFE_TIME] = "LifeTime",
	[SWITCH_STATE_CHANGE] = "StateChange",
	[SWITCH_OPTIMISED_SL2VL] = "OptSLtoVLMapping",
	[SWITCH_ENFORCE_CAP] = "PartEnforceCap",
	[SWITCH_ENFORCE_IN] = "InboundPartEnf",
	[SWITCH_ENFORCE_OUT] = "OutboundPartEnf",
	[SWITCH_FILTER_IN] = "FilterRawInbound",
	[SWITCH_FILTER_OUT] = "FilterRawOutbound",
	[SWITCH_ENHANCED] = "EnhancedPort0",
	[SWITCH_MCAST_TOP] = "MulticastFDBTop",
};

static void find_all(uint16_t attribute, const char *const *names, size_t n, struct field *out)
{
	const struct record *r = mad_attribute(mad_class(MAD_SMP), attribute)->record;

	for (size_t i = 0; i < n; i++) {
		bool found = field_record_find(r, names[i], &out[i]);

		assert(found);
		(void)found;
	}
}

void port_fields_find(struct field out[N_PORT_FIELDS])
{
	find_all(ATTR_PORT_INFO, port_names, N_PORT_FIELDS, out);
}

void switch_fields_find(struct field out[N_SWITCH_FIELDS])
{
	find_all(ATTR_SWITCH_INFO, switch_names, N_SWITCH_FIELDS, out);
}
