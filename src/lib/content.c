/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/content.h"

#include <stdlib.h>

#include "base/digest.h"
#include "base/file.h"

enum hd_status content_of_file(const char *name, const char *path,
			       struct diag *d, struct strbuf *out)
{
	struct strbuf text = STRBUF_INIT;
	enum hd_status status = file_read(path, FILE_LIMIT, d, &text);

	if (status == HD_OK) {
		struct digest h = DIGEST_START;

		digest_add(&h, text.text, text.len);
		strbuf_printf(out, "# file %s: ", name);
		digest_print(&h, out);
		strbuf_putc(out, '\n');
	}
	strbuf_fini(&text);
	return status;
}

/* One that the scenario names. */
static enum hd_status note_file(const struct scenario *s, char *const *field,
				struct diag *d, struct strbuf *out)
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

enum hd_status content_of_scenario(const struct scenario *s, struct diag *d,
				   struct strbuf *out)
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
