/* SPDX-License-Identifier: BSD-2-Clause */
/* Checkpoints of a run with all its observers. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/mpi/world.h"
#include "base/output_files.h"
#include "run/content.h"
#include "run/run_internal.h"

/* ---- content of a checkpoint -------------------------------------------- */

/* Digest of the scenario and of the options that select observers. */
static enum hd_status find_content(const struct run *s, const struct run_options *o, struct diag *d,
				   struct digest *out)
{
	struct strbuf text = STRBUF_INIT;
	enum hd_status status = content_of_scenario(s->fabric->scenario, d, &text);

	strbuf_printf(&text, "# looks: %d %d %u %d %llu\n", o->pcap != NULL, o->trace != NULL,
		      o->flow_control, o->sampled, (unsigned long long)o->sample);
	for (size_t i = 0; i < o->ports.n; i++)
		strbuf_printf(&text, "# port: %s\n", o->ports.items[i]);
	*out = (struct digest)DIGEST_START;
	digest_add(out, text.text, text.len);
	strbuf_fini(&text);
	return status;
}

/*
 * Refuses a checkpoint whose content digest differs. The message names the output options if the
 * digest matches with other outputs: an output that was not written from the start cannot be
 * completed.
 */
static enum hd_status refuse_unfit(const struct run *s, const struct diag *why, struct diag *d)
{
	static const struct {
		bool pcap, trace, sampled;
		const char *options;
	} changes[] = {
		{ false, true, false, "--trace" },
		{ true, false, false, "--pcap" },
		{ true, true, false, "--pcap and --trace" },
		{ false, false, true, "samples (--db, --html)" },
	};

	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		struct diag inner = { .status = HD_OK };
		struct run_options o = s->options;
		struct digest content;
		struct pack ignored;

		o.trace = changes[i].trace == !o.trace ? "" : NULL;
		o.pcap = changes[i].pcap == !o.pcap ? "" : NULL;
		o.sampled ^= changes[i].sampled;
		if (find_content(s, &o, &inner, &content) == HD_OK &&
		    checkpoint_parse(s->restart.text, s->restart.len, &content, &inner, &ignored) ==
			    HD_OK)
			return diag_fail(
				d, HD_ERR_UNFIT,
				"the checkpoint belongs to a run %s %s: restart with the same options",
				(changes[i].trace && o.trace) || (changes[i].pcap && o.pcap) ||
						(changes[i].sampled && o.sampled)
					? "with"
					: "without",
				changes[i].options);
	}
	return diag_fail(d, why->status, "%s", why->message);
}

static enum hd_status read_restart(struct run *s, struct diag *d)
{
	struct diag why = { .status = HD_OK };
	enum hd_status status =
		checkpoint_read(s->options.restart, &s->content, &why, &s->restart, &s->saved);

	if (status == HD_OK)
		return HD_OK;
	d->file = why.file;
	return status == HD_ERR_UNFIT ? refuse_unfit(s, &why, d)
				      : diag_fail(d, status, "%s", why.message);
}

/* With several processes, only the first reads and writes the checkpoint file. */
static bool has_file(const struct run *s)
{
	return !s->options.world || s->options.world->rank == 0;
}

enum hd_status run_checkpoint_begin(struct run *s, struct diag *d)
{
	const struct run_options *o = &s->options;
	enum hd_status status = HD_OK;

	if (!o->checkpoint && !o->restart)
		return HD_OK;
	if (!has_file(s))
		return HD_OK;
	status = find_content(s, o, d, &s->content);
	if (status == HD_OK && o->checkpoint)
		status = file_check_place(o->checkpoint, d);
	if (status == HD_OK && o->restart)
		status = read_restart(s, d);
	return status;
}

static enum hd_status refuse_damaged(const struct run *s, struct diag *d)
{
	d->file = s->options.restart;
	return diag_fail(d, HD_ERR_INPUT, "the checkpoint does not match this run");
}

/* ---- output files that grow during the run ------------------------------ */

/* A string as its length and bytes. The caller frees the result. */
static char *pack_text(struct pack *p, const char *text)
{
	size_t len = pack_count(p, text ? strlen(text) : 0);
	char *copy = text ? hd_strdup(text) : hd_alloc(len + 1, 1);

	pack_bytes(p, copy, len);
	return copy;
}

