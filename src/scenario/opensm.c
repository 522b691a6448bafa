/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "qos/opensm_cc.h"
#include "scenario/checks.h"
#include "scenario/words.h"

/* A file that the scenario names does not do. */
static enum hd_status refuse_file(const struct scenario *s, struct diag *d,
				  const char *path, const struct diag *inner)
{
	char *const *field = &s->qos.opensm;
	const struct schema_place *place = schema_place_of(&s->places, field);
	/* An override says which field it is. */
	const char *name = place && place->label ? "" : "qos.opensm: ";

	return inner->line ? scenario_refuse(s, d, field, "%s%s:%u: %s", name,
					     path, inner->line, inner->message)
			   : scenario_refuse(s, d, field, "%s%s: %s", name,
					     path, inner->message);
}

/* Fields that would say the tables once more. */
static enum hd_status check_alone(const struct scenario *s, struct diag *d)
{
	const struct scn_qos *q = &s->qos;
	const void *field = q->sl2vl.given         ? (const void *)&q->sl2vl
			    : q->high.given        ? (const void *)&q->high
			    : q->low.given         ? (const void *)&q->low
			    : q->high_limit != 255 ? &q->high_limit
						   : NULL;

	for (size_t i = 0; i < q->n_classes && !field; i++) {
		const struct scn_class *c = &q->classes[i];

		field = c->lane != SCN_LANE_AUTO ? (const void *)&c->lane
			: c->kind != SCN_NO_KIND ? (const void *)&c->kind
			: c->priority != SCN_LOW ? (const void *)&c->priority
			: c->weight != SCN_WEIGHT_AUTO ? &c->weight
						       : NULL;
	}
	if (!field)
		return HD_OK;
	return scenario_refuse(s, d, field,
			       "qos.opensm says the lanes and tables of all "
			       "SLs; of classes it leaves name and sl, and "
			       "qos.ports may differ");
}

static unsigned word_number(const char *const *words, const char *word)
{
	unsigned i = 0;

	while (strcmp(words[i], word) != 0)
		i++;
	return i;
}

/* What the file says about congestion, where the scenario does not. */
static void take_congestion(struct scenario *s, const struct opensm_cc *conf)
{
	struct scn_congestion *c = &s->congestion;
	const struct mark_config marking = opensm_cc_marking(conf);
	/* Zero steps up, OpenSM's default, are no answer. */
	const char *algorithm = conf->ccti_increase ? "cct" : "marks";
	struct scn_congestion said = *c;

	said.algorithm = word_number(scn_algorithm_words, algorithm);
	said.marking = marking.rule;
	said.threshold = marking.threshold;
	said.victims = marking.mark_victims;
	said.packet_size = marking.min_bytes;
	said.marking_rate = marking.mark_every;
	said.ccti_increase = conf->ccti_increase;
	said.ccti_timer = conf->ccti_timer;
	said.ccti_min = conf->ccti_min;
	said.sls.sls = conf->sls;
	said.per = conf->per_sl ? SCN_PER_SL : SCN_PER_QP;
	/* A table without entries delays nobody, as one of nothing does. */
	said.cct = (struct scn_cct){
		.given = true, .n = (uint8_t)(conf->n_cct ? conf->n_cct : 1)
	};
	memcpy(said.cct.entries, conf->cct, conf->n_cct * sizeof(*conf->cct));
#define TAKE(field)                                          \
	do {                                                 \
		if (!schema_place_of(&s->places, &c->field)) \
			c->field = said.field;               \
	} while (0)
	TAKE(algorithm);
	TAKE(marking);
	TAKE(threshold);
	TAKE(victims);
	TAKE(packet_size);
	TAKE(marking_rate);
	TAKE(ccti_increase);
	TAKE(ccti_timer);
	TAKE(ccti_min);
	TAKE(sls);
	TAKE(per);
	TAKE(cct);
#undef TAKE
}

static enum hd_status load(struct scenario *s, const char *path, struct diag *d)
{
	struct opensm_cc congestion;
	enum hd_status status = opensm_conf_load(path, d, s->opensm);

	if (status == HD_OK)
		status = opensm_cc_load(path, d, &congestion);
	if (status == HD_OK && congestion.enabled)
		take_congestion(s, &congestion);
	return status;
}

enum hd_status read_opensm(struct scenario *s, struct diag *d)
{
	struct diag inner = { .status = HD_OK };

	if (!s->qos.opensm)
		return HD_OK;
	char *path = scenario_path(s, &s->qos.opensm);

	s->opensm = hd_alloc(1, sizeof(*s->opensm));
	enum hd_status status = load(s, path, &inner);

	if (status != HD_OK)
		status = refuse_file(s, d, path, &inner);
	free(path);
	return status == HD_OK ? check_alone(s, d) : status;
}

void forget_opensm(struct scenario *s)
{
	if (s->opensm)
		opensm_conf_fini(s->opensm);
	free(s->opensm);
}

unsigned scenario_lanes(const struct scenario *s)
{
	unsigned lanes = (unsigned)s->qos.lanes;

	return s->opensm && opensm_lanes(s->opensm) < lanes
		       ? opensm_lanes(s->opensm)
		       : lanes;
}
