/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/opensm/readback.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "subnet/subnet.h"

enum section {
	NONE,
	QUERY_ARB, /* smpquery */
	QUERY_MAP,
	RECORD_ARB, /* saquery */
	RECORD_MAP,
	INFO, /* in both formats */
	DUMP_MAP,
};

struct readback_reader {
	readback_fn *tell;
	void *context;
	size_t told;
	enum section section;
	struct readback at; /* the port of the next values */
	/* VLs of entries whose weights follow, from `first` on. */
	unsigned first, n;
	unsigned vls[VLARB_MAX];
};

/* Parses the numbers of a list "|0x1 |0x2 |", "0| 1| 2|" or "0  1  2". */
static unsigned numbers(const char *text, int base, unsigned most, unsigned *out)
{
	unsigned n = 0;

	while (n < most) {
		char *end;

		text += strspn(text, " \t|");
		unsigned long value = strtoul(text, &end, base);

		if (end == text)
			break;
		out[n++] = value > 255 ? 255 : (unsigned)value;
		text = end;
	}
	return n;
}

static void tell(struct readback_reader *r, enum readback_kind kind, unsigned index, unsigned value,
		 unsigned weight)
{
	struct readback x = r->at;

	x.kind = kind;
	x.index = index;
	x.value = value;
	x.weight = weight;
	r->tell(r->context, &x);
	r->told++;
}

static void tell_weights(struct readback_reader *r, const char *text, int base)
{
	unsigned weights[VLARB_MAX];
	unsigned n = numbers(text, base, VLARB_MAX, weights);

	for (unsigned i = 0; i < n && i < r->n && r->first + i < VLARB_MAX; i++)
		tell(r, r->at.kind, r->first + i, r->vls[i], weights[i]);
	r->first += n;
}

static void tell_map(struct readback_reader *r, const char *text)
{
	unsigned vls[N_SLS];

	if (numbers(text, 10, N_SLS, vls) != N_SLS)
		return;
	for (unsigned sl = 0; sl < N_SLS; sl++)
		tell(r, READBACK_MAP, sl, vls[sl], 0);
}

/*
 * Number of values that a line has before it differs from the pattern. '%' is a number, hexadecimal
 * after 0x; a blank matches any number of blanks.
 */
static unsigned match(const char *line, const char *pattern, uint64_t *out)
{
	unsigned n = 0;

	for (; *pattern; pattern++) {
		if (*pattern == ' ') {
			line += strspn(line, " \t");
		} else if (*pattern == '%') {
			bool is_hex = line[0] == '0' && line[1] == 'x';
			char *end;

			if (*line < '0' || *line > '9')
				break;
			out[n++] = strtoull(line, &end, is_hex ? 16 : 10);
			line = end;
		} else if (*line++ != *pattern) {
			break;
		}
	}
	return n;
}

/* Parses a line that starts a section; false: another line. */
static bool begin(struct readback_reader *r, const char *line)
{
	static const struct {
		const char *pattern;
		enum section section;
	} heads[] = {
		{ "# VLArbitration tables: Lid % port %", QUERY_ARB },
		{ "# SL2VL table: Lid %", QUERY_MAP },
		{ "# Port info: Lid % port %", INFO },
	};
	static const char *const kinds[] = { "Switch %, base LID", "Channel Adapter %, base LID",
					     "Router %, base LID" };
	struct readback at = { .line = r->at.line };
	uint64_t found[2] = { 0 };

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		if (match(line, heads[i].pattern, found) >= 1) {
			r->section = heads[i].section;
			at.lid = (uint32_t)found[0];
			at.port = (unsigned)found[1];
			r->at = at;
			return true;
		}
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (match(line, kinds[i], found) == 1) {
			r->section = DUMP_MAP;
			at.guid = found[0];
			r->at = at;
			return true;
		}
	}
	if (strncmp(line, "VLArbTableRecord dump", 21) == 0)
		r->section = RECORD_ARB;
	else if (strncmp(line, "SL2VLTableRecord dump", 21) == 0)
		r->section = RECORD_MAP;
	else if (strncmp(line, "PortInfoRecord dump", 19) == 0)
		r->section = INFO;
	else
		return false;
	r->at = at;
	return true;
}

