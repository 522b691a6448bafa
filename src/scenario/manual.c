/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/option.h"
#include "scenario/scenario.h"

static const char intro[] =
	".TH HEDDLE\\-SCENARIO 5 \"\" \"Heddle\" \"Heddle Manual\"\n"
	".SH NAME\n"
	"heddle\\-scenario \\- a fabric, its traffic and a run, in one file\n"
	".SH SYNOPSIS\n"
	".B heddle sim\n"
	".I FILE\n"
	".SH DESCRIPTION\n"
	"A scenario is a YAML file with everything that a run of\n"
	".BR heddle\\-sim (1)\n"
	"needs. It is plain data: mappings, lists and values, without anchors,\n"
	"aliases and tags. A name that is not listed here, a name that is there\n"
	"twice, a value in a wrong unit or out of its range is refused with its\n"
	"line and column.\n"
	".PP\n"
	"Quantities have units: times ps, ns, us, ms, s, min, h; rates b/s, kb/s, Mb/s,\n"
	"Gb/s, B/s, MB/s, GB/s or a width and a speed such as 4x HDR; sizes B,\n"
	"KiB, MiB, kB, MB (none: bytes); shares such as 20% or 0.2.\n"
	".PP\n"
	".I heddle sim \\-\\-explain FILE\n"
	"prints a scenario with every default filled in.\n"
	".PP\n"
	".I \\-\\-set PATH=VALUE\n"
	"on the command line of every command that takes a scenario says\n"
	"something else than the file, as if it were written there. PATH is a\n"
	"name below with dots; items of lists are named by number\n"
	"(traffic.0.load), by their name (traffic.video.load), + is a new item\n"
	"and \\- the last one. A VALUE that begins with { or [ is YAML where\n"
	"the field is a mapping or a list (traffic.+={name: x, kind: cbr,\n"
	"load: 5%}); an empty one takes the field away. Files are seen from\n"
	"the working directory.\n"
	".SH FIELDS\n"
	"Dots lead into mappings, [] into the items of a list.\n";

static const char example[] = ".SH EXAMPLE\n"
			      ".nf\n"
			      "fabric:\n"
			      "  topology: {kind: mesh, columns: 4, rows: 4, hosts: 2}\n"
			      "  routing: xy\n"
			      "qos:\n"
			      "  vls: 4\n"
			      "  classes:\n"
			      "    \\- {name: video, sl: 1, priority: high}\n"
			      "    \\- {name: bulk, sl: 0}\n"
			      "traffic:\n"
			      "  \\- {name: video, kind: cbr, class: video, load: 10%}\n"
			      "  \\- {name: bulk, kind: poisson, class: bulk, load: 30%}\n"
			      "run: {seed: 1, warmup: 50us, measure: 500us}\n"
			      "goals: [{row: video, p99: 20us}]\n"
			      ".fi\n"
			      ".SH SEE ALSO\n"
			      ".BR heddle (1),\n"
			      ".BR heddle\\-sim (1)\n";

void scenario_man(struct strbuf *out)
{
	strbuf_puts(out, intro);
	schema_man(scenario_fields, out);
	strbuf_puts(out, example);
}
