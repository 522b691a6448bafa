/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/admission/requests.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "qos/tables/slots.h"
#include "subnet/tables/packet.h"

#define MAX_BURST (UINT64_C(1) << 31)
#define MAX_WORDS 8

/* Splits a line into words and removes quotes; -1: a quote is not closed. */
static int split(char *line, char *words[MAX_WORDS])
{
	int n = 0;

	for (;;) {
		line += strspn(line, " \t\r");
		if (*line == '\0' || *line == '#' || n == MAX_WORDS)
			return n;
		bool quoted = *line == '"';
		size_t len = strcspn(line += quoted, quoted ? "\"" : " \t\r");

		if (quoted && line[len] != '"')
			return -1;
		words[n++] = line;
		if (line[len])
			line[len++] = '\0';
		line += len;
	}
}

/* Reads RATE or PEAK~MEAN. */
static enum hd_status read_rates(char *word, struct diag *d, struct qos_request *r)
{
	char *mean = strchr(word, '~');

	if (mean)
		*mean++ = '\0';
	enum hd_status status = hd_rate_parse(word, d, &r->rate);

	r->mean = r->rate;
	if (status == HD_OK && mean)
		status = hd_rate_parse(mean, d, &r->mean);
	if (status == HD_OK && hd_rate_bps(r->mean) > hd_rate_bps(r->rate))
		return diag_fail(d, HD_ERR_RANGE, "a mean rate cannot be above its peak");
	return status;
}

static bool asks(enum traffic_class kind)
{
	return kind <= TC_PBE;
}

static enum hd_status refuse_class(const char *word, const struct qos_classes *classes,
				   struct diag *d)
{
	struct strbuf known = STRBUF_INIT;

	for (unsigned i = 0; i < classes->n; i++) {
		if (asks(classes->items[i].kind))
			strbuf_printf(&known, "%s%s", known.len ? ", " : "",
				      classes->items[i].name);
	}
	enum hd_status status = diag_fail(
		d, HD_ERR_INPUT, "'%.40s' is not a class with admission (expected %s)", word,
		classes->n ? known.text ? known.text : "none: the scenario has no classes"
			   : "DBTS, DB or PBE");

	strbuf_fini(&known);
	return status;
}

static const struct qos_class *class_named(const char *word, const struct qos_classes *classes)
{
	for (unsigned i = 0; i < classes->n; i++) {
		if (strcmp(classes->items[i].name, word) == 0)
			return &classes->items[i];
	}
	return NULL;
}

/* Reads a class by name, by a kind that is unique, or with bands by kind and rate. */
static enum hd_status read_class(const char *word, const struct qos_classes *classes,
				 struct diag *d, struct qos_request *r)
{
	const struct qos_class *found = class_named(word, classes);
	enum traffic_class kind = TC_COUNT;
	unsigned n = 0;

	(void)!class_parse(word, &kind);
	if (classes->n == 0) {
		r->class = kind;
		if (!asks(kind))
			return refuse_class(word, classes, d);
		r->sl = class_sl(kind, r->rate);
		return HD_OK;
	}
	bool banded = classes->bands && kind <= TC_DB;

	for (unsigned i = 0; i < classes->n && (!found || n > 0); i++) {
		if (banded && classes->items[i].sl != class_sl(kind, r->rate))
			continue;
		if (classes->items[i].kind == kind && n++ == 0)
			found = &classes->items[i];
	}
	if (n > 1)
		return diag_fail(d, HD_ERR_INPUT, "%u classes are of kind %s; name one of them", n,
				 word);
	if (!found || !asks(found->kind))
		return refuse_class(word, classes, d);
	r->class = found->kind;
	r->sl = found->sl;
	return HD_OK;
}

static enum hd_status read_words(char **words, int n, const struct qos_classes *classes,
				 struct diag *d, struct qos_request *r)
{
	enum hd_status status = HD_OK;

	r->acknowledged = n > 4 && strcmp(words[n - 1], "rc") == 0;
	n -= r->acknowledged;
	if (n < 4 || n > 6)
		return diag_fail(
			d, HD_ERR_INPUT,
			"%d words (expected source destination class rate [burst [latency]] [rc])",
			n);
	status = read_rates(words[3], d, r);
	if (status == HD_OK)
		status = read_class(words[2], classes, d, r);
	if (status == HD_OK && n > 4)
		status = hd_size_parse(words[4], d, &r->burst);
	if (status == HD_OK && n > 5)
		status = hd_time_parse(words[5], d, &r->latency);
	if (status == HD_OK && n > 4 && (r->burst == 0 || r->burst > MAX_BURST))
		return diag_fail(d, HD_ERR_RANGE, "a burst must have 1 byte to 2 GiB");
	if (status == HD_OK && n > 5 && r->latency == 0)
		return diag_fail(d, HD_ERR_RANGE, "a latency must be above 0");
	if (status == HD_OK && n > 5 && r->acknowledged)
		return diag_fail(
			d, HD_ERR_INPUT,
			"an rc connection has no latency: the bursts of queue pairs have no limit");
	return status;
}

