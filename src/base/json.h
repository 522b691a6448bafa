/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BASE_JSON_H
#define HD_BASE_JSON_H

/*
 * Writes JSON into a strbuf, one call per token. The writer adds commas,
 * indentation and escapes. Misuse (a value without a key in an object, an end
 * without a begin) is a bug and asserts. Bytes that are not UTF-8 are written as
 * U+FFFD, so that the result is always valid.
 *
 * No name conflicts with jansson, so that a program may use both.
 *
 *	json_begin_object(&w);
 *	json_put_uint(&w, "lid", 7);
 *	json_key(&w, "ports");
 *	json_begin_array(&w);
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"

#define JSON_MAX_DEPTH 32

struct json {
	struct strbuf *out;
	unsigned depth;
	bool compact;                   /* no line breaks */
	bool after_key;                 /* a value must follow */
	char closer[JSON_MAX_DEPTH];    /* '}' or ']' per open level */
	bool has_items[JSON_MAX_DEPTH]; /* the next item needs a comma */
};

void json_init(struct json *w, struct strbuf *out);

void json_begin_object(struct json *w);
void json_begin_array(struct json *w);
void json_end(struct json *w);

void json_key(struct json *w, const char *key);
void json_text(struct json *w, const char *text);
void json_uint(struct json *w, uint64_t value);
void json_int(struct json *w, int64_t value);
/* The shortest form that reads back as the same double; null for NaN and inf. */
void json_double(struct json *w, double value);
void json_bool(struct json *w, bool value);
void json_none(struct json *w);

/* Each writes a key and its value. */
void json_put_text(struct json *w, const char *key, const char *text);
void json_put_uint(struct json *w, const char *key, uint64_t value);

#endif
