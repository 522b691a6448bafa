/* SPDX-License-Identifier: BSD-2-Clause */
#include "live/daemon/recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "topo/pack.h"
#include "wire/cursor.h"

static const char FIRST_LINE[] = "heddle live recording 4\n";
enum { FIRST_LINE_SIZE = sizeof(FIRST_LINE) - 1, PIECE = 65536 };

/* ---- writing */

struct recorder {
	FILE *stream;
	struct topo topo; /* a copy, because packing needs a mutable topology */
	struct strbuf block;
	uint64_t changes;
};

static void write_block(struct recorder *r)
{
	uint8_t length[4];

	store_be32(length, (uint32_t)r->block.len);
	fwrite(length, sizeof(length), 1, r->stream);
	fwrite(r->block.text, r->block.len, 1, r->stream);
	strbuf_clear(&r->block);
}

enum hd_status recorder_open(const char *path, const struct topo *t,
			     const struct agents_timing *times, struct diag *d,
			     struct recorder **out)
{
	FILE *stream = fopen(path, "wbe");
	bool timed = times;
	struct pack p;

	d->file = path;
	if (!stream)
		return diag_fail(d, HD_ERR_IO, "cannot be written: %s", strerror(errno));
	struct recorder *r = hd_alloc(1, sizeof(*r));

	*r = (struct recorder){ .stream = stream, .block = STRBUF_INIT };
	topo_copy(t, &r->topo);
	fwrite(FIRST_LINE, FIRST_LINE_SIZE, 1, stream);
	pack_to(&p, &r->block);
	pack_bool(&p, &timed);
	topo_pack(&p, &r->topo);
	if (times) {
		struct agents_timing copy = *times;

		agents_timing_pack(&p, t, &copy);
	}
	write_block(r);
	recorder_flush(r);
	*out = r;
	return HD_OK;
}

void recorder_note(struct recorder *r, const struct agent_change *d)
{
	struct agent_change copy = *d;
	struct pack p;

	pack_to(&p, &r->block);
	agent_change_pack(&p, &r->topo, &copy);
	write_block(r);
	r->changes++;
}

void recorder_flush(struct recorder *r)
{
	fflush(r->stream);
}

bool recorder_close(struct recorder *r)
{
	uint8_t end[12] = { 0 };

	if (!r)
		return true;
	store_be64(end + 4, r->changes);
	fwrite(end, sizeof(end), 1, r->stream);
	bool good = fflush(r->stream) == 0 && !ferror(r->stream);

	fclose(r->stream);
	topo_fini(&r->topo);
	strbuf_fini(&r->block);
	free(r);
	return good;
}

/* ---- reading */

struct recording {
	FILE *stream;
	struct topo topo;
	bool timed;
	struct agents_timing times; /* valid if MADs take time */
	struct strbuf block;
	uint64_t changes;
};

static enum hd_status cut(const struct recording *r, struct diag *d)
{
	return diag_fail(d, HD_ERR_INPUT, "the recording is cut after %llu changes",
			 (unsigned long long)r->changes);
}

/* Reads the next block, in pieces because its length field may be wrong. */
static enum hd_status read_block(struct recording *r, struct diag *d)
{
	uint8_t length[4];
	char piece[4096];

	strbuf_clear(&r->block);
	if (fread(length, sizeof(length), 1, r->stream) != 1)
		return cut(r, d);
	for (uint32_t left = load_be32(length); left > 0;) {
		size_t n = left < sizeof(piece) ? left : sizeof(piece);

		if (fread(piece, n, 1, r->stream) != 1)
			return cut(r, d);
		strbuf_add(&r->block, piece, n);
		left -= (uint32_t)n;
	}
	return HD_OK;
}

/* Parses the first block. */
static enum hd_status read_fabric(struct recording *r, struct diag *d)
{
	char line[FIRST_LINE_SIZE];
	struct pack p;

	if (fread(line, sizeof(line), 1, r->stream) != 1 ||
	    memcmp(line, FIRST_LINE, sizeof(line)) != 0)
		return diag_fail(d, HD_ERR_INPUT, "no recording of a live fabric");
	enum hd_status status = read_block(r, d);

	if (status != HD_OK)
		return status;
	pack_from(&p, r->block.text, r->block.len);
	pack_bool(&p, &r->timed);
	topo_fini(&r->topo);
	topo_pack(&p, &r->topo);
	if (r->timed)
		agents_timing_pack(&p, &r->topo, &r->times);
	return pack_is_done(&p) ? HD_OK
				: diag_fail(d, HD_ERR_INPUT, "invalid fabric in the recording");
}

enum hd_status daemon_recording_open(FILE *stream, struct diag *d, struct recording **out)
{
	struct recording *r = hd_alloc(1, sizeof(*r));

	*r = (struct recording){ .stream = stream, .block = STRBUF_INIT };
	topo_init(&r->topo);
	enum hd_status status = read_fabric(r, d);

	if (status == HD_OK)
		*out = r;
	else
		daemon_recording_close(r);
	return status;
}

void daemon_recording_close(struct recording *r)
{
	if (!r)
		return;
	file_close(r->stream);
	topo_fini(&r->topo);
	free(r->times.cables);
	strbuf_fini(&r->block);
	free(r);
}

const struct topo *daemon_recording_topo(const struct recording *r)
{
	return &r->topo;
}

const struct agents_timing *daemon_recording_times(const struct recording *r)
{
	return r->timed ? &r->times : NULL;
}

/* Checks that the number of changes is correct and that the file ends there. */
static enum hd_status read_end(struct recording *r, struct diag *d)
{
	uint8_t n[8];

	if (fread(n, sizeof(n), 1, r->stream) != 1)
		return cut(r, d);
	if (load_be64(n) != r->changes || fgetc(r->stream) != EOF)
		return diag_fail(d, HD_ERR_INPUT, "the recording does not end as it says");
	return HD_OK;
}

/* Reads the next change; `found` is false at the end. */
static enum hd_status next(struct recording *r, struct diag *d, struct agent_change *out,
			   bool *found)
{
	struct pack p;
	enum hd_status status = read_block(r, d);

	*found = status == HD_OK && r->block.len > 0;
	if (status != HD_OK)
		return status;
	if (!*found)
		return read_end(r, d);
	*out = (struct agent_change){ .kind = AGENT_CHANGE_RUN };
	pack_from(&p, r->block.text, r->block.len);
	agent_change_pack(&p, &r->topo, out);
	r->changes++;
	return pack_is_done(&p) ? HD_OK
				: diag_fail(d, HD_ERR_INPUT, "invalid change %llu in the recording",
					    (unsigned long long)r->changes);
}

enum hd_status daemon_recording_replay(struct recording *r, struct agents *a, hd_time until,
				       struct diag *d, hd_time *last)
{
	enum hd_status status;
	struct agent_change change;
	bool found;

	*last = 0;
	while ((status = next(r, d, &change, &found)) == HD_OK && found && change.now <= until) {
		if (change.now < *last)
			return diag_fail(d, HD_ERR_INPUT, "change %llu is before the one before it",
					 (unsigned long long)r->changes);
		*last = change.now;
		agents_apply(a, &change);
	}
	return status;
}
