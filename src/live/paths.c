/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "live/live.h"
#include "live/umad.h"
#include "subnet/path_sls.h"
#include "wire/cursor.h"
#include "wire/mad.h"

/*
 * What SL a subnet manager wants for each path. A query that says an SL has no
 * answer where the routing engine wants another one: so it shows whether the
 * engine has a say at all.
 */

enum {
	TIMEOUT = 1000, /* ms */
	RETRIES = 2,
	SA_OFFSET = 44, /* of the size of a record, in words of 8 bytes */
	SA_MASK = 48,
	SA_DATA = 56,
	BY_DLID = 1 << 4,
	BY_SLID = 1 << 5,
	BY_SL = 1 << 15,
	/* In a record. */
	PATH_DLID = 40,
	PATH_SLID = 42,
	PATH_SL = 53,
	PATH_SIZE = 64,
};

struct asking {
	struct umad umad;
	uint32_t agent;
	uint16_t sm_lid;
	uint64_t tid;
	struct strbuf answer; /* header and MAD */
};

/* Which paths; 0 and -1: any. */
struct wanted {
	uint16_t from, to;
	int sl;
};

static void write_query(const struct wanted *w, uint8_t *mad)
{
	const struct mad_header h = { .mgmt_class = MAD_SA,
				      .method = MAD_GET_TABLE,
				      .attribute = ATTR_PATH_RECORD };
	uint64_t mask = (w->from ? BY_SLID : 0U) | (w->to ? BY_DLID : 0U) |
			(w->sl >= 0 ? BY_SL : 0U);

	mad_write(&h, mad);
	store_be64(mad + SA_MASK, mask);
	store_be16(mad + SA_DATA + PATH_DLID, w->to);
	store_be16(mad + SA_DATA + PATH_SLID, w->from);
	mad[SA_DATA + PATH_SL] = (uint8_t)(w->sl >= 0 ? w->sl : 0);
}

/* Sends a MAD and waits; false if it has no good answer. */
static bool exchange(struct asking *a, uint8_t *mad)
{
	const struct umad_header h = {
		.agent = a->agent,
		.timeout = TIMEOUT,
		.retries = RETRIES,
		.qp = htonl(1),
		.qkey = htonl(MAD_QKEY),
		.lid = htons(a->sm_lid),
	};
	struct umad_header back;

	store_be64(mad + 8, ++a->tid);
	if (!umad_send(&a->umad, &h, mad, MAD_SIZE) ||
	    !umad_receive(&a->umad, &a->answer) ||
	    a->answer.len < UMAD_HEADER + SA_DATA)
		return false;
	memcpy(&back, a->answer.text, sizeof(back));
	return back.status == 0 && load_be16((const uint8_t *)a->answer.text +
					     UMAD_HEADER + 4) == 0;
}

/* The records of the answer, and what each takes: 0 if there are none. */
static size_t ask(struct asking *a, const struct wanted *w,
		  struct byte_reader *out)
{
	uint8_t mad[MAD_SIZE];

	reader_init(out, NULL, 0);
	write_query(w, mad);
	if (!exchange(a, mad))
		return 0;
	const uint8_t *bytes = (const uint8_t *)a->answer.text + UMAD_HEADER;
	size_t size = (size_t)load_be16(bytes + SA_OFFSET) * 8;

	reader_init(out, bytes + SA_DATA,
		    a->answer.len - UMAD_HEADER - SA_DATA);
	return size >= PATH_SIZE ? size : 0;
}

/* Whether anybody is there: who is not says so at once to this question. */
static bool is_there(struct asking *a)
{
	const struct mad_header h = { .mgmt_class = MAD_SA,
				      .method = MAD_GET,
				      .attribute = ATTR_CLASS_PORT_INFO };
	uint8_t mad[MAD_SIZE];

	mad_write(&h, mad);
	return exchange(a, mad);
}

/* Whether there is a path between two ports with that SL. */
static bool has_path(struct asking *a, uint16_t from, uint16_t to, int sl)
{
	const struct wanted w = { from, to, sl };
	struct byte_reader r;
	size_t size = ask(a, &w, &r);

	return size > 0 && reader_left(&r) >= size;
}

/* False if SLs are the applications', or nobody answers. */
static bool engine_chooses(struct asking *a, const struct subnet *s)
{
	uint16_t ends[2];
	unsigned n = 0;

	for (uint32_t lid = 1; lid <= s->top_lid[0] && n < 2; lid++) {
		port_id p = s->port_of_lid[0][lid];

		if (p != TOPO_NONE && topo_is_end_port(s->topo, p))
			ends[n++] = (uint16_t)lid;
	}
	return n == 2 && has_path(a, ends[0], ends[1], -1) &&
	       !(has_path(a, ends[0], ends[1], 0) &&
		 has_path(a, ends[0], ends[1], 1));
}

/* A port's paths to all others. */
static uint8_t *row_of(struct asking *a, const struct subnet *s, port_id p)
{
	const struct wanted w = { s->lid_of_port[p], 0, -1 };
	struct byte_reader r;
	size_t size = ask(a, &w, &r);

	if (size == 0)
		return NULL;
	uint8_t *row = hd_alloc(s->lft_stride, 1);

	memset(row, SL_UNKNOWN, s->lft_stride);
	while (reader_left(&r) >= size) {
		const uint8_t *path = read_bytes(&r, size);
		uint16_t to = load_be16(path + PATH_DLID);

		if (to < s->lft_stride)
			row[to] = path[PATH_SL] & 15;
	}
	return row;
}

static void ask_all(struct asking *a, struct subnet *s)
{
	const struct topo *t = s->topo;
	uint8_t **rows;

	if (s->n_subnets != 1 || !is_there(a) || !engine_chooses(a, s))
		return;
	rows = hd_alloc(t->n_ports, sizeof(*rows));
	for (port_id p = 0; p < t->n_ports; p++)
		if (topo_is_end_port(t, p) && s->lid_of_port[p])
			rows[p] = row_of(a, s, p);
	path_sls_keep(s, rows);
	for (port_id p = 0; p < t->n_ports; p++)
		free(rows[p]);
	free(rows);
}

enum hd_status live_path_sls(const char *dir, const char *host, uint16_t sm_lid,
			     struct subnet *s, struct diag *d)
{
	static const uint8_t unasked[] = { 0 };
	struct asking a = { .umad = { .dir = dir, .host = host, .fd = -1 },
			    .sm_lid = sm_lid,
			    .answer = STRBUF_INIT };
	enum hd_status status = umad_open(&a.umad, d);

	if (status != HD_OK)
		return status;
	if (umad_register(&a.umad, MAD_SA, unasked, &a.agent) == 0)
		ask_all(&a, s);
	close(a.umad.fd);
	strbuf_fini(&a.answer);
	return HD_OK;
}
