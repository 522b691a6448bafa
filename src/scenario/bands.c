/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>

#include "base/alloc.h"
#include "scenario/checks.h"

/* SLs of qos/tables/classes.h: four each of DB and DBTS, then BE, CH and PBE. */
#define N_CLASSES 11

void scenario_fill_bands(struct scenario *s)
{
	struct scn_qos *q = &s->qos;

	if (!q->bands || q->n_classes)
		return;
	q->classes = hd_alloc(N_CLASSES, sizeof(*q->classes));
	q->n_classes = N_CLASSES;
	for (unsigned sl = 0; sl < N_CLASSES; sl++) {
		enum traffic_class kind = class_of_sl((uint8_t)sl);
		char name[16];

		if (kind <= TC_DB)
			snprintf(name, sizeof(name), "%s%u", class_name(kind), sl % CLASS_BANDS);
		else
			snprintf(name, sizeof(name), "%s", class_name(kind));
		q->classes[sl] = (struct scn_class){
			.name = hd_strdup(name),
			.sl = sl,
			.vl = SCN_VL_AUTO,
			.kind = kind,
			.weight = SCN_WEIGHT_AUTO,
		};
	}
}

/* Whether the kind's SL depends on the rate. */
static bool is_banded(const struct scenario *s, const char *name, enum traffic_class *kind)
{
	return s->qos.bands && class_parse(name, kind) == HD_OK && *kind <= TC_DB;
}

static struct hd_rate mean_of(const struct scn_traffic *t)
{
	return t->rate.num ? t->rate : t->reserve;
}

const struct scn_class *scenario_row_class(const struct scenario *s, const struct scn_traffic *t)
{
	enum traffic_class kind;

	if (!t->service)
		return NULL;
	if (!is_banded(s, t->service, &kind))
		return scenario_class(s, t->service);
	const struct scn_class *c = scenario_class_of_sl(s, class_sl(kind, mean_of(t)));

	return c && c->kind == kind ? c : NULL;
}

enum hd_status scenario_check_bands(const struct scenario *s, struct diag *d)
{
	enum traffic_class kind;

	for (size_t i = 0; i < s->qos.n_classes; i++) {
		const struct scn_class *c = &s->qos.classes[i];

		if (is_banded(s, c->name, &kind))
			return scenario_refuse(
				s, d, &c->name,
				"with qos.bands the rate chooses the SL of '%s'; give this class another name",
				c->name);
	}
	return HD_OK;
}

enum hd_status scenario_check_row_class(const struct scenario *s, struct diag *d,
					const struct scn_traffic *t)
{
	enum traffic_class kind;

	if (!t->service)
		return HD_OK;
	if (!is_banded(s, t->service, &kind))
		return scenario_class(s, t->service) ? HD_OK
						     : scenario_refuse_class(s, d, &t->service);
	if (!mean_of(t).num)
		return scenario_refuse(
			s, d, &t->service,
			"traffic '%s': qos.bands chooses the SL of class %s by rate; add 'rate' or 'reserve'",
			t->name, t->service);
	if (scenario_row_class(s, t))
		return HD_OK;
	return scenario_refuse(
		s, d, &t->service,
		"traffic '%s': by its rate class %s has SL %u, which no class of this kind in qos.classes has",
		t->name, class_name(kind), class_sl(kind, mean_of(t)));
}
