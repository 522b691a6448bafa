/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/watch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "live/live.h"
#include "serve/watch_parts.h"

#define BETWEEN 0.25 /* seconds; minimum interval between two samples of links */

/* ---- the fabric ---------------------------------------------------------- */

static void forget_fabric(struct fabric_watch *w)
{
	if (!w->is_known)
		return;
	if (w->agents)
		agents_free(w->agents);
	topo_fini(&w->topo);
	free(w->links);
	free(w->counters);
	free(w->before);
	w->agents = NULL;
	w->is_known = false;
	w->n_samples = 0;
}

static void nothing_arrives(void *context, port_id port, const struct mad_address *from,
			    const uint8_t *mad, size_t size)
{
	(void)context;
	(void)port;
	(void)from;
	(void)mad;
	(void)size;
}

/* Attaches to a new fabric. */
static enum hd_status meet(struct fabric_watch *w, uint64_t born, struct diag *d)
{
	forget_fabric(w);
	enum hd_status status = live_topology(w->dir, d, &w->topo);

	if (status != HD_OK)
		return status;
	const struct topo *t = &w->topo;
	size_t n = (size_t)t->n_ports * N_PROMETHEUS_COUNTERS;

	w->is_known = true;
	w->born = born;
	w->version = UINT64_MAX;
	w->links = hd_alloc(t->n_ports + 1, sizeof(*w->links));
	w->counters = hd_alloc(n + 1, sizeof(*w->counters));
	w->before = hd_alloc(n + 1, sizeof(*w->before));
	w->looked = 0;
	w->n_links = 0;
	for (port_id p = 0; p < t->n_ports; p++) {
		if (t->ports[p].peer != TOPO_NONE)
			w->links[w->n_links++] =
				(struct picture_link){ .from = p, .to = t->ports[p].peer };
	}
	return HD_OK;
}

static void draw(struct fabric_watch *w)
{
	struct strbuf now = STRBUF_INIT;

	watch_put_picture(w, &now);
	if (now.len != w->picture.len || memcmp(now.text, w->picture.text, now.len) != 0)
		w->drawn++;
	strbuf_fini(&w->picture);
	w->picture = now;
}

/* Reads the programmed tables and the rates of the links. */
static enum hd_status read_tables(struct fabric_watch *w, struct diag *d)
{
	const char *const words[] = { "image" };
	const struct agents_options options = { 0 };
	const struct agents_events events = { .arrived = nothing_arrives };
	struct strbuf image = STRBUF_INIT;
	enum hd_status status = live_call(w->dir, words, 1, d, &image);

	if (w->agents)
		agents_free(w->agents);
	w->agents = agents_new(&w->topo, &options, &events);
	if (status == HD_OK)
		status = agents_load(w->agents, image.text, image.len, d);
	strbuf_fini(&image);
	for (size_t i = 0; i < w->n_links; i++) {
		enum link_speed speed;
		unsigned lanes;

		agents_link(w->agents, w->links[i].from, &lanes, &speed);
		w->links[i].rate = hd_rate_of_link(lanes, speed);
	}
	return status;
}

/* ---- sampling ------------------------------------------------------------ */

/* Increment of a counter since the last sample; a counter that was reset counts from 0. */
static double more(const struct fabric_watch *w, port_id port, size_t index)
{
	uint64_t now = watch_counter(w->counters, port, index);
	uint64_t then = watch_counter(w->before, port, index);

	return (double)(now >= then ? now - then : now);
}

static void add_sample(struct fabric_watch *w, double now, double rate)
{
	if (w->n_samples == WATCH_SAMPLES) {
		w->n_samples--;
		memmove(w->samples, w->samples + 1, w->n_samples * sizeof(*w->samples));
	}
	w->samples[w->n_samples++] = (struct watch_sample){ now - w->began, rate };
}

/* Use of links since the last sample, from words of 4 bytes and ticks. */
static void look_at_links(struct fabric_watch *w, double now)
{
	const size_t data = prometheus_index("PortXmitData");
	const size_t wait = prometheus_index("PortXmitWait");
	const struct topo *t = &w->topo;
	double since = now - w->looked, sent = 0;

	for (size_t i = 0; i < w->n_links && w->looked > 0; i++) {
		struct picture_link *l = &w->links[i];
		double whole = hd_rate_bps(l->rate) / 32 * since;
		double words = more(w, l->from, data);
		double ticks = more(w, l->from, wait);

		l->used = fmin(words / whole, 1);
		l->waiting = fmin(ticks / whole, 1);
		if (!topo_is_switch(t, t->ports[l->from].node))
			sent += words * 32;
	}
	if (w->looked > 0)
		add_sample(w, now, sent / since);
	memcpy(w->before, w->counters,
	       (size_t)t->n_ports * N_PROMETHEUS_COUNTERS * sizeof(*w->before));
	w->looked = now;
}

