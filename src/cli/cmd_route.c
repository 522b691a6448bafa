/* SPDX-License-Identifier: BSD-2-Clause */
#include <assert.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/route_options.h"
#include "cli/route_traffic.h"
#include "subnet/check/show.h"
#include "subnet/tables/tables.h"

static const struct example examples[] = {
	{ "heddle route 'torus --sizes=5x5' --engine minhop --check",
	  "shows the cycle of channels that can lock up" },
	{ "heddle route 'torus --sizes=5x5' --engine torus --check", "two VLs per ring break it" },
	{ "heddle route 'fat-tree --radix 36 --levels 3' -e ftree --load 100",
	  "effective bisection bandwidth of 11664 hosts" },
	{ "heddle route site.ibnet -e file --routes opensm-lfts.dump --check",
	  "check the routes that a production fabric has" },
	{ "heddle route site.ibnet -e updn --root spine1 --dump opensm -o x",
	  "tables that OpenSM takes with -R file -U x" },
	{ "heddle route site.ibnet -e file --routes opensm-lfts.dump --sweep down=leaf3/20 --check",
	  "what OpenSM changes when that cable fails, and what is left" },
	{ "heddle route 'node-mesh --columns=5 --rows=5' -e xy --lids paper --mcast 'xy@13=4,5,19,21,23' --dump mfts",
	  "Fig. 9 of paper 002" },
	{ "heddle route 'mesh --columns=8 --rows=8' -e xy --mcast 'auto=*'",
	  "the trees that load the busiest cable least, and what they gain" },
	{ NULL, NULL },
};

static int list_engines(const struct common_options *common)
{
	struct results *r = results_new("route");

	check_show_engines(r);
	return output_results(common, r, true);
}

static int dump(const struct inspection *x, const struct cli_route_options *v, struct diag *d)
{
	const struct table_writer *w = tables_writer_find(v->dump);
	struct output_stream out;

	d->file = NULL;
	if (tables_check_export(x->subnet, w, d) != HD_OK)
		return command_refuse(d);
	bool clean = inspection_is_clean(x);
	int status = output_open(&v->common, &out);

	if (status != EXIT_DONE)
		return status;
	w->write(x->subnet, &out.text);
	return output_close(&out, clean);
}

static int show(const struct inspection *x, const struct cli_route_options *v, struct diag *d)
{
	struct results *shown = results_new("route"), *kept = shown;
	bool met;

	if (inspection_show(x, shown, d, &met) != HD_OK) {
		results_free(shown);
		return command_refuse(d);
	}
	if (output_is_recorded(&v->common) && v->look.load) {
		kept = results_new("route");
		if (inspection_show(x, kept, d, &met) != HD_OK)
			assert(false && "it was shown");
		inspection_picture(x, kept);
	}
	return output_shown_and_recorded(&v->common, shown, kept, met);
}

static int inspect(struct fabric *fabric, struct cli_route_options *v, struct diag *d)
{
	struct route_options route;
	struct inspection x;

	if (fabric_route_options(fabric, d, &route) != HD_OK)
		return command_refuse(d);
	v->look.route = &route;
	route_traffic_init(&v->look.traffic, fabric);
	int status = inspection_begin(&x, &fabric->subnet, &v->look, d) != HD_OK ? command_refuse(d)
		     : v->dump                                                   ? dump(&x, v, d)
										 : show(&x, v, d);

	inspection_end(&x);
	route_traffic_fini(&v->look.traffic);
	return status;
}

static int run(const struct command *self, void *values, int n, char **args)
{
	struct cli_route_options *v = values;
	struct diag d = { .status = HD_OK };
	const char *engine = fabric_choice_option(&v->fabric, "engine");
	struct fabric *fabric;
	int status;

	if (engine && strcmp(engine, "list") == 0)
		return list_engines(&v->common);
	if (n != 1)
		return command_usage(self, "missing argument: expected FABRIC");
	if (!route_options_take(self, v, args[0], &status))
		return status;
	if (fabric_choice_open(&v->fabric, args[0], &d, &fabric) == HD_OK) {
		status = inspect(fabric, v, &d);
		fabric_free(fabric);
	} else {
		status = command_refuse(&d);
	}
	fabric_choice_fini(&v->fabric);
	return status;
}

const struct command command_route = {
	.name = "route",
	.summary = "assign LIDs, compute and check forwarding tables",
	.arguments = "FABRIC",
	.description =
		"FABRIC is a file of ibnetdiscover, ibsim or OpenSM, a scenario, '-', or the words of a generator ('mesh --columns=4 --rows=4'). Of a scenario, routes are those that 'heddle sim' runs.\n\n"
		"An engine either does what its name says or refuses the fabric with the reason. '--engine list' tells what each needs.\n\n"
		"--check follows the tables from every end port to every LID "
		"and looks for cycles of channels that wait for each other, "
		"per VL and under the SL2VL tables in force; a cycle is named "
		"port by port. The exit status is 1 if a pair is not reached, "
		"a path loops, or the fabric can lock up.\n\n"
		"End ports are named by their node's name, by LID, or by the GUID of port or node (0x...).",
	.has_own_formats = true,
	.options = route_options_table,
	.examples = examples,
	COMMAND_CALL(run, struct cli_route_options, 0, 1),
};
