/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/qos_verify_change.h"

#include <sys/stat.h>

#include "cli/cc_variants.h"
#include "cli/output.h"

bool cli_verify_change_is_file(const char *path)
{
	struct stat is;

	return stat(path, &is) == 0 && S_ISREG(is.st_mode);
}

int cli_verify_change_run(const struct cli_verify_change *v, struct fabric_choice *choice,
			  struct common_options *common)
{
	const char *files[] = { v->present, v->plan };
	struct diag d = { .status = HD_OK };
	struct study_comparison c = {
		.path = v->scenario,
		.overrides = &choice->overrides,
		.values = files,
		.n = 2,
		.seeds = v->seeds,
	};
	struct results *r = results_new("qos verify");
	bool worse = false;

	if (fabric_choice_overrides(choice, common->seed, &d) == HD_OK &&
	    cli_change_run(&c, common, &d, r, &worse) == HD_OK) {
		common->seed = c.seed;
		return output_results(common, r, !worse);
	}
	results_free(r);
	return command_refuse(&d);
}
