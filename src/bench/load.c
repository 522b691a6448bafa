/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/load.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"

#define MAX_FILE ((size_t)256 << 20)
#define MIB      1048576.0
#define MOST     1e15 /* that sizes and counts can be */

/* ---- perftest ------------------------------------------------------------ */

/* Its titles, and what we call the test. */
static const struct {
	const char *title, *test;
} tests[] = {
	{ "RDMA_Write BW Test", "write-bw" }, { "RDMA_Write Latency Test", "write-lat" },
	{ "RDMA_Read BW Test", "read-bw" },   { "RDMA_Read Latency Test", "read-lat" },
	{ "Send BW Test", "send-bw" },        { "Send Latency Test", "send-lat" },
};

/* Where in a row the columns are; 0: it has none. */
struct perftest_layout {
	unsigned average, typical, deviation;
	bool latency;
	double unit; /* of a bandwidth, in MiB/s */
};

struct perftest_reader {
	json_t *tables, *rows; /* of the test that is read, or NULL */
	struct perftest_layout layout;
};

static void begin_test(struct perftest_reader *r, const char *test)
{
	json_t *table = json_object_get(r->tables, test);

	if (!table) {
		table = json_object();
		json_object_set_new(table, "rows", json_array());
		json_object_set_new(r->tables, test, table);
	}
	r->rows = json_object_get(table, "rows");
	r->layout = (struct perftest_layout){ 0 };
}

/* Number of words before `word` in a heading; 0: not found. */
static unsigned words_before(const char *line, const char *word)
{
	const char *end = strstr(line, word);
	unsigned n = 0;

	for (const char *c = line; end && c < end; n++) {
		c += strspn(c, " \t");
		if (c >= end)
			break;
		c += strcspn(c, " \t");
	}
	return n;
}

/* " #bytes     #iterations    BW peak[MiB/sec]    BW average[MiB/sec] ..." */
static void read_heading(struct perftest_reader *r, const char *line)
{
	struct perftest_layout *l = &r->layout;

	*l = (struct perftest_layout){ .latency = strstr(line, "t_avg") != NULL };
	if (l->latency) {
		l->average = words_before(line, "t_avg");
		l->typical = words_before(line, "t_typical");
		l->deviation = words_before(line, "t_stdev");
	} else if (strstr(line, "BW average")) {
		l->average = 3; /* "BW peak" are two words */
		l->unit = strstr(line, "BW average[Gb/sec]") ? 1e9 / 8 / MIB : 1;
	}
}

static void read_row(struct perftest_reader *r, const char *line)
{
	const struct perftest_layout *l = &r->layout;
	double value[16] = { 0 };
	unsigned n = 0;

	for (char *end; n < 16; n++, line = end) {
		value[n] = strtod(line, &end);
		if (end == line)
			break;
	}
	if (n <= l->average || !(value[0] >= 1 && value[0] <= MOST) ||
	    !(value[1] >= 0 && value[1] <= MOST) ||
	    !(value[l->average] > 0 && value[l->average] <= MOST))
		return;
	json_t *row = json_object();

	json_object_set_new(row, "#bytes", json_integer((json_int_t)value[0]));
	json_object_set_new(row, "#iterations", json_integer((json_int_t)value[1]));
	if (l->latency) {
		json_object_set_new(row, "t_avg", json_real(value[l->average]));
		if (l->typical && l->typical < n)
			json_object_set_new(row, "t_typical", json_real(value[l->typical]));
		if (l->deviation && l->deviation < n)
			json_object_set_new(row, "t_stdev", json_real(value[l->deviation]));
	} else {
		json_object_set_new(row, "BW average", json_real(value[l->average] * l->unit));
	}
	json_array_append_new(r->rows, row);
}

static void read_line(struct perftest_reader *r, const char *line)
{
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		if (strstr(line, tests[i].title)) {
			begin_test(r, tests[i].test);
			return;
		}
	}
	if (!r->rows)
		return;
	if (strstr(line, "#bytes"))
		read_heading(r, line);
	else if (r->layout.average && line[strspn(line, " \t")] >= '0' &&
		 line[strspn(line, " \t")] <= '9')
		read_row(r, line);
	else
		r->layout.average = 0;
}

json_t *bench_perftest_read(const char *text)
{
	json_t *all = json_object();
	struct perftest_reader r = { .tables = json_object() };
	size_t rows = 0;
	const char *name;
	json_t *table;

	json_object_set_new(all, "tables", r.tables);
	while (*text) {
		size_t len = strcspn(text, "\n");
		char *line = hd_strndup(text, len);

		read_line(&r, line);
		free(line);
		text += len + (text[len] == '\n');
	}
	json_object_foreach(r.tables, name, table)
	{
		rows += json_array_size(json_object_get(table, "rows"));
	}
	if (rows)
		return all;
	json_decref(all);
	return NULL;
}

/* ---- files --------------------------------------------------------------- */

static void *json_memory(size_t bytes)
{
	return hd_alloc(bytes, 1);
}

static enum hd_status load_text(const struct strbuf *text, struct diag *d, json_t **out)
{
	json_error_t e;

	if (text->text[strspn(text->text, " \t\r\n")] != '{') {
		*out = bench_perftest_read(text->text);
		return *out ? HD_OK
			    : diag_fail(d, HD_ERR_INPUT,
					"no result of 'heddle bench --json' or perftest in it");
	}
	*out = json_loadb(text->text, text->len, 0, &e);
	if (!*out)
		return diag_fail_at(d, HD_ERR_INPUT, (unsigned)e.line, (unsigned)e.column, "%s",
				    e.text);
	if (json_is_object(json_object_get(*out, "tables")))
		return HD_OK;
	json_decref(*out);
	return diag_fail(d, HD_ERR_INPUT, "no tables: expected what 'heddle bench --json' writes");
}

enum hd_status bench_load(const char *path, struct diag *d, json_t **out)
{
	struct strbuf text = STRBUF_INIT;
	enum hd_status status = file_read(path, MAX_FILE, d, &text);

	json_set_alloc_funcs(json_memory, free);
	if (status == HD_OK)
		status = load_text(&text, d, out);
	strbuf_fini(&text);
	return status;
}

double bench_number(const json_t *row, const char *column)
{
	const json_t *v = json_object_get(row, column);

	return json_is_number(v) ? json_number_value(v) : NAN;
}
