/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_RUN_CHECKPOINT_H
#define HD_RUN_CHECKPOINT_H

/*
 * A checkpoint file: the state of a long computation, from which another process can continue.
 *
 *	a line of text that names the file type
 *	CHECKPOINT_RULES, and the digest of the content that the state belongs to
 *	the state
 *	a digest of all of the above
 *
 * A new file is written next to the previous one, synchronised to disk, and then renamed
 * over it: a complete file exists at any instant at which the process may be killed. A file
 * is refused unless it is complete and has the same CHECKPOINT_RULES and content digest.
 */

#include "base/diag.h"
#include "base/digest.h"
#include "base/pack.h"

/*
 * Increment whenever a state saved by an older version would be decoded or continued
 * differently: changed member order, changed rules of the model.
 */
#define CHECKPOINT_RULES 15

/* `content` is the digest of the run that `state` belongs to. */
HD_MUST_CHECK enum hd_status checkpoint_write(const char *path, const struct digest *content,
					      const struct strbuf *state, struct diag *d);

/*
 * Opens the state of a checkpoint for reading. `out` points into *held, which the caller frees
 * after decoding. HD_ERR_INPUT if the file is not a checkpoint or is incomplete; HD_ERR_UNFIT if
 * its CHECKPOINT_RULES or content digest differ.
 */
HD_MUST_CHECK enum hd_status checkpoint_read(const char *path, const struct digest *content,
					     struct diag *d, struct strbuf *held, struct pack *out);
/* As checkpoint_read, from bytes in memory. `out` points into `bytes`. */
HD_MUST_CHECK enum hd_status checkpoint_parse(const char *bytes, size_t len,
					      const struct digest *content, struct diag *d,
					      struct pack *out);
/* Appends the bytes of a checkpoint file. */
void checkpoint_print(const struct digest *content, const struct strbuf *state, struct strbuf *out);

#endif
