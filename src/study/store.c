/* SPDX-License-Identifier: BSD-2-Clause */
#include "study/store.h"

#include <string.h>

enum hd_status store_open(struct store *s, const char *path, const char *command, struct diag *d)
{
	*s = (struct store){ .path = path };
	enum hd_status status = database_notes(path, command, POINT_KEY, d, &s->notes, &s->n);

	/* If several runs have the same content, the last one counts. */
	for (size_t i = s->n; i-- > 0;)
		text_map_put(&s->runs, s->notes[i].value, strlen(s->notes[i].value), (uint32_t)i);
	return status;
}

void store_close(struct store *s)
{
	text_map_fini(&s->runs);
	database_notes_free(s->notes, s->n);
}

enum hd_status store_read(const struct store *s, const char *key, struct diag *d,
			  struct results **out)
{
	uint32_t at = text_map_get(&s->runs, key, strlen(key));

	*out = NULL;
	return at == MAP_NONE ? HD_OK : database_read(s->path, s->notes[at].run, d, out);
}