static enum hd_status read_line(char *line, unsigned number, const struct qos_classes *classes,
				struct diag *d, struct qos_requests *out)
{
	struct qos_request r = { .line = number };
	char *words[MAX_WORDS] = { 0 };
	int n = split(line, words);

	if (n == 0)
		return HD_OK;
	d->line = number;
	if (n < 0)
		return diag_fail(d, HD_ERR_INPUT, "a quote has no end");
	enum hd_status status = read_words(words, n, classes, d, &r);

	if (status != HD_OK)
		return status;
	r.source = hd_strdup(words[0]);
	r.destination = hd_strdup(words[1]);
	out->items = hd_grow(out->items, &out->cap, out->n + 1, sizeof(*out->items));
	out->items[out->n++] = r;
	return HD_OK;
}

enum hd_status qos_requests_read(const char *text, const struct qos_classes *classes,
				 struct diag *d, struct qos_requests *out)
{
	struct qos_requests all = { 0 };
	enum hd_status status = HD_OK;

	for (unsigned number = 1; *text && status == HD_OK; number++) {
		size_t len = strcspn(text, "\n");
		char *line = hd_strndup(text, len);

		status = read_line(line, number, classes, d, &all);
		free(line);
		text += len + (text[len] == '\n');
	}
	if (status != HD_OK) {
		qos_requests_fini(&all);
		return status;
	}
	d->line = 0;
	*out = all;
	return HD_OK;
}

enum hd_status qos_requests_load(const char *path, const struct qos_classes *classes,
				 struct diag *d, struct qos_requests *out)
{
	struct strbuf text = STRBUF_INIT;
	enum hd_status status = file_read(path, FILE_WRITTEN_LIMIT, d, &text);

	if (status == HD_OK)
		status = qos_requests_read(text.text, classes, d, out);
	if (status == HD_OK)
		out->file = path;
	strbuf_fini(&text);
	return status;
}

void qos_requests_fini(struct qos_requests *requests)
{
	for (size_t i = 0; i < requests->n; i++) {
		free(requests->items[i].source);
		free(requests->items[i].destination);
	}
	free(requests->items);
	*requests = (struct qos_requests){ 0 };
}

struct qos_packets qos_packets_global(struct qos_packets p)
{
	p.overhead += p.overhead == PLAIN_OVERHEAD ? GRH_BYTES : 0;
	return p;
}

uint64_t qos_burst(const struct qos_request *r, const struct qos_packets *p)
{
	return r->burst ? r->burst : p->payload;
}

static uint64_t packets_of(const struct qos_request *r, const struct qos_packets *p)
{
	return (qos_burst(r, p) + p->payload - 1) / p->payload;
}

uint64_t qos_wire_burst(const struct qos_request *r, const struct qos_packets *p)
{
	return qos_burst(r, p) + packets_of(r, p) * p->overhead;
}

/* Payload of the last packet of a burst. */
static uint32_t last_payload(const struct qos_request *r, const struct qos_packets *p)
{
	uint64_t last = qos_burst(r, p) % p->payload;

	return last ? (uint32_t)last : p->payload;
}

uint32_t qos_largest(const struct qos_request *r, const struct qos_packets *p)
{
	return p->overhead + (packets_of(r, p) > 1 ? p->payload : last_payload(r, p));
}

uint32_t qos_smallest(const struct qos_request *r, const struct qos_packets *p)
{
	return p->overhead + last_payload(r, p);
}

struct hd_rate qos_charged_rate(const struct qos_request *r, struct hd_rate rate,
				const struct qos_packets *p, struct hd_ratio margin)
{
	uint64_t blocks = (packets_of(r, p) - 1) * blocks_of(p->payload + p->overhead) +
			  blocks_of(qos_smallest(r, p));

	return slots_charged_burst(rate, qos_burst(r, p), blocks, margin);
}

struct hd_rate qos_acknowledgement_rate(const struct qos_request *r, const struct qos_packets *p,
					struct hd_ratio margin)
{
	return slots_charged_burst(r->rate, qos_burst(r, p), packets_of(r, p) / 16 + 1, margin);
}

enum hd_status qos_requests_need_promises(const struct qos_requests *requests, const char *why,
					  struct diag *d)
{
	for (size_t i = 0; i < requests->n; i++) {
		const struct qos_request *r = &requests->items[i];

		if (r->class != TC_PBE)
			continue;
		d->file = requests->file;
		return diag_fail_at(d, HD_ERR_INPUT, r->line, 0, "PBE has no guarantee, so %s",
				    why);
	}
	return HD_OK;
}
