/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/series.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/units.h"

void series_fini(struct series *s)
{
	free(s->values);
	*s = (struct series){ 0 };
}

static enum hd_status refuse(struct diag *d, const char *text)
{
	return diag_fail(
		d, HD_ERR_INPUT,
		"'%.80s' is not a list of numbers (expected e.g. 4, 1,2,4, 1..8 or 0.5..8:0.5)",
		text);
}

static enum hd_status add(struct series *s, double value, struct diag *d)
{
	if (s->n == SERIES_MAX)
		return diag_fail(d, HD_ERR_RANGE, "too many values: at most %d are allowed",
				 SERIES_MAX);
	s->values = hd_grow(s->values, &s->cap, s->n + 1, sizeof(*s->values));
	s->values[s->n++] = value;
	return HD_OK;
}

/* The nearest short decimal: what adding steps blurs. */
static double sharpen(double value)
{
	char text[40];

	snprintf(text, sizeof(text), "%.12g", value);
	return strtod(text, NULL);
}

static enum hd_status add_range(struct series *s, double low, double high, double step,
				struct diag *d)
{
	double steps = floor((high - low) / step + 1e-9);

	if (!(steps < SERIES_MAX))
		return diag_fail(d, HD_ERR_RANGE, "too many values: at most %d are allowed",
				 SERIES_MAX);
	if (add(s, low, d) != HD_OK)
		return d->status;
	for (size_t k = 1; k <= (size_t)steps; k++) {
		double value = sharpen(low + (double)k * step);

		if (add(s, value, d) != HD_OK)
			return d->status;
	}
	return HD_OK;
}

/* Adds one item: a number, "a..b" or "a..b:step". Modifies the string. */
static enum hd_status add_item(struct series *s, char *item, struct diag *d)
{
	char *dots = strstr(item, "..");
	double low, high, step = 1;

	if (!dots) {
		if (hd_double_parse(item, NULL, &low) != HD_OK)
			return refuse(d, item);
		return add(s, low, d);
	}
	char *colon = strchr(dots, ':');

	*dots = '\0';
	if (colon)
		*colon = '\0';
	if (hd_double_parse(item, NULL, &low) != HD_OK ||
	    hd_double_parse(dots + 2, NULL, &high) != HD_OK ||
	    (colon && hd_double_parse(colon + 1, NULL, &step) != HD_OK) || !(step > 0) ||
	    low > high) {
		*dots = '.';
		if (colon)
			*colon = ':';
		return refuse(d, item);
	}
	return add_range(s, low, high, step, d);
}

enum hd_status series_parse(const char *text, struct diag *d, struct series *out)
{
	struct series s = { 0 };
	char *copy = hd_strdup(text);
	enum hd_status status = HD_OK;

	for (char *item = copy; item && status == HD_OK;) {
		char *comma = strchr(item, ',');

		if (comma)
			*comma = '\0';
		status = add_item(&s, item, d);
		item = comma ? comma + 1 : NULL;
	}
	free(copy);
	if (status != HD_OK) {
		series_fini(&s);
		return status;
	}
	*out = s;
	return HD_OK;
}
