/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WIRE_DECODE_H
#define HD_WIRE_DECODE_H

/*
 * A whole capture for the eye or for a program: its records one after the
 * other, then what they come to.
 *
 *	decoder_begin(&x, &out);
 *	status = decoder_file(&x, "run.pcap", &d);
 *	decoder_end(&x);
 *	decoder_fini(&x);
 *
 * What is decoded is in `out` after each record; if it has a drain, it goes
 * there at once.
 */

#include "base/json.h"
#include "wire/dissect.h"

enum decode_form { DECODE_TEXT, DECODE_JSON, DECODE_CSV };
extern const char *const decode_form_names[]; /* NULL-terminated */

/* What bytes without a file around them are. */
extern const char *const decode_kind_names[]; /* "auto", ...; NULL ends */

struct decoder {
	enum decode_form form;
	bool verbose; /* every field of every header, and the payload */
	bool summary; /* only the counts */

	struct strbuf *out;
	struct json json;
	struct dissect_counts counts;
	struct dissection dissection;
	struct rmpp_joiner joiner;
};

/* With form, verbose and summary set and all else zero. */
void decoder_begin(struct decoder *x, struct strbuf *out);
/* The counts. */
void decoder_end(struct decoder *x);
void decoder_fini(struct decoder *x);

/* Records are shown up to where a file breaks off. "-": standard input. */
HD_MUST_CHECK enum hd_status decoder_file(struct decoder *x, const char *path, struct diag *d);
/* The bytes that `text` spells; `kind` is an index into decode_kind_names. */
HD_MUST_CHECK enum hd_status decoder_hex(struct decoder *x, const char *text, unsigned kind,
					 struct diag *d);

#endif
