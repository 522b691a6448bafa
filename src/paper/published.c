/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "paper/paper.h"

/* Half a unit of the last digit of a number as printed: 0.005 of "3.34". */
static double last_digit(const char *text, const char *end)
{
	const char *point = memchr(text, '.', (size_t)(end - text));
	const char *e = text;
	int places = 0, exponent = 0;

	while (e < end && *e != 'e' && *e != 'E')
		e++;
	if (e < end)
		exponent = (int)strtol(e + 1, NULL, 10);
	if (point)
		places = (int)(e - point) - 1;
	return 0.5 * pow(10, exponent - places);
}

/* "5%" or "0.05": a share; false if it is something else. */
static bool tolerance_parse(const char *text, double *out)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || !(value >= 0))
		return false;
	if (*end == '%') {
		value /= 100;
		end++;
	}
	*out = value;
	return *end == '\0';
}

static const struct {
	const char *word;
	enum paper_relation relation;
} words[] = {
	{ "rises", RELATION_RISES },
	{ "falls", RELATION_FALLS },
	{ "never falls", RELATION_NEVER_FALLS },
	{ "never rises", RELATION_NEVER_RISES },
	{ ">= ", RELATION_AT_LEAST },
	{ "<= ", RELATION_AT_MOST },
	{ "> ", RELATION_ABOVE },
	{ "< ", RELATION_BELOW },
};
#define N_WORDS (sizeof(words) / sizeof(*words))

bool relation_is_limit(enum paper_relation r)
{
	return r >= RELATION_AT_LEAST && r <= RELATION_BELOW;
}

bool relation_is_course(enum paper_relation r)
{
	return r >= RELATION_RISES && r <= RELATION_NEVER_RISES;
}

static enum hd_status expectation_parse(const char *text, struct diag *d, void *out)
{
	struct paper_expectation *x = out;
	static const char computed[] = "computed ";
	bool is_computed = strncmp(text, computed, strlen(computed)) == 0;
	const char *number = is_computed ? text + strlen(computed) : text;
	char *end;

	*x = (struct paper_expectation){ .relation = RELATION_TEXT, .computed = is_computed };
	if (!*text)
		return diag_fail(d, HD_ERR_INPUT, "nothing is expected");
	for (unsigned i = 0; i < N_WORDS; i++) {
		if (strncmp(text, words[i].word, strlen(words[i].word)) == 0)
			x->relation = words[i].relation;
	}
	if (relation_is_limit(x->relation))
		number += strcspn(number, " ") + 1;
	x->number = strtod(number, &end);
	if (end == number && relation_is_limit(x->relation))
		return diag_fail(d, HD_ERR_INPUT, "'%s' has no number after its sign", text);
	if (end != number) {
		if (x->relation == RELATION_TEXT)
			x->relation = RELATION_EQUAL;
		x->digits = last_digit(number, end);
		if (strncmp(end, " +- ", 4) == 0 && !tolerance_parse(end + 4, &x->tolerance))
			return diag_fail(d, HD_ERR_INPUT,
					 "'%s' is not a tolerance; expected a share such as 5%%",
					 end + 4);
		if (*end && strncmp(end, " +- ", 4) != 0)
			return diag_fail(d, HD_ERR_INPUT,
					 "'%s' follows the number; expected '+- 5%%' or nothing",
					 end);
	}
	if (is_computed && x->relation != RELATION_EQUAL)
		return diag_fail(d, HD_ERR_INPUT, "'%s' has no number after 'computed'", text);
	x->text = hd_strdup(text);
	return HD_OK;
}

static void expectation_print(const void *value, struct strbuf *out)
{
	const struct paper_expectation *x = value;

	strbuf_puts(out, x->text);
}

static void expectation_release(void *value)
{
	struct paper_expectation *x = value;

	free(x->text);
}

const struct schema_custom paper_published = {
	.what = "a number as printed, '3.34 +- 5%', 'computed 0.667', '>= 3', '< 3', rises, falls, never falls, never rises, or a text",
	.size = sizeof(struct paper_expectation),
	.parse = expectation_parse,
	.print = expectation_print,
	.release = expectation_release,
};
