/* SPDX-License-Identifier: BSD-2-Clause */
#include "topo/read.h"

#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "topo/generate.h"
#include "topo/reader.h"

/* A line that begins with a GUID: the format follows from the next characters. */
static enum topo_format format_of_guid(const struct topo_reader *r)
{
	struct topo_reader at = *r;
	uint64_t guid;

	if (!reader_skip(&at, "0x") || !reader_hex(&at, &guid))
		return FORMAT_UNKNOWN;
	return reader_skip(&at, ":") ? FORMAT_NEIGHBORS : FORMAT_LINKINFO;
}

/* Format of the file according to a single line. */
static enum topo_format format_of_line(const struct topo_reader *r)
{
	static const struct {
		const char *start;
		enum topo_format format;
		bool number; /* must follow */
	} signs[] = {
		{ "# Topology file: generated", FORMAT_IBNETDISCOVER, false },
		{ "# Initiated from node", FORMAT_IBNETDISCOVER, false },
		{ "{ CA", FORMAT_SUBNET_LST, false },
		{ "{ SW", FORMAT_SUBNET_LST, false },
		{ "{ Rt", FORMAT_SUBNET_LST, false },
		{ "CA ", FORMAT_PORTS, true },
		{ "SW ", FORMAT_PORTS, true },
		{ "RT ", FORMAT_PORTS, true },
		{ "Switch: 0x", FORMAT_LINKINFO_NODES, false },
		{ "CA: ", FORMAT_LINKINFO_NODES, false },
		{ "Router: ", FORMAT_LINKINFO_NODES, false },
		{ "Switch\t : 0x", FORMAT_NODE_LIST, false },
		{ "Ca\t : 0x", FORMAT_NODE_LIST, false },
		{ "Router\t : 0x", FORMAT_NODE_LIST, false },
		{ "Switch", FORMAT_IBSIM, true },
		{ "Ca", FORMAT_IBSIM, true },
		{ "Hca", FORMAT_IBSIM, true },
		{ "Rt", FORMAT_IBSIM, true },
		{ "vendid", FORMAT_IBSIM, false },
		{ "devid", FORMAT_IBSIM, false },
		{ "sysimgguid", FORMAT_IBSIM, false },
		{ "switchguid", FORMAT_IBSIM, false },
		{ "caguid", FORMAT_IBSIM, false },
		{ "hcaguids", FORMAT_IBSIM, false },
		{ "rtguid", FORMAT_IBSIM, false },
		{ "width", FORMAT_IBSIM, false },
		{ "speed", FORMAT_IBSIM, false },
		{ "extspeed", FORMAT_IBSIM, false },
		{ "module", FORMAT_IBSIM, false },
		{ "include", FORMAT_IBSIM, false },
		{ "pdebug", FORMAT_IBSIM, false },
		{ "do ", FORMAT_IBSIM, false },
	};

	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++) {
		struct topo_reader at = *r;
		uint64_t number;

		if (!reader_skip(&at, signs[i].start))
			continue;
		reader_blanks(&at);
		if (!signs[i].number || reader_decimal(&at, UINT64_MAX, &number))
			return signs[i].format;
	}
	return format_of_guid(r);
}

enum topo_format topo_format_detect(const char *text, size_t len)
{
	struct diag d = { .status = HD_OK };
	enum topo_format found = FORMAT_UNKNOWN;
	struct topo_reader r;

	reader_init(&r, text, len, NULL, &d);
	/* The first line that is no comment decides. */
	while (found == FORMAT_UNKNOWN && reader_next_line(&r)) {
		found = format_of_line(&r);
		if (found == FORMAT_UNKNOWN && *r.line_start != '#' && !reader_at_end(&r))
			break;
	}
	reader_fini(&r);
	return found;
}

static enum hd_status read_as(struct topo_reader *r, enum topo_format format)
{
	switch (format) {
	case FORMAT_IBNETDISCOVER:
		return topo_read_net(r, true);
	case FORMAT_IBSIM:
		return topo_read_net(r, false);
	case FORMAT_SUBNET_LST:
		return topo_read_subnet_lst(r);
	case FORMAT_PORTS:
		return topo_read_ports(r);
	case FORMAT_LINKINFO:
		return topo_read_linkinfo(r);
	case FORMAT_LINKINFO_NODES:
		return topo_read_linkinfo_nodes(r);
	case FORMAT_NEIGHBORS:
		return topo_read_neighbors(r);
	case FORMAT_NODE_LIST:
		return diag_fail(
			r->d, HD_ERR_INPUT,
			"a list of nodes (ibnetdiscover -l) has no cables: use ibnetdiscover without -l");
	case FORMAT_UNKNOWN:
	case N_FORMATS:
		break;
	}
	return diag_fail(
		r->d, HD_ERR_INPUT,
		"not a topology: expected the output of ibnetdiscover or iblinkinfo, an ibsim net, or opensm-subnet.lst");
}

enum hd_status topo_read(const char *text, size_t len, struct topo_problems *problems,
			 struct diag *d, struct topo *out)
{
	struct topo_reader r;

	if (memchr(text, '\0', len))
		return diag_fail(d, HD_ERR_INPUT, "there are NUL bytes in it: not a text");
	enum topo_format format = topo_format_detect(text, len);

	reader_init(&r, text, len, problems, d);
	enum hd_status status = read_as(&r, format);

	/* Tools end their last line; people may forget to. */
	if (status == HD_OK && format != FORMAT_IBSIM && text[len - 1] != '\n')
		status = reader_refuse(&r, "the last line does not end: the file was cut short");

	if (status == HD_OK && r.t.n_nodes == 0)
		status = diag_fail(d, HD_ERR_INPUT, "no node in this file");
	if (status == HD_OK)
		status = reader_finish(&r, out);
	if (status == HD_OK && out->recipe)
		topo_follow_recipe(out);
	if (status == HD_OK && !out->recipe)
		topo_sort(out);
	if (status == HD_OK && problems)
		problems_sort(problems);
	reader_fini(&r);
	return status;
}

/* A word that may be the name of a generator. */
struct first_word {
	char text[64]; /* empty if it is longer than any name */
};

static struct first_word first_of(const char *words)
{
	struct first_word w = { "" };
	size_t len = strcspn(words, " ");

	if (len < sizeof(w.text))
		memcpy(w.text, words, len);
	return w;
}

bool topo_is_words(const char *fabric)
{
	struct diag ignored = { .status = HD_OK };

	return generator_find(first_of(fabric).text, &ignored) != NULL;
}

enum hd_status topo_read_named(const char *fabric, struct diag *d, struct strbuf *out)
{
	enum hd_status status = file_read(fabric, FILE_LIMIT, d, out);
	const char *meant = generator_nearest(first_of(fabric).text);

	if (status != HD_ERR_NOT_FOUND || !meant)
		return status;
	d->status = HD_OK;
	return diag_fail(d, status, "no such file, and no kind of topology%s",
			 text_hint(meant).text);
}

enum hd_status topo_open(const char *fabric, uint64_t seed, struct topo_problems *problems,
			 struct diag *d, struct topo *out)
{
	return topo_is_words(fabric) ? topo_generate_text(fabric, seed, 0, d, out)
				     : topo_read_file(fabric, problems, d, out);
}

enum hd_status topo_read_file(const char *path, struct topo_problems *problems, struct diag *d,
			      struct topo *out)
{
	struct strbuf text = STRBUF_INIT;
	enum hd_status status = topo_read_named(path, d, &text);

	if (status == HD_OK)
		status = topo_read(text.text, text.len, problems, d, out);
	strbuf_fini(&text);
	return status;
}
