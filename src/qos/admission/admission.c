/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/admission/admission.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "qos/admission/reservations.h"
#include "qos/opensm/port_conf.h"
#include "subnet/multicast/mcast.h"
#include "subnet/tables/ends.h"

static bool is_tolerant(const struct admission *a)
{
	return a->params.violations.num > 0;
}

static double share_of(struct hd_ratio r)
{
	return (double)r.num / (double)r.den;
}

/* Statistical admission; returns NULL, or the reason for a refusal. */
static char *ask_tolerantly(struct admission *a, const struct qos_request *q,
			    const struct broker_request *request)
{
	const struct qos_terms *t = &a->params.terms;
	struct diag why = { .status = HD_OK };
	const struct stat_request asked = {
		.source = request->way.segment[0].source,
		.dlid = request->way.segment[0].dlid,
		.sl = request->way.segment[0].sl,
		.peak = hd_rate_bps(request->rate),
		.mean = hd_rate_bps(qos_charged_rate(q, q->mean, &t->packets, t->margin)),
	};

	return stat_broker_admit(&a->tolerant, &asked, &why) == HD_OK ? NULL
								      : hd_strdup(why.message);
}

/* Admission of the peak rate; returns NULL, or the reason for a refusal. */
static char *ask_firmly(struct admission *a, const struct broker_request *request, uint32_t *id)
{
	struct broker_refusal why;
	struct strbuf reason = STRBUF_INIT;

	if (broker_admit(&a->broker, request, id, &why) == HD_OK)
		return NULL;
	broker_refusal_print(&a->broker, &why, &reason);
	char *text = hd_strdup(reason.text);

	strbuf_fini(&reason);
	return text;
}

static enum hd_status ask(struct admission *a, const struct qos_request *q, struct diag *d)
{
	struct admission_answer answer = { .request = q };
	struct qos_target to;

	if (qos_find_target(a->subnet, &a->params.terms, q, d, &to) != HD_OK)
		return d->status;
	answer.reason = ask_firmly(a, &to.request, &answer.connection);
	answer.by_peak = !answer.reason;
	if (is_tolerant(a)) {
		free(answer.reason);
		answer.reason = ask_tolerantly(a, q, &to.request);
	}
	answer.admitted = !answer.reason;
	a->refused += !answer.admitted;
	if (answer.admitted)
		answer.reason = hd_strdup("");
	a->answers[a->n_answers++] = answer;
	return HD_OK;
}

static enum hd_status ask_all(struct admission *a, struct diag *d)
{
	const struct qos_requests *all = a->requests;
	enum hd_status status = HD_OK;

	d->file = all->file;
	a->answers = hd_alloc(all->n, sizeof(*a->answers));
	for (size_t i = 0; status == HD_OK && i < all->n; i++)
		status = ask(a, &all->items[i], d);
	return status;
}

static enum hd_status ask_at_random(struct admission *a, struct diag *d)
{
	struct establish_params p = broker_establish_defaults();

	p.seed = a->params.seed;
	p.tried = (uint32_t)a->params.random;
	p.payload = a->params.terms.packets.payload;
	p.overhead = a->params.terms.packets.overhead;
	enum hd_status status = establish(&a->broker, &p, d, &a->random);

	a->refused += status == HD_OK && a->random.established < p.tried;
	return status;
}

/* Restores the senders of shared trees in saved reservations. */
static enum hd_status lead_saved_senders(struct subnet *s, const struct reservations *saved,
					 struct diag *d)
{
	enum hd_status status = HD_OK;

	for (size_t i = 0; i < saved->n; i++) {
		const struct broker_segment *q = &saved->items[i].way.segment[0];

		for (uint32_t g = 0; status == HD_OK && g < s->n_groups; g++) {
			if (s->groups[g].mlid == q->dlid && s->groups[g].method == MCAST_SHARED)
				status = mcast_admit_sender(s, g, q->source, d);
		}
	}
	return status;
}

static enum hd_status take_saved(struct admission *a, struct diag *d)
{
	struct strbuf text = STRBUF_INIT;
	struct reservations saved = { 0 };
	enum hd_status status = file_read(a->params.load, FILE_WRITTEN_LIMIT, d, &text);

