/* SPDX-License-Identifier: BSD-2-Clause */
#include "mgmt/sm/manager.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "mgmt/sm/sm_internal.h"
#include "wire/cursor.h"

static const hd_time GLANCE = 10 * HD_S;

struct manager *manager_new(const struct manager_options *o, const struct manager_events *e)
{
	struct manager *m = hd_alloc(1, sizeof(*m));

	m->options = *o;
	m->events = *e;
	m->next_sweep = m->next_poll = HD_TIME_NEVER;
	m->lid_taken = hd_alloc(LID_MAX_UNICAST + 1, sizeof(*m->lid_taken));
	port_fields_find(m->port_fields);
	switch_fields_find(m->switch_fields);
	exchange_init(m);
	groups_init(m);
	return m;
}

void manager_free(struct manager *m)
{
	if (!m)
		return;
	exchange_fini(m);
	planned_fini(m);
	groups_fini(m);
	sight_fini(&m->sweep);
	sight_fini(&m->seen);
	map_fini(&m->lid_of_guid);
	map_fini(&m->written_at);
	free(m->written);
	free(m->rivals);
	free(m->lid_taken);
	free(m->services.rows);
	free(m->informs.rows);
	free(m);
}

enum manager_role manager_role(const struct manager *m)
{
	return m->role;
}

bool manager_is_up(const struct manager *m)
{
	return m->is_up && !m->unsure && m->role == MANAGER_MASTER;
}

const struct diag *manager_refusal(const struct manager *m)
{
	return &m->refusal;
}

void manager_say(const struct manager *m, const char *format, ...)
{
	char line[256];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	m->events.say(m->events.context, line);
}

/* ---- sweeps */

static void settle(struct manager *m);

static void regrouped(struct manager *m)
{
	m->sweeps = false;
	groups_programmed(m);
	settle(m);
}

/* What came meanwhile is seen to now. */
static void settle(struct manager *m)
{
	if (m->sweep_again) {
		manager_sweep(m);
	} else if (m->regroup && m->role == MANAGER_MASTER && m->has_whole) {
		m->regroup = false;
		m->sweeps = true;
		groups_plan(m);
		manager_program_groups(m, regrouped);
	}
}

static void up(struct manager *m)
{
	m->sweeps = false;
	m->greets = false;
	m->acts++;
	m->next_sweep = m->now + GLANCE;
	if (!m->sweep_again) {
		m->is_up = true;
		manager_say(m, "SUBNET UP: %u nodes, %s%s", m->seen.n, planned_now(m)->engine,
			    m->unsure ? "; some did not answer" : "");
	}
	groups_programmed(m);
	settle(m);
}

static void stay(struct manager *m)
{
	m->sweeps = false;
	m->next_sweep = m->now + GLANCE;
	settle(m);
}

void manager_master(struct manager *m)
{
	if (m->role != MANAGER_MASTER) {
		manager_say(m, "master of %u nodes", m->seen.n);
		m->role = MANAGER_MASTER;
		m->greets = true;
		/* Who was master before may have written others. */
		manager_forget_tables(m);
	}
	m->took_over = false;
	if (!plan_routes(m)) {
		stay(m);
		return;
	}
	const struct found_node *own = &m->seen.nodes[0];
	port_id p = topo_port_of(planned_now(m)->topo, planned_node(m, own), m->seen.own_port);

	m->lid = planned_now(m)->lid_of_port[p];
	m->regroup = false;
	groups_plan(m);
	manager_program(m, up);
}

void manager_stand_by(struct manager *m)
{
	m->role = MANAGER_STANDBY;
	m->sweeps = m->sweep_again = m->is_up = false;
	/* The master is asked again, and answers. */
	m->n_held = m->n_planned = 0;
	m->next_sweep = HD_TIME_NEVER;
}

static void seen(struct manager *m)
{
	if (m->sweep.n == 0) {
		/* Not even our own port answers: we try again. */
		m->sweeps = false;
		m->next_sweep = m->now + GLANCE;
		return;
	}
	sight_fini(&m->seen);
	m->seen = m->sweep;
	m->sweep = (struct sight){ 0 };
	m->guid = m->seen.nodes[0].ports[m->seen.own_port].guid;
	if (m->seen.nodes[0].is_switch)
		m->guid = m->seen.nodes[0].guid;
	election_hold(m);
}

