/* SPDX-License-Identifier: BSD-2-Clause */
#include "scenario/notations.h"
#include "scenario/scenario.h"
#include "scenario/words.h"
#include "subnet/replan.h"

/*
 * The scenario file, field by field. Adding a field is a member in scenario.h
 * and a row here; reading, refusals, --explain and the manual follow.
 */

#define FABRIC(member)    offsetof(struct scenario, fabric.member)
#define SWITCH(member)    offsetof(struct scenario, fabric.sw.member)
#define ROUTING(member)   offsetof(struct scenario, fabric.routing.member)
#define QOS(member)       offsetof(struct scenario, qos.member)
#define CC(member)        offsetof(struct scenario, congestion.member)
#define ADMISSION(member) offsetof(struct scenario, qos.admission.member)
#define LOANS(member)     offsetof(struct scenario, qos.thresholds.member)
#define FAULTS(member)    offsetof(struct scenario, faults.member)
#define SM(member)        offsetof(struct scenario, sm.member)
#define RUN(member)       offsetof(struct scenario, run.member)
#define LINK(member)      offsetof(struct scn_link, member)
#define GROUP(member)     offsetof(struct scn_group, member)
#define CLASS(member)     offsetof(struct scn_class, member)
#define QPORT(member)     offsetof(struct scn_qos_port, member)
#define CHANGE(member)    offsetof(struct scn_qos_change, member)
#define TCLASS(member)    offsetof(struct scn_tclass, member)
#define PARTITION(member) offsetof(struct scn_partition, member)
#define TRAFFIC(member)   offsetof(struct scn_traffic, member)
#define EVENT(member)     offsetof(struct scn_event, member)
#define LIMIT(member)     offsetof(struct scn_limit, member)
#define GOAL(member)      offsetof(struct scn_goal, member)
#define JOB(member)       offsetof(struct scn_job, member)
#define STEP(member)      offsetof(struct scn_step, member)

#define BIT(value) (UINT64_C(1) << (value))

#define PACED                                                              \
	(BIT(SIM_CBR) | BIT(SIM_POISSON) | BIT(SIM_GE) | BIT(SIM_ON_OFF) | \
	 BIT(SIM_PARETO))
#define NOT_TRACE (PACED | BIT(SIM_SATURATING) | BIT(SIM_BURST))
#define WITH_DESTINATION                                             \
	(BIT(SCN_UNIFORM) | BIT(SCN_HOTSPOT) | BIT(SCN_ALL_TO_ALL) | \
	 BIT(SCN_INCAST) | BIT(SCN_PAIRS))

static void topology_params(const void *base,
			    const struct option *tables[SCHEMA_MAX_TABLES + 1])
{
	const struct scenario *s = base;
	const struct generator *g = s->fabric.topology.generator;

	if (!g)
		return;
	tables[0] = g->params;
	tables[1] = generator_common;
}

#define HOSTS_HELP                                                   \
	"(all; names, name*, numbers 0..7, on:SWITCH, 40% drawn at " \
	"random, not:NAME; with commas between)"

#define STEP_BYTES                                                      \
	.initial = "none", .word = "none", .word_value = SCN_NOT_GIVEN, \
	.high = "1TiB"

