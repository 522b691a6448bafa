/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/decode.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "wire/hex.h"

const char *const decode_form_names[] = { "text", "json", "csv", NULL };
const char *const decode_kind_names[] = { "auto", "packet", "flow", "ethernet", "mad", NULL };

void decoder_begin(struct decoder *x, struct strbuf *out)
{
	x->out = out;
	if (x->form == DECODE_CSV && !x->summary)
		dissection_csv_head(out);
	if (x->form != DECODE_JSON)
		return;
	json_init(&x->json, out);
	json_begin_object(&x->json);
	json_key(&x->json, "packets");
	json_begin_array(&x->json);
}

static void flush(struct decoder *x)
{
	if (x->out->drain)
		strbuf_flush(x->out);
}

static void decoder_record(struct decoder *x, const struct capture_record *rec)
{
	struct dissection *d = &x->dissection;

	dissect(rec, d);
	dissect_join(d, &x->joiner);
	dissect_count(&x->counts, d);
	if (x->summary)
		return;
	if (x->form == DECODE_JSON) {
		dissection_json(d, x->verbose, &x->json);
	} else if (x->form == DECODE_CSV) {
		dissection_csv(d, x->out);
	} else if (x->verbose) {
		dissection_full(d, x->out);
	} else {
		dissection_line(d, x->out);
		strbuf_putc(x->out, '\n');
	}
	flush(x);
}

void decoder_end(struct decoder *x)
{
	if (x->form == DECODE_JSON) {
		json_end(&x->json);
		json_key(&x->json, "counts");
		dissect_counts_json(&x->counts, &x->json);
		json_end(&x->json);
	} else if (x->form == DECODE_TEXT || x->summary) {
		dissect_counts_print(&x->counts, x->out);
	}
	flush(x);
}

void decoder_fini(struct decoder *x)
{
	rmpp_fini(&x->joiner);
}

enum hd_status decoder_file(struct decoder *x, const char *path, struct diag *d)
{
	struct capture_record rec;
	struct capture *c;
	FILE *stream;
	bool found;

	if (file_open(path, d, &stream) != HD_OK)
		return d->status;
	if (capture_open(stream, d, &c) != HD_OK)
		return d->status;
	while (capture_next(c, d, &rec, &found) == HD_OK && found)
		decoder_record(x, &rec);
	capture_close(c);
	return d->status;
}

enum hd_status decoder_hex(struct decoder *x, const char *text, unsigned kind, struct diag *d)
{
	static const enum capture_kind kinds[] = { CAPTURE_PACKET, CAPTURE_PACKET, CAPTURE_FLOW,
						   CAPTURE_ETHERNET, CAPTURE_MAD };
	struct strbuf bytes = STRBUF_INIT;
	enum hd_status status = hex_parse(text, d, &bytes);

	if (status == HD_OK) {
		struct capture_record rec = {
			.number = 1,
			.kind = kinds[kind],
			.bytes = (const uint8_t *)bytes.text,
			.size = bytes.len,
			.wire_size = bytes.len,
		};

		if (kind == 0 && bytes.len == FLOW_SIZE)
			rec.kind = CAPTURE_FLOW;
		decoder_record(x, &rec);
	}
	strbuf_fini(&bytes);
	return status;
}
