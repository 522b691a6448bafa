/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/qos_options.h"
#include "cli/qos_planning.h"

#define FIELD(name) offsetof(struct qos_plan_options, name)

static const struct option options[] = {
	{ "vls", 0, OPT_UINT, FIELD(vls), "N", "8", "data VLs of the links: 1, 2, 4, 8 or 15",
	  .low = 1, .high = 15 },
	{ "entries", 0, OPT_UINT, FIELD(entries), "N", "64",
	  "entries in each of a port's two arbitration tables (VLArbHighCap and VLArbLowCap of 'smpquery portinfo')",
	  .low = 1, .high = 64 },
	{ "mtu", 0, OPT_SIZE, FIELD(mtu), "SIZE", "4096",
	  "payload of the largest packets, and of classes without a payload" },
	OPTION_OVERHEAD(FIELD(overhead), "bytes of every packet in addition to its payload"),
	{ "goals", 0, OPT_INPUT, FIELD(goals), "FILE", NULL,
	  "goals of classes, one per line: 'mpi: at least 70%', 'mds: latency 20us, packets 256', 'backup: leftovers'; requires FABRIC as the argument" },
	{ "verify", 0, OPT_FLAG, FIELD(verify), NULL, NULL,
	  "with --goals: simulate the plan on the FABRIC; exit status 1 if a goal is missed" },
	{ "against", 0, OPT_INPUT, FIELD(against), "FILE", NULL,
	  "compare with this opensm.conf: changed keys, and what each class gains or loses" },
	OPTION_SET(struct qos_plan_options, fabric),
	{ "conf", 0, OPT_FLAG, FIELD(conf), NULL, NULL,
	  "print the lines for opensm.conf instead of results" },
	{ .name = NULL },
};

static int run(const struct command *self, void *values, int n, char **args)
{
	struct qos_plan_options *v = values;
	const struct output_own_format own[] = { { "--conf", v->conf }, { NULL, false } };
	struct qos_packets largest;
	int status = output_check_own_formats(self, &v->common, own);

	if (status != EXIT_DONE)
		return status;
	if (n > N_SLS - 1)
		return command_usage(
			self, "%d classes are given; at most %d are possible, one for each SL", n,
			N_SLS - 1);
	if (!cli_qos_check_vls(self, v->vls, &status) ||
	    !cli_qos_check_packets(self, v->mtu, v->overhead, &largest, &status))
		return status;
	const struct plan_link link = { .vls = (unsigned)v->vls,
					.entries = (unsigned)v->entries,
					.overhead = largest.overhead };

	if (v->goals && n != 1)
		return command_usage(self, "--goals requires one FABRIC");
	if (v->against && v->conf)
		return command_usage(
			self, "--against compares tables; --conf prints lines: use one of them");
	if (n == 0)
		return command_usage(self, "expected classes such as mpi=70%%, or --goals FILE");
	if ((v->verify || v->fabric.set.n) && !v->goals)
		return command_usage(self, "--verify and --set require --goals");
	return v->goals ? cli_qos_plan_goals(v, args[0], &link)
			: cli_qos_plan_classes(v, args, (unsigned)n, &link);
}

static const struct example examples[] = {
	{ "heddle qos plan mpi=70% ost=30%", "two classes by share, packets of the MTU" },
	{ "heddle qos plan mds=10%,latency,256 mpi=60%,2KiB ost=30%,4KiB",
	  "with a latency class, each class with its own packet size" },
	{ "heddle qos plan --entries 8 --vls 4 mpi=70% ost=30%", "for ports with small tables" },
	{ "heddle qos plan --goals goals.yaml site.ibnet --verify",
	  "plan for goals of a file, and simulate the plan on the site's fabric" },
	{ "heddle qos plan mpi=60%,sl=1 ost=30%,default --against /etc/opensm/opensm.conf",
	  "with a given SL, compared with the present configuration" },
	{ "heddle qos plan --conf mpi=70% ost=30% -o qos.conf", "the lines for opensm.conf" },
	{ NULL, NULL },
};

const struct command command_qos_plan = {
	.name = "qos plan",
	.summary = "compute SLs, VLs and weights for bandwidth goals",
	.arguments = "NAME=SHARE[,SETTING]... | FABRIC",
	.description =
		"SETTING is latency, PAYLOAD, sl=N or default.\n\n"
		"Assigns an SL and a VL to each class and chooses weights in whole packets,\n"
		"because the arbiter rounds up to whole packets. Latency classes use the\n"
		"high-priority table. Shares are of the data rate of the link, in bytes on the\n"
		"wire. The results show the share of each class when all others always have\n"
		"packets and latency classes send their share. 'floor' is the share that a\n"
		"class gets whatever the others send, latency classes included.\n\n"
		"Programs that set no SL use SL 0. It belongs to the class that is marked\n"
		"'default' or has 'sl=0', or else to the largest class without latency. 'sl=N'\n"
		"sets the SL of another class. SLs without a class map to the class with the\n"
		"smallest share. Goals that no tables of --entries reach within half a\n"
		"percentage point are rejected with the reason.\n\n"
		"A file of goals (--goals) has one line per class, with settings separated by\n"
		"commas: 'at least 70%', 'latency 20us' (high-priority table, with 5 % of the\n"
		"link unless a share is given), 'leftovers' (1 % guaranteed) and 'packets\n"
		"2KiB'. Impossible goals are rejected with the calculation and the nearest\n"
		"possible goals.\n",
	.has_own_formats = true,
	.options = options,
	.examples = examples,
	COMMAND_CALL(run, struct qos_plan_options, 0, ANY_NUMBER),
	.is_long = true,
};