void manager_sweep(struct manager *m)
{
	if (m->sweeps) {
		m->sweep_again = true;
		return;
	}
	exchange_drop(m);
	m->sweeps = true;
	m->sweep_again = false;
	m->next_poll = HD_TIME_NEVER;
	if (m->role != MANAGER_MASTER)
		m->role = MANAGER_DISCOVERING;
	manager_discover(m, seen);
}

void manager_start(struct manager *m, hd_time now)
{
	m->now = now;
	m->role = MANAGER_DISCOVERING;
	manager_sweep(m);
}

/* ---- looks at switches, whether a port of theirs has changed */

static void got_switch(struct manager *m, const struct smp *smp, const uint8_t *mad)
{
	const struct field *change = &m->switch_fields[SWITCH_STATE_CHANGE];

	(void)smp;
	if (!mad || field_get(change, mad + mad_class(MAD_SMP_DIRECT)->data) != 0)
		m->sweep_again = true;
}

static void glanced(struct manager *m)
{
	m->sweeps = false;
	settle(m);
}

static void glance(struct manager *m)
{
	m->next_sweep = m->now + GLANCE;
	if (m->sweeps)
		return;
	if (m->role != MANAGER_MASTER || !m->is_up || m->unsure) {
		manager_sweep(m);
		return;
	}
	m->sweeps = true;
	for (uint32_t i = 0; i < m->seen.n; i++) {
		struct smp smp = {
			.done = got_switch,
			.path = m->seen.nodes[i].path,
			.node = i,
			.method = MAD_GET,
			.attribute = ATTR_SWITCH_INFO,
			.written = NO_NODE,
		};

		if (m->seen.nodes[i].is_switch)
			exchange_ask(m, &smp);
	}
	exchange_when_done(m, glanced);
}

hd_time manager_next(const struct manager *m)
{
	return m->next_sweep < m->next_poll ? m->next_sweep : m->next_poll;
}

void manager_run(struct manager *m, hd_time now)
{
	m->now = now;
	if (m->role == MANAGER_STANDBY && m->next_poll <= now)
		election_poll(m);
	if (m->next_sweep <= now)
		glance(m);
}

/* ---- what comes */

/* A node says what happened to it: it need not say so again. */
static void take_trap(struct manager *m, const struct mad_address *from, const uint8_t *mad)
{
	const uint8_t *notice = mad + mad_class(mad[MAD_CLASS])->data;
	unsigned trap = load_be16(notice + 4);
	uint8_t answer[MAD_SIZE];

	memcpy(answer, mad, MAD_SIZE);
	answer[MAD_METHOD] = MAD_TRAP_REPRESS;
	m->events.send(m->events.context, from, answer, MAD_SIZE, false);
	if (m->role != MANAGER_MASTER)
		return;
	manager_say(m, "trap %u from LID %u", trap, load_be16(notice + 6));
	sa_report(m, notice);
	if (trap == 128 || trap == 144)
		manager_sweep(m);
}

static void take_smp(struct manager *m, const struct mad_address *from, const uint8_t *mad)
{
	uint16_t attribute = load_be16(mad + MAD_ATTRIBUTE);

	if (mad_is_response(mad))
		exchange_answered(m, mad);
	else if (attribute == ATTR_SM_INFO &&
		 (mad[MAD_METHOD] == MAD_GET || mad[MAD_METHOD] == MAD_SET))
		election_take(m, from, mad);
	else if (attribute == ATTR_NOTICE && mad[MAD_METHOD] == MAD_TRAP)
		take_trap(m, from, mad);
}

void manager_take(struct manager *m, const struct mad_address *from, const uint8_t *mad,
		  size_t size, hd_time now)
{
	m->now = now;
	if (size < MAD_SIZE)
		return;
	if (mad_is_smp(mad))
		take_smp(m, from, mad);
	else if (mad[MAD_CLASS] == MAD_SA && !mad_is_response(mad) && m->role == MANAGER_MASTER &&
		 m->has_whole)
		sa_take(m, from, mad);
	if (!m->sweeps)
		settle(m);
}

void manager_lost(struct manager *m, const uint8_t *mad, hd_time now)
{
	m->now = now;
	if (mad[MAD_CLASS] == MAD_SMP_DIRECT)
		exchange_lost(m, mad);
}
