/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/content.h"

#include <stdlib.h>

#include "base/digest.h"
#include "base/file.h"

enum hd_status content_of_file(const char *name, const char *path, struct diag *d,
			       struct strbuf *out)
{
	struct digest h = DIGEST_START;
	char chunk[1 << 16];
	size_t n;
	FILE *in;
	enum hd_status status = file_open(path, d, &in);

	if (status != HD_OK)
		return status;
	/* The file may be larger than the memory. */
	while ((n = fread(chunk, 1, sizeof(chunk), in)) > 0)
		digest_add(&h, chunk, n);
	if (ferror(in))
		status = diag_fail(d, HD_ERR_IO, "cannot be read");
	file_close(in);
	if (status == HD_OK) {
		strbuf_printf(out, "# file %s: ", name);
		digest_print(&h, out);
		strbuf_putc(out, '\n');
	}
	return status;
}

/* Adds the digest of a file that the scenario names. */
static enum hd_status note_file(const struct scenario *s, char *const *field, struct diag *d,
				struct strbuf *out)
{
	struct diag inner = { .status = HD_OK };

	if (!*field)
		return HD_OK;
	char *path = scenario_path(s, field);
	enum hd_status status = content_of_file(*field, path, &inner, out);

	if (status != HD_OK)
		diag_fail(d, inner.status, "%s: %s", path, inner.message);
	free(path);
	return status;
}

enum hd_status content_of_scenario(const struct scenario *s, struct diag *d, struct strbuf *out)
{
	enum hd_status status = note_file(s, &s->fabric.topology.file, d, out);

	if (status == HD_OK)
		status = note_file(s, &s->fabric.routing.file, d, out);
	if (status == HD_OK)
		status = note_file(s, &s->qos.opensm, d, out);
	if (status == HD_OK)
		status = note_file(s, &s->qos.policy, d, out);
	if (status == HD_OK)
		status = note_file(s, &s->qos.partitions_file, d, out);
	for (size_t i = 0; i < s->n_traffic && status == HD_OK; i++)
		status = note_file(s, &s->traffic[i].file, d, out);
	for (size_t i = 0; i < s->n_jobs && status == HD_OK; i++)
		status = note_file(s, &s->jobs[i].goal, d, out);
	if (status == HD_OK)
		schema_print(scenario_fields, s, false, out);
	return status;
}
