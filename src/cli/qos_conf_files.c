/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/qos_conf_files.h"

void cli_conf_files_fini(struct cli_conf_files *f)
{
	while (f->n > 0)
		opensm_conf_fini(&f->conf[--f->n]);
}

bool cli_conf_files_read(const char *first, const char *second, struct diag *d,
			 struct cli_conf_files *out)
{
	const char *const names[] = { first, second };

	out->n = 0;
	for (unsigned i = 0; i < 2 && names[i]; i++) {
		d->file = names[i];
		if (opensm_conf_load(names[i], d, &out->conf[i]) != HD_OK) {
			cli_conf_files_fini(out);
			return false;
		}
		out->n++;
	}
	d->file = NULL;
	return true;
}