static void pack_part(struct pack *p, struct file_part *part)
{
	pack_u64(p, &part->len);
	pack_u64(p, &part->content.a);
	pack_u64(p, &part->content.b);
}

enum hd_status run_checkpoint_open_output(struct run *s, struct side_file *f, const char *path,
					  struct diag *d)
{
	enum hd_status status;

	d->file = NULL;
	if (s->options.restart) {
		char *saved_text = pack_text(&s->saved, NULL);
		char *target = pack_text(&s->saved, NULL);

		status = s->saved.refused ? refuse_damaged(s, d)
					  : file_resume(&f->writer, path, saved_text, target, d);
		free(saved_text);
		free(target);
	} else {
		status = file_create(&f->writer, path, d);
	}
	f->is_open = status == HD_OK;
	f->stream = f->is_open ? f->writer.stream : NULL;
	if (f->is_open && s->options.checkpoint && !f->writer.target)
		status = diag_fail(
			d, HD_ERR_UNFIT,
			"--checkpoint requires regular files as outputs: other outputs cannot be continued");
	return status;
}

/* File names come first in the state: the files are opened before the rest is restored. */
static enum hd_status pack_files(struct run *s, struct pack *p, struct diag *d)
{
	struct side_file *files[] = { &s->pcap, &s->trace };
	enum hd_status status = HD_OK;
	struct file_part parts[2] = { { .len = 0 }, { .len = 0 } };

	for (unsigned i = 0; i < 2 && status == HD_OK; i++) {
		if (files[i]->is_open)
			status = file_keep(&files[i]->writer, d, &parts[i]);
	}
	for (unsigned i = 0; i < 2 && status == HD_OK; i++) {
		if (!files[i]->is_open)
			continue;
		free(pack_text(p, files[i]->writer.partial));
		free(pack_text(p, files[i]->writer.target));
	}
	for (unsigned i = 0; i < 2 && status == HD_OK; i++) {
		if (files[i]->is_open)
			pack_part(p, &parts[i]);
	}
	return status;
}

/* The checkpoint names the partial files, so they must survive this process. */
static void keep_partial_files(struct run *s)
{
	if (s->pcap.is_open)
		file_keep_partial(&s->pcap.writer);
	if (s->trace.is_open)
		file_keep_partial(&s->trace.writer);
}

static enum hd_status cut_files(struct run *s, struct diag *d)
{
	struct side_file *files[] = { &s->pcap, &s->trace };
	enum hd_status status = HD_OK;

	for (unsigned i = 0; i < 2 && status == HD_OK; i++) {
		struct file_part part = { .len = 0 };

		if (!files[i]->is_open)
			continue;
		pack_part(&s->saved, &part);
		status = s->saved.refused ? refuse_damaged(s, d)
					  : file_cut(&files[i]->writer, &part, d);
	}
	return status;
}

/* ---- restoring ---------------------------------------------------------- */

static void pack_watchers(struct run *s, struct pack *p)
{
	report_observers_pack(&s->watch, p);
	if (s->options.sampled)
		report_samples_pack(&s->samples, p);
}

static enum hd_status refuse_unsaved(const struct run *s, struct diag *d)
{
	const char *why = sim_not_saved(s->sim);

	d->file = NULL;
	return why ? diag_fail(d, HD_ERR_UNFIT, "the state of this run cannot be saved: %s", why)
		   : HD_OK;
}

/* Sends the state that the first process has read to all processes. */
static enum hd_status share_state(struct run *s, enum hd_status status, struct diag *d)
{
	const struct world *world = s->options.world;

	status = world_agree(world, status, d);
	if (status != HD_OK)
		return status;
	struct world_bytes *from = hd_alloc(world->n, sizeof(*from));
	struct strbuf mine = STRBUF_INIT;

	if (world->rank == 0)
		strbuf_add(&mine, (const char *)s->saved.in, s->saved.left);
	world_share(world, &mine, from);
	strbuf_clear(&s->restart);
	strbuf_add(&s->restart, from[0].bytes, from[0].len);
	pack_from(&s->saved, s->restart.text, s->restart.len);
	strbuf_fini(&mine);
	free(from);
	return HD_OK;
}

enum hd_status run_checkpoint_restore(struct run *s, struct diag *d)
{
	enum hd_status status = HD_OK;

