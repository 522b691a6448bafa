/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/mpi/world.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/library.h"
#include "base/pack.h"
#include "base/parallel_for.h"

#define LIBRARY "libheddle-mpi.so"
#define SYMBOL  "heddle_world"

/* ---- joining ------------------------------------------------------------ */

static enum hd_status load(struct world *r, struct diag *d)
{
	char *path = library_find(LIBRARY);

	if (!path)
		return diag_fail(
			d, HD_ERR_ENV,
			"%u processes were started by an MPI launcher, but " LIBRARY
			" is missing: run 'apt install libopenmpi-dev && make' and install again",
			r->n);
	/* MPI loads components that resolve its symbols globally. */
	r->library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	free(path);
	if (!r->library)
		return diag_fail(d, HD_ERR_ENV, "cannot load %s", dlerror());
	r->ops = dlsym(r->library, SYMBOL);
	if (!r->ops || r->ops->version != WORLD_PLUGIN)
		return diag_fail(d, HD_ERR_ENV,
				 LIBRARY " belongs to another version; install Heddle again");
	return HD_OK;
}

enum hd_status world_open(struct world *r, struct diag *d)
{
	size_t rank, n;
	enum hd_status status = rank_of_launcher(d, &rank, &n);

	*r = (struct world){ .n = 1 };
	if (status != HD_OK || n == 1)
		return status;
	r->rank = (unsigned)rank;
	r->n = (unsigned)n;
	status = load(r, d);
	if (status != HD_OK)
		return status;
	unsigned sharing = 1;
	const char *why = r->ops->open(&r->context, &r->rank, &r->n, &sharing);

	parallel_share_processors(sharing);
	if (!why && r->n != n)
		why = "the launcher started another number of processes than it knows of";
	if (why)
		return diag_fail(d, HD_ERR_ENV, "the processes cannot communicate: %s", why);
	return HD_OK;
}

void world_close(struct world *r)
{
	/* MPI may be in use until the program ends: it is not unloaded. */
	if (r->n > 1)
		r->ops->close(r->context);
	*r = (struct world){ .n = 1 };
}

void world_abort(const struct world *r, int status)
{
	if (r->n > 1)
		r->ops->abort(r->context, status);
}

/* ---- talking ------------------------------------------------------------ */

void world_exchange(const struct world *r, const struct strbuf *to, struct world_bytes *from)
{
	struct world_bytes *bytes = hd_alloc(r->n, sizeof(*bytes));

	for (unsigned i = 0; i < r->n; i++)
		bytes[i] = (struct world_bytes){ to[i].text, to[i].len };
	r->ops->exchange(r->context, bytes, from);
	free(bytes);
}

void world_share(const struct world *r, const struct strbuf *mine, struct world_bytes *from)
{
	struct world_bytes *bytes = hd_alloc(r->n, sizeof(*bytes));

	for (unsigned i = 0; i < r->n; i++)
		bytes[i] = (struct world_bytes){ mine->text, mine->len };
	if (r->n > 1)
		r->ops->exchange(r->context, bytes, from);
	from[r->rank] = bytes[0];
	free(bytes);
}

/* ---- agreeing ----------------------------------------------------------- */

/* The error of rank `i`; `d` already has that of rank 0. */
static enum hd_status complaint(struct pack *p, unsigned i, struct diag *d)
{
	uint32_t status = 0;
	char text[sizeof(d->message)];

	pack_u32(p, &status);
	size_t n = pack_count(p, 0);

	if (status == HD_OK && !p->refused)
		return HD_OK;
	n = n < sizeof(text) ? n : sizeof(text) - 1;
	pack_bytes(p, text, n);
	text[n] = '\0';
	/* The text includes the file name, which has no owner here. */
	*d = (struct diag){ .status = HD_OK };
	return diag_fail(d, p->refused ? HD_ERR_ENV : (enum hd_status)status, "%s (on rank %u)",
			 p->refused ? "invalid message received" : text, i);
}

enum hd_status world_agree(const struct world *r, enum hd_status status, struct diag *d)
{
	struct world_bytes *from = hd_alloc(r->n, sizeof(*from));
	struct strbuf mine = STRBUF_INIT, text = STRBUF_INIT;
	uint32_t number = status;
	struct pack p;

	if (status != HD_OK)
		diag_print(d, &text);
	pack_to(&p, &mine);
	pack_u32(&p, &number);
	pack_count(&p, text.len);
	pack_bytes(&p, text.text, text.len);
	world_share(r, &mine, from);
	for (unsigned i = 0; i < r->n; i++) {
		struct diag theirs = { .status = HD_OK };

		pack_from(&p, from[i].bytes, from[i].len);
		enum hd_status found = complaint(&p, i, &theirs);

		if (found == HD_OK)
			continue;
		if (i != r->rank)
			*d = theirs;
		status = found;
		break;
	}
	strbuf_fini(&mine);
	strbuf_fini(&text);
	free(from);
	return status;
}

enum hd_status world_same(const struct world *r, const char *what, const struct strbuf *mine,
			  struct diag *d)
{
	struct world_bytes *from = hd_alloc(r->n, sizeof(*from));
	enum hd_status status = HD_OK;

	world_share(r, mine, from);
	for (unsigned i = 1; i < r->n && status == HD_OK; i++) {
		if (from[i].len != from[0].len ||
		    memcmp(from[i].bytes, from[0].bytes, from[0].len) != 0)
			status = diag_fail(d, HD_ERR_INPUT,
					   "rank %u has a different %s than rank 0", i, what);
	}
	free(from);
	return status;
}
