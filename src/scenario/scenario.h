/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SCENARIO_SCENARIO_H
#define HD_SCENARIO_SCENARIO_H

/*
 * A scenario: the complete input of one run, as stated in its file.
 *
 * The struct mirrors the file. fields.c has the table that connects the two,
 * and the only list of names, defaults, ranges and meanings. Quantities are
 * exact. Values that depend on the fabric (such as the hosts "h0..h7") are text
 * here; fabric/fabric.h resolves them.
 *
 * Enums list their values in the order of the names in words.c.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "cc/marking.h"
#include "cc/response.h"
#include "qos/opensm/opensm.h"
#include "qos/opensm/partitions.h"
#include "qos/tables/classes.h"
#include "qos/tables/fill.h"
#include "scenario/model.h"
#include "scenario/override.h"
#include "scenario/schema.h"
#include "subnet/multicast/mcast.h"
#include "subnet/subnet.h"
#include "topo/generate.h"

/* Units of the amounts below; 0 is bytes or time. */
enum scn_unit { SCN_PLAIN, SCN_PACKETS, SCN_PACKETS_PER_FLOW, SCN_PACKETS_PER_SL };

struct scn_topology {
	const struct generator *generator; /* NULL: read from `file` */
	char *file;                        /* relative to the scenario's file */
	uint64_t seed;
	struct schema_params params; /* of the generator */
};

/* Values that mean "inherit the default": rate 0, propagation HD_TIME_NEVER, others 2. */
struct scn_link {
	char *ports;
	struct hd_rate rate;
	hd_time propagation;
	double ber;
	double update_loss;
};

enum scn_grh { SCN_GRH_AUTO, SCN_GRH_YES, SCN_GRH_NO };

#define SCN_CROSSBAR_READS_AUTO UINT64_MAX /* fifo: 1, voq: unlimited, which is 0 */

struct scn_switch {
	enum sim_queueing queueing;
	enum sim_order order;
	enum sim_pick arbitration;
	uint64_t crossbar_reads;
	struct schema_amount input_buffer;  /* per VL */
	struct schema_amount output_buffer; /* per VL, cioq */
	uint64_t management_buffer;         /* VL15, bytes */
	struct hd_ratio speedup;
	hd_time routing_delay, arbitration_delay;
};

#define SCN_LIDS_AUTO (LIDS_KEEP + 1)

/* Adaptive routing and its rule, as in fabric/setup.h. */
#define SCN_AR_OFF           0 /* else 1 + enum sim_ar_choice */
#define SCN_NONMINIMAL_NEVER UINT64_MAX
struct scn_adaptive {
	unsigned choice;
	unsigned per; /* enum sim_ar_unit */
	hd_time gap, failover_delay, notify;
	uint64_t threshold, hysteresis; /* blocks */
	uint64_t nonminimal;            /* blocks, or SCN_NONMINIMAL_NEVER */
	char *sls;
};

struct scn_routing {
	char *engine;
	char *file;    /* engine: file */
	char *roots;   /* names of switches; may be NULL */
	unsigned lids; /* enum lid_order, or SCN_LIDS_AUTO */
	uint64_t lmc;
	uint64_t layers; /* maximum number of VLs for layers; 0: all */
	struct scn_adaptive adaptive;
};

/* In-network reduction (docs/timing-rules.md, S1 to S6). */
struct scn_reduction {
	uint64_t trees;   /* maximum per switch */
	uint64_t payload; /* payload of a transaction, bytes */
	hd_time delay;
};

struct scn_group {
	char *name;
	char *members;
	enum mcast_method tree;
};

#define SCN_MTU_AUTO 0

