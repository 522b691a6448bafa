/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_RUN_CHECKPOINT_H
#define HD_RUN_CHECKPOINT_H

/*
 * A file with the state of something that takes long, from which another
 * process can continue.
 *
 *	a line of text that says what it is
 *	CHECKPOINT_RULES, and the digest of what it is a state of
 *	the state
 *	a digest of all of this
 *
 * It is written next to the previous file, synchronised to disk, and takes its
 * place only then: whenever the process is killed, there is a whole one. What
 * is read is refused unless it is whole, of these rules, and of the same
 * content.
 */

#include "base/diag.h"
#include "base/digest.h"
#include "base/pack.h"

/*
 * Raised whenever a state that was saved before would not be read, or continued
 * with, as it was meant: another order of members, other rules of the model.
 */
#define CHECKPOINT_RULES 14

/* `state` is of a run of this content. */
HD_MUST_CHECK enum hd_status checkpoint_write(const char *path, const struct digest *content,
					      const struct strbuf *state, struct diag *d);

/*
 * Gets the state of a checkpoint ready to be read; its bytes are *held, for the
 * caller to free after that. HD_ERR_INPUT if it is no checkpoint, or not whole;
 * HD_ERR_UNFIT if it is of other rules, or of another content.
 */
HD_MUST_CHECK enum hd_status checkpoint_read(const char *path, const struct digest *content,
					     struct diag *d, struct strbuf *held, struct pack *out);
/* The same of bytes that are there already. */
HD_MUST_CHECK enum hd_status checkpoint_parse(const char *bytes, size_t len,
					      const struct digest *content, struct diag *d,
					      struct pack *out);
/* What a file is made of. */
void checkpoint_print(const struct digest *content, const struct strbuf *state, struct strbuf *out);

#endif