	if (status == HD_OK)
		status = reservations_read(a->subnet, text.text, d, &saved);
	if (status == HD_OK)
		status = lead_saved_senders(a->subnet, &saved, d);
	if (status == HD_OK)
		status = reservations_admit(&a->broker, &saved, d);
	reservations_fini(&saved);
	strbuf_fini(&text);
	return status;
}

static enum hd_status save(const struct admission *a, struct diag *d)
{
	struct strbuf text = STRBUF_INIT;
	enum hd_status status = reservations_write(&a->broker, d, &text);

	if (status == HD_OK)
		status = file_write(a->params.save, text.text, text.len, d);
	strbuf_fini(&text);
	return status;
}

static enum hd_status save_tables(const struct admission *a, struct diag *d)
{
	struct vlarb *tables = hd_alloc(a->subnet->topo->n_ports, sizeof(*tables));

	broker_all_tables(&a->broker, tables);
	enum hd_status status = port_conf_save(a->params.tables, a->subnet, tables, d);

	free(tables);
	return status;
}

static enum hd_status work(struct admission *a, struct diag *d)
{
	const struct admission_params *p = &a->params;
	uint32_t refused;
	enum hd_status status = broker_admit_standing(&a->broker, d, &refused);

	if (status == HD_OK)
		status = named_groups_add(a->subnet, &p->terms.groups, d);
	if (status == HD_OK && p->load)
		status = take_saved(a, d);
	if (status == HD_OK && a->requests)
		status = ask_all(a, d);
	if (status == HD_OK && p->random)
		status = ask_at_random(a, d);
	if (status == HD_OK)
		status = broker_audit(&a->broker, d);
	if (status == HD_OK && p->tables)
		status = save_tables(a, d);
	if (status == HD_OK && p->save)
		status = save(a, d);
	return status;
}

/* Sets the capacities of links without the share of best effort; call before the first request. */
static void tolerate(struct admission *a)
{
	const struct broker_params *p = &a->params.broker;

	stat_broker_init(&a->tolerant, a->subnet,
			 1 - share_of(p->best_effort) - share_of(p->preferred),
			 share_of(a->params.violations));
	a->seen = hd_alloc(a->subnet->topo->n_ports, sizeof(*a->seen));
}

enum hd_status admission_run(struct admission *a, struct subnet *s,
			     const struct admission_params *p, const struct qos_requests *requests,
			     struct diag *d)
{
	*a = (struct admission){ .subnet = s, .params = *p, .requests = requests };
	enum hd_status status = broker_init(&a->broker, s, &p->broker, d);

	if (status != HD_OK)
		return status;
	if (is_tolerant(a))
		tolerate(a);
	if (is_tolerant(a) && p->broker.n_standing)
		status = diag_fail(
			d, HD_ERR_UNFIT,
			"statistical admission does not count the reservation of job '%.80s'; remove its 'reserve'",
			p->broker.standing[0].hose->name);
	if (status == HD_OK && is_tolerant(a) && requests)
		status = qos_requests_need_promises(requests, "it is never violated", d);
	if (status == HD_OK)
		status = work(a, d);
	if (status != HD_OK)
		admission_fini(a);
	else if (is_tolerant(a))
		stat_broker_survey(&a->tolerant, p->seed, a->seen);
	return status;
}

void admission_fini(struct admission *a)
{
	for (size_t i = 0; i < a->n_answers; i++)
		free(a->answers[i].reason);
	free(a->answers);
	if (is_tolerant(a))
		stat_broker_fini(&a->tolerant);
	free(a->seen);
	broker_fini(&a->broker);
}

struct admission_load admission_load_of(const struct broker *b)
{
	struct admission_load load = { .most = -1 };
	double sum = 0;
	unsigned n = 0;

	for (port_id p = 0; p < b->subnet->topo->n_ports; p++) {
		const struct broker_link *link = &b->links[p];

		if (link->rate.num == 0)
			continue;
		double share = 100.0 * (link->high.total + link->low.total) / FRAME_SLOTS;

		sum += share;
		n++;
		if (share > load.most) {
			load.most = share;
			load.fullest = p;
		}
	}
	load.mean = n ? sum / n : 0;
	return load;
}

bool admission_met(const struct admission *a)
{
	if (a->refused > 0)
		return false;
	for (port_id p = 0; a->seen && p < a->subnet->topo->n_ports; p++) {
		if (stat_broker_users(&a->tolerant, p) > 1 && a->seen[p].mean > a->tolerant.allowed)
			return false;
	}
	return true;
}
