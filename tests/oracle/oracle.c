/* SPDX-License-Identifier: BSD-2-Clause */
#include "oracle.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "state.h"

/* T1 */
uint32_t packet_blocks(const struct packet *packet)
{
	return (packet->as.bytes + 63) / 64;
}

struct packet *packet_new(struct oracle *o, const struct packet *model)
{
	struct packet *p = hd_alloc(1, sizeof(*p));

	*p = *model;
	o->packets =
		hd_grow(o->packets, &o->packets_cap, o->n_packets + 1, sizeof(struct packet *));
	o->packets[o->n_packets++] = p;
	return p;
}

hd_time duration_on(const struct oracle *o, uint32_t port, uint64_t bytes)
{
	return hd_rate_duration(o->setup->ports[port].rate, bytes);
}

void record_end(struct oracle *o, const struct packet *packet, uint32_t where, enum sim_fate fate)
{
	struct sim_record *r = o->out;
	bool reduces = packet->kind == SIM_CONTRIBUTION || packet->kind == SIM_RESULT;

	r->events = hd_grow(r->events, &r->events_cap, r->n_events + 1, sizeof(*r->events));
	r->events[r->n_events++] = (struct sim_event_record){
		.flow = reduces ? oracle_reduction_flow(packet->as.dlid) : packet->as.flow,
		.sequence = packet->as.sequence,
		.where = where,
		.fate = fate,
		.time = o->now,
		.kind = packet->kind,
		.marked = packet->marked,
	};
}

/* T2, phase 0. */
static void faults(struct oracle *o)
{
	for (; o->next_fault < o->setup->n_faults; o->next_fault++) {
		const struct sim_fault *f = &o->setup->faults[o->next_fault];

		if (f->time > o->now)
			return;
		switch (f->kind) {
		case SIM_LINK_DOWN:
			link_go_down(o, f->port);
			break;
		case SIM_LINK_UP:
			link_come_up(o, f->port);
			break;
		case SIM_SINK_STUCK:
			o->ports[f->port].stuck = true;
			break;
		case SIM_SINK_FREE:
			sink_release(o, f->port);
			break;
		}
	}
}

/* T2, phase 0, after the faults: T11c. */
static void tables_change(struct oracle *o)
{
	for (; o->next_change < o->setup->n_changes; o->next_change++) {
		const struct sim_table_change *c = &o->setup->changes[o->next_change];

		if (c->time > o->now)
			return;
		vlarb_change(o, c->port, &o->setup->subnet->vlarb_tables[c->table]);
		o->stats->table_changes++;
	}
}

/* An end node has its one port at number 1. */
uint32_t port_of_end(const struct oracle *o, uint32_t node)
{
	return o->setup->nodes[node].first_port + 1;
}

static bool is_saturating(const struct oracle *o, uint32_t flow)
{
	return flow < 64 && o->saturating >> flow & 1;
}

/* T13: the packet has been granted, in phase 5; the next one of its flow. */
void source_goes_on(struct oracle *o, uint32_t port, const struct packet *packet)
{
	for (size_t i = 0; i < o->n_arrivals; i++) {
		struct packet made = { .as = o->arrivals[i] };

		if (!is_saturating(o, packet->as.flow) || packet->kind != SIM_DATA ||
		    made.as.flow != packet->as.flow || made.as.sequence != packet->as.sequence + 1)
			continue;
		made.as.time = o->now;
		made.as.pkey = own_key_now(o, port, made.as.pkey);
		o->stats->saturated++;
		end_enter(o, port, packet_new(o, &made));
		return;
	}
}

/* T2, phase 3. */
static void sources_generate(struct oracle *o)
{
	for (; o->next_arrival < o->n_arrivals; o->next_arrival++) {
		struct packet made = { .as = o->arrivals[o->next_arrival] };

		uint32_t pair = pair_of_flow(o, made.as.flow), port;

		if (made.as.time > o->now)
			return;
		if (pair != SIM_NONE) {
			pair_post(o, pair);
			continue;
		}
		if (made.as.sequence > 0 && is_saturating(o, made.as.flow))
			continue; /* at a grant, or never */
		made.ends_reservation = ends_reservation(o, &made.as);
		port = port_of_end(o, made.as.source);
		if (o->generates)
			made.as.pkey = own_key_now(o, port, made.as.pkey);
		end_enter(o, port, packet_new(o, &made));
	}
}

