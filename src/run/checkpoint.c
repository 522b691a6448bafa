/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/checkpoint.h"

#include <stdint.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"

static const char mark[] = "heddle checkpoint\n";
#define MARK_LEN   (sizeof(mark) - 1)
#define DIGEST_LEN 16
#define LIMIT      ((size_t)1 << 40)

static void put_digest(const struct digest *h, char *out)
{
	for (unsigned i = 0; i < 8; i++) {
		out[i] = (char)(h->a >> (8 * i));
		out[8 + i] = (char)(h->b >> (8 * i));
	}
}

/* The bytes before a state and those after it: a large one is not
 * copied. */
static void frame(const struct digest *content, const struct strbuf *state, struct strbuf *head,
		  char *seal)
{
	uint32_t rules = CHECKPOINT_RULES;
	struct digest of = *content, whole = DIGEST_START;
	struct pack p;

	strbuf_add(head, mark, MARK_LEN);
	pack_to(&p, head);
	pack_u32(&p, &rules);
	pack_u64(&p, &of.a);
	pack_u64(&p, &of.b);
	digest_add(&whole, head->text, head->len);
	digest_add(&whole, state->text, state->len);
	put_digest(&whole, seal);
}

void checkpoint_print(const struct digest *content, const struct strbuf *state, struct strbuf *out)
{
	char seal[DIGEST_LEN];

	frame(content, state, out, seal);
	strbuf_add(out, state->text, state->len);
	strbuf_add(out, seal, sizeof(seal));
}

enum hd_status checkpoint_write(const char *path, const struct digest *content,
				const struct strbuf *state, struct diag *d)
{
	struct strbuf head = STRBUF_INIT;
	char seal[DIGEST_LEN];
	struct file_writer w;
	enum hd_status status = file_create(&w, path, d);

	if (status != HD_OK)
		return status;
	frame(content, state, &head, seal);
	w.durable = true;
	fwrite(head.text, 1, head.len, w.stream); /* commit sees to it */
	fwrite(state->text, 1, state->len, w.stream);
	fwrite(seal, 1, sizeof(seal), w.stream);
	strbuf_fini(&head);
	return file_commit(&w, d);
}

/* Does it begin as one, as far as it goes? */
static bool is_marked(const char *bytes, size_t len)
{
	return len > 0 && memcmp(bytes, mark, len < MARK_LEN ? len : MARK_LEN) == 0;
}

static bool is_whole(const char *bytes, size_t len)
{
	struct digest whole = DIGEST_START;
	char seal[DIGEST_LEN];

	if (len < MARK_LEN + DIGEST_LEN)
		return false;
	digest_add(&whole, bytes, len - DIGEST_LEN);
	put_digest(&whole, seal);
	return memcmp(seal, bytes + len - DIGEST_LEN, DIGEST_LEN) == 0;
}

enum hd_status checkpoint_parse(const char *bytes, size_t len, const struct digest *content,
				struct diag *d, struct pack *out)
{
	uint32_t rules = 0;
	struct digest of = { 0, 0 };

	if (!is_marked(bytes, len))
		return diag_fail(d, HD_ERR_INPUT, "not a checkpoint");
	if (!is_whole(bytes, len))
		return diag_fail(d, HD_ERR_INPUT, "the checkpoint is damaged or truncated");
	pack_from(out, bytes + MARK_LEN, len - MARK_LEN - DIGEST_LEN);
	pack_u32(out, &rules);
	pack_u64(out, &of.a);
	pack_u64(out, &of.b);
	if (rules != CHECKPOINT_RULES)
		return diag_fail(
			d, HD_ERR_UNFIT,
			"the checkpoint belongs to another version of heddle (format %u, expected %u)",
			rules, CHECKPOINT_RULES);
	if (of.a != content->a || of.b != content->b)
		return diag_fail(
			d, HD_ERR_UNFIT,
			"the checkpoint belongs to another scenario, other --set or --seed values, or other input files");
	return HD_OK;
}

/* What is no checkpoint is not gathered, however long it is. */
static enum hd_status read_all(FILE *in, struct diag *d, struct strbuf *held)
{
	uint64_t room = memory_room() / 2;
	char begin[MARK_LEN];
	size_t n = fread(begin, 1, sizeof(begin), in);

	if (!is_marked(begin, n))
		return diag_fail(d, HD_ERR_INPUT, "not a checkpoint");
	strbuf_add(held, begin, n);
	return file_read_rest(in, room < LIMIT ? room : LIMIT, d, held);
}

enum hd_status checkpoint_read(const char *path, const struct digest *content, struct diag *d,
			       struct strbuf *held, struct pack *out)
{
	const char *before = memory_for("checkpoints");
	FILE *in;
	enum hd_status status = file_open(path, d, &in);

	if (status == HD_OK) {
		status = read_all(in, d, held);
		file_close(in);
	}
	memory_for(before);
	return status == HD_OK ? checkpoint_parse(held->text, held->len, content, d, out) : status;
}
