/* SPDX-License-Identifier: BSD-2-Clause */
#include "hca/lab.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "hca/hca_internal.h"
#include "subnet/multicast/mcast.h"
#include "wire/capture.h"

#define STACK         (256 * 1024)
#define TIMER_THREADS (1u << 27) /* timer cookies from here on belong to threads */
#define TIMER_DEVICES (1u << 26) /* timers of queue pairs */

/* ---- threads ---------------------------------------------------------- */

void hca_list_put(struct thread_list *l, struct v_thread *t)
{
	t->next = NULL;
	if (l->first)
		l->last->next = t;
	else
		l->first = t;
	l->last = t;
}

struct v_thread *hca_list_take(struct thread_list *l)
{
	struct v_thread *t = l->first;

	if (t)
		l->first = t->next;
	return t;
}

static void thread_main(void *argument)
{
	struct v_thread *t = argument;

	t->fn(t->arg);
}

void lab_spawn(struct lab *lab, uint32_t host, void (*fn)(void *), void *arg)
{
	struct v_thread *t = hd_alloc(1, sizeof(*t));
	struct v_device *dev = &lab->devices[host];

	*t = (struct v_thread){ .lab = lab,
				.dev = dev,
				.fn = fn,
				.arg = arg,
				.id = (uint32_t)lab->n_threads,
				.clock = caller_time(lab),
				.wake_at = NEVER };
	t->coroutine = coroutine_new(STACK, thread_main, t);
	lab->threads = hd_grow(lab->threads, &lab->threads_cap, lab->n_threads + 1,
			       sizeof(struct v_thread *));
	lab->threads[lab->n_threads++] = t;
	dev->threads = hd_grow(dev->threads, &dev->threads_cap, dev->n_threads + 1,
			       sizeof(struct v_thread *));
	dev->threads[dev->n_threads++] = t;
	lab->n_live++;
	hca_list_put(&lab->ready, t);
}

bool hca_thread_wait(struct lab *lab)
{
	struct v_thread *t = lab->current;

	if (lab->cancelled)
		return false;
	t->state = THREAD_WAITING;
	coroutine_yield(t->coroutine);
	return !lab->cancelled;
}

void hca_thread_wake(struct v_thread *t, hd_time when)
{
	if (t->state != THREAD_WAITING)
		return;
	t->clock = later(t->clock, when);
	t->state = THREAD_READY;
	hca_list_put(&t->lab->ready, t);
}

/* Runs all threads that are ready; a thread may make others ready. */
static void run_ready(struct lab *lab)
{
	struct v_thread *t;

	while ((t = hca_list_take(&lab->ready))) {
		lab->current = t;
		lab->went_on = lab->now;
		t->state = THREAD_RUNNING;
		if (!coroutine_resume(t->coroutine)) {
			t->state = THREAD_DONE;
			lab->n_live--;
		}
		lab->current = NULL;
	}
}

void lab_cancel(struct lab *lab)
{
	lab->cancelled = true;
	for (size_t i = 0; i < lab->n_threads; i++)
		hca_thread_wake(lab->threads[i], 0);
	/* When a program calls this function, run_ready is already active. */
	if (!lab->current)
		run_ready(lab);
}

hd_time lab_now(const struct lab *lab)
{
	return caller_time(lab);
}

void lab_work(struct lab *lab, hd_time duration)
{
	spend(lab, duration);
}

void lab_settle(struct lab *lab)
{
	struct v_thread *t = lab->current;

	if (!t || t->clock <= lab->now || lab->cancelled)
		return;
	t->wake_at = t->clock;
	sim_timer(lab->sim, lab->endpoint, t->dev->node, t->clock, TIMER_THREADS | t->id);
	while (t->clock > lab->now && hca_thread_wait(lab))
		;
	t->wake_at = NEVER;
}

bool lab_barrier(struct lab *lab, uint32_t parties)
{
	if (lab->cancelled)
		return false;
	lab->barrier_time = later(lab->barrier_time, lab->current->clock);
	if (++lab->barrier_here < parties) {
		hca_list_put(&lab->barrier_waiters, lab->current);
		return hca_thread_wait(lab);
	}
	hd_time when = lab->barrier_time;
	struct v_thread *t;

	lab->barrier_here = 0;
	lab->barrier_time = 0;
	lab->current->clock = later(lab->current->clock, when);
	while ((t = hca_list_take(&lab->barrier_waiters)))
		hca_thread_wake(t, when);
	return true;
}

