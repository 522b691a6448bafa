/* SPDX-License-Identifier: BSD-2-Clause */
/* Changes by an external manager during a run: T11l, C9. */
#include "state.h"

/* Whose VLs and partitions hold then; NULL: those of the beginning. */
static const struct subnet *changed_to(const struct oracle *o, hd_time when)
{
	const struct sim_setup *s = o->setup;
	const struct subnet *last = NULL;

	for (uint32_t i = 0; i < s->n_paths && s->paths[i].time <= when; i++)
		if (s->paths[i].vls)
			last = s->paths[i].subnet;
	return last;
}

const struct subnet *vl_tables_at(const struct oracle *o, hd_time when)
{
	const struct subnet *changed = changed_to(o, when);

	if (!changed || o->mutation == MUT_VLS_STAY)
		return o->setup->subnet;
	return changed;
}

uint8_t vls_at(const struct oracle *o, uint32_t port, hd_time when)
{
	const struct sim_port *p = &o->setup->ports[port];
	const struct subnet *changed = changed_to(o, when);

	if (!changed || o->mutation == MUT_OPERATION_STAYS)
		return p->vls;
	return changed->vls_of_port[p->origin];
}

const struct pkey_table *keys_now(const struct oracle *o, uint32_t port)
{
	const struct subnet *changed = changed_to(o, o->now);

	if (!changed || o->mutation == MUT_KEYS_STAY)
		changed = o->setup->subnet;
	return &changed->pkeys[o->setup->ports[port].origin];
}

uint16_t own_key_now(const struct oracle *o, uint32_t port, uint16_t key)
{
	const struct pkey_table *t = keys_now(o, port);

	if (!changed_to(o, o->now) || o->mutation == MUT_SOURCE_KEEPS_KEY)
		return key;
	for (unsigned i = 0; i < t->n; i++)
		if (((t->keys[i] ^ key) & ~PKEY_FULL) == 0)
			return t->keys[i];
	return key;
}

hd_time vls_next_due(const struct oracle *o)
{
	const struct sim_setup *s = o->setup;

	for (uint32_t i = 0; i < s->n_paths; i++)
		if (s->paths[i].time > o->now)
			return s->paths[i].time;
	return NEVER;
}

/* ---- congestion control (C9) ---- */

static void throttle_change(struct oracle *o, uint32_t i, const struct cc_config *config)
{
	const struct cc_algorithm *a = o->setup->control->throttles[i].algorithm;
	struct throttle *t = &o->throttles[i];

	if (!a || o->mutation == MUT_SETTINGS_KEEP_RATES)
		return;
	t->config = *config;
	if (o->mutation == MUT_SETTINGS_BEGIN_ANEW)
		cc_init(a, config, &t->state);
	cc_adapt(a, config, &t->state, o->now);
	if (o->mutation == MUT_SETTINGS_STOP_TIMERS)
		t->state.due = NEVER;
	t->spared = o->mutation == MUT_SETTINGS_SPARE_HELD;
	if (o->mutation == MUT_SETTINGS_MOVE_FIXED)
		t->gap = cc_gap(a, config, &t->state, t->d);
}

void settings_change(struct oracle *o)
{
	const struct sim_setup *s = o->setup;

	for (; s->control && o->next_setting < s->n_settings; o->next_setting++) {
		const struct sim_control_change *c = &s->settings[o->next_setting];

		if (c->time > o->now)
			return;
		if (o->mutation != MUT_SETTINGS_KEEP_MARKS)
			o->marking = c->marking;
		for (uint32_t i = 0; i < s->control->n_throttles; i++)
			throttle_change(o, i, &c->configs[i]);
		o->stats->settings++;
	}
}

hd_time settings_next_due(const struct oracle *o)
{
	if (!o->setup->control || o->next_setting == o->setup->n_settings)
		return NEVER;
	return o->setup->settings[o->next_setting].time;
}
