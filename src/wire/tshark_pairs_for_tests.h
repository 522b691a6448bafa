/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WIRE_TSHARK_PAIRS_FOR_TESTS_H
#define HD_WIRE_TSHARK_PAIRS_FOR_TESTS_H

/*
 * For tshark_test: fields of MAD attributes by Heddle's and by Wireshark's names. Names of single
 * fields omit "infiniband.".
 */

#include <stddef.h>

struct pair {
	const char *ours;
	const char *theirs;
};

static const struct pair node_info[] = {
	{ "BaseVers", "nodeinfo.baseversion" },
	{ "ClassVers", "nodeinfo.classversion" },
	{ "NodeType", "nodeinfo.nodetype" },
	{ "NumPorts", "nodeinfo.numports" },
	{ "SystemGuid", "nodeinfo.systemimageguid" },
	{ "Guid", "nodeinfo.nodeguid" },
	{ "PortGuid", "nodeinfo.portguid" },
	{ "PartCap", "nodeinfo.partitioncap" },
	{ "DevId", "nodeinfo.deviceid" },
	{ "Revision", "nodeinfo.revision" },
	{ "LocalPort", "nodeinfo.localportnum" },
	{ "VendorId", "nodeinfo.vendorid" },
	{ NULL, NULL },
};

static const struct pair switch_info[] = {
	{ "LinearFdbCap", "switchinfo.linearfdbcap" },
	{ "RandomFdbCap", "switchinfo.randomfdbcap" },
	{ "McastFdbCap", "switchinfo.multicastfdbcap" },
	{ "LinearFdbTop", "switchinfo.linearfdbtop" },
	{ "DefPort", "switchinfo.defaultport" },
	{ "DefMcastPrimPort", "switchinfo.defaultmulticastprimaryport" },
	{ "DefMcastNotPrimPort", "switchinfo.defaultmulticastnotprimaryport" },
	{ "LifeTime", "switchinfo.lifetimevalue" },
	{ "StateChange", "switchinfo.portstatechange" },
	{ "OptSLtoVLMapping", "switchinfo.optimizedsltovlmappingprogramming" },
	{ "LidsPerPort", "switchinfo.lidsperport" },
	{ "PartEnforceCap", "switchinfo.partitionenforcementcap" },
	{ "InboundPartEnf", "switchinfo.inboundenforcementcap" },
	{ "OutboundPartEnf", "switchinfo.outboundenforcementcap" },
	{ "FilterRawInbound", "switchinfo.filterrawinboundcap" },
	{ "FilterRawOutbound", "switchinfo.filterrawoutboundcap" },
	{ "EnhancedPort0", "switchinfo.enhancedportzero" },
	{ NULL, NULL },
};

