/* SPDX-License-Identifier: BSD-2-Clause */
#include "scenario/fields.h"

/*
 * The scenario file, field by field; jobs and how a run goes are in files of
 * their own. Adding a field is a member in scenario.h and a row; reading,
 * refusals, --explain and the manual follow.
 */

#define FABRIC(member)    offsetof(struct scenario, fabric.member)
#define SWITCH(member)    offsetof(struct scenario, fabric.sw.member)
#define ROUTING(member)   offsetof(struct scenario, fabric.routing.member)
#define QOS(member)       offsetof(struct scenario, qos.member)
#define ADMISSION(member) offsetof(struct scenario, qos.admission.member)
#define LOANS(member)     offsetof(struct scenario, qos.thresholds.member)
#define LINK(member)      offsetof(struct scn_link, member)
#define GROUP(member)     offsetof(struct scn_group, member)
#define CLASS(member)     offsetof(struct scn_class, member)
#define QPORT(member)     offsetof(struct scn_qos_port, member)
#define CHANGE(member)    offsetof(struct scn_qos_change, member)
#define TCLASS(member)    offsetof(struct scn_tclass, member)
#define PARTITION(member) offsetof(struct scn_partition, member)
#define TRAFFIC(member)   offsetof(struct scn_traffic, member)

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
	{ "fabric.without", SCHEMA_TEXT, FABRIC(without), .initial = "none",
	  .joins = true,
	  .help = "cables of the topology that are not there, by one end of "
		  "each (NODE:PORT, or NODE for all of its), as after a "
		  "failure; the rest is routed as it is" },
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
	  .help = "per input port and VL; a packet is one of the MTU" },
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
	{ "fabric.host.out_of_order", SCHEMA_UINT, FABRIC(out_of_order),
	  .initial = "0", .high = "65536",
	  .help = "packets ahead of the expected one, at most, that a queue "
		  "pair (rc) keeps until that one comes; it asks for what is "
		  "further ahead again. 0: for all" },
	{ "fabric.packet", SCHEMA_MAP, .help = "what packets look like" },
	{ "fabric.packet.overhead", SCHEMA_SIZE, FABRIC(overhead),
	  .initial = "26", .high = "256",
	  .help = "bytes beyond the payload: 26 are LRH, BTH and CRCs, 66 "
		  "with a GRH; other values have no packet format" },
	{ "fabric.packet.multicast_grh", SCHEMA_CHOICE, FABRIC(multicast_grh),
	  .initial = "auto", .choices = scn_grh_words,
	  .help = "whether packets to groups have a GRH of 40 bytes beside "
		  "that; auto: if overhead is 26" },
	{ "fabric.packet.mtu", SCHEMA_UINT, FABRIC(mtu), .initial = "auto",
	  .word = "auto", .word_value = SCN_MTU_AUTO, .choices = scn_mtu_words,
	  .help = "largest payload of a packet, and what \"packets\" of a "
		  "buffer are; auto: the least MTU of the fabric's ports" },
	{ "fabric.credits", SCHEMA_CHOICE, FABRIC(credits), .initial = "delay",
	  .choices = scn_credit_words,
	  .help = "flow-control updates cost only delay, or link time too" },
	{ "fabric.arbiter", SCHEMA_CHOICE, FABRIC(arbiter), .initial = "vlarb",
	  .choices = scn_arbiter_words,
	  .help = "InfiniBand's tables, or VLs in absolute priority, 0 first" },
	{ "fabric.routing", SCHEMA_MAP, .shorthand = "engine",
	  .help = "how routes are chosen" },
	{ "fabric.routing.engine", SCHEMA_CUSTOM, ROUTING(engine),
	  .initial = "minhop", .custom = &notation_engine,
	  .help = "who computes them" },
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
	{ "fabric.routing.adaptive.notify", SCHEMA_TIME,
	  ROUTING(adaptive.notify), .initial = "never", .word = "never",
	  .low = "1ps", .high = "1s",
	  .help = "after which the switches next to one that has no way left "
		  "to a destination take other ports for it; never: they are "
		  "not told" },
	{ "fabric.routing.adaptive.around", SCHEMA_UINT,
	  ROUTING(adaptive.around), .initial = "never", .word = "never",
	  .word_value = SCN_AROUND_NEVER, .high = "1000000",
	  .help = "blocks that the least of a dragonfly's minimal ways may have "
		  "waiting beyond the least of those by a third group, before "
		  "one of these is taken; never: there are none" },
	{ "fabric.routing.adaptive.sls", SCHEMA_TEXT, ROUTING(adaptive.sls),
	  .initial = "all", .joins = true,
	  .help = "SLs that are routed so: 'all', or a list as 0,2-5; those of "
		  "classes that ask admission (DBTS, DB, PBE) never are" },
	{ "fabric.reduction", SCHEMA_MAP,
	  .help = "what switches reduce, for steps of jobs by 'in-network'" },
	{ "fabric.reduction.trees", SCHEMA_UINT, FABRIC(reduction.trees),
	  .initial = "63", .low = "1", .high = "65535",
	  .help = "aggregation trees that a switch can be in" },
	{ "fabric.reduction.payload", SCHEMA_SIZE, FABRIC(reduction.payload),
	  .initial = "2KiB", .low = "1", .high = "4096",
	  .help = "bytes of a transaction, if the MTU is not smaller; more go "
		  "in several" },
	{ "fabric.reduction.delay", SCHEMA_TIME, FABRIC(reduction.delay),
	  .initial = "100ns", .high = "1s",
	  .help = "from the last contribution to the result" },
	{ "fabric.inner", SCHEMA_MAP, .shorthand = "rate",
	  .help = "the link inside a host with several ports, as NVLink" },
	{ "fabric.inner.rate", SCHEMA_RATE, FABRIC(inner.rate),
	  .initial = "none", .word = "none",
	  .help = "of each rank of a job, to others of its host; none: they "
		  "use the fabric" },
	{ "fabric.inner.latency", SCHEMA_TIME, FABRIC(inner.latency),
	  .initial = "1us", .high = "1s",
	  .help = "from the last byte sent to the message received" },
	{ "fabric.groups", SCHEMA_LIST, FABRIC(groups),
	  .count = FABRIC(n_groups), .item_size = sizeof(struct scn_group),
	  .help = "multicast groups" },
	{ "fabric.groups[].name", SCHEMA_TEXT, GROUP(name),
	  .help = "its name" },
	{ "fabric.groups[].members", SCHEMA_TEXT, GROUP(members),
	  .initial = "all", .joins = true,
	  .help = "hosts that receive " HOSTS_HELP },
	{ "fabric.groups[].tree", SCHEMA_CHOICE, GROUP(tree),
	  .initial = "shared", .choices = mcast_tree_names,
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
	{ "qos.policy", SCHEMA_TEXT, QOS(policy), .optional = true,
	  .help = "a qos-policy.conf of OpenSM: it gives rows of traffic "
		  "without class and SL theirs" },
	{ "qos.partitions_file", SCHEMA_TEXT, QOS(partitions_file),
	  .optional = true,
	  .help = "a partitions.conf of OpenSM, instead of a list: P_Keys of "
		  "all ports, which switches enforce, and the SLs of rows that "
		  "have no class, no SL and no policy. The manager is the "
		  "first host's" },
	{ "qos.sl2vl", SCHEMA_CUSTOM, QOS(sl2vl), .initial = "auto",
	  .custom = &notation_sl2vl, .joins = true,
	  .help = "the VL of each SL, or one VL for all; auto: by the kinds of "
		  "classes, else SL n on VL n modulo lanes" },
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
	{ "qos.ports[].sl2vl", SCHEMA_CUSTOM, QPORT(sl2vl), .initial = "auto",
	  .custom = &notation_sl2vl, .joins = true,
	  .help = "the VL of each SL of packets that leave by these ports, or "
		  "one VL for all; auto: as everywhere" },
	{ "qos.ports[].from", SCHEMA_TEXT, QPORT(from), .optional = true,
	  .joins = true,
	  .help = "input ports of the switch (or hosts behind them) whose "
		  "packets sl2vl is for; otherwise it is for all" },
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
	  .shorthand = "partitions_file",
	  .help = "who may talk to whom, besides the default partition; or "
		  "the name of a file, as qos.partitions_file" },
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
	  .help = "whose P_Key it uses; absent: the default partition, or "
		  "with qos.partitions_file what OpenSM chooses for its ends" },
	{ "traffic[].service_id", SCHEMA_UINT, TRAFFIC(service_id),
	  .initial = "none", .word = "none",
	  .help = "of the service that it is for, which qos.policy may ask for" },
	{ "traffic[].qos_class", SCHEMA_UINT, TRAFFIC(qos_class),
	  .initial = "none", .word = "none", .high = "255",
	  .help = "that it asks for, which qos.policy may look at" },
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
	{ "traffic[].deadline", SCHEMA_TIME, TRAFFIC(deadline),
	  .initial = "none", .word = "none", .high = "1000s",
	  .help = "latency that each packet (of a message: the last) must "
		  "meet, in a class of kind DBTS or DB: a flow is admitted if "
		  "its bound and those of all flows before it meet their "
		  "deadlines; a late packet of an admitted flow misses a "
		  "goal" },
	{ .path = NULL, .rest = scenario_job_fields },
};
