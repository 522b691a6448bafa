/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "report/page.h"
#include "serve/follow_parts.h"

const bool *follow_down(struct follow *s)
{
	const struct sim_setup *setup = &run_fabric(s->run)->setup;
	hd_time now = sim_now(run_sim(s->run));

	memset(s->down, 0, setup->n_ports * sizeof(*s->down));
	for (uint32_t i = 0; i < setup->n_faults; i++) {
		const struct sim_fault *f = &setup->faults[i];

		if (f->time > now || (f->kind != SIM_LINK_DOWN && f->kind != SIM_LINK_UP))
			continue;
		s->down[f->port] = f->kind == SIM_LINK_DOWN;
		s->down[setup->ports[f->port].peer] = s->down[f->port];
	}
	return s->down;
}

/* Data that the page draws once: the fabric and its traffic rows. */
void follow_put_fabric(const struct follow *s, struct strbuf *out)
{
	struct results *r = results_new("serve");

	struct json w;

	run_picture(s->run, r);
	json_init(&w, out);
	w.compact = true;
	page_put_run(&w, &(struct page_run){ .results = r }, NULL);
	results_free(r);
}

static void put_time(struct json *w, const char *key, hd_time time)
{
	json_key(w, key);
	json_double(w, (double)time / (double)HD_US);
}

static const char *state_word(const struct follow *s)
{
	if (!run_is_over(s->run))
		return s->is_paused ? "paused" : "running";
	if (run_state(s->run) == SIM_DEADLOCK)
		return "deadlock";
	return "ended";
}

static void put_changes(const struct follow *s, struct json *w)
{
	json_key(w, "changes");
	json_begin_array(w);
	for (size_t i = 0; i < s->n_notes; i++) {
		json_begin_object(w);
		put_time(w, "at", s->notes[i].at);
		json_put_text(w, "what", s->notes[i].words);
		json_end(w);
	}
	json_end(w);
}

/* Share of the time since the last snapshot, in units of 0.1 %. */
static uint16_t share_since(double so_far, double *before, double since)
{
	double share = (so_far - *before) / since;

	*before = so_far;
	return (uint16_t)lround(1000 * fmin(fmax(share, 0), 1));
}

/* Updates the shares, if the time has advanced. */
static void look(struct follow *s)
{
	const struct sim_metrics *m = sim_metrics(run_sim(s->run));
	const struct sim_setup *setup = &run_fabric(s->run)->setup;
	bool warm = m->to > m->from;
	hd_time whole = warm ? m->to - m->from : m->to;

	if (warm && !s->looked_warm) {
		memset(s->links, 0, m->n_ports * sizeof(*s->links));
		s->looked_at = 0;
		s->looked_warm = true;
	}
	double since = (double)whole - (double)s->looked_at;

	if (since <= 0)
		return;
	for (uint32_t i = 0; i < m->n_ports; i++) {
		struct follow_link *l = &s->links[i];
		double used, waited;

		if (setup->ports[i].peer == SIM_NONE)
			continue;
		sim_port_times(m, i, &used, &waited);
		l->used = share_since(used, &l->used_time, since);
		l->waiting = share_since(waited, &l->wait_time, since);
	}
	s->looked_at = whole;
}

static void put_shares(const struct follow *s, struct json *w, const char *key, size_t offset)
{
	const struct sim_setup *setup = &run_fabric(s->run)->setup;

	json_key(w, key);
	json_begin_array(w);
	for (uint32_t i = 0; i < setup->n_ports; i++) {
		const char *link = (const char *)&s->links[i];

		if (setup->ports[i].peer != SIM_NONE)
			json_uint(w, *(const uint16_t *)(link + offset));
	}
	json_end(w);
}

/* Time of the last failure or repair of the cable at a port. */
static hd_time last_fault(const struct sim_setup *setup, uint32_t port, hd_time now)
{
	hd_time last = 0;

	for (uint32_t i = 0; i < setup->n_faults; i++) {
		const struct sim_fault *f = &setup->faults[i];

		if (f->time <= now && (f->port == port || f->port == setup->ports[port].peer))
			last = f->time;
	}
	return last;
}

/* Links that are down, numbered as in the table "links", with the time. */
static void put_down(struct follow *s, struct json *w)
{
	const struct sim_setup *setup = &run_fabric(s->run)->setup;
	const bool *down = follow_down(s);
	hd_time now = sim_now(run_sim(s->run));
	uint64_t n = 0;

	json_key(w, "down");
	json_begin_array(w);
	for (uint32_t i = 0; i < setup->n_ports; i++) {
		if (setup->ports[i].peer == SIM_NONE)
			continue;
		if (down[i])
			json_uint(w, n);
		n++;
	}
	json_end(w);
	json_key(w, "since");
	json_begin_array(w);
	for (uint32_t i = 0; i < setup->n_ports; i++) {
		if (setup->ports[i].peer != SIM_NONE && down[i])
			json_double(w, (double)last_fault(setup, i, now) / (double)HD_US);
	}
	json_end(w);
}

/* Only rows with a load can be changed; saturating rows have none. */
static void put_rows(const struct follow *s, struct json *w)
{
	const struct scenario *scn = run_fabric(s->run)->scenario;
	hd_time now = sim_now(run_sim(s->run));

	json_key(w, "rows");
	json_begin_array(w);
	for (size_t i = 0; i < scn->n_traffic; i++) {
		const struct scn_traffic *t = &scn->traffic[i];
		struct strbuf load = STRBUF_INIT;

		if (t->stop <= now + HD_NS)
			continue;
		if (t->rate.num)
			hd_rate_print(t->rate, &load);
		else if (t->load.den)
			hd_ratio_print(t->load, &load);
		json_begin_object(w);
		json_put_uint(w, "row", i);
		json_put_text(w, "name", t->name);
		json_put_text(w, "load", load.text);
		json_end(w);
		strbuf_fini(&load);
	}
	json_end(w);
}

static void put_run(const struct follow *s, struct json *w)
{
	/* Tables that are drawn from "links", or that do not change. */
	static const char *const without[] = { "links over time", "tiers over time", "fabric",
					       NULL };
	bool met;
	struct results *r = run_results(s->run, false, &met);

	run_samples(s->run, r);
	json_key(w, "met");
	json_bool(w, met);
	json_key(w, "run");
	page_put_run(w, &(struct page_run){ .results = r }, without);
	results_free(r);
}

void follow_put_state(struct follow *s, struct strbuf *out)
{
	struct sim_progress p;
	struct json w;

	sim_progress(run_sim(s->run), &p);
	look(s);
	json_init(&w, out);
	w.compact = true;
	json_begin_object(&w);
	json_put_text(&w, "state", state_word(s));
	json_put_text(&w, "failure", s->failure);
	put_time(&w, "now", p.now);
	put_time(&w, "speed", s->speed);
	json_key(&w, "share");
	json_double(&w, p.share);
	json_key(&w, "warm");
	json_bool(&w, p.warm);
	const struct scn_sm *sm = &run_fabric(s->run)->scenario->sm;

	json_key(&w, "manager");
	json_bool(&w, sm->trap != HD_TIME_NEVER || sm->sweep != HD_TIME_NEVER);
	json_key(&w, "changing");
	json_bool(&w, s->change != NULL);
	json_put_uint(&w, "version", s->version);
	put_changes(s, &w);
	put_rows(s, &w);
	put_shares(s, &w, "used", offsetof(struct follow_link, used));
	put_shares(s, &w, "waiting", offsetof(struct follow_link, waiting));
	put_down(s, &w);
	put_run(s, &w);
	json_end(&w);
}
