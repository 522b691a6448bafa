/* SPDX-License-Identifier: BSD-2-Clause */
#include "mgmt/sm/sm.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "mgmt/sm/sm_internal.h"
#include "wire/cursor.h"

static const hd_time LIGHT_SWEEP_INTERVAL = 10 * HD_S;

struct sm *sm_new(const struct sm_options *o, const struct sm_events *e)
{
	struct sm *m = hd_alloc(1, sizeof(*m));

	m->options = *o;
	m->events = *e;
	m->next_sweep = m->next_poll = HD_TIME_NEVER;
	m->lid_taken = hd_alloc(LID_MAX_UNICAST + 1, sizeof(*m->lid_taken));
	port_fields_find(m->port_fields);
	switch_fields_find(m->switch_fields);
	sm_exchange_init(m);
	sa_groups_init(m);
	return m;
}

void sm_free(struct sm *m)
{
	if (!m)
		return;
	sm_exchange_fini(m);
	sm_plan_fini(m);
	sa_groups_fini(m);
	sm_discovery_fini(&m->sweep);
	sm_discovery_fini(&m->found);
	map_fini(&m->lid_of_guid);
	map_fini(&m->written_at);
	free(m->written);
	free(m->peers);
	free(m->lid_taken);
	free(m->services.rows);
	free(m->subscriptions.rows);
	free(m);
}

enum sm_state sm_state(const struct sm *m)
{
	return m->role;
}

bool sm_is_up(const struct sm *m)
{
	return m->is_up && !m->incomplete && m->role == SM_MASTER;
}

const struct diag *sm_refusal(const struct sm *m)
{
	return &m->refusal;
}

void sm_log(const struct sm *m, const char *format, ...)
{
	char line[256];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	m->events.log(m->events.context, line);
}

/* ---- sweeps */

static void run_pending(struct sm *m);

static void groups_done(struct sm *m)
{
	m->is_sweeping = false;
	sa_groups_programmed(m);
	run_pending(m);
}

/* Starts what was requested while a sweep was in progress. */
static void run_pending(struct sm *m)
{
	if (m->sweep_again) {
		sm_sweep(m);
	} else if (m->groups_changed && m->role == SM_MASTER && m->has_whole) {
		m->groups_changed = false;
		m->is_sweeping = true;
		sa_groups_plan(m);
		sm_program_groups(m, groups_done);
	}
}

static void sweep_done(struct sm *m)
{
	m->is_sweeping = false;
	m->reregister = false;
	m->act_count++;
	m->next_sweep = m->now + LIGHT_SWEEP_INTERVAL;
	if (!m->sweep_again) {
		m->is_up = true;
		sm_log(m, "SUBNET UP: %u nodes, %s%s", m->found.n, sm_plan(m)->engine,
		       m->incomplete ? "; some requests timed out" : "");
	}
	sa_groups_programmed(m);
	run_pending(m);
}

static void sweep_failed(struct sm *m)
{
	m->is_sweeping = false;
	m->next_sweep = m->now + LIGHT_SWEEP_INTERVAL;
	run_pending(m);
}

void sm_enter_master(struct sm *m)
{
	if (m->role != SM_MASTER) {
		sm_log(m, "master of %u nodes", m->found.n);
		m->role = SM_MASTER;
		m->reregister = true;
		/* A previous master may have written other tables. */
		sm_forget_tables(m);
	}
	m->handed_over = false;
	if (!sm_plan_routes(m)) {
		sweep_failed(m);
		return;
	}
	const struct found_node *own = &m->found.nodes[0];
	port_id p = topo_port_of(sm_plan(m)->topo, sm_plan_node(m, own), m->found.own_port);

	m->lid = sm_plan(m)->lid_of_port[p];
	m->groups_changed = false;
	sa_groups_plan(m);
	sm_program(m, sweep_done);
}

void sm_enter_standby(struct sm *m)
{
	m->role = SM_STANDBY;
	m->is_sweeping = m->sweep_again = m->is_up = false;
	/* Requesters repeat their joins with the new master. */
	m->n_delayed = m->n_planned = 0;
	m->next_sweep = HD_TIME_NEVER;
}

static void found(struct sm *m)
{
	if (m->sweep.n == 0) {
		/* The manager's own port does not respond. */
		m->is_sweeping = false;
		m->next_sweep = m->now + LIGHT_SWEEP_INTERVAL;
		return;
	}
	sm_discovery_fini(&m->found);
	m->found = m->sweep;
	m->sweep = (struct sm_discovery){ 0 };
	m->guid = m->found.nodes[0].ports[m->found.own_port].guid;
	if (m->found.nodes[0].is_switch)
		m->guid = m->found.nodes[0].guid;
	sm_election_start(m);
}

