/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/opensm/port_conf.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/iba.h"
#include "base/text.h"

#define HEADER "heddle-port-tables 1"
#define PREFIX "qos_"
#define BLANKS " \t\r"

/* ---- reading */

struct port_conf_reader {
	struct diag *d;
	struct port_tables *tables;
	unsigned line; /* of the next text */
};

static enum hd_status refuse(const struct port_conf_reader *r, unsigned line, const char *what)
{
	return diag_fail_at(r->d, HD_ERR_INPUT, line, 0, "%s", what);
}

static bool is_port_line(const char *line)
{
	line += strspn(line, BLANKS);
	return strncmp(line, "port", 4) == 0 && strchr(BLANKS, line[4]) && line[4];
}

static bool has_digit(const char *text, bool hex)
{
	return (*text >= '0' && *text <= '9') ||
	       (hex && ((*text >= 'a' && *text <= 'f') || (*text >= 'A' && *text <= 'F')));
}

/* Reads "port 0xGUID NUMBER" and an optional comment. */
static enum hd_status read_port_line(const struct port_conf_reader *r, const char *line,
				     struct port_table *out)
{
	const char *at = line + strspn(line, BLANKS) + strlen("port");
	char *end;

	at += strspn(at, BLANKS);
	if (strncmp(at, "0x", 2) != 0 || !has_digit(at + 2, true))
		return refuse(r, r->line, "expected 'port 0xGUID NUMBER'");
	unsigned long long guid = strtoull(at + 2, &end, 16);
	bool too_long = end - at > 2 + 16;

	at = end + strspn(end, BLANKS);
	if (at == end || too_long || !has_digit(at, false))
		return refuse(r, r->line, "expected 'port 0xGUID NUMBER'");
	unsigned long port = strtoul(at, &end, 10);

	end += strspn(end, BLANKS);
	if (port < 1 || port > 254 || !(*end == '\0' || *end == '\n' || *end == '#'))
		return refuse(r, r->line,
			      "expected 'port 0xGUID NUMBER', with a number of 1 to 254");
	*out = (struct port_table){ .node = guid, .port = (uint8_t)port, .line = r->line };
	return HD_OK;
}

/* Reads the lines before the first port: max_op_vls. */
static enum hd_status read_head(const struct port_conf_reader *r, const struct opensm_conf *conf)
{
	if (conf->n_keys != 1 || !conf->max_op_vls_line)
		return refuse(r, r->line, "expected one 'max_op_vls CODE' before the first port");
	if (conf->max_op_vls_said != (long)conf->max_op_vls)
		return refuse(r, r->line + conf->max_op_vls_line - 1,
			      "max_op_vls is 1 to 5, for 1, 2, 4, 8 or 15 data VLs");
	r->tables->vls = vls_of_code(conf->max_op_vls);
	return HD_OK;
}

static const char *find_wrong_entry(const struct port_conf_reader *r,
				    const struct opensm_list *list)
{
	if (list->malformed || list->octal)
		return "expected VL:WEIGHT,VL:WEIGHT,... in decimal";
	if (list->n > VLARB_MAX)
		return "an arbitration table has at most 64 entries";
	for (unsigned i = 0; i < list->n; i++) {
		if (list->weight[i] > 255)
			return "a weight is 0 to 255";
		if (list->vl[i] >= r->tables->vls)
			return "a VL is not below the number that max_op_vls allows";
	}
	return NULL;
}

static const char *find_wrong_map(const struct port_conf_reader *r, const struct opensm_list *list)
{
	if (list->malformed || list->octal)
		return "expected VL,VL,... in decimal";
	if (list->n != N_SLS)
		return "expected the VLs of all 16 SLs";
	for (unsigned sl = 0; sl < N_SLS; sl++) {
		if (list->vl[sl] >= r->tables->vls && list->vl[sl] != VL_MANAGEMENT)
			return "a VL is not below the number that max_op_vls allows";
	}
	return NULL;
}

static uint8_t take_entries(const struct opensm_list *list, struct vlarb_entry *out)
{
	for (unsigned i = 0; i < list->n; i++)
		out[i] = (struct vlarb_entry){ (uint8_t)list->vl[i], (uint8_t)list->weight[i] };
	return (uint8_t)list->n;
}