static const struct pair port_info[] = {
	{ "Mkey", "portinfo.m_key" },
	{ "Lid", "portinfo.lid" },
	{ "SMLid", "portinfo.mastersmlid" },
	{ "CapMask", "portinfo.capabilitymask" },
	{ "DiagCode", "portinfo.diagcode" },
	{ "MkeyLeasePeriod", "portinfo.m_keyleaseperiod" },
	{ "LocalPort", "portinfo.localportnum" },
	{ "LinkWidthEnabled", "portinfo.linkwidthenabled" },
	{ "LinkWidthSupported", "portinfo.linkwidthsupported" },
	{ "LinkWidthActive", "portinfo.linkwidthactive" },
	{ "LinkSpeedSupported", "portinfo.linkspeedsupported" },
	{ "LinkState", "portinfo.portstate" },
	{ "PhysLinkState", "portinfo.portphysicalstate" },
	{ "LinkDownDefState", "portinfo.linkdowndefaultstate" },
	{ "ProtectBits", "portinfo.m_keyprotectbits" },
	{ "LMC", "portinfo.lmc" },
	{ "LinkSpeedActive", "portinfo.linkspeedactive" },
	{ "LinkSpeedEnabled", "portinfo.linkspeedenabled" },
	{ "NeighborMTU", "portinfo.neighbormtu" },
	{ "SMSL", "portinfo.mastersmsl" },
	{ "VLCap", "portinfo.vlcap" },
	{ "InitType", "portinfo.inittype" },
	{ "VLHighLimit", "portinfo.vlhighlimit" },
	{ "VLArbHighCap", "portinfo.vlarbitrationhighcap" },
	{ "VLArbLowCap", "portinfo.vlarbitrationlowcap" },
	{ "InitReply", "portinfo.inittypereply" },
	{ "MtuCap", "portinfo.mtucap" },
	{ "VLStallCount", "portinfo.vlstallcount" },
	{ "HoqLife", "portinfo.hoqlife" },
	{ "OperVLs", "portinfo.operationalvls" },
	{ "PartEnforceInb", "portinfo.partitionenforcementinbound" },
	{ "PartEnforceOutb", "portinfo.partitionenforcementoutbound" },
	{ "FilterRawInb", "portinfo.filterrawinbound" },
	{ "FilterRawOutb", "portinfo.filterrawoutbound" },
	{ "MkeyViolations", "portinfo.m_keyviolations" },
	{ "PkeyViolations", "portinfo.p_keyviolations" },
	{ "QkeyViolations", "portinfo.q_keyviolations" },
	{ "GuidCap", "portinfo.guidcap" },
	{ "ClientReregister", "portinfo.clientreregister" },
	{ "SubnetTimeout", "portinfo.subnettimeout" },
	{ "RespTimeVal", "portinfo.resptimevalue" },
	{ "LocalPhysErr", "portinfo.localphyerrors" },
	{ "OverrunErr", "portinfo.overrunerrors" },
	{ "MaxCreditHint", "portinfo.maxcredithint" },
	{ "RoundTrip", "portinfo.linkroundtriplatency" },
	{ NULL, NULL },
};

static const struct pair sm_info[] = {
	{ "SmInfoGuid", "sminfo.guid" },     { "SmInfoKey", "sminfo.sm_key" },
	{ "SmActivity", "sminfo.actcount" }, { "SmPriority", "sminfo.priority" },
	{ "SmState", "sminfo.smstate" },     { NULL, NULL },
};

static const struct pair vendor_diag[] = {
	{ "NextIndex", "vendordiag.nextindex" },
	{ "DiagData", "vendordiag.diagdata" },
	{ NULL, NULL },
};

static const struct pair led_info[] = {
	{ "LedMask", "ledinfo.ledmask" },
	{ NULL, NULL },
};

static const struct pair notice[] = {
	{ "NoticeIsGeneric", "notice.isgeneric" },
	{ "NoticeType", "notice.type" },
	{ "NoticeProducerType", "notice.producertypevendorid" },
	{ "NoticeTrapNumber", "notice.trapnumberdeviceid" },
	{ "NoticeIssuerLID", "notice.issuerlid" },
	{ "NoticeToggle", "notice.noticetoggle" },
	{ "NoticeCount", "notice.noticecount" },
	{ NULL, NULL },
};

static const struct pair path_record[] = {
	{ "DGID", "pathrecord.dgid" },
	{ "SGID", "pathrecord.sgid" },
	{ "DLID", "pathrecord.dlid" },
	{ "SLID", "pathrecord.slid" },
	{ "RawTraffic", "pathrecord.rawtraffic" },
	{ "FlowLabel", "pathrecord.flowlabel" },
	{ "HopLimit", "pathrecord.hoplimit" },
	{ "TClass", "pathrecord.tclass" },
	{ "Reversible", "pathrecord.reversible" },
	{ "NumbPath", "pathrecord.numbpath" },
	{ "P_Key", "pathrecord.p_key" },
	{ "SL", "pathrecord.sl" },
	{ "MtuSelector", "pathrecord.mtuselector" },
	{ "Mtu", "pathrecord.mtu" },
	{ "RateSelector", "pathrecord.rateselector" },
	{ "Rate", "pathrecord.rate" },
	{ "PacketLifeTimeSelector", "pathrecord.packetlifetimeselector" },
	{ "PacketLifeTime", "pathrecord.packetlifetime" },
	{ "Preference", "pathrecord.preference" },
	{ NULL, NULL },
};

