/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WIRE_DECODE_H
#define HD_WIRE_DECODE_H

/*
 * Decodes a whole capture: prints its records one after the other, then counts.
 *
 *	decoder_begin(&x, &out);
 *	status = decoder_file(&x, "run.pcap", &d);
 *	decoder_end(&x);
 *	decoder_fini(&x);
 *
 * After each record its text is in `out`, or has been passed to `out`'s drain if it has one.
 */

#include "base/json.h"
#include "wire/dissect.h"

enum decode_form { DECODE_TEXT, DECODE_JSON, DECODE_CSV };
extern const char *const decode_form_names[]; /* NULL-terminated */

/* Kinds of bytes that are not from a file. */
extern const char *const decode_kind_names[]; /* "auto", ...; NULL ends */

struct decoder {
	enum decode_form form;
	bool verbose; /* every field of every header, and the payload */
	bool summary; /* counts only */

	struct strbuf *out;
	struct json json;
	struct dissect_counts counts;
	struct dissection dissection;
	struct rmpp_joiner joiner;
};

/* Called with form, verbose and summary set, and zeros else. */
void decoder_begin(struct decoder *x, struct strbuf *out);
/* Prints the counts. */
void decoder_end(struct decoder *x);
void decoder_fini(struct decoder *x);

/* Prints the records up to the first error of the file. "-": standard input. */
HD_MUST_CHECK enum hd_status decoder_file(struct decoder *x, const char *path, struct diag *d);
/* Decodes bytes given in hexadecimal; `kind` is an index into decode_kind_names. */
HD_MUST_CHECK enum hd_status decoder_hex(struct decoder *x, const char *text, unsigned kind,
					 struct diag *d);

#endif
