/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "live/live.h"
#include "live/umad/umad.h"
#include "subnet/tables/path_sls.h"
#include "wire/cursor.h"
#include "wire/mad.h"

/*
 * Queries the SL of each path from subnet administration. A PathRecord query that specifies an SL
 * has no result if the routing algorithm requires another SL; this shows whether the algorithm
 * assigns SLs.
 */

enum {
	TIMEOUT = 1000, /* ms */
	RETRIES = 9,
	BUSY_PAUSE = 100000000, /* ns */
	MOST_BUSY = 100,        /* number of BUSY responses that count as no response */
	BY_DLID = 1 << 4,
	BY_SLID = 1 << 5,
	BY_SL = 1 << 15,
	/* Offsets in a PathRecord. */
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
	struct strbuf answer; /* response: header and MAD */
	struct diag *d;
};

/* The paths to query; 0 and -1: any. */
struct wanted {
	uint16_t from, to;
	int sl;
};

static void write_query(const struct wanted *w, uint8_t *mad)
{
	const struct mad_header h = { .mgmt_class = MAD_SA,
				      .method = MAD_GET_TABLE,
				      .attribute = ATTR_PATH_RECORD };
	uint64_t mask =
		(w->from ? BY_SLID : 0U) | (w->to ? BY_DLID : 0U) | (w->sl >= 0 ? BY_SL : 0U);

	mad_write(&h, mad);
	store_be64(mad + SA_MASK, mask);
	store_be16(mad + SA_DATA + PATH_DLID, w->to);
	store_be16(mad + SA_DATA + PATH_SLID, w->from);
	mad[SA_DATA + PATH_SL] = (uint8_t)(w->sl >= 0 ? w->sl : 0);
}

/* Sends a MAD and waits for its response; *status is the response's, never MAD_BUSY. */
static enum hd_status exchange(struct asking *a, uint8_t *mad, uint16_t *status)
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

	for (unsigned tries = 0; tries < MOST_BUSY; tries++) {
		store_be64(mad + MAD_TID, ++a->tid);
		if (!umad_send(&a->umad, &h, mad, MAD_SIZE) ||
		    !umad_receive(&a->umad, &a->answer) || a->answer.len < UMAD_HEADER + SA_DATA)
			return diag_fail(a->d, HD_ERR_ENV, "the fabric ended meanwhile");
		memcpy(&back, a->answer.text, sizeof(back));
		if (back.status != 0)
			break;
		*status = load_be16((const uint8_t *)a->answer.text + UMAD_HEADER + MAD_STATUS);
		if (*status != MAD_BUSY)
			return HD_OK;
		nanosleep(&(struct timespec){ .tv_nsec = BUSY_PAUSE }, NULL);
	}
	return diag_fail(
		a->d, HD_ERR_NOT_FOUND,
		"the subnet manager at LID %u does not answer, and only it knows the SLs of paths",
		a->sm_lid);
}

static enum hd_status refused(const struct asking *a, uint16_t status)
{
	return diag_fail(
		a->d, HD_ERR_ENV,
		"the subnet manager at LID %u refuses to tell the SLs of paths: status 0x%04x",
		a->sm_lid, status);
}

/* Gets the records of the response and the size of each; 0 records if there are none. */
static enum hd_status ask(struct asking *a, const struct wanted *w, struct byte_reader *out,
			  size_t *size)
{
	uint8_t mad[MAD_SIZE];
	uint16_t said = 0;

	*size = 0;
	write_query(w, mad);
	enum hd_status status = exchange(a, mad, &said);

	if (status != HD_OK || said == SA_NO_RECORDS)
		return status;
	if (said != 0)
		return refused(a, said);
	const uint8_t *bytes = (const uint8_t *)a->answer.text + UMAD_HEADER;
	size_t each = (size_t)load_be16(bytes + SA_OFFSET) * 8;

	reader_init(out, bytes + SA_DATA, a->answer.len - UMAD_HEADER - SA_DATA);
	if (each >= PATH_SIZE && reader_left(out) >= each)
		*size = each;
	return HD_OK;
}

/* True if a subnet manager responds; a node without one refuses the query at once. */
static enum hd_status is_there(struct asking *a, bool *is)
{
	const struct mad_header h = { .mgmt_class = MAD_SA,
				      .method = MAD_GET,
				      .attribute = ATTR_CLASS_PORT_INFO };
	uint8_t mad[MAD_SIZE];
	uint16_t said = 0;