static enum hd_status read_counters(struct fabric_watch *w, struct diag *d)
{
	const char *names[N_PROMETHEUS_COUNTERS];

	for (size_t i = 0; i < N_PROMETHEUS_COUNTERS; i++)
		names[i] = prometheus_counter(i);
	return live_counters(w->dir, names, N_PROMETHEUS_COUNTERS, w->topo.n_ports, d, w->counters);
}

static enum hd_status look(struct fabric_watch *w, struct diag *d)
{
	const char *const words[] = { "version" };
	struct strbuf text = STRBUF_INIT;
	enum hd_status status = live_call(w->dir, words, 1, d, &text);
	char *end = text.text;
	uint64_t version = status == HD_OK ? strtoull(end, &end, 10) : 0;
	uint64_t born = status == HD_OK ? strtoull(end, NULL, 10) : 0;

	strbuf_fini(&text);
	if (status == HD_OK && (!w->is_known || born != w->born))
		status = meet(w, born, d);
	if (status == HD_OK && version != w->version) {
		status = read_tables(w, d);
		if (status == HD_OK)
			draw(w);
		w->version = status == HD_OK ? version : UINT64_MAX;
	}
	if (status == HD_OK)
		status = read_counters(w, d);
	double now = clock_seconds();

	if (status == HD_OK && now - w->looked >= BETWEEN)
		look_at_links(w, now);
	return status;
}

/* ---- changes ------------------------------------------------------------- */

static enum hd_status change(struct fabric_watch *w, const struct change *c, struct diag *d)
{
	bool cuts = c->kind == CHANGE_CUT;
	struct strbuf port = STRBUF_INIT, words = STRBUF_INIT, out = STRBUF_INIT;

	if (!cuts && c->kind != CHANGE_MEND)
		return diag_fail(d, HD_ERR_UNFIT,
				 "tables of a live fabric are set by its subnet manager");
	if (c->link >= w->n_links)
		return diag_fail(d, HD_ERR_NOT_FOUND, "unknown link %u", c->link);
	port_id p = w->links[c->link].from;

	picture_port_name(&w->topo, p, &port);
	strbuf_printf(&words, "%s:%u", topo_node_of(&w->topo, p)->name, w->topo.ports[p].number);
	const char *const call[] = { "link", words.text, cuts ? "down" : "up" };
	enum hd_status status = live_call(w->dir, call, 3, d, &out);

	strbuf_clear(&words);
	strbuf_printf(&words, "link-%s %s", call[2], port.text);
	if (status == HD_OK) {
		w->notes = hd_grow(w->notes, &w->notes_cap, w->n_notes + 1, sizeof(*w->notes));
		w->notes[w->n_notes++] =
			(struct watch_note){ clock_seconds() - w->began, strbuf_detach(&words) };
	}
	strbuf_fini(&words);
	strbuf_fini(&port);
	strbuf_fini(&out);
	return status;
}

/* ---- answers ------------------------------------------------------------- */

static enum hd_status answer(struct fabric_watch *w, const struct http_request *r, struct diag *d,
			     struct reply *out)
{
	enum hd_status status = look(w, d);

	if (status != HD_OK)
		return status;
	switch (r->kind) {
	case REQUEST_FABRIC:
		out->type = "application/json";
		strbuf_add(&out->body, w->picture.text, w->picture.len);
		return HD_OK;
	case REQUEST_STATE:
		out->type = "application/json";
		watch_put_state(w, &out->body);
		return HD_OK;
	case REQUEST_METRICS:
		out->type = "text/plain; version=0.0.4; charset=utf-8";
		watch_put_metrics(w, &out->body);
		return HD_OK;
	case REQUEST_CHANGE:
		return change(w, &r->change, d);
	default:
		return diag_fail(d, HD_ERR_UNFIT,
				 "a live fabric cannot be paused, stepped or restarted");
	}
}

void watch_answer(void *context, const struct http_request *r, struct reply *out)
{
	struct fabric_watch *w = context;
	struct diag d = { .status = HD_OK };

	if (answer(w, r, &d, out) != HD_OK)
		serve_reply_refuse(out, &d);
}

enum hd_status watch_new(const char *name, struct diag *d, struct fabric_watch **out)
{
	struct fabric_watch *w = hd_alloc(1, sizeof(*w));

	w->name = name;
	w->dir = live_folder(name);
	w->picture = (struct strbuf)STRBUF_INIT;
	w->began = clock_seconds();
	enum hd_status status = look(w, d);

	if (status == HD_OK)
		*out = w;
	else
		watch_free(w);
	return status;
}

void watch_free(struct fabric_watch *w)
{
	forget_fabric(w);
	for (size_t i = 0; i < w->n_notes; i++)
		free(w->notes[i].words);
	free(w->notes);
	strbuf_fini(&w->picture);
	free(w->dir);
	free(w);
}