void sm_sweep(struct sm *m)
{
	if (m->is_sweeping) {
		m->sweep_again = true;
		return;
	}
	sm_exchange_drop(m);
	m->is_sweeping = true;
	m->sweep_again = false;
	m->next_poll = HD_TIME_NEVER;
	if (m->role != SM_MASTER)
		m->role = SM_DISCOVERING;
	sm_discover(m, found);
}

void sm_start(struct sm *m, hd_time now)
{
	m->now = now;
	m->role = SM_DISCOVERING;
	sm_sweep(m);
}

/* ---- light sweep: PortStateChange of all switches */

static void got_switch(struct sm *m, const struct sm_smp *smp, const uint8_t *mad)
{
	const struct field *change = &m->switch_fields[SWITCH_STATE_CHANGE];

	(void)smp;
	if (!mad || field_get(change, mad + mad_class(MAD_SMP_DIRECT)->data) != 0)
		m->sweep_again = true;
}

static void light_sweep_done(struct sm *m)
{
	m->is_sweeping = false;
	run_pending(m);
}

static void light_sweep(struct sm *m)
{
	m->next_sweep = m->now + LIGHT_SWEEP_INTERVAL;
	if (m->is_sweeping)
		return;
	if (m->role != SM_MASTER || !m->is_up || m->incomplete) {
		sm_sweep(m);
		return;
	}
	m->is_sweeping = true;
	for (uint32_t i = 0; i < m->found.n; i++) {
		struct sm_smp smp = {
			.done = got_switch,
			.path = m->found.nodes[i].path,
			.node = i,
			.method = MAD_GET,
			.attribute = ATTR_SWITCH_INFO,
			.written = NO_NODE,
		};

		if (m->found.nodes[i].is_switch)
			sm_exchange_send(m, &smp);
	}
	sm_exchange_when_done(m, light_sweep_done);
}

hd_time sm_next(const struct sm *m)
{
	return m->next_sweep < m->next_poll ? m->next_sweep : m->next_poll;
}

void sm_run(struct sm *m, hd_time now)
{
	m->now = now;
	if (m->role == SM_STANDBY && m->next_poll <= now)
		sm_election_poll(m);
	if (m->next_sweep <= now)
		light_sweep(m);
}

/* ---- received MADs */

/* Represses a trap and forwards it to subscribers. */
static void handle_trap(struct sm *m, const struct mad_address *from, const uint8_t *mad)
{
	const uint8_t *notice = mad + mad_class(mad[MAD_CLASS])->data;
	unsigned trap = load_be16(notice + 4);
	uint8_t respond[MAD_SIZE];

	memcpy(respond, mad, MAD_SIZE);
	respond[MAD_METHOD] = MAD_TRAP_REPRESS;
	m->events.send(m->events.context, from, respond, MAD_SIZE, false);
	if (m->role != SM_MASTER)
		return;
	sm_log(m, "trap %u from LID %u", trap, load_be16(notice + 6));
	sa_report(m, notice);
	if (trap == 128 || trap == 144)
		sm_sweep(m);
}

static void handle_smp(struct sm *m, const struct mad_address *from, const uint8_t *mad)
{
	uint16_t attribute = load_be16(mad + MAD_ATTRIBUTE);

	if (mad_is_response(mad))
		sm_exchange_response(m, mad);
	else if (attribute == ATTR_SM_INFO &&
		 (mad[MAD_METHOD] == MAD_GET || mad[MAD_METHOD] == MAD_SET))
		sm_election_handle(m, from, mad);
	else if (attribute == ATTR_NOTICE && mad[MAD_METHOD] == MAD_TRAP)
		handle_trap(m, from, mad);
}

void sm_receive(struct sm *m, const struct mad_address *from, const uint8_t *mad, size_t size,
		hd_time now)
{
	m->now = now;
	if (size < MAD_SIZE)
		return;
	if (mad_is_smp(mad))
		handle_smp(m, from, mad);
	else if (mad[MAD_CLASS] == MAD_SA && !mad_is_response(mad) && m->role == SM_MASTER &&
		 m->has_whole)
		sa_handle(m, from, mad);
	if (!m->is_sweeping)
		run_pending(m);
}

void sm_timeout(struct sm *m, const uint8_t *mad, hd_time now)
{
	m->now = now;
	if (mad[MAD_CLASS] == MAD_SMP_DIRECT)
		sm_exchange_timeout(m, mad);
}