struct scn_fabric {
	struct scn_topology topology;
	char *failed_links; /* failed cables; "none" */
	struct {
		struct hd_rate rate; /* 0: maximum of the ports */
		hd_time propagation;
	} link;
	struct scn_link *links;
	size_t n_links;
	struct scn_switch sw;
	struct schema_amount host_buffer;
	hd_time agent_delay;   /* of a management agent per MAD */
	uint64_t out_of_order; /* maximum number of out-of-order packets that rc stores */
	uint64_t overhead;
	enum scn_grh multicast_grh; /* additional header of multicast packets */
	uint64_t mtu;               /* SCN_MTU_AUTO until the fabric is known */
	enum sim_credits credits;
	enum sim_arbiter arbiter;
	struct scn_routing routing;
	struct scn_reduction reduction;
	struct {
		struct hd_rate rate; /* 0: there is no such path */
		hd_time latency;
	} intra_host; /* between the ports of a host (J12) */
	struct scn_group *groups;
	size_t n_groups;
};

/* One VL arbitration table; if not given, it is derived from the classes. */
struct scn_vlarb {
	bool given;
	uint8_t n;
	struct vlarb_entry entries[VLARB_MAX];
};

/* If not given: derived from the kinds of classes, else SL n to VL n modulo the VLs. */
struct scn_sl2vl {
	bool given;
	struct sl2vl table;
};

#define SCN_VL_AUTO     UINT64_MAX
#define SCN_WEIGHT_AUTO 0
#define SCN_NO_KIND     TC_COUNT /* weight only, without admission */

struct scn_class {
	char *name;
	uint64_t sl;
	uint64_t vl;   /* or SCN_VL_AUTO: according to sl2vl */
	unsigned kind; /* enum traffic_class, or SCN_NO_KIND */
	enum { SCN_LOW, SCN_HIGH } priority;
	uint64_t weight; /* 64-byte blocks, 0..255 per table entry */
};

/* Admission of connections that request bandwidth, if classes have kinds. */
struct scn_admission {
	enum fill_mode fill;
	enum fill_place place;
	struct hd_ratio margin; /* in addition to the rate of a flow */
	hd_time release_delay;  /* after the flow's end; HD_TIME_NEVER: one frame */
};

/* Different tables for some ports. */
struct scn_qos_port {
	char *ports;
	uint64_t vls; /* 0: the general value */
	struct scn_sl2vl sl2vl;
	char *from; /* input ports to which sl2vl applies; NULL: all */
	struct scn_vlarb high, low;
	uint64_t high_limit; /* UINT64_MAX: the general value */
};

/* Change of the tables at some time; tables that are not given are unchanged. */
struct scn_qos_change {
	hd_time at;
	char *ports;
	struct scn_vlarb high, low;
	uint64_t high_limit; /* UINT64_MAX: unchanged */
};

#define SCN_ALL_SUBNETS UINT64_MAX

/*
 * Mapping of TClass and SL in a subnet: the SL that routers assign to a TClass
 * on entry or, for marks, the TClass that the first router assigns to an SL on
 * exit.
 */
struct scn_tclass {
	uint64_t tclass;
	uint64_t sl;
	uint64_t subnet; /* subnet number, or SCN_ALL_SUBNETS */
};

struct scn_partition {
	char *name;
	uint64_t key;
	char *full, *limited; /* members */
};

/* A set of VLs, one bit each. */
struct scn_vls {
	uint16_t vls;
};

/* A set of SLs, one bit each. */
struct scn_sls {
	uint16_t sls;
};

struct scn_levels {
	uint8_t n;
	uint32_t at[N_DATA_VLS - 1];
};

enum scn_mechanism { SCN_NO_VL_SHARING, SCN_ET, SCN_AJT };

enum scn_share_ports {
	SCN_SHARE_HOSTS,
	SCN_SHARE_SWITCHES,
	SCN_SHARE_ALL,
};

struct scn_vl_levels {
	uint64_t vl;
	struct scn_levels at;
};

/* VLs that a full VL may use in addition to its own (thesis, chapter 5). */
struct scn_thresholds {
	enum scn_mechanism mechanism;
	enum scn_share_ports ports;
	struct scn_levels at;
	struct scn_vl_levels *vls; /* VLs with individual thresholds */
	size_t n_vls;
	uint64_t capacity;                /* packets per VL; 0: unlimited */
	struct scn_vls high, high_shared; /* ajt */
	struct scn_vls low, low_shared;
};