static const struct pair member_record[] = {
	{ "MGID", "mcmemberrecord.mgid" },
	{ "PortGID", "mcmemberrecord.portgid" },
	{ "Q_Key", "mcmemberrecord.q_key" },
	{ "MLID", "mcmemberrecord.mlid" },
	{ "MTUSelector", "mcmemberrecord.mtuselector" },
	{ "MTU", "mcmemberrecord.mtu" },
	{ "TClass", "mcmemberrecord.tclass" },
	{ "P_Key", "mcmemberrecord.p_key" },
	{ "RateSelector", "mcmemberrecord.rateselector" },
	{ "Rate", "mcmemberrecord.rate" },
	{ "PacketLifeTimeSelector", "mcmemberrecord.packetlifetimeselector" },
	{ "PacketLifeTime", "mcmemberrecord.packetlifetime" },
	{ "SL", "mcmemberrecord.sl" },
	{ "FlowLabel", "mcmemberrecord.flowlabel" },
	{ "HopLimit", "mcmemberrecord.hoplimit" },
	{ "Scope", "mcmemberrecord.scope" },
	{ "JoinState", "mcmemberrecord.joinstate" },
	{ "ProxyJoin", "mcmemberrecord.proxyjoin" },
	{ NULL, NULL },
};

static const struct pair node_record[] = {
	{ "Lid", "sa.lid" },
	{ "Guid", "nodeinfo.nodeguid" },
	{ "VendorId", "nodeinfo.vendorid" },
	{ NULL, NULL },
};

static const struct pair port_info_record[] = {
	{ "EndPortLid", "sa.endportlid" },
	{ "PortNum", "sa.portnum" },
	{ "VLHighLimit", "portinfo.vlhighlimit" },
	{ NULL, NULL },
};

static const struct pair port_counters[] = {
	{ "PortSelect", "portcounters.portselect" },
	{ "CounterSelect", "portcounters.counterselect" },
	{ "SymbolErrorCounter", "portcounters.symbolerrorcounter" },
	{ "LinkErrorRecoveryCounter", "portcounters.linkerrorrecoverycounter" },
	{ "LinkDownedCounter", "portcounters.linkdownedcounter" },
	{ "PortRcvErrors", "portcounters.portrcverrors" },
	{ "PortRcvRemotePhysicalErrors", "portcounters.portrcvremotephysicalerrors" },
	{ "PortRcvSwitchRelayErrors", "portcounters.portrcvswitchrelayerrors" },
	{ "PortXmitDiscards", "portcounters.portxmitdiscards" },
	{ "PortXmitConstraintErrors", "portcounters.portxmitconstrainterrors" },
	{ "PortRcvConstraintErrors", "portcounters.portrcvconstrainterrors" },
	{ "LocalLinkIntegrityErrors", "portcounters.locallinkintegrityerrors" },
	{ "ExcessiveBufferOverrunErrors", "portcounters.excessivebufferoverrunerrors" },
	{ "VL15Dropped", "portcounters.vl15dropped" },
	{ "PortXmitData", "portcounters.portxmitdata" },
	{ "PortRcvData", "portcounters.portrcvdata" },
	{ "PortXmitPkts", "portcounters.portxmitpkts" },
	{ "PortRcvPkts", "portcounters.portrcvpkts" },
	{ NULL, NULL },
};