/* The error in the keys of a port and its line; NULL: none. */
static const char *find_wrong(const struct port_conf_reader *r, const struct opensm_conf *conf,
			      unsigned *line)
{
	const struct opensm_set *set = &conf->set[OPENSM_DEFAULT];
	const char *wrong = NULL;

	*line = conf->n_unknown ? conf->unknown[0].line : 0;
	if (conf->n_unknown)
		return "unknown key";
	if (conf->n_keys != 4 || !set->high_limit_line || !set->high.line || !set->low.line ||
	    !set->sl2vl.line)
		return "a port has qos_high_limit, qos_vlarb_high, qos_vlarb_low and qos_sl2vl, each once, and no other key";
	*line = set->high_limit_line;
	if (set->high_limit_malformed || set->high_limit < 0)
		return "a high limit is 0 to 255";
	*line = set->high.line;
	wrong = find_wrong_entry(r, &set->high);
	if (!wrong) {
		*line = set->low.line;
		wrong = find_wrong_entry(r, &set->low);
	}
	if (!wrong) {
		*line = set->sl2vl.line;
		wrong = find_wrong_map(r, &set->sl2vl);
	}
	return wrong;
}

static enum hd_status read_port(const struct port_conf_reader *r, const struct opensm_conf *conf,
				struct port_table *row)
{
	const struct opensm_set *set = &conf->set[OPENSM_DEFAULT];
	struct port_tables *t = r->tables;
	unsigned line;
	const char *wrong = find_wrong(r, conf, &line);

	if (wrong)
		return refuse(r, row->line + line, wrong);
	row->vlarb.high_limit = (uint8_t)set->high_limit;
	row->vlarb.n_high = take_entries(&set->high, row->vlarb.high);
	row->vlarb.n_low = take_entries(&set->low, row->vlarb.low);
	for (unsigned sl = 0; sl < N_SLS; sl++)
		row->sl2vl.vl[sl] = (uint8_t)set->sl2vl.vl[sl];
	t->rows = hd_grow(t->rows, &t->cap, t->n + 1, sizeof(*t->rows));
	t->rows[t->n++] = *row;
	return HD_OK;
}

/* Reads keys up to the next port line; `row` is the port, NULL before the first. */
static enum hd_status read_keys(struct port_conf_reader *r, const char **text,
				struct port_table *row)
{
	const char *at = *text;
	struct opensm_conf conf;
	enum hd_status status;
	unsigned n = 0;

	for (; *at && !is_port_line(at); n++) {
		at += strcspn(at, "\n");
		at += *at == '\n';
	}
	char *keys = hd_strndup(*text, (size_t)(at - *text));

	opensm_conf_read(keys, &conf);
	free(keys);
	if (conf.n_long_lines)
		status = refuse(r, r->line + conf.long_lines[0] - 1, "the line is too long");
	else
		status = row ? read_port(r, &conf, row) : read_head(r, &conf);
	opensm_conf_fini(&conf);
	r->line += n;
	*text = at;
	return status;
}

