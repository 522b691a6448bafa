/* SPDX-License-Identifier: BSD-2-Clause */
#include "study/condition.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "base/units.h"

/* Longer signs before those that they begin with. */
static const struct {
	const char *sign;
	enum relation relation;
} signs[] = {
	{ "<=", RELATION_NOT_MORE }, { ">=", RELATION_NOT_LESS }, { "!=", RELATION_OTHER },
	{ "<", RELATION_LESS },      { ">", RELATION_MORE },      { "=", RELATION_SAME },
};
#define N_SIGNS (sizeof(signs) / sizeof(*signs))

/* "95% of offered": the share, and the name after it. */
static void split_share(struct term *t)
{
	const char *of = strstr(t->right, " of ");
	struct hd_ratio share;

	if (!of)
		return;
	char *number = text_trimmed(t->right, (size_t)(of - t->right));

	if (hd_ratio_parse(number, NULL, &share) == HD_OK && share.num) {
		char *name = text_trimmed(of + 4, strlen(of + 4));

		t->share = (double)share.num / (double)share.den;
		free(t->right);
		t->right = name;
	}
	free(number);
}

static enum hd_status term_parse(const char *from, const char *to, struct diag *d, struct term *out)
{
	char *text = text_trimmed(from, (size_t)(to - from));
	size_t at = strcspn(text, "<>=!");
	enum hd_status status = HD_OK;

	*out = (struct term){ 0 };
	for (size_t i = 0; i < N_SIGNS && !out->left; i++) {
		size_t len = strlen(signs[i].sign);

		if (strncmp(text + at, signs[i].sign, len) != 0)
			continue;
		out->relation = signs[i].relation;
		out->left = text_trimmed(text, at);
		out->right = text_trimmed(text + at + len, strlen(text + at + len));
	}
	if (!out->left || !*out->left || !*out->right)
		status = diag_fail(
			d, HD_ERR_INPUT,
			"invalid condition '%.80s' (expected NAME, then one of < <= > >= = !=, then VALUE)",
			text);
	else
		split_share(out);
	free(text);
	return status;
}

enum hd_status condition_parse(const char *text, struct diag *d, struct condition *out)
{
	enum hd_status status = HD_OK;

	*out = (struct condition){ 0 };
	for (bool more = true; more && status == HD_OK;) {
		const char *and = strstr(text, " and ");
		const char *end = and? and : text + strlen(text);

		out->terms = hd_grow(out->terms, &out->cap, out->n + 1, sizeof(*out->terms));
		status = term_parse(text, end, d, &out->terms[out->n++]);
		more = and != NULL;
		text = and? and+strlen(" and ") : end;
	}
	return status;
}

void condition_fini(struct condition *c)
{
	for (size_t i = 0; i < c->n; i++) {
		free(c->terms[i].left);
		free(c->terms[i].right);
	}
	free(c->terms);
	*c = (struct condition){ 0 };
}

bool condition_relation_holds(enum relation relation, double left, double right)
{
	if (isnan(left) || isnan(right))
		return false;
	switch (relation) {
	case RELATION_LESS:
		return left < right;
	case RELATION_NOT_MORE:
		return left <= right;
	case RELATION_MORE:
		return left > right;
	case RELATION_NOT_LESS:
		return left >= right;
	case RELATION_SAME:
		return left == right;
	case RELATION_OTHER:
		return left != right;
	}
	return false;
}