struct scn_qos {
	uint64_t vls;
	char *opensm;                   /* configuration file with the tables, or NULL */
	uint64_t entries;               /* size of the ports' arbitration tables */
	char *policy, *partitions_file; /* further files of OpenSM, or NULL */
	struct scn_sl2vl sl2vl;
	bool bands; /* rates select the SLs of DBTS and DB */
	struct scn_class *classes;
	size_t n_classes;
	struct scn_vlarb high, low;
	uint64_t high_limit;
	struct scn_qos_port *ports;
	size_t n_ports;
	struct scn_qos_change *changes;
	size_t n_changes;
	struct scn_tclass *tclasses;
	size_t n_tclasses;
	struct scn_tclass *tclass_of_sl;
	size_t n_tclass_of_sl;
	struct scn_partition *partitions;
	size_t n_partitions;
	bool enforce; /* switches enforce partitions */
	struct scn_admission admission;
	struct scn_thresholds thresholds;
};

enum scn_pattern {
	SCN_UNIFORM,
	SCN_PERMUTATION,
	SCN_TRANSPOSE,
	SCN_BIT_REVERSE,
	SCN_TORNADO,
	SCN_HOTSPOT,
	SCN_ALL_TO_ALL,
	SCN_INCAST,
	SCN_PAIRS,
	SCN_GROUP,
};

#define SCN_UNLIMITED UINT64_MAX
#define SCN_SL_AUTO   UINT64_MAX
#define SCN_TCLASS_SL UINT64_MAX

/*
 * Congestion control of a row or a run is an index into the lists of words
 * (words.h). Index 0 means for a row: as the run; for a run: none.
 */
#define SCN_CONTROL_SAME 0

/* The transport of a row's messages; SCN_NO_TRANSPORT: packets without acknowledgement. */
enum scn_transport { SCN_NO_TRANSPORT, SCN_RC, SCN_UC, SCN_UD };

/* Distribution of times with a given mean. */
enum scn_law { SCN_EXPONENTIAL, SCN_CONSTANT };

/* Dynamic connections; gap 0: flows exist from the start. */
struct scn_arrivals {
	hd_time gap; /* mean over the whole row */
	enum scn_law gap_law;
	hd_time holding; /* mean, or HD_TIME_NEVER: until the row stops */
	enum scn_law holding_law;
};

struct scn_traffic {
	char *name;
	enum sim_flow_kind kind;
	enum scn_pattern pattern;
	char *source, *destination; /* hosts */
	char *hotspot;              /* hosts */
	struct hd_ratio hot_share;
	char *group;
	char *file;      /* trace */
	char *service;   /* name of a class, or NULL */
	uint64_t sl;     /* or SCN_SL_AUTO */
	uint64_t tclass; /* or SCN_TCLASS_SL: as the SL */
	uint64_t hop_limit;
	char *partition; /* NULL: the default one */
	/* Values for a QoS policy; 0: not given. */
	uint64_t service_id, qos_class;
	uint64_t payload;     /* per packet; with a transport, per message */
	double payload_scv;   /* 0: all packets have the same size; else payload is a mean */
	struct hd_rate rate;  /* of payload, per flow; 0: derived from load */
	struct hd_ratio load; /* of the source's link, including headers */
	double scv;           /* ge */
	hd_time on, off;      /* on-off, pareto: means */
	double shape;         /* pareto */
	uint64_t connections; /* 0: one flow per source */
	struct scn_arrivals arrivals;
	hd_time start, stop; /* HD_TIME_NEVER: never stops */
	uint64_t count;      /* packets (messages) per flow */
	bool aligned;        /* all cbr flows are in phase */
	bool management;     /* on VL15 */
	enum scn_transport transport;
	hd_time ack_timeout;    /* of rc */
	unsigned control;       /* index into scn_control_words */
	uint64_t rate_steps;    /* 0: as congestion.rate_steps */
	struct hd_rate reserve; /* bandwidth requested from admission; 0: none */
	hd_time deadline;       /* requested per packet; 0: none */
};

/* A congestion control table; if not given, a linear one. */
struct scn_cct {
	bool given;
	uint8_t n;
	uint16_t entries[CCT_MAX_ENTRIES]; /* shift (2 bits), multiplier */
};