/* T2, the whole of one instant. */
static void instant(struct oracle *o)
{
	faults(o);
	if (o->mutation != MUT_CHANGE_AFTER_GRANTS)
		tables_change(o);
	settings_change(o);
	notices_spread(o);
	messages_arrive(o);
	if (o->mutation == MUT_VL15_SEES_FREED_SPACE)
		space_comes_free(o);
	heads_arrive(o);
	aggregators_go_on(o);
	timers_strike(o);
	space_comes_free(o);
	if (o->mutation == MUT_ROUTED_AFTER_DISCARDS)
		discards(o);
	copies_route(o);
	do {
		space_comes_free(o);
	} while (o->mutation != MUT_HOQ_AFTER_GRANTS && discards(o));
	marks_count(o);
	if (o->mutation == MUT_ANSWERS_AFTER_SOURCES)
		sources_generate(o);
	pairs_enter(o);
	if (o->mutation == MUT_TIMERS_BEFORE_DELIVERIES)
		pairs_listen(o);
	if (o->mutation == MUT_ENDS_BEFORE_DELIVERIES)
		jobs_listen(o);
	deliveries(o);
	mads_deliver(o);
	copies_route(o); /* A5: what switches send now, if r is 0 */
	sources_listen(o);
	askers_ask(o);
	pairs_listen(o);
	jobs_listen(o);
	freed_updates_leave(o);
	sources_generate(o);
	mads_send(o);
	crossbar_grants(o);
	if (o->mutation != MUT_HOQ_AFTER_GRANTS)
		discards(o); /* F4: what has just come to a link that is down */
	marks_leave(o);
	link_grants(o);
	if (o->mutation == MUT_HOQ_AFTER_GRANTS)
		discards(o);
	if (o->mutation == MUT_CHANGE_AFTER_GRANTS)
		tables_change(o);
}

static size_t packets_at(const struct oracle *o, uint32_t port)
{
	const struct port *p = &o->ports[port];
	size_t n = p->n_slots + end_packets(o, port);

	for (int vl = 0; vl < ALL_VLS; vl++)
		n += p->queues[vl].n;
	return n;
}

/* No packet and no flow control is anywhere. */
static bool is_empty(const struct oracle *o)
{
	if (o->n_flights > 0 || o->n_messages > 0 || o->n_releases > 0)
		return false;
	for (uint32_t i = 0; i < o->setup->n_nodes; i++)
		if (o->ports[o->setup->n_ports + i].n_slots > 0)
			return false;
	for (uint32_t i = 0; i < o->setup->n_ports; i++)
		if (packets_at(o, i) > 0 || link_next_update(o, i) != NO_VL)
			return false;
	return true;
}

/*
 * The next instant: a tick later, or when the next thing is due if that comes
 * first and they count. In an empty fabric every tick until then would do
 * nothing.
 */
static hd_time next_instant(const struct oracle *o)
{
	hd_time tick = o->tick ? o->now + o->tick : NEVER;
	hd_time due = NEVER;

	if (is_empty(o))
		return next_due(o);
	if (o->jumps)
		due = next_due(o);
	return due < tick ? due : tick;
}

static void oracle_init(struct oracle *o)
{
	const struct sim_setup *s = o->setup;

	o->ports = hd_alloc((size_t)s->n_ports + s->n_nodes, sizeof(*o->ports));
	*o->out = (struct sim_record){ 0 };
	o->out->counters = hd_alloc(s->n_ports, sizeof(*o->out->counters));
	links_init(o);
	shares_init(o);
	queue_pairs_init(o);
	jobs_init(o);
	aggregators_init(o);
	ends_init(o);
	mads_init(o);
	choosers_init(o);
	notices_init(o);
	for (uint32_t i = 0; i < s->n_ports; i++) {
		o->ports[i].last_crossbar_vl = NO_VL;
		for (int vl = 0; vl < ALL_VLS; vl++)
			o->ports[i].last_input[vl] = -1;
		if (s->ports[i].peer != SIM_NONE)
			vlarb_init(o, i);
	}
}

