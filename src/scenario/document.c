/* SPDX-License-Identifier: BSD-2-Clause */
#include "scenario/document.h"

#include <stdbool.h>
#include <string.h>

#include "base/memory.h"

static enum hd_status refuse_at(struct diag *d, yaml_mark_t mark, const char *what)
{
	return diag_fail_at(d, HD_ERR_INPUT, (unsigned)mark.line + 1, (unsigned)mark.column + 1,
			    "%s", what);
}

/* Line and column of a byte, for errors that libyaml gives no mark of. */
static yaml_mark_t mark_of_offset(const char *text, size_t len, size_t offset)
{
	yaml_mark_t mark = { .index = offset };

	for (size_t i = 0; i < offset && i < len; i++) {
		mark.column += ((unsigned char)text[i] & 0xc0) != 0x80;
		if (text[i] == '\n') {
			mark.line++;
			mark.column = 0;
		}
	}
	return mark;
}

static enum hd_status refuse_syntax(const yaml_parser_t *parser, const char *text, size_t len,
				    struct diag *d)
{
	yaml_mark_t mark = parser->problem_mark;

	/* libyaml does not always say so when memory was the reason. */
	if (parser->error == YAML_MEMORY_ERROR || parser->error == YAML_NO_ERROR)
		memory_refused(0);
	if (parser->error == YAML_READER_ERROR)
		mark = mark_of_offset(text, len, parser->problem_offset);
	if (parser->error == YAML_SCANNER_ERROR && mark.index < len && text[mark.index] == '\t')
		return diag_fail_at(d, HD_ERR_INPUT, (unsigned)mark.line + 1,
				    (unsigned)mark.column + 1,
				    "not YAML: a tab (indent with blanks)");
	return diag_fail_at(d, HD_ERR_INPUT, (unsigned)mark.line + 1, (unsigned)mark.column + 1,
			    "not YAML: %s", parser->problem ? parser->problem : "unreadable");
}

struct vetting {
	struct diag *d;
	unsigned depth;
	unsigned documents;
};

static enum hd_status vet_properties(const struct vetting *v, const yaml_event_t *e,
				     const yaml_char_t *anchor, const yaml_char_t *tag)
{
	if (anchor)
		return refuse_at(v->d, e->start_mark, "anchors ('&') are not used in scenarios");
	if (tag)
		return refuse_at(v->d, e->start_mark, "tags ('!') are not used in scenarios");
	return HD_OK;
}

static enum hd_status vet_deeper(struct vetting *v, const yaml_event_t *e)
{
	if (++v->depth > DOCUMENT_MAX_DEPTH)
		return refuse_at(v->d, e->start_mark, "nested too deeply for a scenario");
	return HD_OK;
}

static enum hd_status vet_scalar(const struct vetting *v, const yaml_event_t *e)
{
	if (memchr(e->data.scalar.value, '\0', e->data.scalar.length))
		return refuse_at(v->d, e->start_mark, "a value with a NUL character");
	return vet_properties(v, e, e->data.scalar.anchor, e->data.scalar.tag);
}

static enum hd_status vet_event(struct vetting *v, const yaml_event_t *e)
{
	enum hd_status status;

	switch (e->type) {
	case YAML_DOCUMENT_START_EVENT:
		if (v->documents++)
			return refuse_at(v->d, e->start_mark,
					 "a second document; a file holds one scenario");
		return HD_OK;
	case YAML_ALIAS_EVENT:
		return refuse_at(v->d, e->start_mark, "aliases ('*') are not used in scenarios");
	case YAML_SCALAR_EVENT:
		return vet_scalar(v, e);
	case YAML_SEQUENCE_START_EVENT:
		status = vet_properties(v, e, e->data.sequence_start.anchor,
					e->data.sequence_start.tag);
		return status != HD_OK ? status : vet_deeper(v, e);
	case YAML_MAPPING_START_EVENT:
		status = vet_properties(v, e, e->data.mapping_start.anchor,
					e->data.mapping_start.tag);
		return status != HD_OK ? status : vet_deeper(v, e);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		v->depth--;
		return HD_OK;
	default:
		return HD_OK;
	}
}

/* The document API resolves aliases silently, so a pass over events first. */
static enum hd_status vet(const char *text, size_t len, const char *what, struct diag *d)
{
	yaml_parser_t parser;
	struct vetting v = { .d = d };
	enum hd_status status = HD_OK;
	bool done = false;

	if (!yaml_parser_initialize(&parser))
		memory_refused(0);
	yaml_parser_set_input_string(&parser, (const yaml_char_t *)text, len);
	while (!done && status == HD_OK) {
		yaml_event_t event;

		if (!yaml_parser_parse(&parser, &event)) {
			status = refuse_syntax(&parser, text, len, d);
			break;
		}
		status = vet_event(&v, &event);
		done = event.type == YAML_STREAM_END_EVENT;
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&parser);
	if (status == HD_OK && v.documents == 0)
		return diag_fail(d, HD_ERR_INPUT, "%s is empty", what);
	return status;
}

/* libyaml would read some of it, and what keeps the text would not. */
static enum hd_status refuse_wide(const char *text, size_t len, struct diag *d)
{
	bool marked =
		len > 1 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0);

	if (!marked && !memchr(text, 0, len < 4 ? len : 4))
		return HD_OK;
	return diag_fail_at(d, HD_ERR_INPUT, 1, 1, "UTF-16 or UTF-32 text: save the file as UTF-8");
}

enum hd_status document_load(const char *text, size_t len, const char *what, struct diag *d,
			     struct document *out)
{
	yaml_parser_t parser;
	enum hd_status status = refuse_wide(text, len, d);

	if (status == HD_OK)
		status = vet(text, len, what, d);

	if (status != HD_OK)
		return status;
	if (!yaml_parser_initialize(&parser))
		memory_refused(0);
	yaml_parser_set_input_string(&parser, (const yaml_char_t *)text, len);
	out->what = what;
	if (!yaml_parser_load(&parser, &out->yaml))
		status = refuse_syntax(&parser, text, len, d);
	yaml_parser_delete(&parser);
	return status;
}

void document_fini(struct document *doc)
{
	yaml_document_delete(&doc->yaml);
}

const yaml_node_t *document_node(struct document *doc, int index)
{
	return yaml_document_get_node(&doc->yaml, index);
}

const yaml_node_t *document_root(struct document *doc)
{
	return yaml_document_get_root_node(&doc->yaml);
}

const char *document_kind(const yaml_node_t *node)
{
	switch (node->type) {
	case YAML_MAPPING_NODE:
		return "a mapping";
	case YAML_SEQUENCE_NODE:
		return "a list";
	default:
		return "a value";
	}
}
