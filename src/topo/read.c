/* SPDX-License-Identifier: BSD-2-Clause */
#include "topo/read.h"

#include <string.h>

#include "base/file.h"
#include "topo/generate.h"
#include "topo/reader.h"

static const char *const names[N_FORMATS] = {
	[FORMAT_UNKNOWN] = "unknown",
	[FORMAT_IBNETDISCOVER] = "ibnetdiscover",
	[FORMAT_IBSIM] = "ibsim",
	[FORMAT_SUBNET_LST] = "subnet.lst",
	[FORMAT_PORTS] = "ibnetdiscover -p",
	[FORMAT_LINKINFO] = "iblinkinfo -l",
};

const char *topo_format_name(enum topo_format format)
{
	return format < N_FORMATS ? names[format] : names[FORMAT_UNKNOWN];
}

/* What a line, seen alone, says of the format of its file. */
static enum topo_format format_of_line(const struct reader *r)
{
	static const struct {
		const char *start;
		enum topo_format format;
	} signs[] = {
		{ "# Topology file: generated", FORMAT_IBNETDISCOVER },
		{ "# Initiated from node", FORMAT_IBNETDISCOVER },
		{ "{ CA", FORMAT_SUBNET_LST },
		{ "{ SW", FORMAT_SUBNET_LST },
		{ "{ Rt", FORMAT_SUBNET_LST },
		{ "CA ", FORMAT_PORTS },
		{ "SW ", FORMAT_PORTS },
		{ "RT ", FORMAT_PORTS },
		{ "0x", FORMAT_LINKINFO },
		{ "Switch", FORMAT_IBSIM },
		{ "Ca", FORMAT_IBSIM },
		{ "Hca", FORMAT_IBSIM },
		{ "Rt", FORMAT_IBSIM },
		{ "vendid", FORMAT_IBSIM },
		{ "devid", FORMAT_IBSIM },
		{ "sysimgguid", FORMAT_IBSIM },
		{ "switchguid", FORMAT_IBSIM },
		{ "caguid", FORMAT_IBSIM },
		{ "hcaguids", FORMAT_IBSIM },
		{ "rtguid", FORMAT_IBSIM },
		{ "width", FORMAT_IBSIM },
		{ "speed", FORMAT_IBSIM },
		{ "extspeed", FORMAT_IBSIM },
		{ "module", FORMAT_IBSIM },
		{ "include", FORMAT_IBSIM },
		{ "pdebug", FORMAT_IBSIM },
		{ "do ", FORMAT_IBSIM },
	};

	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++) {
		size_t len = strlen(signs[i].start);

		if ((size_t)(r->line_end - r->line_start) >= len &&
		    memcmp(r->line_start, signs[i].start, len) == 0)
			return signs[i].format;
	}
	return FORMAT_UNKNOWN;
}

enum topo_format topo_format_detect(const char *text, size_t len)
{
	struct diag d = { .status = HD_OK };
	enum topo_format found = FORMAT_UNKNOWN;
	struct reader r;

	reader_init(&r, text, len, NULL, &d);
	/* The first line that is no comment decides. */
	while (found == FORMAT_UNKNOWN && reader_next_line(&r)) {
		found = format_of_line(&r);
		if (found == FORMAT_UNKNOWN && *r.line_start != '#' &&
		    !reader_at_end(&r))
			break;
	}
	reader_fini(&r);
	return found;
}

static enum hd_status read_as(struct reader *r, enum topo_format format)
{
	switch (format) {
	case FORMAT_IBNETDISCOVER:
		return read_net(r, true);
	case FORMAT_IBSIM:
		return read_net(r, false);
	case FORMAT_SUBNET_LST:
		return read_subnet_lst(r);
	case FORMAT_PORTS:
		return read_ports(r);
	case FORMAT_LINKINFO:
		return read_linkinfo(r);
	case FORMAT_UNKNOWN:
	case N_FORMATS:
		break;
	}
	return diag_fail(r->d, HD_ERR_INPUT,
			 "not a topology: expected the output of "
			 "ibnetdiscover or iblinkinfo -l, an ibsim net, or "
			 "opensm-subnet.lst");
}

enum hd_status topo_read(const char *text, size_t len,
			 struct problems *problems, struct diag *d,
			 struct topo *out)
{
	struct reader r;

	if (memchr(text, '\0', len))
		return diag_fail(d, HD_ERR_INPUT,
				 "there are NUL bytes in it: not a text");
	enum topo_format format = topo_format_detect(text, len);

	reader_init(&r, text, len, problems, d);
	enum hd_status status = read_as(&r, format);

	/* Tools end their last line; people may forget to. */
	if (status == HD_OK && format != FORMAT_IBSIM && text[len - 1] != '\n')
		status = reader_refuse(&r, "the last line does not end: the "
					   "file was cut short");

	if (status == HD_OK && r.t.n_nodes == 0)
		status = diag_fail(d, HD_ERR_INPUT,
				   "there is no node in this file");
	if (status == HD_OK)
		status = reader_finish(&r, out);
	if (status == HD_OK && out->recipe)
		topo_follow_recipe(out);
	if (status == HD_OK && problems)
		problems_sort(problems);
	reader_fini(&r);
	return status;
}

enum hd_status topo_open(const char *fabric, uint64_t seed,
			 struct problems *problems, struct diag *d,
			 struct topo *out)
{
	char word[64];
	size_t len = strcspn(fabric, " ");
	struct diag ignored = { .status = HD_OK };

	if (len < sizeof(word)) {
		memcpy(word, fabric, len);
		word[len] = '\0';
		if (generator_find(word, &ignored))
			return topo_generate_text(fabric, seed, 0, d, out);
	}
	return topo_read_file(fabric, problems, d, out);
}

enum hd_status topo_read_file(const char *path, struct problems *problems,
			      struct diag *d, struct topo *out)
{
	struct strbuf text = STRBUF_INIT;
	enum hd_status status = file_read(path, FILE_LIMIT, d, &text);

	if (status == HD_OK)
		status = topo_read(text.text, text.len, problems, d, out);
	strbuf_fini(&text);
	return status;
}
