/* SPDX-License-Identifier: BSD-2-Clause */
/* From fabric.routing.adaptive to what switches do (docs/timing-rules.md, D1). */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/fabric_internal.h"
#include "subnet/routing/adaptive.h"

static enum hd_status refuse_sls(const struct scenario *s, struct diag *d)
{
	const struct scn_adaptive *a = &s->fabric.routing.adaptive;

	return scenario_refuse(
		s, d, &a->sls,
		"fabric.routing.adaptive.sls: '%s' is not a list of SLs such as 'all', '0' or '0,2-5'",
		a->sls);
}

/* A number below 16 at *text, which moves on. */
static bool take_sl(const char **text, unsigned *sl)
{
	char *end;

	if (!isdigit((unsigned char)**text))
		return false;
	unsigned long value = strtoul(*text, &end, 10);

	*text = end;
	*sl = (unsigned)value;
	return value < N_SLS;
}

/* "2" or "2-5". */
static bool take_range(const char **text, uint16_t *sls)
{
	unsigned low, high;

	if (!take_sl(text, &low))
		return false;
	high = low;
	if (**text == '-') {
		++*text;
		if (!take_sl(text, &high) || high < low)
			return false;
	}
	for (unsigned sl = low; sl <= high; sl++)
		*sls |= (uint16_t)(1u << sl);
	return true;
}

/* Whether a field of the section was written, in a file or as an override. */
static bool is_said(const struct scenario *s, const void *field)
{
	const struct scn_adaptive *a = &s->fabric.routing.adaptive;
	const struct schema_place *p = schema_place_of(&s->places, field);

	return p && (const char *)p->field >= (const char *)a &&
	       (const char *)p->field < (const char *)(a + 1);
}

/* Rejects fields of adaptive routing while it is off, because they would have no effect. */
static enum hd_status refuse_no_choice(const struct scenario *s, struct diag *d)
{
	const struct scn_adaptive *a = &s->fabric.routing.adaptive;
	const void *const rest[] = {
		&a->per,    &a->gap,        &a->threshold, &a->hysteresis, &a->failover_delay,
		&a->notify, &a->nonminimal, &a->sls
	};

	for (size_t i = 0; i < sizeof(rest) / sizeof(*rest); i++) {
		if (is_said(s, rest[i]) && !is_said(s, &a->choice))
			return scenario_refuse(
				s, d, rest[i],
				"fabric.routing.adaptive has no 'choice': load, random or turns; without one switches do not choose");
	}
	return HD_OK;
}

/* Reserved traffic uses the links of its reservation. */
static enum hd_status refuse_asking_class(const struct scenario *s, struct diag *d, uint16_t sls)
{
	const struct scn_adaptive *a = &s->fabric.routing.adaptive;

	for (size_t i = 0; i < s->qos.n_classes; i++) {
		const struct scn_class *c = &s->qos.classes[i];

		if (scenario_class_asks(c) && sls >> c->sl & 1)
			return scenario_refuse(
				s, d, &a->sls,
				"SL %u is that of class '%s', which asks admission for one path; leave it out of fabric.routing.adaptive.sls",
				(unsigned)c->sl, c->name);
	}
	return HD_OK;
}

static uint16_t sls_that_ask(const struct scenario *s)
{
	uint16_t sls = 0;

	for (size_t i = 0; i < s->qos.n_classes; i++) {
		if (scenario_class_asks(&s->qos.classes[i]))
			sls |= (uint16_t)(1u << s->qos.classes[i].sl);
	}
	return sls;
}

enum hd_status fabric_adaptive_sls(const struct scenario *s, struct diag *d, uint16_t *sls)
{
	const struct scn_adaptive *a = &s->fabric.routing.adaptive;
	const char *text = a->sls;

	*sls = 0;
	if (a->choice == SCN_AR_OFF)
		return refuse_no_choice(s, d);
	if (strcmp(text, "all") == 0) {
		*sls = (uint16_t)~sls_that_ask(s);
		return HD_OK;
	}
	while (take_range(&text, sls)) {
		if (*text == '\0')
			return refuse_asking_class(s, d, *sls);
		if (*text++ != ',')
			break;
	}
	return refuse_sls(s, d);
}

enum hd_status fabric_build_adaptive(struct fabric *fabric, struct diag *d)
{
	const struct scenario *s = fabric->scenario;
	const struct scn_adaptive *a = &s->fabric.routing.adaptive;

	if (!fabric->subnet.adaptive)
		return HD_OK;
	if (fabric->setup.sw.order == SIM_FIFO)
		return scenario_refuse(
			s, d, &a->choice,
			"fabric.routing.adaptive: a switch with queueing in the order of arrival (fabric.switch.order: fifo) cannot choose");
	if (a->hysteresis > a->threshold)
		return scenario_refuse(
			s, d, &a->hysteresis,
			"fabric.routing.adaptive.hysteresis is above the threshold: no port would be taken again");
	struct sim_adaptive *rules = fabric_keep(fabric, 1, sizeof(*rules));

	*rules = (struct sim_adaptive){
		.choice = (enum sim_ar_choice)(a->choice - 1),
		.per = (enum sim_ar_unit)a->per,
		.threshold = (uint32_t)a->threshold,
		.hysteresis = (uint32_t)a->hysteresis,
		.around = fabric->subnet.adaptive->detours ? (uint32_t)a->nonminimal : 0,
		.gap = a->gap,
		.heal = a->failover_delay,
		.notify = a->notify,
	};
	fabric->setup.adaptive = rules;
	return HD_OK;
}