const struct schema_row scenario_fields[] = {
	{ "title", SCHEMA_TEXT, offsetof(struct scenario, title),
	  .optional = true, .help = "what the scenario shows" },

	{ "fabric", SCHEMA_MAP, .help = "what traffic runs on" },
	{ "fabric.topology", SCHEMA_MAP, FABRIC(topology.params),
	  .params = topology_params, .shorthand = "file",
	  .help = "nodes and cables; of each kind, the fields are the options "
		  "of 'heddle topo gen KIND', with _ for -" },
	{ "fabric.topology.kind", SCHEMA_CUSTOM, FABRIC(topology.generator),
	  .initial = "file", .custom = &notation_topology_kind,
	  .help = "what to build" },
	{ "fabric.topology.file", SCHEMA_TEXT, FABRIC(topology.file),
	  .optional = true,
	  .help = "a fabric as ibnetdiscover or ibsim write it, seen from the "
		  "scenario's folder" },
	{ "fabric.topology.seed", SCHEMA_UINT, FABRIC(topology.seed),
	  .initial = "1", .help = "of kinds that are random" },
	{ "fabric.link", SCHEMA_MAP, .shorthand = "rate",
	  .help = "every cable, unless 'links' says otherwise" },
	{ "fabric.link.rate", SCHEMA_RATE, FABRIC(link.rate),
	  .initial = "native", .word = "native",
	  .help = "data rate; native: the best that both ends can do" },
	{ "fabric.link.propagation", SCHEMA_TIME, FABRIC(link.propagation),
	  .initial = "5ns", .low = "1ps", .high = "1s",
	  .help = "delay of the cable; a metre takes about 5ns" },
	{ "fabric.links", SCHEMA_LIST, FABRIC(links), .count = FABRIC(n_links),
	  .item_size = sizeof(struct scn_link),
	  .help = "cables that differ; the last that fits counts" },
	{ "fabric.links[].ports", SCHEMA_TEXT, LINK(ports), .joins = true,
	  .help = "one end of each (NODE, NODE:PORT, name*, hosts, trunks); "
		  "rate and propagation hold both ways, errors only for what "
		  "these ports send" },
	{ "fabric.links[].rate", SCHEMA_RATE, LINK(rate), .initial = "same",
	  .word = "same", .help = "data rate" },
	{ "fabric.links[].propagation", SCHEMA_TIME, LINK(propagation),
	  .initial = "same", .word = "same", .word_value = HD_TIME_NEVER,
	  .low = "1ps", .high = "1s", .help = "delay of the cable" },
	{ "fabric.links[].ber", SCHEMA_REAL, LINK(ber), .initial = "same",
	  .word = "same", .word_value = 2, .low = "0", .high = "0.5",
	  .help = "bit error rate" },
	{ "fabric.links[].update_loss", SCHEMA_REAL, LINK(update_loss),
	  .initial = "same", .word = "same", .word_value = 2, .low = "0",
	  .high = "1", .help = "share of flow-control updates lost" },
	{ "fabric.switch", SCHEMA_MAP, .help = "how switches work inside" },
	{ "fabric.switch.queueing", SCHEMA_CHOICE, SWITCH(queueing),
	  .initial = "input", .choices = scn_queueing_words,
	  .help = "input: buffers at the inputs; cioq: at outputs too, with a "
		  "faster crossbar between" },
	{ "fabric.switch.order", SCHEMA_CHOICE, SWITCH(order), .initial = "voq",
	  .choices = scn_order_words,
	  .help = "voq: one queue per output in each input buffer; fifo: only "
		  "the oldest packet may leave" },
	{ "fabric.switch.pick", SCHEMA_CHOICE, SWITCH(pick),
	  .initial = "round-robin", .choices = scn_pick_words,
	  .help = "which input an output takes next" },
	{ "fabric.switch.readers", SCHEMA_UINT, SWITCH(readers),
	  .initial = "auto", .word = "auto", .word_value = SCN_READERS_AUTO,
	  .high = "255",
	  .help = "packets that may leave an input port at a time, 0: any "
		  "number; auto: 1 with fifo, any with voq" },
	{ "fabric.switch.input_buffer", SCHEMA_AMOUNT, SWITCH(input_buffer),
	  .initial = "4 packets", .base = SCHEMA_SIZE,
	  .choices = scn_packet_words, .low = "1",
	  .help = "per input port and VL" },
	{ "fabric.switch.output_buffer", SCHEMA_AMOUNT, SWITCH(output_buffer),
	  .initial = "4 packets", .base = SCHEMA_SIZE,
	  .choices = scn_packet_words, .low = "1",
	  .when = "fabric.switch.queueing", .only = BIT(SIM_CIOQ),
	  .help = "per output port and VL" },
	{ "fabric.switch.management_buffer", SCHEMA_SIZE,
	  SWITCH(management_buffer), .initial = "4KiB", .low = "64",
	  .high = "128KiB", .help = "per port, for VL15; also in hosts" },
	{ "fabric.switch.speedup", SCHEMA_SHARE, SWITCH(speedup),
	  .initial = "2", .low = "1", .high = "64",
	  .when = "fabric.switch.queueing", .only = BIT(SIM_CIOQ),
	  .help = "crossbar's rate as a multiple of the output link's" },
	{ "fabric.switch.routing", SCHEMA_TIME, SWITCH(routing),
	  .initial = "80ns", .high = "1s",
	  .help = "from a head's arrival until its output is known" },
	{ "fabric.switch.arbitration", SCHEMA_TIME, SWITCH(arbitration),
	  .initial = "20ns", .high = "1s",
	  .help = "from then until it may be granted" },
	{ "fabric.host", SCHEMA_MAP, .help = "adapters" },
	{ "fabric.host.input_buffer", SCHEMA_AMOUNT, FABRIC(host_buffer),
	  .initial = "4 packets", .base = SCHEMA_SIZE,
	  .choices = scn_packet_words, .low = "1", .help = "per port and VL" },
	{ "fabric.packet", SCHEMA_MAP, .help = "what packets look like" },
	{ "fabric.packet.overhead", SCHEMA_SIZE, FABRIC(overhead),
	  .initial = "26", .high = "256",
	  .help = "bytes beyond the payload: 26 are LRH, BTH and CRCs, 66 "
		  "with a GRH; other values have no packet format" },
	{ "fabric.packet.multicast_grh", SCHEMA_CHOICE, FABRIC(multicast_grh),
	  .initial = "auto", .choices = scn_grh_words,
	  .help = "whether packets to groups have a GRH of 40 bytes beside "
		  "that; auto: if overhead is 26" },
	{ "fabric.packet.mtu", SCHEMA_UINT, FABRIC(mtu), .initial = "4096",
	  .choices = scn_mtu_words, .help = "largest payload of a packet" },
	{ "fabric.credits", SCHEMA_CHOICE, FABRIC(credits), .initial = "delay",
	  .choices = scn_credit_words,
	  .help = "flow-control updates cost only delay, or link time too" },
	{ "fabric.arbiter", SCHEMA_CHOICE, FABRIC(arbiter), .initial = "vlarb",
	  .choices = scn_arbiter_words,
	  .help = "InfiniBand's tables, or VLs in absolute priority, 0 first" },
	{ "fabric.routing", SCHEMA_MAP, .shorthand = "engine",
	  .help = "how routes are chosen" },
	{ "fabric.routing.engine", SCHEMA_TEXT, ROUTING(engine),
	  .initial = "minhop",
	  .help = "routing engine; 'heddle route --help' lists them" },
	{ "fabric.routing.file", SCHEMA_TEXT, ROUTING(file), .optional = true,
	  .help = "forwarding tables, for the engine 'file'" },
	{ "fabric.routing.roots", SCHEMA_TEXT, ROUTING(roots), .optional = true,
	  .joins = true,
	  .help = "names of the top switches, for updn and ftree" },
	{ "fabric.routing.layers", SCHEMA_UINT, ROUTING(layers),
	  .initial = "any", .word = "any", .low = "1", .high = "15",
	  .help = "most lanes for layers of dfsssp and lash" },
	{ "fabric.routing.lids", SCHEMA_CHOICE, ROUTING(lids),
	  .initial = "auto", .choices = scn_lid_words,
	  .help = "in which order LIDs are given out; auto: those of the file, "
		  "or OpenSM's" },
	{ "fabric.routing.lmc", SCHEMA_UINT, ROUTING(lmc), .initial = "0",
	  .high = "7", .help = "2^lmc LIDs per host port" },
	{ "fabric.routing.adaptive", SCHEMA_MAP, .shorthand = "choice",
	  .help = "switches choose among all ports that the engine permits" },
	{ "fabric.routing.adaptive.choice", SCHEMA_CHOICE,
	  ROUTING(adaptive.choice), .initial = "off",
	  .choices = scn_adaptive_words,
	  .help = "off: forwarding tables decide; load: the port with the "
		  "least waiting, if the table's has too much; turns: round "
		  "robin" },
	{ "fabric.routing.adaptive.per", SCHEMA_CHOICE, ROUTING(adaptive.per),
	  .initial = "packet", .choices = scn_adaptive_unit_words,
	  .help = "what keeps to a port once it is chosen" },
	{ "fabric.routing.adaptive.gap", SCHEMA_TIME, ROUTING(adaptive.gap),
	  .initial = "1us", .high = "1s",
	  .help = "a longer pause of a flow begins a new flowlet" },
	{ "fabric.routing.adaptive.threshold", SCHEMA_UINT,
	  ROUTING(adaptive.threshold), .initial = "64", .high = "1000000",
	  .help = "blocks of 64 bytes that the table's port may have waiting "
		  "beyond the least of the group" },
	{ "fabric.routing.adaptive.hysteresis", SCHEMA_UINT,
	  ROUTING(adaptive.hysteresis), .initial = "0", .high = "1000000",
	  .help = "blocks by which that must have fallen below the threshold "
		  "before the table's port is taken again" },
	{ "fabric.routing.adaptive.heal", SCHEMA_TIME, ROUTING(adaptive.heal),
	  .initial = "1us", .high = "1s",
	  .help = "after which a switch takes another port than one whose "
		  "link is down" },
	{ "fabric.routing.adaptive.sls", SCHEMA_TEXT, ROUTING(adaptive.sls),
	  .initial = "all", .joins = true,
	  .help = "SLs that are routed so: 'all', or a list as 0,2-5" },
	{ "fabric.groups", SCHEMA_LIST, FABRIC(groups),
	  .count = FABRIC(n_groups), .item_size = sizeof(struct scn_group),
	  .help = "multicast groups" },
	{ "fabric.groups[].name", SCHEMA_TEXT, GROUP(name),
	  .help = "its name" },
	{ "fabric.groups[].members", SCHEMA_TEXT, GROUP(members),
	  .initial = "all", .joins = true,
	  .help = "hosts that receive " HOSTS_HELP },
	{ "fabric.groups[].tree", SCHEMA_CHOICE, GROUP(tree),
	  .initial = "shared", .choices = mcast_method_names,
	  .help = "shared: one spanning tree; the others: one tree per "
		  "sender, of XY, shortest or the unicast paths" },

	{ "qos", SCHEMA_MAP, .help = "lanes, classes and partitions" },
	{ "qos.lanes", SCHEMA_UINT, QOS(lanes), .initial = "8",
	  .choices = scn_lane_words,
	  .help = "data VLs in operation, where ports have as many" },
	{ "qos.opensm", SCHEMA_TEXT, QOS(opensm), .optional = true,
	  .help = "an opensm.conf: maps, tables and limits are those that "
		  "OpenSM programs by it, marks and answers those of its "
		  "congestion control where 'congestion' does not say" },
	{ "qos.entries", SCHEMA_UINT, QOS(entries), .initial = "64", .low = "1",
	  .high = "64",
	  .help = "that the ports' arbitration tables have, for qos.opensm: "
		  "the rest of its lists is cut" },
	{ "qos.sl2vl", SCHEMA_CUSTOM, QOS(sl2vl), .initial = "auto",
	  .custom = &notation_sl2vl, .joins = true,
	  .help = "the VL of each SL; auto: by the classes, else SL n on VL n "
		  "modulo lanes" },
	{ "qos.classes", SCHEMA_LIST, QOS(classes), .count = QOS(n_classes),
	  .item_size = sizeof(struct scn_class),
	  .help = "names for service levels, and what they are worth" },
	{ "qos.classes[].name", SCHEMA_TEXT, CLASS(name), .help = "its name" },
	{ "qos.classes[].sl", SCHEMA_UINT, CLASS(sl), .high = "15",
	  .help = "its service level" },
	{ "qos.classes[].lane", SCHEMA_UINT, CLASS(lane), .initial = "auto",
	  .word = "auto", .word_value = SCN_LANE_AUTO, .high = "14",
	  .help = "the VL its SL is mapped to" },
	{ "qos.classes[].kind", SCHEMA_CHOICE, CLASS(kind), .initial = "none",
	  .choices = scn_class_words,
	  .help = "DBTS (dedicated bandwidth, time sensitive), DB (dedicated "
		  "bandwidth) and PBE (preferential best effort) ask admission "
		  "for what they send, BE (best effort) and CH (challenged) ask "
		  "nobody; with kinds, reservations make the tables" },
	{ "qos.classes[].priority", SCHEMA_CHOICE, CLASS(priority),
	  .initial = "low", .choices = scn_priority_words,
	  .help = "the arbitration table its VL stands in" },
	{ "qos.classes[].weight", SCHEMA_UINT, CLASS(weight), .initial = "auto",
	  .word = "auto", .word_value = SCN_WEIGHT_AUTO, .low = "1",
	  .high = "16320",
	  .help = "blocks of 64 bytes per turn; auto: 65, one packet of 4 KiB; "
		  "of a frame of 16320, BE has 3264 (20 %), PBE 1632 (10 %), "
		  "CH 1, and DBTS and DB what is reserved" },
	{ "qos.high", SCHEMA_CUSTOM, QOS(high), .initial = "auto",
	  .custom = &notation_vlarb, .joins = true,
	  .help = "high-priority table; auto: from the classes" },
	{ "qos.low", SCHEMA_CUSTOM, QOS(low), .initial = "auto",
	  .custom = &notation_vlarb, .joins = true,
	  .help = "low-priority table; auto: from the classes, and the other "
		  "VLs with weight 65" },
	{ "qos.high_limit", SCHEMA_UINT, QOS(high_limit), .initial = "255",
	  .high = "255",
	  .help = "high-priority bytes before low has a chance, in 4096; 0: "
		  "one packet; 255: no limit" },
	{ "qos.admission", SCHEMA_MAP,
	  .help = "how bandwidth is given to those who ask, where classes have "
		  "kinds" },
	{ "qos.admission.fill", SCHEMA_CHOICE, ADMISSION(fill),
	  .initial = "strict", .choices = fill_mode_names,
	  .help = "strict: the 64 entries of a table are all there are; paper: "
		  "only slots count; et: entries in use weigh 255" },
	{ "qos.admission.place", SCHEMA_CHOICE, ADMISSION(place),
	  .initial = "spread", .choices = fill_place_names,
	  .help = "where a lane's next entry goes: the first free place, or "
		  "far from its others" },
	{ "qos.admission.margin", SCHEMA_SHARE, ADMISSION(margin),
	  .initial = "5%", .high = "100%",
	  .help = "what a flow is given beyond its rate, since entries send "
		  "whole packets" },
	{ "qos.admission.linger", SCHEMA_TIME, ADMISSION(linger),
	  .initial = "frame", .word = "frame", .word_value = HD_TIME_NEVER,
	  .high = "10s",
	  .help = "how long what a flow had stays reserved after its end, for "
		  "its last packets; frame: what 16320 blocks take on the "
		  "slowest link, in which every lane had its turns" },
	{ "qos.ports", SCHEMA_LIST, QOS(ports), .count = QOS(n_ports),
	  .item_size = sizeof(struct scn_qos_port),
	  .help = "ports with other tables; the last that fits counts" },
	{ "qos.ports[].ports", SCHEMA_TEXT, QPORT(ports), .joins = true,
	  .help = "which (NODE, NODE:PORT, name*, hosts, trunks)" },
	{ "qos.ports[].lanes", SCHEMA_UINT, QPORT(lanes), .initial = "same",
	  .word = "same", .high = "15", .help = "data VLs of the cable" },
	{ "qos.ports[].high", SCHEMA_CUSTOM, QPORT(high), .initial = "auto",
	  .custom = &notation_vlarb, .joins = true,
	  .help = "high-priority table; auto: as everywhere" },
	{ "qos.ports[].low", SCHEMA_CUSTOM, QPORT(low), .initial = "auto",
	  .custom = &notation_vlarb, .joins = true,
	  .help = "low-priority table; auto: as everywhere" },
	{ "qos.ports[].high_limit", SCHEMA_UINT, QPORT(high_limit),
	  .initial = "same", .word = "same", .word_value = UINT64_MAX,
	  .high = "255", .help = "as qos.high_limit" },
	{ "qos.changes", SCHEMA_LIST, QOS(changes), .count = QOS(n_changes),
	  .item_size = sizeof(struct scn_qos_change),
	  .help = "arbitration tables that change while the run goes on" },
	{ "qos.changes[].at", SCHEMA_TIME, CHANGE(at),
	  .help = "when; grants of that instant are by the new tables" },
	{ "qos.changes[].ports", SCHEMA_TEXT, CHANGE(ports), .joins = true,
	  .help = "where (NODE, NODE:PORT, name*, hosts, trunks)" },
	{ "qos.changes[].high", SCHEMA_CUSTOM, CHANGE(high), .initial = "auto",
	  .custom = &notation_vlarb, .joins = true,
	  .help = "high-priority table; auto: as before" },
	{ "qos.changes[].low", SCHEMA_CUSTOM, CHANGE(low), .initial = "auto",
	  .custom = &notation_vlarb, .joins = true,
	  .help = "low-priority table; auto: as before" },
	{ "qos.changes[].high_limit", SCHEMA_UINT, CHANGE(high_limit),
	  .initial = "same", .word = "same", .word_value = UINT64_MAX,
	  .high = "255", .help = "as qos.high_limit" },
	{ "qos.tclasses", SCHEMA_LIST, QOS(tclasses), .count = QOS(n_tclasses),
	  .item_size = sizeof(struct scn_tclass),
	  .help = "the SL that routers give to a TClass; the last that fits "
		  "counts, and where none does the SL is the TClass modulo 16" },
	{ "qos.tclasses[].tclass", SCHEMA_UINT, TCLASS(tclass), .high = "255",
	  .help = "the TClass; a DSCP is 4 times its number" },
	{ "qos.tclasses[].sl", SCHEMA_UINT, TCLASS(sl), .high = "15",
	  .help = "the service level behind the router" },
	{ "qos.tclasses[].subnet", SCHEMA_UINT, TCLASS(subnet),
	  .initial = "all", .word = "all", .word_value = SCN_ALL_SUBNETS,
	  .high = "65535", .help = "number of the subnet there, from 0" },
	{ "qos.marks", SCHEMA_LIST, QOS(marks), .count = QOS(n_marks),
	  .item_size = sizeof(struct scn_tclass),
	  .help = "the TClass that the first router gives, by their SL, to "
		  "packets whose source has left it 0; the last that fits "
		  "counts" },
	{ "qos.marks[].sl", SCHEMA_UINT, TCLASS(sl), .high = "15",
	  .help = "the service level before the router" },
	{ "qos.marks[].tclass", SCHEMA_UINT, TCLASS(tclass), .low = "1",
	  .high = "255", .help = "their TClass from there on" },
	{ "qos.marks[].subnet", SCHEMA_UINT, TCLASS(subnet), .initial = "all",
	  .word = "all", .word_value = SCN_ALL_SUBNETS, .high = "65535",
	  .help = "number of the source's subnet, from 0" },
	{ "qos.partitions", SCHEMA_LIST, QOS(partitions),
	  .count = QOS(n_partitions), .item_size = sizeof(struct scn_partition),
	  .help = "who may talk to whom, besides the default partition" },
	{ "qos.partitions[].name", SCHEMA_TEXT, PARTITION(name),
	  .help = "its name" },
	{ "qos.partitions[].key", SCHEMA_UINT, PARTITION(key), .low = "1",
	  .high = "32766", .help = "its P_Key, without the membership bit" },
	{ "qos.partitions[].full", SCHEMA_TEXT, PARTITION(full),
	  .optional = true, .joins = true, .help = "full members " HOSTS_HELP },
	{ "qos.partitions[].limited", SCHEMA_TEXT, PARTITION(limited),
	  .optional = true, .joins = true,
	  .help = "limited members, who may not talk to each other" },
	{ "qos.enforce", SCHEMA_BOOL, QOS(enforce), .initial = "false",
	  .help = "whether switches drop packets of foreign partitions" },

	{ "qos.thresholds", SCHEMA_MAP, .shorthand = "mechanism",
	  .help = "lanes that a host's full VL may use beside its own" },
	{ "qos.thresholds.mechanism", SCHEMA_CHOICE, LOANS(mechanism),
	  .initial = "none", .choices = scn_mechanism_words,
	  .help = "et: at the entry threshold, any VL that is empty; ajt: at "
		  "each job threshold one more of the shared VLs of its "
		  "priority" },
	{ "qos.thresholds.at", SCHEMA_CUSTOM, LOANS(at), .initial = "none",
	  .custom = &notation_levels, .joins = true,
	  .help = "packets of a VL, waiting or being sent, from which it has "
		  "one lane more; et has one threshold" },
	{ "qos.thresholds.capacity", SCHEMA_UINT, LOANS(capacity),
	  .initial = "unlimited", .word = "unlimited", .low = "1",
	  .high = "1000000",
	  .help = "packets that a host holds per lane, borrowed ones too; "
		  "more are refused; counts without a mechanism as well" },
	{ "qos.thresholds.high", SCHEMA_CUSTOM, LOANS(high), .initial = "none",
	  .custom = &notation_lanes, .joins = true,
	  .when = "qos.thresholds.mechanism", .only = BIT(SCN_AJT),
	  .help = "normal VLs of high priority" },
	{ "qos.thresholds.high_shared", SCHEMA_CUSTOM, LOANS(high_lent),
	  .initial = "none", .custom = &notation_lanes, .joins = true,
	  .when = "qos.thresholds.mechanism", .only = BIT(SCN_AJT),
	  .help = "VLs that those may borrow" },
	{ "qos.thresholds.low", SCHEMA_CUSTOM, LOANS(low), .initial = "none",
	  .custom = &notation_lanes, .joins = true,
	  .when = "qos.thresholds.mechanism", .only = BIT(SCN_AJT),
	  .help = "normal VLs of low priority" },
	{ "qos.thresholds.low_shared", SCHEMA_CUSTOM, LOANS(low_lent),
	  .initial = "none", .custom = &notation_lanes, .joins = true,
	  .when = "qos.thresholds.mechanism", .only = BIT(SCN_AJT),
	  .help = "VLs that those may borrow" },

	{ "traffic", SCHEMA_LIST, offsetof(struct scenario, traffic),
	  .count = offsetof(struct scenario, n_traffic),
	  .item_size = sizeof(struct scn_traffic),
	  .help = "who sends what to whom; a row at one source is a flow" },
	{ "traffic[].name", SCHEMA_TEXT, TRAFFIC(name), .help = "its name" },
	{ "traffic[].kind", SCHEMA_CHOICE, TRAFFIC(kind),
	  .choices = scn_traffic_words,
	  .help = "when packets are made: at equal gaps, at random gaps (ge: "
		  "in bursts), in exponential or Pareto on-off phases, as fast "
		  "as they go, a number of messages, or as a file says" },
	{ "traffic[].pattern", SCHEMA_CHOICE, TRAFFIC(pattern),
	  .initial = "uniform", .choices = scn_pattern_words,
	  .when = "traffic[].kind", .only = NOT_TRACE,
	  .help = "who sends to whom" },
	{ "traffic[].source", SCHEMA_TEXT, TRAFFIC(source), .initial = "all",
	  .joins = true, .when = "traffic[].kind", .only = NOT_TRACE,
	  .help = "hosts that send " HOSTS_HELP },
	{ "traffic[].destination", SCHEMA_TEXT, TRAFFIC(destination),
	  .initial = "all", .joins = true, .when = "traffic[].pattern",
	  .only = WITH_DESTINATION, .help = "hosts that receive" },
	{ "traffic[].hotspot", SCHEMA_TEXT, TRAFFIC(hotspot), .initial = "0",
	  .joins = true, .when = "traffic[].pattern", .only = BIT(SCN_HOTSPOT),
	  .help = "the hot hosts" },
	{ "traffic[].hot_share", SCHEMA_SHARE, TRAFFIC(hot_share),
	  .initial = "10%", .high = "100%", .when = "traffic[].pattern",
	  .only = BIT(SCN_HOTSPOT),
	  .help = "share of packets that go there; the others are uniform" },
	{ "traffic[].group", SCHEMA_TEXT, TRAFFIC(group), .optional = true,
	  .when = "traffic[].pattern", .only = BIT(SCN_GROUP),
	  .help = "the multicast group" },
	{ "traffic[].file", SCHEMA_TEXT, TRAFFIC(file), .optional = true,
	  .when = "traffic[].kind", .only = BIT(SIM_TRACE),
	  .help = "lines 'time,source,destination,payload[,sl]'" },
	{ "traffic[].class", SCHEMA_TEXT, TRAFFIC(service), .optional = true,
	  .help = "the class whose SL it uses" },
	{ "traffic[].sl", SCHEMA_UINT, TRAFFIC(sl), .initial = "auto",
	  .word = "auto", .word_value = SCN_SL_AUTO, .high = "15",
	  .help = "its service level; auto: that of its class, or 0" },
	{ "traffic[].tclass", SCHEMA_UINT, TRAFFIC(tclass), .initial = "auto",
	  .word = "auto", .word_value = SCN_TCLASS_SL, .high = "255",
	  .help = "TClass of packets to other subnets; auto: as the SL" },
	{ "traffic[].hop_limit", SCHEMA_UINT, TRAFFIC(hop_limit),
	  .initial = "64", .high = "255",
	  .help = "of packets to other subnets: one more than the routers "
		  "they may pass" },
	{ "traffic[].partition", SCHEMA_TEXT, TRAFFIC(partition),
	  .optional = true,
	  .help = "whose P_Key it uses; absent: the default partition" },
	{ "traffic[].payload", SCHEMA_SIZE, TRAFFIC(payload), .initial = "2KiB",
	  .low = "1", .high = "2GiB", .when = "traffic[].kind",
	  .only = NOT_TRACE,
	  .help = "bytes of each packet; of each message of 'messages' and of "
		  "queue pairs" },
	{ "traffic[].payload_scv", SCHEMA_REAL, TRAFFIC(payload_scv),
	  .initial = "none", .word = "none", .low = "1", .high = "10000",
	  .when = "traffic[].kind", .only = PACED | BIT(SIM_SATURATING),
	  .help = "random sizes: payload is the mean, this the squared "
		  "coefficient of variation of a generalised exponential law "
		  "(1: exponential), cut at the MTU" },
	{ "traffic[].rate", SCHEMA_RATE, TRAFFIC(rate), .initial = "none",
	  .word = "none", .when = "traffic[].kind", .only = PACED,
	  .help = "payload rate of each flow, mean" },
	{ "traffic[].load", SCHEMA_SHARE, TRAFFIC(load), .initial = "none",
	  .word = "none", .high = "1000%", .when = "traffic[].kind",
	  .only = PACED,
	  .help = "instead of rate: share of the source's link, with "
		  "headers" },
	{ "traffic[].scv", SCHEMA_REAL, TRAFFIC(scv), .initial = "5",
	  .low = "1", .high = "10000", .when = "traffic[].kind",
	  .only = BIT(SIM_GE),
	  .help = "squared coefficient of variation of the gaps" },
	{ "traffic[].on", SCHEMA_TIME, TRAFFIC(on), .initial = "10us",
	  .low = "1ns", .when = "traffic[].kind",
	  .only = BIT(SIM_ON_OFF) | BIT(SIM_PARETO),
	  .help = "mean length of a sending phase" },
	{ "traffic[].off", SCHEMA_TIME, TRAFFIC(off), .initial = "30us",
	  .low = "1ns", .when = "traffic[].kind",
	  .only = BIT(SIM_ON_OFF) | BIT(SIM_PARETO),
	  .help = "mean length of a silence" },
	{ "traffic[].shape", SCHEMA_REAL, TRAFFIC(shape), .initial = "1.4",
	  .low = "1.05", .high = "1.95", .when = "traffic[].kind",
	  .only = BIT(SIM_PARETO),
	  .help = "of the phases' Pareto law; many such flows together have "
		  "the Hurst exponent (3 - shape) / 2" },
	{ "traffic[].connections", SCHEMA_UINT, TRAFFIC(connections),
	  .initial = "none", .word = "none", .low = "1", .high = "1000000",
	  .when = "traffic[].kind", .only = NOT_TRACE,
	  .help = "flows between pairs drawn at random, instead of one flow "
		  "per source" },
	{ "traffic[].arrivals", SCHEMA_MAP, .shorthand = "gap",
	  .help = "connections that come and go, between pairs drawn at "
		  "random; those of classes that ask may be refused" },
	{ "traffic[].arrivals.gap", SCHEMA_TIME, TRAFFIC(arrivals.gap),
	  .initial = "none", .word = "none", .low = "1ns",
	  .when = "traffic[].kind", .only = NOT_TRACE,
	  .help = "mean time from one to the next, of the whole row; none: all "
		  "flows are there from the start" },
	{ "traffic[].arrivals.distribution", SCHEMA_CHOICE,
	  TRAFFIC(arrivals.gap_law), .initial = "exponential",
	  .choices = scn_law_words, .when = "traffic[].kind", .only = NOT_TRACE,
	  .help = "of these times; exponential: Poisson arrivals" },
	{ "traffic[].holding", SCHEMA_MAP, .shorthand = "mean",
	  .help = "how long each of them stays" },
	{ "traffic[].holding.mean", SCHEMA_TIME, TRAFFIC(arrivals.holding),
	  .initial = "forever", .word = "forever", .word_value = HD_TIME_NEVER,
	  .low = "1ns", .when = "traffic[].kind", .only = NOT_TRACE,
	  .help = "mean; forever: until the row stops" },
	{ "traffic[].holding.distribution", SCHEMA_CHOICE,
	  TRAFFIC(arrivals.holding_law), .initial = "exponential",
	  .choices = scn_law_words, .when = "traffic[].kind", .only = NOT_TRACE,
	  .help = "of these times" },
	{ "traffic[].start", SCHEMA_TIME, TRAFFIC(start), .initial = "0s",
	  .help = "when it begins" },
	{ "traffic[].stop", SCHEMA_TIME, TRAFFIC(stop), .initial = "never",
	  .word = "never", .word_value = HD_TIME_NEVER,
	  .help = "when it ends; what was made before still travels" },
	{ "traffic[].count", SCHEMA_UINT, TRAFFIC(count),
	  .initial = "unlimited", .word = "unlimited",
	  .word_value = SCN_UNLIMITED, .low = "1",
	  .help = "packets of each flow; messages of 'messages' and of queue "
		  "pairs" },
	{ "traffic[].aligned", SCHEMA_BOOL, TRAFFIC(aligned),
	  .initial = "false", .when = "traffic[].kind", .only = BIT(SIM_CBR),
	  .help = "all flows in step, instead of each at its own random "
		  "phase" },
	{ "traffic[].management", SCHEMA_BOOL, TRAFFIC(management),
	  .initial = "false", .help = "on VL15, as subnet management is" },
	{ "traffic[].transport", SCHEMA_CHOICE, TRAFFIC(transport),
	  .initial = "none", .choices = scn_transport_words,
	  .when = "traffic[].kind", .only = NOT_TRACE,
	  .help = "over queue pairs, one to each flow: what it makes are "
		  "messages that an adapter posts, sends, and with rc repeats "
		  "until they are acknowledged" },
	{ "traffic[].ack_timeout", SCHEMA_TIME, TRAFFIC(ack_timeout),
	  .initial = "1ms", .low = "8us", .high = "8000s",
	  .when = "traffic[].transport", .only = BIT(SCN_RC),
	  .help = "when a queue pair repeats what is not acknowledged: 4.096 "
		  "us times the next power of 2" },
	{ "traffic[].control", SCHEMA_CHOICE, TRAFFIC(control),
	  .initial = "same", .choices = scn_control_words,
	  .help = "how it answers to congestion, if the run has an algorithm; "
		  "same: as the run's other rows" },
	{ "traffic[].rate_steps", SCHEMA_UINT, TRAFFIC(rate_steps),
	  .initial = "same", .word = "same", .low = "2", .high = "1000000",
	  .help = "highest rate over its lowest; same: as "
		  "congestion.rate_steps" },
	{ "traffic[].reserve", SCHEMA_RATE, TRAFFIC(reserve), .initial = "none",
	  .word = "none",
	  .help = "what each flow asks admission for, headers included, before "
		  "it sends; none: nothing, or of a class that asks its rate "
		  "in whole blocks and qos.admission.margin" },

	{ "jobs", SCHEMA_LIST, offsetof(struct scenario, jobs),
	  .count = offsetof(struct scenario, n_jobs),
	  .item_size = sizeof(struct scn_job),
	  .help = "parallel programs on the fabric; a run with jobs lasts "
		  "until they are done" },
	{ "jobs[].name", SCHEMA_TEXT, JOB(name), .help = "for results" },
	{ "jobs[].ranks", SCHEMA_UINT, JOB(ranks), .initial = "auto",
	  .word = "auto", .low = "1", .high = "16777216",
	  .help = "how many there are; auto: as many as hosts, or as the file "
		  "has" },
	{ "jobs[].on", SCHEMA_TEXT, JOB(on), .initial = "all", .joins = true,
	  .help = "hosts to choose from, a rank each " HOSTS_HELP },
	{ "jobs[].place", SCHEMA_CHOICE, JOB(place), .initial = "linear",
	  .choices = scn_place_words,
	  .help = "who gets which: in the order of 'on', at random, all hosts "
		  "of a switch before the next one's, or one of each switch "
		  "in turn" },
	{ "jobs[].class", SCHEMA_TEXT, JOB(service), .optional = true,
	  .help = "one of qos.classes, whose SL its packets have" },
	{ "jobs[].sl", SCHEMA_UINT, JOB(sl), .initial = "auto", .word = "auto",
	  .word_value = SCN_SL_AUTO, .high = "15",
	  .help = "instead of a class; auto: the class's, or 0" },
	{ "jobs[].repeat", SCHEMA_UINT, JOB(repeat), .initial = "1", .low = "1",
	  .high = "1000000",
	  .help = "iterations; each rank goes on without waiting for others" },
	{ "jobs[].start", SCHEMA_TIME, JOB(start), .initial = "0s",
	  .help = "when it begins" },
	{ "jobs[].program", SCHEMA_LIST, JOB(program), .count = JOB(n_program),
	  .item_size = sizeof(struct scn_step),
	  .help = "what all ranks do, one step after the other" },
	{ "jobs[].program[].compute", SCHEMA_TIME, STEP(amount[SCN_COMPUTE]),
	  .initial = "none", .word = "none", .word_value = SCN_NOT_GIVEN,
	  .help = "each rank computes so long" },
	{ "jobs[].program[].barrier", SCHEMA_SIZE, STEP(amount[SCN_BARRIER]),
	  .initial = "none", .word = "none", .word_value = SCN_NOT_GIVEN,
	  .high = "0", .help = "0: nobody goes on before all are here" },
	{ "jobs[].program[].broadcast", SCHEMA_SIZE,
	  STEP(amount[SCN_BROADCAST]), STEP_BYTES,
	  .help = "so many bytes from the root to all: binomial, or multicast "
		  "by the switches" },
	{ "jobs[].program[].reduce", SCHEMA_SIZE, STEP(amount[SCN_REDUCE]),
	  STEP_BYTES, .help = "so many bytes of each to the root: binomial" },
	{ "jobs[].program[].allreduce", SCHEMA_SIZE,
	  STEP(amount[SCN_ALLREDUCE]), STEP_BYTES,
	  .help = "so many bytes of each, reduced, to all: ring, doubling, "
		  "rabenseifner, or tree (two binary trees)" },
	{ "jobs[].program[].allgather", SCHEMA_SIZE,
	  STEP(amount[SCN_ALLGATHER]), STEP_BYTES,
	  .help = "so many bytes of each to all: ring, or doubling" },
	{ "jobs[].program[].reduce_scatter", SCHEMA_SIZE,
	  STEP(amount[SCN_REDUCE_SCATTER]), STEP_BYTES,
	  .help = "so many bytes of each, reduced, a block to each: ring, or "
		  "halving" },
	{ "jobs[].program[].alltoall", SCHEMA_SIZE, STEP(amount[SCN_ALLTOALL]),
	  STEP_BYTES,
	  .help = "so many bytes of each to each other: pairwise, bruck, or "
		  "linear (all at once)" },
	{ "jobs[].program[].halo", SCHEMA_SIZE, STEP(amount[SCN_HALO]),
	  STEP_BYTES,
	  .help = "so many bytes to each neighbour on a grid, all around" },
	{ "jobs[].program[].shift", SCHEMA_SIZE, STEP(amount[SCN_SHIFT]),
	  STEP_BYTES, .help = "so many bytes to the next rank of the group" },
	{ "jobs[].program[].read", SCHEMA_SIZE, STEP(amount[SCN_READ]),
	  STEP_BYTES, .help = "each rank reads so many bytes from servers" },
	{ "jobs[].program[].write", SCHEMA_SIZE, STEP(amount[SCN_WRITE]),
	  STEP_BYTES, .help = "each rank writes so many bytes to servers" },
	{ "jobs[].program[].algorithm", SCHEMA_TEXT, STEP(algorithm),
	  .optional = true,
	  .help = "how; absent: the one that is named first" },
	{ "jobs[].program[].root", SCHEMA_UINT, STEP(root), .initial = "0",
	  .high = "16777215", .help = "of broadcast and reduce, in the group" },
	{ "jobs[].program[].groups", SCHEMA_UINT, STEP(groups), .initial = "1",
	  .low = "1", .high = "16777216",
	  .help = "into how many groups the ranks are divided, each of which "
		  "does this by itself" },
	{ "jobs[].program[].layout", SCHEMA_CHOICE, STEP(layout),
	  .initial = "blocks", .choices = scn_layout_words,
	  .help = "of groups: ranks that follow each other, or those with the "
		  "same remainder" },
	{ "jobs[].program[].grid", SCHEMA_TEXT, STEP(grid), .optional = true,
	  .help = "of halo: 8x8 or 4x4x4, rank 1 beside rank 0; absent: two "
		  "dimensions, as square as it gets" },
	{ "jobs[].program[].segment", SCHEMA_SIZE, STEP(segment),
	  .initial = "none", .word = "none", .low = "1",
	  .help = "of tree: pieces that follow each other through it" },
	{ "jobs[].program[].to", SCHEMA_TEXT, STEP(to), .optional = true,
	  .joins = true, .help = "servers of read and write " HOSTS_HELP },
	{ "jobs[].program[].request", SCHEMA_SIZE, STEP(request),
	  .initial = "1MiB", .low = "1", .help = "of read and write" },
	{ "jobs[].program[].outstanding", SCHEMA_UINT, STEP(outstanding),
	  .initial = "8", .low = "1", .high = "65536",
	  .help = "requests of a rank under way at a time" },
	{ "jobs[].goal", SCHEMA_TEXT, JOB(goal), .optional = true,
	  .help = "instead of a program: a file of operations in GOAL, or a "
		  "connection matrix of htsim" },
	{ "jobs[].eager", SCHEMA_SIZE, JOB(eager), .initial = "always",
	  .word = "always", .word_value = SCN_UNLIMITED,
	  .help = "larger messages are announced, and sent when their receive "
		  "is there" },
	{ "jobs[].overhead", SCHEMA_TIME, JOB(overhead), .initial = "0s",
	  .high = "1s", .help = "of a CPU for each send and receive (o)" },
	{ "jobs[].per_byte", SCHEMA_TIME, JOB(per_byte), .initial = "0s",
	  .high = "1us", .help = "the same for each byte (O)" },
	{ "jobs[].gap", SCHEMA_TIME, JOB(gap), .initial = "0s", .high = "1s",
	  .help = "between the first packets of a rank's messages (g)" },
	{ "jobs[].alone", SCHEMA_BOOL, JOB(alone), .initial = "true",
	  .help = "beside other traffic, find out too how long it takes "
		  "without" },

	{ "congestion", SCHEMA_MAP,
	  .help = "marks and answers: of heddle cc, and of heddle sim if there "
		  "is an algorithm" },
	{ "congestion.algorithm", SCHEMA_CHOICE, CC(algorithm),
	  .initial = "none", .choices = scn_algorithm_words,
	  .help = "how sources answer to marks; none: no congestion control, "
		  "marks: switches mark and nobody answers. heddle cc tries "
		  "them all" },
	{ "congestion.marking", SCHEMA_MAP, .shorthand = "rule",
	  .help = "when switches mark packets" },
	{ "congestion.marking.rule", SCHEMA_CHOICE, CC(marking),
	  .initial = "two-counter", .choices = mark_names,
	  .help = "with a full buffer (guarded, or as published), from a depth "
		  "on, or InfiniBand's" },
	{ "congestion.marking.depth", SCHEMA_SIZE, CC(depth), .initial = "4KiB",
	  .low = "1",
	  .help = "waiting for an output from which on 'threshold' marks" },
	{ "congestion.marking.threshold", SCHEMA_UINT, CC(threshold),
	  .initial = "8", .high = "15",
	  .help = "of 'iba': 0 never, 1 loose, 15 aggressive; T is reached "
		  "when (16 - T)/16 of an input buffer wait for the output" },
	{ "congestion.marking.victims", SCHEMA_BOOL, CC(victims),
	  .initial = "false",
	  .help = "of 'iba': whether outputs without credits mark too" },
	{ "congestion.marking.packet_size", SCHEMA_SIZE, CC(packet_size),
	  .initial = "0", .help = "of 'iba': smaller packets stay unmarked" },
	{ "congestion.marking.rate", SCHEMA_UINT, CC(marking_rate),
	  .initial = "0", .high = "65535",
	  .help = "of 'iba': packets between marks; 0 marks all" },
	{ "congestion.ack", SCHEMA_MAP, .shorthand = "delay",
	  .help = "how marks and arrivals are told" },
	{ "congestion.ack.delay", SCHEMA_TIME, CC(ack_delay),
	  .initial = "packet", .word = "packet", .low = "1ps", .high = "1s",
	  .help = "after this time, at no cost; packet: by packets through "
		  "the fabric" },
	{ "congestion.echo", SCHEMA_CHOICE, CC(echo), .initial = "ack",
	  .choices = scn_echo_words,
	  .help = "where BECN is: in acknowledgements, or in CNPs (cct only)" },
	{ "congestion.window", SCHEMA_UINT, CC(window), .initial = "4",
	  .low = "1", .high = "4096",
	  .help = "unacknowledged packets of a flow" },
	{ "congestion.timeout", SCHEMA_TIME, CC(timeout), .initial = "10ms",
	  .word = "never", .low = "1ps", .high = "10s",
	  .help = "without a word from its destination, after which a flow "
		  "forgets what is unacknowledged" },
	{ "congestion.rate_steps", SCHEMA_UINT, CC(rate_steps),
	  .initial = "256", .low = "2", .high = "1000000",
	  .help = "highest rate over lowest" },
	{ "congestion.m", SCHEMA_REAL, CC(m), .initial = "4",
	  .help = "factor (FIMD, AIMD) or root (PIPD) of a decrease" },
	{ "congestion.cap", SCHEMA_BOOL, CC(cap), .initial = "true",
	  .help = "whether the first increase after a decrease ends at the rate "
		  "held before it; published functions have no such cap" },
	{ "congestion.gap", SCHEMA_CHOICE, CC(gap), .initial = "follows",
	  .choices = scn_gap_words,
	  .help = "after a packet, until the next may start: follows the rate "
		  "as it changes, or is fixed by the rate when it began" },
	{ "congestion.units", SCHEMA_REAL, CC(units), .initial = "2",
	  .low = "0.001", .high = "1000000",
	  .help = "of PIPD, which depends on its unit: the lowest rate in it "
		  "(of several, the least)" },
	{ "congestion.cct", SCHEMA_MAP, .shorthand = "table",
	  .help = "InfiniBand's congestion control table" },
	{ "congestion.cct.table", SCHEMA_CUSTOM, CC(cct), .initial = "straight",
	  .custom = &notation_cct, .joins = true,
	  .help = "the delay after a packet, per index: its duration shifted "
		  "right, times a multiplier; straight: a quarter more each" },
	{ "congestion.cct.increase", SCHEMA_UINT, CC(ccti_increase),
	  .initial = "1", .low = "1", .high = "255",
	  .help = "steps up the table with each BECN" },
	{ "congestion.cct.timer", SCHEMA_UINT, CC(ccti_timer), .initial = "150",
	  .high = "65535", .help = "time to one step down, in 1.024 us" },
	{ "congestion.cct.min", SCHEMA_UINT, CC(ccti_min), .initial = "0",
	  .high = "127", .help = "lowest index" },
	{ "congestion.cct.sls", SCHEMA_CUSTOM, CC(sls), .initial = "all",
	  .custom = &notation_sls, .joins = true,
	  .help = "the SLs whose flows answer to marks" },
	{ "congestion.cct.per", SCHEMA_CHOICE, CC(per), .initial = "qp",
	  .choices = scn_share_words,
	  .help = "whether each flow has an index, or all of a port and SL "
		  "share one" },
	{ "congestion.limits", SCHEMA_LIST, CC(limits), .count = CC(n_limits),
	  .item_size = sizeof(struct scn_limit),
	  .help = "what SLs may reserve of each link; others: all of it" },
	{ "congestion.limits[].sl", SCHEMA_UINT, LIMIT(sl), .high = "15",
	  .help = "the service level" },
	{ "congestion.limits[].share", SCHEMA_SHARE, LIMIT(share),
	  .low = "0.1%", .high = "100%",
	  .help = "reservations stay below this share of the link" },
	{ "congestion.warmup", SCHEMA_TIME, CC(warmup), .initial = "same",
	  .word = "same", .word_value = HD_TIME_NEVER, .low = "1ps",
	  .help = "what is left out of the results; same: as run.warmup" },
	{ "congestion.measure", SCHEMA_TIME, CC(measure), .initial = "same",
	  .word = "same", .word_value = HD_TIME_NEVER, .low = "1ps",
	  .help = "how long after that; same: as run.measure" },

	{ "faults", SCHEMA_MAP, .help = "what goes wrong" },
	{ "faults.ber", SCHEMA_REAL, FAULTS(ber), .initial = "0", .low = "0",
	  .high = "0.5", .help = "bit error rate of every link" },
	{ "faults.update_loss", SCHEMA_REAL, FAULTS(update_loss),
	  .initial = "0", .low = "0", .high = "1",
	  .help = "share of flow-control updates lost on every link" },
	{ "faults.hoq_life", SCHEMA_TIME, FAULTS(hoq_life), .initial = "never",
	  .word = "never", .low = "1ns",
	  .help = "how long a packet may stand first at a switch's output "
		  "before it is discarded" },
	{ "faults.events", SCHEMA_LIST, FAULTS(events),
	  .count = FAULTS(n_events), .item_size = sizeof(struct scn_event),
	  .help = "what happens when" },
	{ "faults.events[].at", SCHEMA_TIME, EVENT(at), .help = "the time" },
	{ "faults.events[].kind", SCHEMA_CHOICE, EVENT(kind),
	  .choices = scn_event_words, .help = "what happens" },
	{ "faults.events[].port", SCHEMA_TEXT, EVENT(port),
	  .help = "where: NODE:PORT, either end of a link; for sinks a host, "
		  "for switches one of them" },

	{ "sm", SCHEMA_MAP,
	  .help = "a subnet manager that routes around links and switches "
		  "that go down or come back; without it tables stay" },
	{ "sm.sweep", SCHEMA_TIME, SM(sweep), .initial = "never",
	  .word = "never", .word_value = HD_TIME_NEVER, .low = "1us",
	  .help = "how often it looks at the fabric, from 0s on" },
	{ "sm.trap", SCHEMA_TIME, SM(trap), .initial = "never", .word = "never",
	  .word_value = HD_TIME_NEVER,
	  .help = "from a failure or a return to its trap being heard, if that "
		  "is before the next sweep" },
	{ "sm.compute", SCHEMA_TIME, SM(compute), .initial = "1ms",
	  .help = "from then until the new routes are known" },
	{ "sm.program", SCHEMA_TIME, SM(program), .initial = "20us",
	  .help = "for each write of 64 entries, one after the other" },
	{ "sm.replan", SCHEMA_CHOICE, SM(replan), .initial = "opensm",
	  .choices = replan_mode_names,
	  .help = "fresh: all routes anew; keep: those that still work stay; "
		  "opensm: they stay unless cables came back" },

	{ "run", SCHEMA_MAP, .help = "how long, and by which dice" },
	{ "run.seed", SCHEMA_UINT, RUN(seed), .initial = "1",
	  .help = "of everything random" },
	{ "run.warmup", SCHEMA_AMOUNT, RUN(warmup), .initial = "100us",
	  .base = SCHEMA_TIME, .choices = scn_packet_words,
	  .help = "what is left out of the results: a time, or a number of "
		  "packets delivered" },
	{ "run.measure", SCHEMA_AMOUNT, RUN(measure), .initial = "1ms",
	  .base = SCHEMA_TIME, .choices = scn_packet_each_words, .low = "1",
	  .help = "how long after that: a time, packets delivered, or so many "
		  "of the slowest flow or of each SL" },
	{ "run.precision", SCHEMA_SHARE, RUN(precision), .initial = "none",
	  .word = "none", .high = "50%",
	  .help = "end earlier, once the mean latency is known to within this "
		  "(95 % confidence)" },
	{ "run.horizon", SCHEMA_TIME, RUN(horizon), .initial = "1s",
	  .low = "1ns",
	  .help = "simulated time after which a run ends "
		  "anyway" },

	{ "goals", SCHEMA_LIST, offsetof(struct scenario, goals),
	  .count = offsetof(struct scenario, n_goals),
	  .item_size = sizeof(struct scn_goal),
	  .help = "what must hold; heddle sim exits with 1 if it does not" },
	{ "goals[].row", SCHEMA_TEXT, GOAL(row), .optional = true,
	  .help = "a traffic row; absent: each of them" },
	{ "goals[].job", SCHEMA_TEXT, GOAL(job), .optional = true,
	  .help = "a job, for completion and slowdown" },
	{ "goals[].completion", SCHEMA_TIME, GOAL(completion),
	  .initial = "none", .word = "none",
	  .help = "most time from the job's start to its end" },
	{ "goals[].slowdown", SCHEMA_SHARE, GOAL(slowdown), .initial = "none",
	  .word = "none",
	  .help = "most of that over the time that it takes alone" },
	{ "goals[].mean", SCHEMA_TIME, GOAL(mean), .initial = "none",
	  .word = "none", .help = "most mean latency" },
	{ "goals[].p50", SCHEMA_TIME, GOAL(p50), .initial = "none",
	  .word = "none", .help = "most latency of half the packets" },
	{ "goals[].p99", SCHEMA_TIME, GOAL(p99), .initial = "none",
	  .word = "none", .help = "most latency of 99 % of the packets" },
	{ "goals[].p999", SCHEMA_TIME, GOAL(p999), .initial = "none",
	  .word = "none", .help = "most latency of 99.9 % of the packets" },
	{ "goals[].max", SCHEMA_TIME, GOAL(max), .initial = "none",
	  .word = "none", .help = "most latency of any packet" },
	{ "goals[].delivered", SCHEMA_SHARE, GOAL(delivered), .initial = "none",
	  .word = "none", .high = "100%",
	  .help = "least share of the offered bytes that arrives" },
	{ "goals[].throughput", SCHEMA_RATE, GOAL(throughput),
	  .initial = "none", .word = "none",
	  .help = "least payload rate of the row, all flows together" },
	{ "goals[].fairness", SCHEMA_SHARE, GOAL(fairness), .initial = "none",
	  .word = "none", .high = "100%",
	  .help = "least Jain index over the row's flows" },
	{ "goals[].lost", SCHEMA_UINT, GOAL(lost), .initial = "any",
	  .word = "any", .word_value = SCN_UNLIMITED,
	  .help = "most packets lost" },
	{ "goals[].blocking", SCHEMA_SHARE, GOAL(blocking), .initial = "any",
	  .word = "any", .word_value = SCN_ANY, .high = "100%",
	  .help = "most share of the flows that asked for bandwidth and were "
		  "refused" },
	{ .path = NULL },
};
