/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "cli/commands.h"
#include "report/writer.h"
#include "wire/dissect.h"
#include "wire/hex.h"

enum form { FORM_TEXT, FORM_JSON, FORM_CSV };

struct decode_options {
	struct common_options common;
	bool verbose;
	bool summary;
	const char *hex;
	unsigned as;
};

static const char *const as_names[] = { "auto",     "packet", "flow",
					"ethernet", "mad",    NULL };

static const struct option options[] = {
	{ .name = "verbose",
	  .letter = 'v',
	  .kind = OPT_FLAG,
	  .offset = offsetof(struct decode_options, verbose),
	  .help = "every field of every header, and the payload" },
	{ .name = "summary",
	  .letter = 's',
	  .kind = OPT_FLAG,
	  .offset = offsetof(struct decode_options, summary),
	  .help = "only the counts at the end" },
	{ .name = "hex",
	  .kind = OPT_TEXT,
	  .offset = offsetof(struct decode_options, hex),
	  .value = "STRING",
	  .help = "decode the bytes that STRING spells instead of a file" },
	{ .name = "as",
	  .kind = OPT_CHOICE,
	  .offset = offsetof(struct decode_options, as),
	  .value = "KIND",
	  .choices = as_names,
	  .initial = "auto",
	  .help = "what the bytes of --hex are; auto takes 6 bytes for a "
		  "flow-control packet and others for an InfiniBand packet" },
	{ .name = NULL },
};

static const struct example examples[] = {
	{ "heddle decode capture.pcap", "one line per packet, counts at the "
					"end" },
	{ "heddle decode -v --hex '01 23 34 56 d1 9f'",
	  "a flow-control packet, field by field" },
	{ "tcpdump -w - udp port 4791 | heddle decode -s -",
	  "only the counts of RoCEv2 packets as they come in" },
	{ "heddle decode --json run.pcap | jq '.packets[] | select(.BTH.FECN "
	  "== 1)'",
	  "packets that met congestion" },
	{ NULL, NULL },
};

/* Where the output goes, and what it comes to. */
struct session {
	const struct decode_options *options;
	enum form form;
	FILE *stream;
	struct strbuf text; /* of one packet; written and emptied */
	struct json json;
	struct dissect_counts counts;
	struct dissection dissection;
	struct rmpp_joiner joiner;
};

static void flush(struct session *s)
{
	fwrite(s->text.text, 1, s->text.len, s->stream);
	strbuf_clear(&s->text);
}

static void begin(struct session *s)
{
	if (s->form == FORM_CSV && !s->options->summary)
		dissection_csv_head(&s->text);
	if (s->form != FORM_JSON)
		return;
	json_init(&s->json, &s->text);
	json_begin_object(&s->json);
	json_key(&s->json, "packets");
	json_begin_array(&s->json);
}

static void show(struct session *s, const struct capture_record *rec)
{
	struct dissection *d = &s->dissection;

	dissect(rec, d);
	dissect_join(d, &s->joiner);
	dissect_count(&s->counts, d);
	if (s->options->summary)
		return;
	if (s->form == FORM_JSON) {
		dissection_json(d, s->options->verbose, &s->json);
	} else if (s->form == FORM_CSV) {
		dissection_csv(d, &s->text);
	} else if (s->options->verbose) {
		dissection_full(d, &s->text);
	} else {
		dissection_line(d, &s->text);
		strbuf_putc(&s->text, '\n');
	}
	flush(s);
}

static void end(struct session *s)
{
	if (s->form == FORM_JSON) {
		json_end(&s->json);
		json_key(&s->json, "counts");
		dissect_counts_json(&s->counts, &s->json);
		json_end(&s->json);
	} else if (s->form == FORM_TEXT || s->options->summary) {
		dissect_counts_print(&s->counts, &s->text);
	}
	flush(s);
}

static enum hd_status show_file(struct session *s, const char *path,
				struct diag *d)
{
	bool is_stdin = strcmp(path, "-") == 0;
	FILE *stream = is_stdin ? stdin : fopen(path, "rb");
	struct capture *c;
	bool found = true;

	d->file = is_stdin ? "standard input" : path;
	if (!stream)
		return diag_fail(d,
				 errno == ENOENT ? HD_ERR_NOT_FOUND : HD_ERR_IO,
				 "cannot be read: %s", strerror(errno));
	if (capture_open(stream, d, &c) != HD_OK)
		return d->status;
	while (found) {
		struct capture_record rec;

		if (capture_next(c, d, &rec, &found) != HD_OK)
			break;
		if (found)
			show(s, &rec);
	}
	capture_close(c);
	return d->status;
}