static const struct pair port_counters_ext[] = {
	{ "PortSelect", "portcounters_ext.portselect" },
	{ "CounterSelect", "portcounters_ext.counterselect" },
	{ "PortXmitData", "portcounters_ext.portxmitdata" },
	{ "PortRcvData", "portcounters_ext.portrcvdata" },
	{ "PortXmitPkts", "portcounters_ext.portxmitpkts" },
	{ "PortRcvPkts", "portcounters_ext.portrcvpkts" },
	{ "PortUnicastXmitPkts", "portcounters_ext.portunicastxmitpkts" },
	{ "PortUnicastRcvPkts", "portcounters_ext.portunicastrcvpkts" },
	{ "PortMulticastXmitPkts", "portcounters_ext.portmulticastxmitpkts" },
	{ "PortMulticastRcvPkts", "portcounters_ext.portmulticastrcvpkts" },
	{ NULL, NULL },
};

static const struct pair class_port_info[] = {
	{ "BaseVersion", "classportinfo.baseversion" },
	{ "ClassVersion", "classportinfo.classversion" },
	{ "CapabilityMask", "classportinfo.capabilitymask" },
	{ "RespTimeVal", "classportinfo.resptimevalue" },
	{ "RedirectGID", "classportinfo.redirectgid" },
	{ "RedirectTC", "classportinfo.redirecttc" },
	{ "RedirectSL", "classportinfo.redirectsl" },
	{ "RedirectFL", "classportinfo.redirectfl" },
	{ "RedirectLID", "classportinfo.redirectlid" },
	{ "RedirectPKey", "classportinfo.redirectpkey" },
	{ "RedirectQP", "classportinfo.redirectqp" },
	{ "RedirectQKey", "classportinfo.redirectqkey" },
	{ NULL, NULL },
};

static const struct pair vl_arbitration[] = {
	{ "VL", "infiniband.vlarbitrationtable.vl" },
	{ "WEIGHT", "infiniband.vlarbitrationtable.weight" },
	{ NULL, NULL },
};

static const struct pair linear_forwarding[] = {
	{ "Port", "infiniband.linearforwardingtable.port" },
	{ NULL, NULL },
};

static const struct pair random_forwarding[] = {
	{ "LID", "infiniband.randomforwardingtable.lid" },
	{ "Valid", "infiniband.randomforwardingtable.valid" },
	{ "LMC", "infiniband.randomforwardingtable.lmc" },
	{ "Port", "infiniband.randomforwardingtable.port" },
	{ NULL, NULL },
};

static const struct pair multicast_forwarding[] = {
	{ "PortMask", "infiniband.multicastforwardingtable.portmask" },
	{ NULL, NULL },
};

/*
 * Communication management. tshark 4.0 splits flow label and rate of a path differently from the
 * standard and Linux, shows the second path's GIDs as bytes, and decodes the private data of a
 * request.
 */
