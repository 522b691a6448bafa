/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Networks of heddle.h: an endpoint of the simulator whose messages come from a
 * program. Messages of a host and class stand in a line, of which the first is
 * sent, packet by packet.
 *
 * What a program sends inside a callback is noted, and enters the line when the
 * callback has returned: nothing of the engine happens underneath a stranger.
 */
#include <stdlib.h>
#include <string.h>

#include "api/guard.h"
#include "api/opened.h"
#include "base/alloc.h"
#include "sim/jobs/packet.h"

#define NO_MESSAGE UINT32_MAX
#define MOST_IDS   ((uint32_t)1 << 28) /* the limit of ids in the engine */
#define LAST_TIME  (UINT64_MAX / 2)    /* what follows still has a number */

struct net_message {
	uint64_t bytes;
	uint64_t n_packets, sent, arrived, lost;
	uint32_t source, target; /* hosts */
	uint32_t line;
	uint32_t next; /* in the line, among those noted, or free */
	hd_net_done *done;
	void *context;
};

struct host_queue {
	uint32_t first, last;
	hd_time free_at; /* the last byte of what it sent has left */
};

struct hd_net {
	struct api_opened opened;
	struct fabric *fabric;
	struct sim *sim;
	uint32_t endpoint;
	const struct selection *hosts;
	char **names;      /* of hosts, */
	uint32_t *by_name; /* and their numbers in the order of names */
	uint32_t n_lines;  /* of a host: one per class, and one without */
	struct host_queue *lines;
	struct net_message *messages;
	size_t n_messages, cap;
	uint32_t free;
	uint32_t noted, noted_last;
	uint64_t pending;
	hd_time now;
	bool is_inside;                /* a callback */
	bool is_stepping, is_draining; /* runs to the next done, or the last */
};

/* ---- lines ------------------------------------------------------------- */

static unsigned line_sl(const struct hd_net *n, const struct net_message *m)
{
	uint32_t number = m->line % n->n_lines;
	const struct scenario *s = n->fabric->scenario;

	return number < s->qos.n_classes ? (unsigned)s->qos.classes[number].sl : 0;
}

/* The next packet of a message enters the queue of its port at `when`. */
static void packet_offer(struct hd_net *n, uint32_t id, hd_time when)
{
	const struct net_message *m = &n->messages[id];
	struct sim_arrival a;

	message_packet(n->fabric, n->hosts->ports[m->source], n->hosts->ports[m->target],
		       (struct packet_label){ .sl = line_sl(n, m) },
		       message_payload(m->bytes, n->fabric->scenario->fabric.mtu, m->sent), &a);
	a.time = when;
	sim_inject(n->sim, n->endpoint, &a, id);
}

static void line_put(struct hd_net *n, uint32_t id)
{
	struct host_queue *l = &n->lines[n->messages[id].line];

	n->messages[id].next = NO_MESSAGE;
	if (l->first != NO_MESSAGE) {
		n->messages[l->last].next = id;
		l->last = id;
		return;
	}
	l->first = l->last = id;
	packet_offer(n, id, n->now > l->free_at ? n->now : l->free_at);
}

/* The first message has left, at `when`: the next one's turn. */
static void line_continue(struct hd_net *n, struct host_queue *l, hd_time when)
{
	l->free_at = when;
	l->first = n->messages[l->first].next;
	if (l->first != NO_MESSAGE)
		packet_offer(n, l->first, when);
}

static void put_noted(struct hd_net *n)
{
	while (n->noted != NO_MESSAGE) {
		uint32_t id = n->noted;

		n->noted = n->messages[id].next;
		line_put(n, id);
	}
}

/* ---- what the simulator tells -------------------------------------------- */

static bool is_over(const struct net_message *m)
{
	return m->arrived + m->lost == m->n_packets;
}

static void message_end(struct hd_net *n, uint32_t id, hd_time now)
{
	const struct net_message m = n->messages[id];

	n->messages[id].next = n->free;
	n->free = id;
	n->pending--;
	n->now = now;
	if (m.done) {
		n->is_inside = true;
		m.done(m.context, n, m.lost > 0);
		n->is_inside = false;
		put_noted(n);
	}
	if (n->is_stepping || (n->is_draining && n->pending == 0))
		sim_pause(n->sim);
}

static void on_granted(void *context, hd_time now, hd_time end, uint32_t node, uint32_t id)
{
	struct hd_net *n = context;
	struct net_message *m = &n->messages[id];

	(void)now;
	(void)node;
	if (++m->sent < m->n_packets)
		packet_offer(n, id, end);
	else
		line_continue(n, &n->lines[m->line], end);
}