struct v_semaphore *v_semaphore_new(struct lab *lab)
{
	struct v_semaphore *s = hd_alloc(1, sizeof(*s));

	s->lab = lab;
	return s;
}

void v_semaphore_free(struct v_semaphore *s)
{
	free(s);
}

void v_semaphore_post(struct v_semaphore *s)
{
	struct v_thread *t = hca_list_take(&s->waiters);

	s->posted = caller_time(s->lab);
	if (t)
		hca_thread_wake(t, s->posted);
	else
		s->value++;
}

bool v_semaphore_wait(struct v_semaphore *s)
{
	struct v_thread *t = s->lab->current;

	if (s->value) {
		s->value--;
		t->clock = later(t->clock, s->posted);
		return true;
	}
	hca_list_put(&s->waiters, t);
	return hca_thread_wait(s->lab);
}

/* ---- what the simulator tells -------------------------------------------- */

/* Processes completions after all adapters have run. */
static void go_on(struct lab *lab)
{
	if (lab->channels)
		hca_channels_settle(lab);
	run_ready(lab);
}

static void on_made(void *context, hd_time now, uint32_t flow)
{
	struct lab *lab = context;

	lab->now = now;
	traffic_made(lab, flow);
	go_on(lab);
}

static void on_delivered(void *context, hd_time now, uint32_t node, const struct sim_packet *p)
{
	struct lab *lab = context;

	lab->now = now;
	device_receive(&lab->devices[lab->device_of_node[node]], p->cookie, p->marked);
	go_on(lab);
}

static void on_timer(void *context, hd_time now, uint32_t cookie)
{
	struct lab *lab = context;

	lab->now = now;
	if (cookie >= TIMER_THREADS) {
		struct v_thread *t = lab->threads[cookie - TIMER_THREADS];

		if (t->wake_at == now)
			hca_thread_wake(t, now);
	} else if (cookie >= TIMER_DEVICES) {
		device_timer(&lab->devices[cookie - TIMER_DEVICES]);
	} else if (lab->devices[cookie].alarm == now) {
		device_ring(&lab->devices[cookie]);
	}
	go_on(lab);
}

static void on_sent(void *context, hd_time now, hd_time end, uint32_t node, uint32_t cookie)
{
	struct lab *lab = context;

	lab->now = now;
	device_sent(&lab->devices[lab->device_of_node[node]], cookie, end);
	run_ready(lab);
}

/* Lost packets are counted and their slots freed; no queue pair is notified. */
static void on_lost(void *context, hd_time when, uint32_t cookie, bool was_sent)
{
	struct lab *lab = context;

	lab->lost++;
	if (was_sent)
		hca_slot_release(lab, cookie);
	else
		device_lost(&lab->devices[lab->device_of_node[hca_slot_at(lab, cookie)->node]],
			    cookie, when);
}

static void on_granted(void *context, hd_time now, uint32_t port, const struct sim_packet *p)
{
	struct lab *lab = context;
	const struct sim_setup *setup = &lab->fabric->setup;
	uint32_t peer = setup->ports[port].peer;
	bool from_end = setup->nodes[setup->ports[port].node].kind == SIM_END;
	bool to_end = setup->nodes[setup->ports[peer].node].kind == SIM_END;
	uint8_t bytes[PACKET_MAX];
	size_t size;

	if (p->flow != SIM_NONE || (!from_end && !to_end))
		return;
	struct packet copy = hca_slot_at(lab, p->cookie)->packet;

	copy.lrh.vl = p->vl;
	if (packet_encode(&copy, bytes, sizeof(bytes), &size) == HD_OK)
		capture_write_packet(lab->capture, lab->capture_start + now, from_end ? 0 : 1,
				     bytes, size);
}

static void on_passage(void *context, const struct sim_passage *x)
{
	struct lab *lab = context;

	channel_passes(lab, x);
}