/* Parses "Name....value" or "Name:...value"; returns the value, or NULL. */
static const char *field(const char *line, const char *name)
{
	size_t len = strlen(name);

	if (strncmp(line, name, len) != 0 || !strchr(":.", line[len]))
		return NULL;
	line += len;
	return line + strspn(line, ":.");
}

static void read_info(struct readback_reader *r, const char *line)
{
	const char *text;
	uint64_t last;

	if ((text = field(line, "EndPortLid")))
		r->at.lid = (uint32_t)strtoul(text, NULL, 10);
	else if ((text = field(line, "PortNum")))
		r->at.port = (unsigned)strtoul(text, NULL, 10);
	else if ((text = field(line, "VLHighLimit")))
		tell(r, READBACK_LIMIT, 0, (unsigned)strtoul(text, NULL, 10), 0);
	else if ((text = field(line, "OperVLs")) && strncmp(text, "VL0", 3) == 0)
		tell(r, READBACK_VLS, 0, match(text, "VL0-%", &last) == 1 ? (unsigned)last + 1 : 1,
		     0);
}

static void read_query_arb(struct readback_reader *r, const char *line)
{
	if (strncmp(line, "# Low", 5) == 0 || strncmp(line, "# High", 6) == 0) {
		r->at.kind = line[2] == 'L' ? READBACK_LOW : READBACK_HIGH;
		r->first = 0;
	} else if (strncmp(line, "VL    :", 7) == 0) {
		r->n = numbers(line + 7, 16, VLARB_MAX, r->vls);
	} else if (strncmp(line, "WEIGHT:", 7) == 0) {
		tell_weights(r, line + 7, 16);
	}
}

static void read_record_arb(struct readback_reader *r, const char *line)
{
	const char *text;

	if ((text = field(line, "LID"))) {
		r->at.lid = (uint32_t)strtoul(text, NULL, 10);
	} else if ((text = field(line, "Port"))) {
		r->at.port = (unsigned)strtoul(text, NULL, 10);
	} else if ((text = field(line, "Block"))) {
		unsigned block = (unsigned)strtoul(text, NULL, 10);

		r->at.kind = block > 2 ? READBACK_HIGH : READBACK_LOW;
		r->first = block == 2 || block == 4 ? VLARB_MAX / 2 : 0;
	} else if (strncmp(line, "VL    :", 7) == 0) {
		r->n = numbers(line + 7, 10, VLARB_MAX, r->vls);
	} else if (strncmp(line, "Weight:", 7) == 0) {
		tell_weights(r, line + 7, 10);
	}
}

static void read_map(struct readback_reader *r, const char *line)
{
	uint64_t ports[2];
	const char *text;

	if ((text = field(line, "LID"))) {
		r->at.lid = (uint32_t)strtoul(text, NULL, 10);
	} else if ((text = field(line, "InPort"))) {
		r->at.in = (unsigned)strtoul(text, NULL, 10);
	} else if ((text = field(line, "OutPort"))) {
		r->at.port = (unsigned)strtoul(text, NULL, 10);
	} else if (strncmp(line, "VL:", 3) == 0) {
		tell_map(r, line + 3);
	} else if (match(line, "ports: in %, out %:", ports) == 2 ||
		   match(line, "% % :", ports) == 2) {
		r->at.in = (unsigned)ports[0];
		r->at.port = (unsigned)ports[1];
		text = strrchr(line, ':');
		tell_map(r, text ? text + 1 : "");
	}
}

static void read_line(struct readback_reader *r, const char *line)
{
	if (begin(r, line))
		return;
	switch (r->section) {
	case NONE:
		break;
	case QUERY_ARB:
		read_query_arb(r, line);
		break;
	case RECORD_ARB:
		read_record_arb(r, line);
		break;
	case QUERY_MAP:
	case RECORD_MAP:
	case DUMP_MAP:
		read_map(r, line);
		break;
	case INFO:
		read_info(r, line);
		break;
	}
}

size_t opensm_readback_parse(const char *text, readback_fn *tell_fn, void *context)
{
	struct readback_reader r = { .tell = tell_fn, .context = context };

	while (*text) {
		char line[1024];
		size_t len = strcspn(text, "\n");
		size_t skip = strspn(text, " \t");

		skip = skip < len ? skip : len;
		r.at.line++;
		snprintf(line, sizeof(line), "%.*s", (int)(len - skip), text + skip);
		read_line(&r, line);
		text += len + (text[len] == '\n');
	}
	return r.told;
}