static const struct pair cm_req[] = {
	{ "LocalCommunicationID", "cm.req" },
	{ "ServiceID", "cm.req.serviceid" },
	{ "LocalCAGUID", "cm.req.localcaguid" },
	{ "LocalQ_Key", "cm.req.localqkey" },
	{ "LocalQPN", "cm.req.localqpn" },
	{ "ResponderResources", "cm.req.responderres" },
	{ "LocalEECN", "cm.req.localeecn" },
	{ "InitiatorDepth", "cm.req.initdepth" },
	{ "RemoteEECN", "cm.req.remoteeecn" },
	{ "RemoteCMResponseTimeout", "cm.req.remoteresptout" },
	{ "TransportServiceType", "cm.req.transpsvctype" },
	{ "EndToEndFlowControl", "cm.req.e2eflowctrl" },
	{ "StartingPSN", "cm.req.startpsn" },
	{ "LocalCMResponseTimeout", "cm.req.localresptout" },
	{ "RetryCount", "cm.req.retrcount" },
	{ "PartitionKey", "cm.req.pkey" },
	{ "PathPacketPayloadMTU", "cm.req.pppmtu" },
	{ "RDCExists", "cm.req.rdcexist" },
	{ "RNRRetryCount", "cm.req.rnrretrcount" },
	{ "MaxCMRetries", "cm.req.maxcmretr" },
	{ "SRQ", "cm.req.srq" },
	{ "ExtendedTransportType", "cm.req.ext_transport" },
	{ "PrimaryLocalLID", "cm.req.prim_locallid" },
	{ "PrimaryRemoteLID", "cm.req.prim_remotelid" },
	{ "PrimaryLocalGID", "cm.req.prim_localgid" },
	{ "PrimaryRemoteGID", "cm.req.prim_remotegid" },
	{ "PrimaryTrafficClass", "cm.req.prim_tfcclass" },
	{ "PrimaryHopLimit", "cm.req.prim_hoplim" },
	{ "PrimarySL", "cm.req.prim_sl" },
	{ "PrimarySubnetLocal", "cm.req.prim_subnetlocal" },
	{ "PrimaryLocalAckTimeout", "cm.req.prim_localacktout" },
	{ "AlternateLocalLID", "cm.req.alt_locallid" },
	{ "AlternateRemoteLID", "cm.req.alt_remotelid" },
	{ "AlternateTrafficClass", "cm.req.alt_tfcclass" },
	{ "AlternateHopLimit", "cm.req.alt_hoplim" },
	{ "AlternateSL", "cm.req.alt_sl" },
	{ "AlternateSubnetLocal", "cm.req.alt_subnetlocal" },
	{ "AlternateLocalAckTimeout", "cm.req.alt_localacktout" },
	{ NULL, NULL },
};

static const struct pair cm_rep[] = {
	{ "LocalCommunicationID", "cm.rep" },
	{ "RemoteCommunicationID", "cm.rep.remotecommid" },
	{ "LocalQ_Key", "cm.rep.localqkey" },
	{ "LocalQPN", "cm.rep.localqpn" },
	{ "LocalEECN", "cm.rep.localeecn" },
	{ "StartingPSN", "cm.rep.startpsn" },
	{ "ResponderResources", "cm.rep.respres" },
	{ "InitiatorDepth", "cm.rep.initdepth" },
	{ "TargetAckDelay", "cm.rep.tgtackdelay" },
	{ "FailoverAccepted", "cm.rep.failoveracc" },
	{ "EndToEndFlowControl", "cm.rep.e2eflowctrl" },
	{ "RNRRetryCount", "cm.rep.rnrretrcount" },
	{ "SRQ", "cm.rep.srq" },
	{ "LocalCAGUID", "cm.rep.localcaguid" },
	{ "PrivateData", "cm.rep.private" },
	{ NULL, NULL },
};

static const struct pair cm_rtu[] = {
	{ "LocalCommunicationID", "cm.rtu.localcommid" },
	{ "RemoteCommunicationID", "cm.rtu.remotecommid" },
	{ "PrivateData", "cm.rtu.private" },
	{ NULL, NULL },
};

static const struct pair cm_rej[] = {
	{ "LocalCommunicationID", "cm.rej.localcommid" },
	{ "RemoteCommunicationID", "cm.rej.remotecommid" },
	{ "MessageRejected", "cm.rej.msgrej" },
	{ "RejectInfoLength", "cm.rej.rejinfolen" },
	{ "Reason", "cm.rej.reason" },
	{ "AdditionalRejectInformation", "cm.rej.ari" },
	{ "PrivateData", "cm.rej.private" },
	{ NULL, NULL },
};

static const struct pair cm_dreq[] = {
	{ "LocalCommunicationID", "cm.dreq.localcommid" },
	{ "RemoteCommunicationID", "cm.dreq.remotecommid" },
	{ "RemoteQPN", "cm.req.remoteqpneecn" },
	{ "PrivateData", "cm.dreq.private" },
	{ NULL, NULL },
};

static const struct pair cm_drep[] = {
	{ "LocalCommunicationID", "cm.drsp.localcommid" },
	{ "RemoteCommunicationID", "cm.drsp.remotecommid" },
	{ "PrivateData", "cm.drsp.private" },
	{ NULL, NULL },
};

#endif