	mad_write(&h, mad);
	enum hd_status status = exchange(a, mad, &said);

	*is = status == HD_OK && said == MAD_OK;
	/* A node without a program for the class responds with MAD_UNSUPPORTED. */
	return status == HD_OK && said != MAD_OK && said != MAD_UNSUPPORTED ? refused(a, said)
									    : status;
}

/* True if the two ports have a path with that SL; undefined after an error. */
static bool has_path(struct asking *a, const uint16_t *ends, int sl, enum hd_status *status)
{
	const struct wanted w = { ends[0], ends[1], sl };
	struct byte_reader r;
	size_t size = 0;

	if (*status == HD_OK)
		*status = ask(a, &w, &r, &size);
	return size > 0;
}

/*
 * True if the routing algorithm assigns SLs, false if they are the applications' choice. OpenSM's
 * DFSSSP may draw one of several SLs for each response, and so may draw the requested one by
 * chance; therefore the query is repeated.
 */
static enum hd_status engine_chooses(struct asking *a, const struct subnet *s, bool *does)
{
	enum { ROUNDS = 8 };
	enum hd_status status = HD_OK;
	bool any = true;
	uint16_t ends[2];
	unsigned n = 0;

	for (uint32_t lid = 1; lid <= s->top_lid[0] && n < 2; lid++) {
		port_id p = s->port_of_lid[0][lid];

		if (p != TOPO_NONE && topo_is_end_port(s->topo, p))
			ends[n++] = (uint16_t)lid;
	}
	*does = n == 2 && has_path(a, ends, -1, &status);
	for (int i = 0; *does && any && i < 2 * ROUNDS; i++)
		any = has_path(a, ends, i % 2, &status);
	*does = *does && !any;
	return status;
}

/* SLs of a port's paths to all others; NULL: the port has no paths. */
static enum hd_status row_of(struct asking *a, const struct subnet *s, port_id p, uint8_t **row)
{
	const struct wanted w = { s->lid_of_port[p], 0, -1 };
	struct byte_reader r;
	size_t size;
	enum hd_status status = ask(a, &w, &r, &size);

	if (size == 0)
		return status;
	*row = hd_alloc(s->lft_stride, 1);
	memset(*row, SL_UNKNOWN, s->lft_stride);
	while (reader_left(&r) >= size) {
		const uint8_t *path = read_bytes(&r, size);
		uint16_t to = load_be16(path + PATH_DLID);

		if (to < s->lft_stride)
			(*row)[to] = path[PATH_SL] & 15;
	}
	return HD_OK;
}

void live_path_sls_free(const struct topo *t, uint8_t **rows)
{
	for (port_id p = 0; rows && p < t->n_ports; p++)
		free(rows[p]);
	free(rows);
}

static enum hd_status ask_all(struct asking *a, const struct subnet *s, uint8_t ***out)
{
	const struct topo *t = s->topo;
	bool is = s->n_subnets == 1;
	enum hd_status status = is ? is_there(a, &is) : HD_OK;

	if (status == HD_OK && is)
		status = engine_chooses(a, s, &is);
	if (status != HD_OK || !is)
		return status;
	uint8_t **rows = hd_alloc(t->n_ports, sizeof(*rows));

	for (port_id p = 0; p < t->n_ports && status == HD_OK; p++)
		if (topo_is_end_port(t, p) && s->lid_of_port[p])
			status = row_of(a, s, p, &rows[p]);
	if (status == HD_OK)
		*out = rows;
	else
		live_path_sls_free(t, rows);
	return status;
}

enum hd_status live_path_sls(const char *dir, const char *host, uint16_t sm_lid,
			     const struct subnet *s, struct diag *d, uint8_t ***rows)
{
	static const uint8_t unasked[] = { 0 };
	struct asking a = { .umad = { .dir = dir, .host = host, .fd = -1 },
			    .sm_lid = sm_lid,
			    .answer = STRBUF_INIT,
			    .d = d };
	enum hd_status status = umad_open(&a.umad, d);

	*rows = NULL;
	if (status != HD_OK)
		return status;
	status = umad_register(&a.umad, MAD_SA, unasked, &a.agent) == 0
			 ? ask_all(&a, s, rows)
			 : diag_fail(d, HD_ERR_ENV, "the fabric ended meanwhile");
	close(a.umad.fd);
	strbuf_fini(&a.answer);
	return status;
}
