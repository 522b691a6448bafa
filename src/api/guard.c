/* SPDX-License-Identifier: BSD-2-Clause */
#include "api/guard.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel_for.h"

/* Copies only the members that the caller's version of the header has. */
static void error_give(const struct hd_error *mine, struct hd_error *error)
{
	const size_t head = sizeof(error->size);

	if (!error || error->size <= head)
		return;
	size_t n = error->size < sizeof(*mine) ? error->size : sizeof(*mine);

	memcpy((char *)error + head, (const char *)mine + head, n - head);
	if (error->size < sizeof(*mine) && n > offsetof(struct hd_error, text))
		((char *)error)[n - 1] = '\0';
}

static int error_say(struct hd_error *error, int code, const char *format, va_list args)
{
	struct hd_error mine = { .code = code };

	vsnprintf(mine.text, sizeof(mine.text), format, args);
	error_give(&mine, error);
	return code;
}

int api_done(struct hd_error *error)
{
	const struct hd_error none = { .code = HD_DONE };

	error_give(&none, error);
	return HD_DONE;
}

int api_misuse(struct hd_error *error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	int code = error_say(error, HD_MISUSE, format, args);

	va_end(args);
	return code;
}

int api_failed(struct hd_error *error, int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	error_say(error, code, format, args);
	va_end(args);
	return code;
}

int api_code_of_status(enum hd_status status)
{
	switch (status) {
	case HD_OK:
		return HD_DONE;
	case HD_ERR_USAGE:
		return HD_MISUSE;
	case HD_ERR_IO:
	case HD_ERR_ENV:
		return HD_LACKING;
	default:
		return HD_REFUSED;
	}
}

/* Reports the rejection to the caller. */
static int api_refused(struct hd_error *error, const struct diag *d)
{
	struct strbuf text = STRBUF_INIT;

	assert(d->status != HD_OK);
	struct hd_error mine = { .code = api_code_of_status(d->status),
				 .line = d->line,
				 .column = d->column };

	diag_print(d, &text);
	snprintf(mine.text, sizeof(mine.text), "%s", text.text);
	strbuf_fini(&text);
	error_give(&mine, error);
	return mine.code;
}

struct guarded {
	guarded_fn *work;
	void *context;
	struct diag d;
	struct hd_error *error;
	int code;
};

static void call_work(void *context)
{
	struct guarded *g = context;

	g->code = g->work(g->context, &g->d) == HD_OK ? api_done(g->error)
						      : api_refused(g->error, &g->d);
}

/* A library uses one thread unless more are requested. */
static void be_modest(void)
{
	parallel_set_threads(1);
}

int api_guarded(guarded_fn *work, void *context, bool *is_broken, struct hd_error *error)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct guarded g = { .work = work, .context = context, .error = error };
	char line[MEMORY_LINE];

	pthread_once(&once, be_modest);
	if (memory_try(call_work, &g, line))
		return g.code;
	*is_broken = true;
	return api_failed(error, HD_LACKING, "%s", line);
}

unsigned hd_abi(void)
{
	return HD_ABI;
}

const char *hd_version(void)
{
	return HD_VERSION;
}

static enum hd_status nothing(void *context, struct diag *d)
{
	(void)context;
	(void)d;
	return HD_OK;
}

void hd_set_threads(unsigned n)
{
	bool ignored;

	/* After what a first call does. */
	api_guarded(nothing, NULL, &ignored, NULL);
	parallel_set_threads(n);
}

void hd_set_memory(uint64_t bytes)
{
	memory_limit(bytes ? bytes : UINT64_MAX, NULL);
}