static int compare_rows(const void *a, const void *b)
{
	const struct port_table *x = a, *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (x->port != y->port)
		return x->port < y->port ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

/* Sorts rows; rejects a port that is given twice. */
static enum hd_status sort(const struct port_conf_reader *r)
{
	struct port_tables *t = r->tables;

	if (t->n == 0)
		return refuse(r, r->line, "expected a port");
	qsort(t->rows, t->n, sizeof(*t->rows), compare_rows);
	for (size_t i = 1; i < t->n; i++) {
		if (t->rows[i - 1].node == t->rows[i].node &&
		    t->rows[i - 1].port == t->rows[i].port)
			return refuse(r, t->rows[i].line, "a port is there twice");
	}
	return HD_OK;
}

enum hd_status port_conf_read(const char *text, struct diag *d, struct port_tables *out)
{
	struct port_tables tables = { 0 };
	struct port_conf_reader r = { .d = d, .tables = &tables, .line = 2 };

	if (strncmp(text, HEADER "\n", strlen(HEADER "\n")) != 0)
		return diag_fail_at(d, HD_ERR_INPUT, 1, 0, "expected '" HEADER "'");
	text += strlen(HEADER "\n");
	enum hd_status status = read_keys(&r, &text, NULL);

	while (status == HD_OK && *text) {
		struct port_table row;

		status = read_port_line(&r, text, &row);
		text += strcspn(text, "\n");
		text += *text == '\n';
		r.line++;
		if (status == HD_OK)
			status = read_keys(&r, &text, &row);
	}
	if (status == HD_OK)
		status = sort(&r);
	if (status == HD_OK)
		*out = tables;
	else
		port_tables_fini(&tables);
	return status;
}

enum hd_status port_conf_load(const char *path, struct diag *d, struct port_tables *out)
{
	struct strbuf text = STRBUF_INIT;
	enum hd_status status = opensm_file_read(path, d, &text);

	if (status == HD_OK)
		status = port_conf_read(text.text, d, out);
	strbuf_fini(&text);
	return status;
}

/* ---- writing */

/* The map for packets that leave by a port; NULL if it depends on the input. */
static const struct sl2vl *map_of(const struct subnet *s, port_id p)
{
	const struct topo *t = s->topo;
	node_id node = t->ports[p].node;

	if (!topo_is_switch(t, node))
		return sl2vl_of(s, p);
	const unsigned out = t->ports[p].number;
	const struct sl2vl *first = sl2vl_at(s, s->switch_of_node[node], 0, out);

	for (unsigned in = 1; in <= t->nodes[node].n_ports; in++) {
		const struct sl2vl *map = sl2vl_at(s, s->switch_of_node[node], in, out);

		if (in != out && memcmp(map, first, sizeof(*map)) != 0)
			return NULL;
	}
	return first;
}

static enum hd_status write_port(const struct subnet *s, port_id p, const struct vlarb *v,
				 struct diag *d, struct strbuf *out)
{
	const struct topo_node *node = topo_node_of(s->topo, p);
	const unsigned number = s->topo->ports[p].number;
	const struct sl2vl *map = map_of(s, p);

	if (!node->guid)
		return diag_fail(d, HD_ERR_UNFIT, "node '%s' has no GUID to be known by",
				 node->name);
	if (!map)
		return diag_fail(d, HD_ERR_UNFIT,
				 "port %u of '%s': VLs of SLs depend on the input port", number,
				 node->name);
	strbuf_printf(out, "port 0x%016llx %u # ", (unsigned long long)node->guid, number);
	text_show(out, node->name);
	strbuf_printf(out, "\n" PREFIX "high_limit %u\n", v->high_limit);
	opensm_export_vlarb(PREFIX, "vlarb_high", v->high, v->n_high, out);
	opensm_export_vlarb(PREFIX, "vlarb_low", v->low, v->n_low, out);
	opensm_export_sl2vl(PREFIX, map, out);
	return HD_OK;
}

enum hd_status port_conf_write(const struct subnet *s, const struct vlarb *tables, struct diag *d,
			       struct strbuf *out)
{
	enum hd_status status = port_tables_allowed(s, d);
	unsigned vls = 1;

	for (port_id p = 0; p < s->topo->n_ports; p++) {
		if (s->topo->ports[p].peer != TOPO_NONE && s->vls_of_port[p] > vls)
			vls = s->vls_of_port[p];
	}
	strbuf_printf(out,
		      HEADER "\n"
			     "# Code of %u data VLs, as opensm.conf has it.\n"
			     "max_op_vls %u\n",
		      vls, code_of_vls(vls));
	for (port_id p = 0; p < s->topo->n_ports && status == HD_OK; p++) {
		if (s->topo->ports[p].number > 0 && s->topo->ports[p].peer != TOPO_NONE)
			status = write_port(s, p, &tables[p], d, out);
	}
	return status;
}

enum hd_status port_conf_save(const char *path, const struct subnet *s, const struct vlarb *tables,
			      struct diag *d)
{
	struct strbuf text = STRBUF_INIT;
	enum hd_status status = port_conf_write(s, tables, d, &text);

	if (status == HD_OK)
		status = file_write(path, text.text, text.len, d);
	strbuf_fini(&text);
	return status;
}