static void oracle_fini(struct oracle *o)
{
	for (uint32_t i = 0; i < o->setup->n_ports; i++) {
		struct port *p = &o->ports[i];

		o->stats->stuck_packets += packets_at(o, i);
		for (int vl = 0; vl < ALL_VLS; vl++)
			free(p->queues[vl].items);
		for (size_t s = 0; s < p->n_slots; s++)
			free(p->slots[s]);
		free(p->slots);
	}
	ends_fini(o);
	mads_fini(o);
	choosers_fini(o);
	notices_fini(o);
	queue_pairs_fini(o);
	jobs_fini(o);
	for (uint32_t i = 0; i < o->setup->n_nodes; i++) {
		struct port *p = &o->ports[o->setup->n_ports + i];

		for (size_t s = 0; s < p->n_slots; s++)
			free(p->slots[s]);
		free(p->slots);
	}
	aggregators_fini(o);
	admission_fini(o);
	for (size_t i = 0; i < o->n_packets; i++)
		free(o->packets[i]);
	free(o->packets);
	for (size_t i = 0; i < o->n_waiters; i++)
		free(o->waiters[i]);
	free(o->waiters);
	free(o->hearsay);
	free(o->ports);
	free(o->flights);
	free(o->messages);
	free(o->releases);
}

void oracle_run(const struct oracle_case *c, enum oracle_mutation mutation, struct sim_record *out,
		struct oracle_stats *stats)
{
	static const struct oracle_pairs none = { 0 };
	struct oracle o = {
		.setup = c->setup,
		.arrivals = c->arrivals,
		.n_arrivals = c->n_arrivals,
		.tick = c->tick,
		.jumps = c->jumps,
		.horizon = c->horizon,
		.generates = c->generates,
		.saturating = c->saturating,
		.pairs = c->pairs && c->pairs->n > 0 ? c->pairs : NULL,
		.jobs = c->jobs && c->jobs->n > 0 ? c->jobs : NULL,
		.mads = c->mads && c->mads->n > 0 ? c->mads : NULL,
		.mutation = mutation,
		.out = out,
		.stats = stats,
	};

	if (has_job_pairs(&o))
		o.pairs = c->pairs ? c->pairs : &none;
	*stats = (struct oracle_stats){ 0 };
	oracle_init(&o);
	admission_init(&o, c->asks);
	while (o.now <= o.horizon) {
		hd_time next;

		instant(&o);
		next = next_instant(&o);
		waits_count(&o, (next < o.horizon ? next : o.horizon) - o.now);
		o.now = next;
	}
	oracle_fini(&o);
}

void oracle_replay(const struct sim_setup *setup, const struct sim_arrival *arrivals,
		   size_t n_arrivals, hd_time horizon, hd_time tick, struct sim_record *out)
{
	struct oracle_case c = { setup, arrivals, n_arrivals, horizon, tick,
				 false, NULL,     NULL,       NULL,    false };
	struct oracle_stats stats;

	oracle_run(&c, ORACLE_TRUE, out, &stats);
}

void oracle_record_fini(struct sim_record *record)
{
	free(record->events);
	free(record->counters);
	*record = (struct sim_record){ 0 };
}