void lab_alarm(struct lab *lab, struct v_device *dev, hd_time when)
{
	when = later(when, lab->now);
	if (when >= dev->alarm || !lab->sim)
		return;
	dev->alarm = when;
	sim_timer(lab->sim, lab->endpoint, dev->node, when, dev->host);
}

void lab_timer(struct lab *lab, struct v_device *dev)
{
	if (dev->timer >= dev->timer_at || !lab->sim)
		return;
	dev->timer_at = later(dev->timer, lab->now);
	sim_timer(lab->sim, lab->endpoint, dev->node, dev->timer_at, TIMER_DEVICES | dev->host);
}

/* ---- the lab ------------------------------------------------------------- */

struct lab *lab_new(struct fabric *fabric, const struct hca_profile *profile)
{
	struct lab *lab = hd_alloc(1, sizeof(*lab));
	const struct sim_setup *setup = &fabric->setup;

	lab->fabric = fabric;
	lab->profile = profile;
	lab->pools = hca_pools_new(NULL, 0, 1);
	lab->n_pools = 1;
	lab->device_of_node = hd_alloc(setup->n_nodes, sizeof(*lab->device_of_node));
	lab->devices = hd_alloc(setup->n_nodes, sizeof(*lab->devices));
	for (uint32_t i = 0; i < setup->n_nodes; i++) {
		if (setup->nodes[i].kind != SIM_END ||
		    setup->ports[setup->nodes[i].first_port + 1].peer == SIM_NONE)
			continue;
		lab->device_of_node[i] = lab->n_devices;
		device_init(&lab->devices[lab->n_devices], lab, lab->n_devices, i);
		lab->n_devices++;
	}
	pace_init(lab);
	return lab;
}

enum hd_status lab_new_ideal(struct fabric *fabric, struct diag *d, struct lab **out)
{
	struct hca_profile *profile = hd_alloc(1, sizeof(*profile));
	enum hd_status status = profile_open("ideal", d, profile);

	if (status != HD_OK) {
		free(profile);
		return status;
	}
	*out = lab_new(fabric, profile);
	(*out)->own_profile = profile;
	return HD_OK;
}

void lab_free(struct lab *lab)
{
	for (size_t i = 0; i < lab->n_threads; i++) {
		coroutine_free(lab->threads[i]->coroutine);
		free(lab->threads[i]->requests);
		free(lab->threads[i]);
	}
	for (uint32_t i = 0; i < lab->n_devices; i++)
		device_fini(&lab->devices[i]);
	pace_fini(lab);
	lab_saved_free(lab);
	lab_distant_fini(lab);
	hca_pools_free(lab->pools, lab->n_pools);
	if (lab->traffic)
		traffic_close(lab->traffic);
	if (lab->channels)
		hca_channels_close(lab->channels);
	if (lab->external)
		external_qps_close(lab->external);
	/* Adapters use them until they are freed. */
	for (uint32_t i = 0; i < lab->n_parts; i++)
		free(lab->parts[i]);
	free(lab->parts);
	free(lab->threads);
	free(lab->devices);
	free(lab->device_of_node);
	if (lab->own_profile)
		profile_fini(lab->own_profile);
	free(lab->own_profile);
	free(lab);
}

enum hd_status lab_use_flows(struct lab *lab, struct diag *d)
{
	lab->use_flows = true;
	return traffic_open(lab, d);
}

void lab_capture(struct lab *lab, struct capture_writer *capture, hd_time start)
{
	lab->capture = capture;
	lab->capture_start = start;
}

uint32_t lab_hosts(const struct lab *lab)
{
	return lab->n_devices;
}

struct v_device *lab_device(struct lab *lab, uint32_t host)
{
	return &lab->devices[host];
}

const struct hca_profile *lab_profile(const struct lab *lab)
{
	return lab->profile;
}

uint64_t lab_lost(const struct lab *lab)
{
	uint64_t lost = lab->lost;

	for (uint32_t i = 0; i < lab->n_parts; i++)
		lost += lab->parts[i]->lost;
	return lost;
}

