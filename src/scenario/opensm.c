/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "qos/opensm/opensm_cc.h"
#include "scenario/checks.h"
#include "scenario/words.h"

/* A file that the scenario names does not do. */
static enum hd_status refuse_file(const struct scenario *s, struct diag *d, char *const *field,
				  const char *name, const struct diag *inner)
{
	const struct schema_place *place = schema_place_of(&s->places, field);
	char *path = scenario_path(s, field);
	struct strbuf where = STRBUF_INIT;

	/* An override says which field it is. */
	strbuf_printf(&where, "%s%s%s", place && place->label ? "" : name,
		      place && place->label ? "" : ": ", path);
	if (inner->line)
		strbuf_printf(&where, ":%u", inner->line);
	enum hd_status status = scenario_refuse(s, d, field, "%s: %s", where.text, inner->message);

	strbuf_fini(&where);
	free(path);
	return status;
}

/* Fields that would say the tables once more. */
static enum hd_status check_alone(const struct scenario *s, struct diag *d)
{
	const struct scn_qos *q = &s->qos;
	const void *field = q->sl2vl.given         ? (const void *)&q->sl2vl
			    : q->high.given        ? (const void *)&q->high
			    : q->low.given         ? (const void *)&q->low
			    : q->high_limit != 255 ? &q->high_limit
			    : q->bands             ? (const void *)&q->bands
						   : NULL;

	for (size_t i = 0; i < q->n_classes && !field; i++) {
		const struct scn_class *c = &q->classes[i];

		field = c->vl != SCN_VL_AUTO           ? (const void *)&c->vl
			: c->kind != SCN_NO_KIND       ? (const void *)&c->kind
			: c->priority != SCN_LOW       ? (const void *)&c->priority
			: c->weight != SCN_WEIGHT_AUTO ? &c->weight
						       : NULL;
	}
	if (!field)
		return HD_OK;
	return scenario_refuse(
		s, d, field,
		"not allowed with an opensm.conf (qos.opensm, --opensm), which sets VLs, maps, tables and limits; a class then has name and sl only");
}

static unsigned word_number(const char *const *words, const char *word)
{
	unsigned i = 0;

	while (strcmp(words[i], word) != 0)
		i++;
	return i;
}

/* Congestion settings of OpenSM's file that the scenario does not override. */
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
	/* A table without entries is the same as one zero entry: no delay. */
	said.cct = (struct scn_cct){ .given = true, .n = (uint8_t)(conf->n_cct ? conf->n_cct : 1) };
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

static enum hd_status load_opensm(struct scenario *s, const char *path, struct diag *d)
{
	struct opensm_cc congestion;

	s->opensm = hd_alloc(1, sizeof(*s->opensm));
	enum hd_status status = opensm_conf_load(path, d, s->opensm);

	if (status == HD_OK)
		status = opensm_cc_load(path, d, &congestion);
	if (status == HD_OK && congestion.enabled)
		take_congestion(s, &congestion);
	return status;
}

static enum hd_status load_policy(struct scenario *s, const char *path, struct diag *d)
{
	s->policy = hd_alloc(1, sizeof(*s->policy));
	return policy_load(path, d, s->policy);
}

static enum hd_status load_partitions(struct scenario *s, const char *path, struct diag *d)
{
	s->partitions = hd_alloc(1, sizeof(*s->partitions));
	return partitions_load(path, d, s->partitions);
}

/* Without QoS, partitions have no SLs and the policy is not used. */
static void forget_labels(struct scenario *s)
{
	if (!s->opensm || s->opensm->qos)
		return;
	for (size_t i = 0; s->partitions && i < s->partitions->n; i++)
		s->partitions->items[i].sl = 0;
	if (s->policy)
		policy_fini(s->policy);
	free(s->policy);
	s->policy = NULL;
}

enum hd_status scenario_read_opensm(struct scenario *s, struct diag *d)
{
	const struct {
		char *const *field;
		const char *name;
		enum hd_status (*load)(struct scenario *s, const char *path, struct diag *d);
	} files[] = {
		{ &s->qos.opensm, "qos.opensm", load_opensm },
		{ &s->qos.policy, "qos.policy", load_policy },
		{ &s->qos.partitions_file, "qos.partitions_file", load_partitions },
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct diag inner = { .status = HD_OK };

		if (!*files[i].field)
			continue;
		char *path = scenario_path(s, files[i].field);
		enum hd_status status = files[i].load(s, path, &inner);

		free(path);
		if (status != HD_OK)
			return refuse_file(s, d, files[i].field, files[i].name, &inner);
	}
	forget_labels(s);
	return s->opensm ? check_alone(s, d) : HD_OK;
}

void scenario_forget_opensm(struct scenario *s)
{
	if (s->opensm)
		opensm_conf_fini(s->opensm);
	free(s->opensm);
	if (s->policy)
		policy_fini(s->policy);
	free(s->policy);
	if (s->partitions)
		partitions_fini(s->partitions);
	free(s->partitions);
}

unsigned scenario_vls(const struct scenario *s)
{
	unsigned vls = (unsigned)s->qos.vls;

	return s->opensm && opensm_vls(s->opensm) < vls ? opensm_vls(s->opensm) : vls;
}
