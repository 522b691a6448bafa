/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "cli/commands.h"
#include "cli/output.h"
#include "wire/decode.h"

struct decode_options {
	struct common_options common;
	struct decoder decoder;
	const char *hex;
	unsigned as;
};

#define FIELD(name) offsetof(struct decode_options, name)

static const struct option options[] = {
	{ "verbose", 'v', OPT_FLAG, FIELD(decoder.verbose), NULL, NULL,
	  "every field of every header, and the payload" },
	{ "summary", 's', OPT_FLAG, FIELD(decoder.summary), NULL, NULL,
	  "only the counts at the end" },
	{ "hex", 0, OPT_TEXT, FIELD(hex), "STRING", NULL,
	  "decode the bytes that STRING spells instead of a file" },
	{ "as", 0, OPT_CHOICE, FIELD(as), "KIND", "auto",
	  "what the bytes of --hex are; auto takes 6 bytes for a flow-control packet and others for an InfiniBand packet",
	  decode_kind_names },
	{ .name = NULL },
};

static const struct example examples[] = {
	{ "heddle decode capture.pcap", "one line per packet, counts at the end" },
	{ "heddle decode -v --hex '01 23 34 56 d1 9f'", "a flow-control packet, field by field" },
	{ "tcpdump -w - udp port 4791 | heddle decode -s -",
	  "only the counts of RoCEv2 packets as they come in" },
	{ "heddle decode --json run.pcap | jq '.packets[] | select(.BTH.FECN == 1)'",
	  "packets that met congestion" },
	{ NULL, NULL },
};

/* A bad checksum takes precedence: it explains a malformed packet. */
static int verdict(const struct dissect_counts *c)
{
	if (c->icrc_bad + c->vcrc_bad)
		return EXIT_GOAL_MISSED;
	return c->malformed ? EXIT_BAD_INPUT : EXIT_DONE;
}

static int decode(struct decode_options *v, const char *path)
{
	struct diag d = { .status = HD_OK };
	struct decoder *x = &v->decoder;
	struct output_stream out;
	int status = output_open(&v->common, &out);

	if (status != EXIT_DONE)
		return status;
	decoder_begin(x, &out.text);
	enum hd_status done = path ? decoder_file(x, path, &d) : decoder_hex(x, v->hex, v->as, &d);

	/* Records before an error are shown; a file header alone is not. */
	if (done == HD_OK || x->counts.records)
		decoder_end(x);
	else
		strbuf_clear(&out.text);
	status = output_end(&out, done == HD_OK);
	if (status == EXIT_DONE)
		status = done == HD_OK ? verdict(&x->counts) : command_refuse(&d);
	decoder_fini(x);
	return status;
}

static int run(const struct command *self, void *values, int n, char **args)
{
	struct decode_options *v = values;
	const char *format = output_format(&v->common);
	unsigned form = 0;

	if (v->hex ? n != 0 : n != 1)
		return command_usage(self, "expected one FILE or --hex STRING");
	if (v->as && !v->hex)
		return command_usage(self, "--as requires --hex");
	if (v->common.table)
		return command_usage(self, "--table cannot be used: decode writes no tables");
	if (output_is_recorded(&v->common))
		return command_usage(self,
				     "--db and --html cannot be used: decode records no results");
	while (decode_form_names[form] && strcmp(decode_form_names[form], format) != 0)
		form++;
	if (!decode_form_names[form])
		return command_usage(self, "option --format: expected text, json or csv");
	v->decoder.form = (enum decode_form)form;
	return decode(v, n ? args[0] : NULL);
}

const struct command command_decode = {
	.name = "decode",
	.summary = "print captured packets field by field and check CRCs",
	.arguments = "[FILE]",
	.description =
		"Reads a capture and prints one line per packet: where it "
		"came from and went, on which service level and VL, what it "
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
		"The exit status is 0 if every packet is good, 1 if a checksum is bad, and 3 if all checksums are good but a packet is malformed. Truncated packets are shown as such and not checked.",
	.options = options,
	.examples = examples,
	COMMAND_CALL(run, struct decode_options, 0, 1),
};
