/* SPDX-License-Identifier: BSD-2-Clause */
#include "verbs/testbed.h"

#include "base/file.h"

#define MAX_TEXT ((size_t)16 << 20)

static enum hd_status open_fabric(struct testbed *bed, const char *path,
				  struct diag *d)
{
	enum hd_status status = HD_OK;

	if (path)
		status = file_read(path, MAX_TEXT, d, &bed->text);
	else
		profile_scenario(&bed->profile, &bed->text);
	if (status != HD_OK)
		return status;
	status = scenario_parse(bed->text.text, bed->text.len,
				path ? path : bed->profile.name, d,
				&bed->scenario);
	if (status == HD_OK)
		status = sim_build(&bed->scenario, d, &bed->build);
	if (status != HD_OK) {
		d->file = path; /* it pointed into the scenario */
		scenario_fini(&bed->scenario);
	}
	return status;
}

enum hd_status testbed_open(const char *profile, const char *path,
			    struct diag *d, struct testbed *out)
{
	enum hd_status status = profile_open(profile, d, &out->profile);

	if (status != HD_OK)
		return status;
	out->text = (struct strbuf)STRBUF_INIT;
	out->has_flows = path != NULL;
	status = open_fabric(out, path, d);
	if (status == HD_OK) {
		d->file = NULL; /* it was right: nothing later is its fault */
	} else {
		strbuf_fini(&out->text);
		profile_fini(&out->profile);
	}
	return status;
}

void testbed_close(struct testbed *bed)
{
	sim_build_fini(&bed->build);
	scenario_fini(&bed->scenario);
	strbuf_fini(&bed->text);
	profile_fini(&bed->profile);
}