/* Share of each link that an SL may reserve. */
struct scn_limit {
	uint64_t sl;
	struct hd_ratio share;
};

/* Congestion control of the fabric. */
struct scn_congestion {
	unsigned algorithm; /* index into scn_algorithm_words */
	unsigned marking;   /* enum mark_rule, or MARK_PUBLISHED */
	uint64_t depth;     /* threshold: bytes */
	uint64_t threshold; /* iba: 0..15 */
	bool victims;
	bool cap; /* limits the first increase after a decrease */
	uint64_t packet_size, marking_rate;
	hd_time ack_delay; /* 0: by packets */
	hd_time timeout;   /* 0: never */
	enum sim_echo echo;
	enum { SCN_GAP_FOLLOWS, SCN_GAP_FIXED } gap;
	uint64_t window, rate_steps;
	double m;
	double units; /* unit of PIPD, relative to the smallest unit of the lowest rate */
	struct scn_cct cct;
	uint64_t ccti_increase, ccti_timer, ccti_min;
	struct scn_sls sls; /* SLs with congestion control */
	enum { SCN_PER_QP, SCN_PER_SL } per;
	struct scn_limit *limits;
	size_t n_limits;
};

/* A switch goes down or comes up, with all its cables. */
#define SCN_SWITCH_DOWN (SIM_SINK_FREE + 1)
#define SCN_SWITCH_UP   (SIM_SINK_FREE + 2)

struct scn_event {
	hd_time at;
	unsigned kind; /* enum sim_fault_kind, or one of the constants above */
	char *port;
};

struct scn_faults {
	double ber;
	double update_loss;
	hd_time hoq_life; /* 0: none */
	struct scn_event *events;
	size_t n_events;
};

/* A subnet manager that re-routes after failures; with neither time none exists. */
struct scn_sm {
	hd_time sweep, trap; /* HD_TIME_NEVER: no sweeps, no traps */
	hd_time compute, program;
	unsigned replan; /* enum replan_mode */
};

struct scn_run {
	uint64_t seed;
	struct schema_amount warmup;  /* time, packets */
	struct schema_amount measure; /* time, packets, packets per flow */
	struct hd_ratio precision;    /* of the mean latency; 0: no target */
	hd_time horizon;
};

/* One step of a job's program: exactly one operation is given. */
#define SCN_NOT_GIVEN UINT64_MAX

enum scn_operation {
	SCN_COMPUTE,
	SCN_BARRIER,
	SCN_BROADCAST,
	SCN_REDUCE,
	SCN_ALLREDUCE,
	SCN_ALLGATHER,
	SCN_REDUCE_SCATTER,
	SCN_ALLTOALL,
	SCN_HALO,
	SCN_SHIFT,
	SCN_READ,
	SCN_WRITE,
	SCN_OPERATIONS
};
extern const char *const scn_operation_names[SCN_OPERATIONS];

/* Default values. */
#define SCN_REQUEST     (UINT64_C(1) << 20)
#define SCN_OUTSTANDING 8

struct scn_step {
	uint64_t amount[SCN_OPERATIONS]; /* bytes, ps; or SCN_NOT_GIVEN */
	char *algorithm;                 /* NULL: the operation's default */
	uint64_t root, groups;
	enum { SCN_BLOCKS, SCN_STRIDES } layout;
	char *grid;       /* "8x8"; NULL: as square as possible */
	uint64_t segment; /* 0: no segmentation */
	char *to;         /* servers */
	uint64_t request, outstanding;
};

/* The operation of a step. */
enum scn_operation scn_step_operation(const struct scn_step *s);

#define SCN_MOST_JOBS 14

/* The port of its host that a rank uses to send to other hosts (J13). */
enum scn_rails { SCN_RAILS_OWN, SCN_RAILS_PEER };
enum scn_job_transport { SCN_JOB_PLAIN, SCN_JOB_RC };

