/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WORKLOAD_TOKENIZER_H
#define HD_WORKLOAD_TOKENIZER_H

/*
 * Splits a trace file into words, with the line of each. A word is a run of
 * letters, digits, _, -, > and dots, or any other single character. Comments
 * (// and those of C) and white space separate words. Internal to the module.
 */

#include "base/file.h"
#include "workload/opgraph.h"

#define TOKEN_LONGEST 256 /* maximum length of a word */

struct token {
	const char *text; /* valid until further lines are read */
	uint32_t len;     /* 0: end of the file */
	uint32_t line;
};

struct tokenizer {
	FILE *in;
	struct diag *d;
	char *buffer, *before; /* buffered part of the file */
	size_t at, len;
	uint32_t line;
	bool ended;
	char word[TOKEN_LONGEST];
};

void tokenizer_init(struct tokenizer *r, FILE *in, struct diag *d);
void tokenizer_fini(struct tokenizer *r);
/* A word that is too long, or an unterminated comment, ends the file. */
void tokenizer_next(struct tokenizer *r, struct token *out);
/* The first character of the next word; 0 at the end. */
int tokenizer_peek(struct tokenizer *r);
/* HD_OK if the file ended without an error. */
HD_MUST_CHECK enum hd_status tokenizer_end(struct tokenizer *r);

/* Reports an error at the token's line (NULL: the current line). */
HD_PRINTF(3, 4)
enum hd_status tokenizer_fail(struct tokenizer *r, const struct token *t, const char *format, ...);

/* Parses the next word as a number, at most `most`; if `may_be_any`, -1 gives UINT64_MAX. */
HD_MUST_CHECK enum hd_status tokenizer_number(struct tokenizer *r, const char *what, uint64_t most,
					      bool may_be_any, uint64_t *out);
/* Like tokenizer_number, with an optional "b" after the number. */
HD_MUST_CHECK enum hd_status tokenizer_size(struct tokenizer *r, uint64_t *out);

static inline bool token_is(const struct token *t, const char *word)
{
	uint32_t i = 0;

	while (i < t->len && word[i] == t->text[i])
		i++;
	return i == t->len && !word[i] && i > 0;
}

/* Number of characters to quote. */
static inline int token_show(const struct token *t)
{
	return t->len < 40 ? (int)t->len : 40;
}

/* Reads the rest of a connection matrix, after the word "Nodes". */
HD_MUST_CHECK enum hd_status matrix_read(struct tokenizer *r, struct opgraph *out);

#endif