	s->saved_at = clock_seconds();
	if (s->options.checkpoint || s->options.restart)
		status = refuse_unsaved(s, d);
	if (status != HD_OK || !s->options.restart)
		return status;
	if (has_file(s))
		status = cut_files(s, d);
	if (s->options.world)
		status = share_state(s, status, d);
	if (status != HD_OK)
		return status;
	pack_watchers(s, &s->saved);
	if (s->saved.refused || !sim_load(s->sim, s->saved.in, s->saved.left))
		return refuse_damaged(s, d);
	strbuf_fini(&s->restart);
	s->is_saved = s->options.checkpoint && has_file(s) &&
		      file_is_same(s->options.checkpoint, s->options.restart);
	s->saved_now = sim_now(s->sim);
	return HD_OK;
}

/* ---- saving ------------------------------------------------------------- */

hd_time run_checkpoint_next(const struct run *s, hd_time until)
{
	hd_time every = s->options.every_simulated, now = sim_now(s->sim);

	if (!s->options.checkpoint || !every || now > HD_TIME_NEVER - every)
		return until;
	hd_time next = (now / every + 1) * every;

	return next < until ? next : until;
}

bool run_checkpoint_progress(void *context, const struct sim_progress *p)
{
	struct run *s = context;
	const struct run_options *o = &s->options;
	bool goes_on = !o->progress || o->progress(o->context, p);

	s->is_stopped |= !goes_on;
	/* Save on a stop, too: the caller may resume the run later. */
	s->is_due = o->checkpoint &&
		    (!goes_on || (!o->every_simulated && clock_seconds() - s->saved_at >=
								 (double)o->every / (double)HD_S));
	return goes_on && !s->is_due;
}

static enum hd_status save(struct run *s, struct diag *d)
{
	struct strbuf state = STRBUF_INIT;
	struct pack p;

	pack_to(&p, &state);
	enum hd_status status = pack_files(s, &p, d);

	pack_watchers(s, &p);
	sim_save(s->sim, &state);
	cleanup_defer_signals();
	if (status == HD_OK && has_file(s))
		status = checkpoint_write(s->options.checkpoint, &s->content, &state, d);
	if (status == HD_OK)
		keep_partial_files(s);
	cleanup_resume_signals();
	strbuf_fini(&state);
	return s->options.world ? world_agree(s->options.world, status, d) : status;
}

/* Reports a failed checkpoint. The run continues, and the previous checkpoint file stays valid. */
static void note_unsaved(struct run *s, const struct diag *d)
{
	struct strbuf line = STRBUF_INIT;

	diag_print(d, &s->unsaved);
	strbuf_puts(&line, "no checkpoint at ");
	hd_time_print(sim_now(s->sim), &line);
	strbuf_printf(&line, ", and the run continues: %s", s->unsaved.text);
	if (s->options.unsaved)
		s->options.unsaved(s->options.context, line.text);
	strbuf_fini(&line);
}

void run_checkpoint_pause(struct run *s)
{
	hd_time every = s->options.every_simulated;
	struct diag d = { .status = HD_OK };

	if (!s->options.checkpoint)
		return;
	if (every && !s->is_stopped)
		s->is_due = sim_now(s->sim) % every == 0;
	s->is_due = sim_ask_first(s->sim, s->is_due);
	if (!s->is_due)
		return;
	strbuf_clear(&s->unsaved);
	if (save(s, &d) == HD_OK) {
		s->is_saved = true;
		s->saved_now = sim_now(s->sim);
	} else {
		note_unsaved(s, &d);
	}
	s->is_due = false;
	s->saved_at = clock_seconds();
}

bool run_is_saved(const struct run *s, hd_time *now)
{
	*now = s->saved_now;
	return s->is_saved;
}

bool run_is_unsaved(const struct run *s)
{
	return s->unsaved.len > 0;
}

void run_checkpoint_remark(const struct run *s, struct results *r)
{
	struct strbuf until = STRBUF_INIT;

	if (!run_is_unsaved(s))
		return;
	hd_time_print(s->saved_now, &until);
	if (s->is_saved)
		results_remark(
			r,
			"the checkpoint '%s' is stale: it holds the run until %s; the last one could not be written: %s",
			s->options.checkpoint, until.text, s->unsaved.text);
	else
		results_remark(r, "the checkpoint '%s' is missing: it could not be written: %s",
			       s->options.checkpoint, s->unsaved.text);
	strbuf_fini(&until);
}
