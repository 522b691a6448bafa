/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WORKLOAD_TOKENIZER_H
#define HD_WORKLOAD_TOKENIZER_H

/*
 * Words of a trace file, one after the other, with the line of each. Words are
 * runs of letters, digits, _, -, > and dots, and single other characters;
 * comments
 * (// and those of C) and blanks separate them. Internal to the room.
 */

#include "base/file.h"
#include "workload/opgraph.h"

#define TOKEN_LONGEST 256 /* the longest word */

struct token {
	const char *text; /* until some more lines are read */
	uint32_t len;     /* 0: the file ends */
	uint32_t line;
};

struct tokenizer {
	FILE *in;
	struct diag *d;
	char *buffer, *before; /* the part of the file before it */
	size_t at, len;
	uint32_t line;
	bool ended;
	char word[TOKEN_LONGEST];
};

void tokenizer_init(struct tokenizer *r, FILE *in, struct diag *d);
void tokenizer_fini(struct tokenizer *r);
/* A word that is too long, or a comment without an end, ends the file. */
void tokenizer_next(struct tokenizer *r, struct token *out);
/* The character that the next word begins with; 0 at the end. */
int tokenizer_peek(struct tokenizer *r);
/* HD_OK if the file ended well. */
HD_MUST_CHECK enum hd_status tokenizer_end(struct tokenizer *r);

/* Refuses at the token's line (NULL: the current one). */
HD_PRINTF(3, 4)
enum hd_status tokenizer_fail(struct tokenizer *r, const struct token *t, const char *format, ...);

/* The next word as a number, at most `most`; -1, if it `may_be_any`, is
 * UINT64_MAX. */
HD_MUST_CHECK enum hd_status tokenizer_number(struct tokenizer *r, const char *what, uint64_t most,
					      bool may_be_any, uint64_t *out);
/* The same with a "b" behind it, which may be missing. */
HD_MUST_CHECK enum hd_status tokenizer_size(struct tokenizer *r, uint64_t *out);

static inline bool token_is(const struct token *t, const char *word)
{
	uint32_t i = 0;

	while (i < t->len && word[i] == t->text[i])
		i++;
	return i == t->len && !word[i] && i > 0;
}

/* How much of it to quote. */
static inline int token_show(const struct token *t)
{
	return t->len < 40 ? (int)t->len : 40;
}

/* The rest of a connection matrix, from behind "Nodes". */
HD_MUST_CHECK enum hd_status matrix_read(struct tokenizer *r, struct opgraph *out);

#endif
