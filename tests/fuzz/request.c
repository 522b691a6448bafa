/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What 'heddle serve' is asked: a method, a path and values, each up to the end
 * of a line. What is taken has only what may be there.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "serve/request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define WORDS 8

struct asked {
	char *words[WORDS];
	size_t n;
};

/* Words from the third on are "name=value". */
static const char *value(void *context, const char *name)
{
	const struct asked *a = context;
	size_t len = strlen(name);

	for (size_t i = 2; i < a->n; i++) {
		if (strncmp(a->words[i], name, len) == 0 && a->words[i][len] == '=')
			return a->words[i] + len + 1;
	}
	return NULL;
}

static void check(int condition)
{
	if (!condition)
		abort();
}

static void check_text(const char *text, const char *letters)
{
	check(strlen(text) < CHANGE_TEXT && strspn(text, letters) == strlen(text));
}

static void check_request(const struct http_request *r)
{
	const struct change *c = &r->change;

	check(r->kind <= REQUEST_CHANGE && c->kind <= CHANGE_WEIGHTS);
	check_text(c->value, "0123456789.%kMGTb/s");
	check_text(c->high, "0123456789:, ");
	check_text(c->low, "0123456789:, ");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = hd_strndup((const char *)data, size);
	struct diag d = { .status = HD_OK };
	struct asked a = { .n = 0 };
	struct http_request r;
	char *rest = text;

	while (a.n < WORDS && rest) {
		char *end = strchr(rest, '\n');

		if (end)
			*end++ = '\0';
		a.words[a.n++] = rest;
		rest = end;
	}
	if (a.n >= 2) {
		if (request_parse(a.words[0], a.words[1], value, &a, &d, &r) == HD_OK)
			check_request(&r);
		else
			check(d.status != HD_OK && !strchr(d.message, '\n'));
		check(request_same(a.words[0], a.words[1]) ==
		      (strcmp(a.words[0], a.words[1]) == 0));
		(void)request_is_local(a.words[1]);
	}
	free(text);
	return 0;
}