enum hd_status lab_multicast(struct lab *lab, const uint32_t *hosts, uint32_t n, struct diag *d,
			     lid_t *out)
{
	struct subnet *subnet = &lab->fabric->subnet;
	port_id *members = hd_alloc(n, sizeof(*members));

	for (uint32_t i = 0; i < n; i++)
		members[i] = lab->fabric->setup.ports[lab->devices[hosts[i]].port].origin;
	const struct mcast_group group = {
		.method = MCAST_SHARED,
		.source = TOPO_NONE,
		.members = members,
		.n_members = n,
	};
	enum hd_status status = mcast_add(subnet, &group, d);

	free(members);
	if (status != HD_OK)
		return status;
	*out = subnet->groups[subnet->n_groups - 1].mlid;
	return HD_OK;
}

void lab_rules(struct sim_rules *rules)
{
	rules->injects = true;
	rules->injects_bytes = 4096 + 128; /* room for all headers */
}

void lab_program_rules(struct sim_rules *rules)
{
	sim_rules_init(rules);
	lab_rules(rules);
	rules->flow_metrics = rules->check_order = false;
}

/*
 * Each domain has a lab of its own with its adapters, clock and slots; tables by host and by
 * flow are shared.
 */
static void cut(void *context, const struct sim_cut *how, void **contexts)
{
	struct lab *lab = context;

	lab->pools = hca_pools_new(lab->pools, 1, how->n);
	lab->n_pools = how->n;
	lab->n_parts = how->n;
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): of pointers */
	lab->parts = hd_alloc(how->n, sizeof(*lab->parts));
	for (uint32_t i = 0; i < how->n; i++) {
		struct lab *part = hd_alloc(1, sizeof(*part));

		*part = *lab;
		part->parts = NULL;
		part->n_parts = 0;
		part->number = i;
		part->sim = how->parts[i];
		contexts[i] = lab->parts[i] = part;
	}
	for (uint32_t i = 0; i < lab->n_devices; i++) {
		struct v_device *dev = &lab->devices[i];

		dev->lab = lab->parts[how->part_of_node[dev->node]];
	}
	lab_distant_cut(lab, how);
	if (lab->traffic)
		traffic_cut(lab->traffic, how->n);
	if (lab->external)
		external_qps_cut(lab->external, how->n);
}

void lab_use_sim(struct lab *lab, struct sim *s)
{
	const struct sim_endpoint adapters = {
		.context = lab,
		.delivered = on_delivered,
		.timer = on_timer,
		.granted = on_sent,
		.passes = lab->names_channels ? on_passage : NULL,
		.lost = on_lost,
		.name = "queue pair",
		.made = lab->traffic ? on_made : NULL,
		/* Programs may synchronise at any time, so their runs are not partitioned. */
		.cut = lab->n_threads ? NULL : cut,
		.list_cookies = lab_list,
		.pack = lab->n_threads ? NULL : lab_pack,
		.pack_cookie = lab_pack_cookie,
		.mail = lab->n_threads ? NULL : lab_mail,
		.collect = lab_collect,
	};
	const struct sim_observer observer = { .context = lab, .granted = on_granted };

	lab->sim = s;
	lab->endpoint = sim_attach(s, &adapters);
	for (uint32_t i = lab->endpoint; i-- > 0;) {
		const struct sim_endpoint *e = sim_attached(s, i);

		/* Adapters of another lab on the same ports. */
		if (e->timer == on_timer)
			pace_join(lab, e->context);
	}
	if (lab->capture)
		sim_observe(s, &observer);
}

struct watching {
	struct lab *lab;
	sim_progress_fn *progress;
	void *context;
	bool in_vain;
};

static bool on_progress(void *context, const struct sim_progress *p)
{
	struct watching *w = context;
	const struct lab *lab = w->lab;

	/* Traffic never ends, and may leave the programs no bandwidth. */
	w->in_vain = lab->use_flows && p->now - lab->went_on > lab->fabric->scenario->run.horizon;
	return lab->n_live > 0 && !w->in_vain && (!w->progress || w->progress(w->context, p));
}

enum lab_outcome lab_run(struct lab *lab, sim_progress_fn *progress, void *context)
{
	struct watching w = { lab, progress, context, false };

	run_ready(lab);
	enum sim_state state = sim_run(lab->sim, NEVER, on_progress, &w);

	if (lab->n_live == 0)
		return LAB_DONE;
	if (state == SIM_PAUSED)
		return w.in_vain ? LAB_STARVED : LAB_STOPPED;
	return LAB_STUCK;
}