struct scn_job {
	char *name;
	uint64_t ranks; /* 0: number of hosts, or of ranks in the file */
	char *on;       /* hosts */
	unsigned place; /* enum placement */
	enum scn_rails rails;
	enum scn_job_transport transport;
	hd_time ack_timeout;    /* of rc */
	char *service;          /* name of a class, or NULL */
	uint64_t sl;            /* or SCN_SL_AUTO */
	struct hd_rate reserve; /* of payload, per host; num 0: none */
	char *partition;        /* NULL: the default one */
	uint64_t repeat;
	hd_time start;
	struct scn_step *program;
	size_t n_program;
	char *goal;     /* a file instead of a program */
	uint64_t eager; /* SCN_UNLIMITED: all messages are eager */
	hd_time overhead, gap, per_byte;
	bool alone; /* also run the job alone for comparison */
};

#define SCN_ANY UINT32_MAX

/* Required result of a run; otherwise the command's status is 1. 0: not required. */
struct scn_goal {
	char *row; /* NULL: all rows, unless the goal is about a job */
	char *job; /* may be NULL */
	hd_time completion;
	struct hd_ratio slowdown;
	hd_time mean, p50, p99, p999, max;
	struct hd_ratio delivered; /* fraction of the offered traffic */
	struct hd_rate throughput;
	struct hd_ratio fairness;
	uint64_t lost;            /* maximum; SCN_UNLIMITED: not required */
	struct hd_ratio blocking; /* maximum; num SCN_ANY: not required */
	uint64_t broken;          /* maximum; SCN_UNLIMITED: not required */
};

struct scenario {
	char *title;
	struct scn_fabric fabric;
	struct scn_qos qos;
	struct scn_traffic *traffic;
	size_t n_traffic;
	struct scn_job *jobs;
	size_t n_jobs;
	struct scn_congestion congestion;
	struct scn_faults faults;
	struct scn_sm sm;
	struct scn_run run;
	struct scn_goal *goals;
	size_t n_goals;

	struct opensm_conf *opensm;    /* content of qos.opensm, or NULL */
	struct policy *policy;         /* content of qos.policy, or NULL */
	struct partitions *partitions; /* content of qos.partitions_file, or NULL */
	struct schema_places places;   /* positions in the file */
	const char *file;              /* for errors; NULL if none exists */
	char *text;                    /* text of the file, without overrides */
};

/* The table of all fields; see schema.h. */
extern const struct schema_row scenario_fields[];

/* Maximum size of a scenario file. */
#define SCENARIO_LIMIT ((size_t)16 << 20)

/*
 * Reads a scenario and checks everything that does not depend on the fabric.
 * `file` is the name in errors and the base of relative paths. `file` and the
 * overrides (may be NULL) are borrowed and must outlive the scenario. Call
 * scenario_fini even after an error.
 */
HD_MUST_CHECK enum hd_status scenario_parse(const char *text, size_t len, const char *file,
					    const struct overrides *overrides, struct diag *d,
					    struct scenario *out);
/* Like scenario_parse, from a file; "-" is standard input. */
HD_MUST_CHECK enum hd_status scenario_read(const char *path, const struct overrides *overrides,
					   struct diag *d, struct scenario *out);
void scenario_fini(struct scenario *s);
/*
 * The number of the traffic row that `option` names; UINT32_MAX if the name is
 * NULL.
 */
HD_MUST_CHECK enum hd_status scenario_find_row(const struct scenario *s, const char *name,
					       const char *option, struct diag *d, uint32_t *out);

/* Reports an error at the place where `field` (an address in `s`) is given. */
HD_PRINTF(4, 5)
enum hd_status scenario_refuse(const struct scenario *s, struct diag *d, const void *field,
			       const char *format, ...);

/* The SL of a job, from its class or its sl. */
unsigned scenario_job_sl(const struct scenario *s, const struct scn_job *j);
/* Whether any job uses multicast or in-network reduction. */
bool scenario_jobs_multicast(const struct scenario *s);
/* Whether any job uses queue pairs. */
bool scenario_jobs_over_rc(const struct scenario *s);

/* Rejects scenarios with jobs for a command `who` ("heddle bench") that ignores jobs. */
HD_MUST_CHECK enum hd_status scenario_lacks_jobs(const struct scenario *s, const char *who,
						 struct diag *d);