/* The program is notified of its end at `when`, which may be in the future. */
static void note_loss(struct hd_net *n, uint32_t id, hd_time when)
{
	const struct net_message *m = &n->messages[id];
	port_id port = n->hosts->ports[m->source];

	if (is_over(m))
		sim_timer(n->sim, n->endpoint, n->fabric->end_of_origin[port], when, id);
}

static void on_lost(void *context, hd_time when, uint32_t id, bool was_sent)
{
	struct hd_net *n = context;
	struct net_message *m = &n->messages[id];

	if (was_sent) {
		m->lost++;
	} else {
		/* Dropped where it was made, as what follows would be. */
		m->lost += m->n_packets - m->sent;
		m->sent = m->n_packets;
		line_continue(n, &n->lines[m->line], when);
	}
	note_loss(n, id, when);
}

static void on_delivered(void *context, hd_time now, uint32_t node, const struct sim_packet *packet)
{
	struct hd_net *n = context;
	uint32_t id = packet->cookie;
	struct net_message *m = &n->messages[id];
	port_id port = n->hosts->ports[m->target];

	/* With a wrong LFT, the message may arrive at another host. */
	if (n->fabric->end_of_origin[port] == node)
		m->arrived++;
	else
		m->lost++;
	if (is_over(m))
		message_end(n, id, now);
}

static void on_timer(void *context, hd_time now, uint32_t id)
{
	message_end(context, id, now);
}

/* ---- hosts ------------------------------------------------------------- */

struct named_host {
	const char *name;
	uint32_t host;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct named_host *)a)->name, ((const struct named_host *)b)->name);
}

static void name_hosts(struct hd_net *n)
{
	struct named_host *order = hd_alloc(n->hosts->n, sizeof(*order));

	/* NOLINTNEXTLINE(bugprone-sizeof-expression): of pointers */
	n->names = hd_alloc(n->hosts->n, sizeof(*n->names));
	n->by_name = hd_alloc(n->hosts->n, sizeof(*n->by_name));
	for (uint32_t i = 0; i < n->hosts->n; i++) {
		struct strbuf name = STRBUF_INIT;

		fabric_port_name(n->fabric, n->fabric->port_of_origin[n->hosts->ports[i]], &name);
		n->names[i] = strbuf_detach(&name);
		order[i] = (struct named_host){ n->names[i], i };
	}
	qsort(order, n->hosts->n, sizeof(*order), by_name);
	for (uint32_t i = 0; i < n->hosts->n; i++)
		n->by_name[i] = order[i].host;
	free(order);
}

uint32_t hd_net_hosts(const struct hd_net *net)
{
	return net ? net->hosts->n : 0;
}

const char *hd_net_host_name(const struct hd_net *net, uint32_t host)
{
	return host < hd_net_hosts(net) ? net->names[host] : NULL;
}

static uint64_t guid_of_host(const struct hd_net *net, uint32_t host)
{
	return topo_node_of(&net->fabric->topo, net->hosts->ports[host])->guid;
}

/* The one at this place in the order of names, unless another has its name. */
static int take_host(const struct hd_net *net, uint32_t at, uint32_t *out, struct hd_error *error)
{
	uint32_t host = net->by_name[at];

	for (uint32_t i = at > 0 ? at - 1 : 0; i <= at + 1; i++) {
		if (i == at || i >= net->hosts->n ||
		    strcmp(net->names[net->by_name[i]], net->names[host]) != 0)
			continue;
		return api_misuse(error, "'%.80s' is the name of 0x%016llx and 0x%016llx",
				  net->names[host], (unsigned long long)guid_of_host(net, host),
				  (unsigned long long)guid_of_host(net, net->by_name[i]));
	}
	*out = host;
	return api_done(error);
}

int hd_net_host(const struct hd_net *net, const char *name, uint32_t *out, struct hd_error *error)
{
	uint32_t low = 0, high = hd_net_hosts(net);

	if (!net || !name || !out)
		return api_misuse(error, "no network, name or place for it");
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int order = strcmp(name, net->names[net->by_name[middle]]);

		if (order == 0)
			return take_host(net, middle, out, error);
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return api_misuse(error, "unknown host '%.200s'", name);
}

int hd_net_class(const struct hd_net *net, const char *name, uint32_t *out, struct hd_error *error)
{
	if (!net || !name || !out)
		return api_misuse(error, "no network, name or place for it");
	const struct scenario *s = net->fabric->scenario;
	const struct scn_class *c = scenario_class(s, name);

	if (!c)
		return api_misuse(error, "unknown class '%.200s'", name);
	*out = (uint32_t)(c - s->qos.classes);
	return api_done(error);
}

/* ---- opening and closing ------------------------------------------------- */