static enum hd_status show_hex(struct session *s, struct diag *d)
{
	static const enum capture_kind kinds[] = { CAPTURE_PACKET,
						   CAPTURE_PACKET, CAPTURE_FLOW,
						   CAPTURE_ETHERNET,
						   CAPTURE_MAD };
	struct strbuf bytes = STRBUF_INIT;
	enum hd_status status = hex_parse(s->options->hex, d, &bytes);

	if (status == HD_OK) {
		struct capture_record rec = {
			.number = 1,
			.kind = kinds[s->options->as],
			.bytes = (const uint8_t *)bytes.text,
			.size = bytes.len,
			.wire_size = bytes.len,
		};

		if (s->options->as == 0 && bytes.len == FLOW_SIZE)
			rec.kind = CAPTURE_FLOW;
		show(s, &rec);
	}
	strbuf_fini(&bytes);
	return status;
}

/* A wrong checksum explains a packet that makes no sense, so it goes first. */
static int verdict(const struct dissect_counts *c)
{
	if (c->icrc_bad + c->vcrc_bad)
		return EXIT_GOAL_MISSED;
	return c->malformed ? EXIT_BAD_INPUT : EXIT_DONE;
}

static int decode(struct session *s, const char *path)
{
	struct diag d = { .status = HD_OK };
	struct file_writer w = { .stream = stdout };
	const char *output = s->options->common.output;

	if (output && file_create(&w, output, &d) != HD_OK)
		return command_refuse(&d);
	s->stream = w.stream;
	begin(s);
	enum hd_status status = path ? show_file(s, path, &d) : show_hex(s, &d);

	/* What was read before a file broke off is worth having. */
	if (status == HD_OK || s->counts.records)
		end(s);
	if (output && status != HD_OK)
		file_abandon(&w);
	else if (output && file_commit(&w, &d) != HD_OK)
		return command_refuse(&d);
	return status == HD_OK ? verdict(&s->counts) : command_refuse(&d);
}

/* --json, --csv, --format or the extension of -o; false for what we lack. */
static bool choose_form(const struct common_options *c, enum form *out)
{
	const struct writer *by_name =
		c->output ? writer_of_path(c->output) : NULL;
	const char *name = by_name ? by_name->name : "text";

	if (c->format)
		name = writer_names[c->format];
	if (c->json)
		name = "json";
	if (c->csv)
		name = "csv";
	*out = strcmp(name, "json") == 0  ? FORM_JSON
	       : strcmp(name, "csv") == 0 ? FORM_CSV
					  : FORM_TEXT;
	return *out != FORM_TEXT || strcmp(name, "text") == 0;
}

static int run(const struct command *self, int argc, char **argv)
{
	struct decode_options values = { 0 };
	struct session s = { .options = &values, .text = STRBUF_INIT };
	int n_args, status;

	if (!command_parse(self, &values, argc, argv, &n_args, &status))
		return status;
	if (values.hex ? n_args != 0 : n_args != 1)
		return command_usage(self, "expected one FILE or --hex STRING");
	if (values.as && !values.hex)
		return command_usage(self, "--as needs --hex");
	if (values.common.db || values.common.html)
		return command_usage(self, "packets are no results: --db and "
					   "--html do not go with them");
	if (!choose_form(&values.common, &s.form))
		return command_usage(self, "output is text, json or csv");
	status = decode(&s, n_args ? argv[0] : NULL);
	strbuf_fini(&s.text);
	rmpp_fini(&s.joiner);
	return status;
}

const struct command command_decode = {
	.name = "decode",
	.summary = "show captured packets, field by field, and check them",
	.arguments = "[FILE]",
	.description =
		"Reads a capture and prints one line per packet: where it "
		"came from and went, on which service level and lane, what it "
		"does, whether it met congestion (FECN, BECN), and whether "
		"its checksums hold. Counts follow.\n\n"
		"FILE is pcap, pcapng or native ERF, also compressed by gzip; "
		"'-' is standard input. "
		"InfiniBand packets and flow-control packets come in ERF "
		"records (types 21 and 25) or with link type InfiniBand; "
		"captures of Ethernet, and Linux's cooked ones (tcpdump -i "
		"any), are searched for RoCEv2. The interfaces of "
		"a pcapng file may have different link types: each packet is "
		"read by its own interface's, and those of a type that carries "
		"no InfiniBand count as other frames. A file with no other "
		"link type is refused. Management datagrams are shown with "
		"their attributes; a record that spans two segments of an "
		"answer is shown with the second.\n\n"
		"The exit status is 0 if every packet is good, 1 if a "
		"checksum is bad, and 3 if there is none bad but something "
		"malformed. A packet that the capture cut short is shown as "
		"such and not checked.",
	.options = options,
	.examples = examples,
	.run = run,
};
