/* SPDX-License-Identifier: BSD-2-Clause */
#include "study/content.h"

#include <stdlib.h>

#include "base/file.h"

const struct digest digest_start = { UINT64_C(0xcbf29ce484222325), 1 };

void digest_add(struct digest *h, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char byte = (unsigned char)bytes[i];

		h->a = (h->a ^ byte) * UINT64_C(0x100000001b3);
		h->b = (h->b + byte + 1) * UINT64_C(0x9e3779b97f4a7c15);
		h->b ^= h->b >> 29;
	}
}

void digest_print(const struct digest *h, struct strbuf *out)
{
	strbuf_printf(out, "%016llx%016llx", (unsigned long long)h->a,
		      (unsigned long long)h->b);
}

enum hd_status content_of_file(const char *name, const char *path,
			       struct diag *d, struct strbuf *out)
{
	struct strbuf text = STRBUF_INIT;
	enum hd_status status = file_read(path, FILE_LIMIT, d, &text);

	if (status == HD_OK) {
		struct digest h = digest_start;

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
	for (size_t i = 0; i < s->n_traffic && status == HD_OK; i++)
		status = note_file(s, &s->traffic[i].file, d, out);
	for (size_t i = 0; i < s->n_jobs && status == HD_OK; i++)
		status = note_file(s, &s->jobs[i].goal, d, out);
	if (status == HD_OK)
		schema_print(scenario_fields, s, false, out);
	return status;
}