#define NAME(m) [m] = #m
static const char *const mutation_names[ORACLE_MUTATIONS] = {
	NAME(ORACLE_TRUE),
	NAME(MUT_POINTER_MOVES_WITHOUT_GRANT),
	NAME(MUT_POINTER_PER_OUTPUT_ONLY),
	NAME(MUT_OLDEST_BY_HEAD),
	NAME(MUT_CHOICE_BEFORE_CREDITS),
	NAME(MUT_NO_UNDERRUN_RULE),
	NAME(MUT_FIRST_AT_GRANT),
	NAME(MUT_READER_NOT_HELD),
	NAME(MUT_COPIES_DO_NOT_JOIN),
	NAME(MUT_OUTPUTS_BY_NUMBER),
	NAME(MUT_X1_WITHOUT_MAX),
	NAME(MUT_LINK_READY_AT_X1),
	NAME(MUT_CROSSBAR_FROM_VL0),
	NAME(MUT_OUTPUT_SPACE_AT_GRANT),
	NAME(MUT_LEFT_CARRIED_OVER),
	NAME(MUT_LEFT_NOT_NEEDED),
	NAME(MUT_POSITION_BEFORE_NEXT),
	NAME(MUT_ONE_VL_USES_TABLES),
	NAME(MUT_LIMIT_PASSED_NOT_REACHED),
	NAME(MUT_HI_GROWS_WHEN_EXPIRED),
	NAME(MUT_HI_KEPT_BY_LOW),
	NAME(MUT_CREDIT_EARLY),
	NAME(MUT_UPDATES_FROM_VL0),
	NAME(MUT_UPDATE_AFTER_DATA),
	NAME(MUT_UPDATE_TAKES_NO_TIME),
	NAME(MUT_NO_TIMER),
	NAME(MUT_SLOT_FREED_BY_FIRST_COPY),
	NAME(MUT_MULTICAST_GOES_BACK),
	NAME(MUT_WAIT_NEEDS_CREDITS),
	NAME(MUT_END_TAKES_ANY_KEY),
	NAME(MUT_END_TAKES_AS_INPUT),
	NAME(MUT_END_ASKS_VL15),
	NAME(MUT_END_ALWAYS_ASKS),
	NAME(MUT_END_ASKS_BEFORE_ERRORS),
	NAME(MUT_REFUSED_AT_TAIL),
	NAME(MUT_STUCK_HOLDS_REFUSED),
	NAME(MUT_DROPPED_FREED_AT_HEAD),
	NAME(MUT_VL15_SEES_FREED_SPACE),
	NAME(MUT_DOWN_SPARES_THE_HEAD),
	NAME(MUT_UP_KEEPS_CREDITS),
	NAME(MUT_DOWN_KEEPS_QUEUES),
	NAME(MUT_HOQ_FROM_READY),
	NAME(MUT_HOQ_AFTER_GRANTS),
	NAME(MUT_DISCARD_FREES_AT_ONCE),
	NAME(MUT_STUCK_FREES_SPACE),
	NAME(MUT_CHANGE_REWINDS),
	NAME(MUT_CHANGE_KEEPS_LEFT),
	NAME(MUT_CHANGE_FILLS_LEFT),
	NAME(MUT_CHANGE_FORGETS_HI),
	NAME(MUT_CHANGE_AFTER_GRANTS),
	NAME(MUT_ROUTES_STAY),
	NAME(MUT_GROUPS_STAY),
	NAME(MUT_ROUTED_BEFORE_ARRIVAL),
	NAME(MUT_VLS_STAY),
	NAME(MUT_OPERATION_STAYS),
	NAME(MUT_KEYS_STAY),
	NAME(MUT_VLS_BEFORE_ARRIVAL),
	NAME(MUT_LOST_VL_WAITS),
	NAME(MUT_TIMER_OF_OLD_VLS),
	NAME(MUT_SATURATED_BY_FLOW),
	NAME(MUT_HOPS_DOWN_TO_ZERO),
	NAME(MUT_HOPS_NOT_COUNTED),
	NAME(MUT_ROUTER_KEEPS_SL),
	NAME(MUT_ROUTER_LAST_OF_EQUALS),
	NAME(MUT_MARKS_WHAT_IS_MARKED),
	NAME(MUT_EVERY_ROUTER_MARKS),
	NAME(MUT_MARKED_TOO_LATE),
	NAME(MUT_ROUTER_TAKES_ANY_KEY),
	NAME(MUT_ROUTER_GIVES_ANY_KEY),
	NAME(MUT_ROUTER_TAKES_AS_OUTPUT),
	NAME(MUT_ROUTER_ASKS_HOPS_FIRST),
	NAME(MUT_SENDER_POINTER_MOVES),
	NAME(MUT_SENDER_POINTER_PER_PORT),
	NAME(MUT_SENDER_BEFORE_CREDITS),
	NAME(MUT_SENDER_0_FIRST),
	NAME(MUT_HELD_BACK_BLOCKS),
	NAME(MUT_HELD_BACK_WAITS),
	NAME(MUT_FLOWS_FROM_LOWEST),
	NAME(MUT_GAP_FROM_GENERATION),
	NAME(MUT_GAP_ALWAYS_FIXED),
	NAME(MUT_GAP_NEVER_FIXED),
	NAME(MUT_GAP_OF_NEXT_PACKET),
	NAME(MUT_WINDOW_ONE_MORE),
	NAME(MUT_WINDOW_PER_THROTTLE),
	NAME(MUT_WAITS_FROM_HEAD),
	NAME(MUT_WAITS_UNTIL_GRANT),
	NAME(MUT_DISCARDED_WAITS_ON),
	NAME(MUT_LEAVES_BEFORE_ARRIVALS),
	NAME(MUT_FILL_FROM_GRANT),
	NAME(MUT_FULL_WITHOUT_ANOTHER),
	NAME(MUT_FULL_FOR_ITSELF),
	NAME(MUT_MARK_AT_ARRIVAL),
	NAME(MUT_CREDITS_WITHOUT_ITS_OWN),
	NAME(MUT_CREDITS_FOR_ONE),
	NAME(MUT_SINK_NEEDS_CREDITS),
	NAME(MUT_CAPACITY_BEYOND),
	NAME(MUT_MARKED_NOT_ASKED),
	NAME(MUT_ANSWERS_ARE_MARKED),
	NAME(MUT_CNP_AFTER_ACK),
	NAME(MUT_ACK_REPEATS_CNP),
	NAME(MUT_ANSWERS_AFTER_SOURCES),
	NAME(MUT_ANSWERS_ON_SL0),
	NAME(MUT_ANSWERS_KEEP_KEY),
	NAME(MUT_HEARD_ON_DELIVERY),
	NAME(MUT_ANSWERS_BY_TAIL),
	NAME(MUT_WRONG_HOST_HEARS),
	NAME(MUT_CNP_ACKNOWLEDGES),
	NAME(MUT_MARKED_ACK_IGNORED),
	NAME(MUT_ACKS_NOT_CUMULATIVE),
	NAME(MUT_TIMEOUT_FROM_FIRST),
	NAME(MUT_TIMEOUT_FROM_GRANT),
	NAME(MUT_TIMEOUT_FORGETS_ONE),
	NAME(MUT_SETTINGS_KEEP_MARKS),
	NAME(MUT_SETTINGS_KEEP_RATES),
	NAME(MUT_SETTINGS_BEGIN_ANEW),
	NAME(MUT_SETTINGS_STOP_TIMERS),
	NAME(MUT_SETTINGS_SPARE_HELD),
	NAME(MUT_SETTINGS_MOVE_FIXED),
	NAME(MUT_SHARE_MAY_BE_REACHED),
	NAME(MUT_SHARES_ARE_ONE),
	NAME(MUT_RATE_NOT_ASKED),
	NAME(MUT_REJECT_KEEPS_PROMISES),
	NAME(MUT_ACCEPT_GOES_BACK),
	NAME(MUT_LAST_FREES_ALL),
	NAME(MUT_PROBES_ON_VL15),
	NAME(MUT_ADMISSION_KEEPS_KEY),
	NAME(MUT_STAGING_ENDLESS),
	NAME(MUT_LINE_NOT_IN_TURN),
	NAME(MUT_TIMERS_BEFORE_DELIVERIES),
	NAME(MUT_ONE_MESSAGE_MORE),
	NAME(MUT_ASKS_AT_THE_END_ONLY),
	NAME(MUT_ASKS_COUNTED_ANEW),
	NAME(MUT_TIMER_FROM_FIRST_PACKET),
	NAME(MUT_TIMER_NOT_RESTARTED),
	NAME(MUT_TIMER_RUNS_ON_BACK),
	NAME(MUT_NAK_ONLY_ACKNOWLEDGES),
	NAME(MUT_ONE_RETRY_MORE),
	NAME(MUT_NAK_FOR_EACH),
	NAME(MUT_DUPLICATES_UNANSWERED),
	NAME(MUT_DUPLICATES_ALL_ANSWERED),
	NAME(MUT_PAIRS_KEEP_KEY),
	NAME(MUT_WRONG_HOST_TAKES),
	NAME(MUT_ACK_KEEPS_NUMBER),
	NAME(MUT_BECN_STAYS),
	NAME(MUT_BECN_OF_TAKEN_ONLY),
	NAME(MUT_CNP_FOR_RC),
	NAME(MUT_FREE_SLS_ECHO),
	NAME(MUT_PAIR_CNP_LONG),
	NAME(MUT_PACE_FROM_TAKING),
	NAME(MUT_PACE_FIRST_FREE),
	NAME(MUT_PACE_HOLDS_AT_FULL_RATE),
	NAME(MUT_PACE_OF_FULL_PACKETS),
	NAME(MUT_PACE_OF_EACH),
	NAME(MUT_PACE_BY_NUMBER),
	NAME(MUT_PACE_PLACE_LOST),
	NAME(MUT_FREE_SLS_PACED),
	NAME(MUT_PACE_BY_PROGRESS),
	NAME(MUT_PACE_WAITS_FOR_DROPPED),
	NAME(MUT_KEEPS_NOTHING),
	NAME(MUT_KEEPS_ONE_MORE),
	NAME(MUT_KEPT_IS_REFUSED),
	NAME(MUT_KEPT_ASKS_AS_FIRST),
	NAME(MUT_KEPT_NEVER_ASK),
	NAME(MUT_ONE_KEPT_TAKEN),
	NAME(MUT_EVERY_SL_CHOOSES),
	NAME(MUT_CANDIDATES_WITHOUT_KEYS),
	NAME(MUT_FIRST_AFTER_0),
	NAME(MUT_FIRST_BY_LATE_TABLE),
	NAME(MUT_CHOOSES_AT_HEAD),
	NAME(MUT_INPUTS_BACKWARDS),
	NAME(MUT_VL_OF_FIRST),
	NAME(MUT_VL_CHOSEN_LATE),
	NAME(MUT_LOAD_FROM_HEAD),
	NAME(MUT_LOAD_UNTIL_TAIL),
	NAME(MUT_LOAD_UNTIL_CROSSBAR),
	NAME(MUT_LOAD_OF_CHOOSERS),
	NAME(MUT_ROUTED_AFTER_DISCARDS),
	NAME(MUT_DOWN_UNNOTICED),
	NAME(MUT_DOWN_AT_ONCE),
	NAME(MUT_HEAL_TO_THE_END),
	NAME(MUT_NONE_LEFT_TAKES_FIRST),
	NAME(MUT_HOME_IS_LOWEST),
	NAME(MUT_EQUALS_FROM_0),
	NAME(MUT_LAST_OF_SWITCH),
	NAME(MUT_LEAST_ALWAYS),
	NAME(MUT_THRESHOLD_REACHED),
	NAME(MUT_NO_HYSTERESIS),
	NAME(MUT_BUSY_PER_GROUP),
	NAME(MUT_HOME_IS_NO_CHOICE),
	NAME(MUT_ONE_IS_NOT_DRAWN),
	NAME(MUT_FLOWS_OF_ANY_SOURCE),
	NAME(MUT_FLOWS_OF_ANY_SL),
	NAME(MUT_FLOW_STAYS_ANYHOW),
	NAME(MUT_GAP_SINCE_CHOICE),
	NAME(MUT_GAP_ENDS_EARLY),
	NAME(MUT_NOTICE_FOR_ALL_TARGETS),
	NAME(MUT_NOTICE_NEVER),
	NAME(MUT_NOTICE_AT_ONCE),
	NAME(MUT_NOTICE_WITHOUT_HEAL),
	NAME(MUT_NOTICE_STAYS),
	NAME(MUT_NOTICE_ENDS_AT_ONCE),
	NAME(MUT_NOTICE_NEXT_ONLY),
	NAME(MUT_NOTICE_OF_ANY_PORT),
	NAME(MUT_AROUND_NEVER),
	NAME(MUT_AROUND_WITHOUT_MARGIN),
	NAME(MUT_AROUND_AT_MARGIN),
	NAME(MUT_AROUND_BY_LOAD_ONLY),
	NAME(MUT_AROUND_OF_ALL),
	NAME(MUT_AROUND_MIXED),
	NAME(MUT_AROUND_FROM_ANYWHERE),
	NAME(MUT_AROUND_FROM_ENDS),
	NAME(MUT_AROUND_NEEDS_MINIMAL),
	NAME(MUT_AROUND_NOT_FIRST),
	NAME(MUT_AROUND_HOME_IS_LOWEST),
	NAME(MUT_AROUND_SHARES_LAST),
	NAME(MUT_AROUND_ALONE),
	NAME(MUT_AROUND_ENDS_FLOWS),
	NAME(MUT_AROUND_IS_A_WAY),
	NAME(MUT_AROUND_UNNOTICED),
	NAME(MUT_JOBS_SHARE_SENDER),
	NAME(MUT_START_AT_ONCE),
	NAME(MUT_IREQUIRES_DONE),
	NAME(MUT_REQUIRES_STARTED),
	NAME(MUT_ONE_CPU),
	NAME(MUT_RECEIVES_COST_NOTHING),
	NAME(MUT_COST_OF_ROOM),
	NAME(MUT_NOTHING_WAITS_FOR_CPU),
	NAME(MUT_CPU_LAST_FIRST),
	NAME(MUT_STARTED_IN_LINE),
	NAME(MUT_HIGHEST_NUMBER_FIRST),
	NAME(MUT_ENDS_BEFORE_DELIVERIES),
	NAME(MUT_ANNOUNCED_WHEN_WHOLE),
	NAME(MUT_LAST_RECEIVE_FIRST),
	NAME(MUT_LAST_MESSAGE_FIRST),
	NAME(MUT_TAGS_IGNORED),
	NAME(MUT_ANY_IS_NONE),
	NAME(MUT_LARGER_DOES_NOT_FIT),
	NAME(MUT_ANY_HOST_TAKES),
	NAME(MUT_LEFT_AT_GRANT),
	NAME(MUT_NO_GAP),
	NAME(MUT_GAP_OF_PACKETS),
	NAME(MUT_EAGER_BELOW),
	NAME(MUT_CLEARS_FIRST),
	NAME(MUT_BODY_FIRST),
	NAME(MUT_DONE_WHEN_ANNOUNCED),
	NAME(MUT_CHANNELS_MIX),
	NAME(MUT_ITERATIONS_WAIT),
	NAME(MUT_SPREAD_WITHOUT_GRH),
	NAME(MUT_READS_COST_NO_BYTES),
	NAME(MUT_ANSWERED_AT_ONCE),
	NAME(MUT_SERVER_HAS_NO_LINE),
	NAME(MUT_SENDS_WITHOUT_IMMEDIATE),
	NAME(MUT_PACE_OF_ADAPTER),
	NAME(MUT_HANDED_OVER_IS_HEARD),
	NAME(MUT_ROOT_HAS_LOWEST_NUMBER),
	NAME(MUT_TRANSACTIONS_FROM_0),
	NAME(MUT_GIVES_WITHOUT_CPU),
	NAME(MUT_TAKEN_AT_HEAD),
	NAME(MUT_ONE_CHILD_MISSING),
	NAME(MUT_RESULT_AT_ONCE),
	NAME(MUT_RESULTS_BY_PORT_1),
	NAME(MUT_SOURCE_KEEPS_KEY),
	NAME(MUT_SHARE_ABOVE_THRESHOLD),
	NAME(MUT_SHARE_BY_VL0),
	NAME(MUT_SHARE_HIGHEST),
	NAME(MUT_SHARE_BUSY),
	NAME(MUT_SHARE_NO_QUEUE),
	NAME(MUT_SHARE_KEPT),
	NAME(MUT_SHARE_FIRST_RETURNED),
	NAME(MUT_SHARE_OWN_FIRST),
	NAME(MUT_SHARE_USERS_CREDITS),
	NAME(MUT_SHARE_HELD_BACK),
	NAME(MUT_MAD_FREED_AT_TAIL),
	NAME(MUT_MAD_OF_SWITCH_BY_LAST_INPUT),
	NAME(MUT_MAD_OF_SWITCH_AT_ONCE),
};

const char *oracle_mutation_name(enum oracle_mutation m)
{
	return mutation_names[m];
}