/* A buffer smaller than a packet would block its message for ever. */
static enum hd_status check_buffers(const struct fabric *fabric, struct diag *d)
{
	const struct scn_fabric *link = &fabric->scenario->fabric;
	uint32_t bytes = (uint32_t)(link->mtu + link->overhead) + fabric->grh_bytes;

	for (uint32_t i = 0; i < fabric->setup.n_ports; i++) {
		const struct sim_port *p = &fabric->setup.ports[i];

		if (p->peer == SIM_NONE || p->in_blocks >= blocks_of(bytes))
			continue;
		d->file = fabric->scenario->file;
		return diag_fail(
			d, HD_ERR_UNFIT,
			"packets of %llu bytes do not fit into buffers of %u bytes; set fabric.packet.mtu or fabric.switch.input_buffer in bytes",
			(unsigned long long)bytes, p->in_blocks * 64);
	}
	return HD_OK;
}

static enum hd_status begin(void *context, struct diag *d)
{
	struct hd_net *n = context;
	struct fabric *fabric = run_fabric(n->opened.simulation);

	n->fabric = fabric;
	n->sim = run_sim(n->opened.simulation);
	n->endpoint = run_outside(n->opened.simulation);
	n->hosts = selector_hosts(fabric->selector);
	n->n_lines = (uint32_t)fabric->scenario->qos.n_classes + 1;
	n->lines = hd_alloc((size_t)n->hosts->n * n->n_lines, sizeof(*n->lines));
	for (size_t i = 0; i < (size_t)n->hosts->n * n->n_lines; i++)
		n->lines[i].first = NO_MESSAGE;
	name_hosts(n);
	return check_buffers(fabric, d);
}

static int net_make(const struct api_opening *what, struct hd_net **out, struct hd_error *error)
{
	struct hd_net *net = out ? calloc(1, sizeof(*net)) : NULL;
	const struct sim_endpoint mine = { .context = net,
					   .name = "message",
					   .delivered = on_delivered,
					   .timer = on_timer,
					   .granted = on_granted,
					   .lost = on_lost };
	struct api_opening whole = *what;

	if (!out)
		return api_misuse(error, "the pointer to the new network is NULL");
	if (!net)
		return api_failed(error, HD_LACKING, "out of memory");
	net->free = net->noted = NO_MESSAGE;
	whole.out = &net->opened;
	whole.outside = &mine;
	int code = api_opened_init(&whole, error);

	if (code != HD_DONE) {
		free(net);
		return code;
	}
	code = api_guarded(begin, net, &net->opened.is_broken, error);
	if (code == HD_DONE)
		*out = net;
	else
		hd_net_close(net);
	return code;
}

int hd_net_open(const char *file, const struct hd_run_options *options, struct hd_net **out,
		struct hd_error *error)
{
	const struct api_opening what = { .file = file, .options = options };

	return net_make(&what, out, error);
}

int hd_net_load(const char *text, size_t len, const char *name,
		const struct hd_run_options *options, struct hd_net **out, struct hd_error *error)
{
	const struct api_opening what = {
		.file = name, .text = text, .len = len, .options = options
	};

	if (!text)
		return api_misuse(error, "the text is NULL");
	return net_make(&what, out, error);
}

/* Inside a function of the caller's: `done`, or progress. */
static bool is_called(const struct hd_net *n)
{
	return n->is_inside || n->opened.is_looking;
}

void hd_net_close(struct hd_net *net)
{
	if (!net || is_called(net))
		return;
	for (uint32_t i = 0; net->names && i < net->hosts->n; i++)
		free(net->names[i]);
	free(net->names);
	free(net->by_name);
	free(net->lines);
	free(net->messages);
	api_opened_fini(&net->opened);
	free(net);
}

/* ---- sending and running ------------------------------------------------- */

/* NULL, or the reason why the arguments are invalid. */
static const char *wrong_with(const struct hd_net *n, uint32_t source, uint32_t target,
			      uint64_t bytes, uint32_t class)
{
	if (source >= n->hosts->n)
		return "unknown source host";
	if (target >= n->hosts->n)
		return "unknown destination host";
	if (source == target)
		return "source and destination are the same host";
	if (bytes > HD_MOST_BYTES)
		return "the message is larger than 2^40 bytes";
	if (class != HD_NO_CLASS && class >= n->n_lines - 1)
		return "unknown traffic class";
	return NULL;
}