/* Whether queues have limited length, or VLs are shared. */
bool scenario_shares(const struct scenario *s);
/* Like scenario_shares, at end ports. */
bool scenario_shares_at_hosts(const struct scenario *s);
/*
 * Rejects qos.thresholds.capacity together with `what` ("adapters"), whose
 * packets are not lost at their hosts.
 */
HD_MUST_CHECK enum hd_status scenario_has_no_capacity(const struct scenario *s, const char *what,
						      struct diag *d);
/* Rejects a scenario without traffic. */
HD_MUST_CHECK enum hd_status scenario_needs_traffic(const struct scenario *s, struct diag *d);

/* Writes the scenario with every default filled in; it reads back as the same scenario. */
void scenario_explain(const struct scenario *s, struct strbuf *out);
/*
 * Receives each setting as name and value, in order: "traffic[0].rate" and
 * "100Mb/s". Both are borrowed.
 */
typedef void scenario_setting_fn(void *context, const char *name, const char *value);
void scenario_settings(const struct scenario *s, scenario_setting_fn *put, void *context);
/* Writes the man page heddle-scenario(5). */
void scenario_man(struct strbuf *out);

/*
 * Resolves a path field relative to the folder of the scenario's file, or to
 * the working directory if an override sets it; the caller frees it.
 */
char *scenario_path(const struct scenario *s, char *const *field);

/* NULL if not found. */
const struct scn_class *scenario_class(const struct scenario *s, const char *name);
const struct scn_group *scenario_group(const struct scenario *s, const char *name);
/* Whether OpenSM's policy determines the SL of a row without one. */
bool scenario_is_labelled(const struct scenario *s, const struct scn_traffic *t);
/* The P_Key of a partition, of qos.partitions or its file; 0 if none. */
uint16_t scenario_pkey(const struct scenario *s, const char *name);
/* Maximum number of operational data VLs of a link. */
unsigned scenario_vls(const struct scenario *s);
/* Whether admission generates the tables: classes have kinds. */
bool scenario_admits(const struct scenario *s);
/* The class of a row, by its name or, with qos.bands, its rate; NULL: none. */
const struct scn_class *scenario_row_class(const struct scenario *s, const struct scn_traffic *t);
/* The class that has an SL, or NULL. */
const struct scn_class *scenario_class_of_sl(const struct scenario *s, unsigned sl);
/* Whether traffic of the class requests admission (DBTS, DB, PBE). */
bool scenario_class_asks(const struct scn_class *c);
/* Whether flows of the row request bandwidth. */
bool scenario_asks(const struct scenario *s, const struct scn_traffic *t);
/* SLs of classes with guaranteed bandwidth: DBTS and DB. */
uint16_t scenario_promised_sls(const struct scenario *s);
/* SLs with congestion control; guaranteed traffic is not slowed down. */
uint16_t scenario_controlled_sls(const struct scenario *s);
/* Blocks of a class in the tables; 0 for classes under admission. */
uint64_t scenario_weight(const struct scn_class *c);
/* The SL of a row, from its class or its sl. */
unsigned scenario_sl(const struct scenario *s, const struct scn_traffic *t);
/* Additional bytes of packets to groups: the size of a GRH, or 0. */
uint32_t scenario_group_grh(const struct scenario *s);
/* Header bytes of a row's packets, including a GRH if the destination is a group. */
uint64_t scenario_overhead(const struct scenario *s, const struct scn_traffic *t);
/* Bytes of the largest packet that any traffic sends (or could send), with headers. */
uint64_t scenario_largest_packet(const struct scenario *s);
/*
 * Bytes of the largest packet that the fabric can carry (T1): the MTU plus the
 * maximum headers. It does not depend on traffic and jobs.
 */
uint32_t scenario_packet_limit(const struct scenario *s);
/*
 * Rejects rows whose packets are larger than the MTU; `port` names the port
 * with that MTU, or is NULL.
 */
HD_MUST_CHECK enum hd_status scenario_check_payloads(const struct scenario *s, const char *port,
						     struct diag *d);

#endif