/* A slot for a message, not yet in a list; NO_MESSAGE: no memory. */
static uint32_t message_new(struct hd_net *n)
{
	uint32_t id = n->free;

	if (id != NO_MESSAGE) {
		n->free = n->messages[id].next;
		return id;
	}
	if (n->n_messages == MOST_IDS)
		return NO_MESSAGE;
	if (n->n_messages == n->cap) {
		size_t cap = n->cap ? 2 * n->cap : 64;
		struct net_message *more = realloc(n->messages, cap * sizeof(*more));

		if (!more)
			return NO_MESSAGE;
		n->messages = more;
		n->cap = cap;
	}
	return (uint32_t)n->n_messages++;
}

static void note(struct hd_net *n, uint32_t id)
{
	n->messages[id].next = NO_MESSAGE;
	if (n->noted == NO_MESSAGE)
		n->noted = id;
	else
		n->messages[n->noted_last].next = id;
	n->noted_last = id;
	n->pending++;
}

static enum hd_status send_noted(void *context, struct diag *d)
{
	(void)d;
	put_noted(context);
	return HD_OK;
}

/* NOLINTNEXTLINE(readability-function-size): a struct would be no easier */
int hd_net_send(struct hd_net *net, uint32_t source, uint32_t target, uint64_t bytes,
		uint32_t traffic_class, hd_net_done *done, void *context, struct hd_error *error)
{
	struct sim_address way;

	if (!net)
		return api_misuse(error, "the network is NULL");
	if (net->opened.is_broken)
		return api_failed(error, HD_LACKING, "out of memory before");
	const char *wrong = net->opened.is_looking
				    ? "a progress function sends no messages"
				    : wrong_with(net, source, target, bytes, traffic_class);

	if (wrong)
		return api_misuse(error, "%s", wrong);
	if (!fabric_address(net->fabric, net->hosts->ports[source], net->hosts->ports[target],
			    &way))
		return api_failed(error, HD_REFUSED, "no way from %s to %s", net->names[source],
				  net->names[target]);
	uint32_t id = message_new(net);

	if (id == NO_MESSAGE)
		return api_failed(error, HD_LACKING, "no memory for one more message after %llu",
				  (unsigned long long)net->pending);
	uint32_t number = traffic_class == HD_NO_CLASS ? net->n_lines - 1 : traffic_class;

	net->messages[id] = (struct net_message){
		.bytes = bytes,
		.n_packets = message_packets(bytes, net->fabric->scenario->fabric.mtu),
		.source = source,
		.target = target,
		.line = source * net->n_lines + number,
		.done = done,
		.context = context,
	};
	note(net, id);
	return net->is_inside ? api_done(error)
			      : api_guarded(send_noted, net, &net->opened.is_broken, error);
}

uint64_t hd_net_now(const struct hd_net *net)
{
	return net ? net->now : 0;
}

uint64_t hd_net_pending(const struct hd_net *net)
{
	return net ? net->pending : 0;
}

struct net_run_limit {
	struct hd_net *net;
	hd_time until;
};

static enum hd_status run_on(void *context, struct diag *d)
{
	const struct net_run_limit *r = context;
	struct hd_net *n = r->net;
	struct run *s = n->opened.simulation;

	if (n->is_draining && n->pending == 0)
		return HD_OK;
	enum hd_status status = run_until(s, r->until, d);

	if (status != HD_OK)
		return status;
	if (run_state(s) == SIM_DEADLOCK)
		return diag_fail(d, HD_ERR_INPUT,
				 "deadlock: packets wait for each other in a cycle");
	/* The time of the pause, or the requested time if no event is left. */
	if (run_state(s) == SIM_PAUSED)
		n->now = sim_now(n->sim);
	else if (r->until != HD_NEVER)
		n->now = r->until;
	return HD_OK;
}

static int run(struct hd_net *net, uint64_t time, bool steps, struct hd_error *error)
{
	struct net_run_limit r = { net, time };

	if (!net)
		return api_misuse(error, "the network is NULL");
	if (net->opened.is_broken)
		return api_failed(error, HD_LACKING, "out of memory before");
	if (is_called(net))
		return api_misuse(error, "it runs already, and has called");
	if (time < net->now)
		return api_misuse(error, "time does not go back: it is %llu",
				  (unsigned long long)net->now);
	if (time > LAST_TIME && time != HD_NEVER)
		return api_misuse(error, "no time is beyond 2^63 ps");
	net->is_stepping = steps;
	net->is_draining = time == HD_NEVER;
	int code = api_guarded(run_on, &r, &net->opened.is_broken, error);

	return code == HD_DONE && run_is_stopped(net->opened.simulation)
		       ? api_failed(error, HD_STOPPED, "stopped")
		       : code;
}

int hd_net_run_until(struct hd_net *net, uint64_t time, struct hd_error *error)
{
	return run(net, time, false, error);
}

int hd_net_step(struct hd_net *net, uint64_t limit, struct hd_error *error)
{
	return run(net, limit, true, error);
}
