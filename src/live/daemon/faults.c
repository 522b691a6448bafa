/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <infiniband/verbs.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/units.h"
#include "live/daemon/daemon_internal.h"

/*
 * Faults that are injected into programs of a host. The daemon parses and stores them; the
 * adapters of programs apply them (live/verbs/faults.c).
 */

enum { MAX_FAULTS = 64 }; /* per host, so that one reply can hold them */

/* ---- parsing */

struct fault_value {
	const char *name;
	uint32_t value;
};

static const struct fault_value errnos[] = {
	{ "EAGAIN", EAGAIN }, { "EINVAL", EINVAL }, { "ENOMEM", ENOMEM }, { NULL, 0 }
};

#define STATUS(name)                 \
	{                            \
#name, IBV_WC_##name \
	}
static const struct fault_value statuses[] = {
	STATUS(LOC_LEN_ERR),    STATUS(LOC_QP_OP_ERR),
	STATUS(LOC_PROT_ERR),   STATUS(WR_FLUSH_ERR),
	STATUS(MW_BIND_ERR),    STATUS(BAD_RESP_ERR),
	STATUS(LOC_ACCESS_ERR), STATUS(REM_INV_REQ_ERR),
	STATUS(REM_ACCESS_ERR), STATUS(REM_OP_ERR),
	STATUS(RETRY_EXC_ERR),  STATUS(RNR_RETRY_EXC_ERR),
	STATUS(GENERAL_ERR),    { NULL, 0 },
};

#define EVENT(name)                     \
	{                               \
#name, IBV_EVENT_##name \
	}
static const struct fault_value qp_events[] = {
	EVENT(QP_FATAL), EVENT(QP_REQ_ERR), EVENT(QP_ACCESS_ERR), { NULL, 0 }
};
static const struct fault_value device_events[] = { EVENT(DEVICE_FATAL), { NULL, 0 } };

/* Actions. Without values: the action takes a duration. */
static const struct fault_action {
	const char *name;
	uint32_t action;
	const struct fault_value *values;
} actions[] = {
	{ "complete", LIVE_FAULT_COMPLETE, statuses },
	{ "post", LIVE_FAULT_POST, errnos },
	{ "delay", LIVE_FAULT_DELAY, NULL },
	{ "rnr", LIVE_FAULT_RNR, NULL },
	{ "qp-error", LIVE_FAULT_QP_ERROR, qp_events },
	{ "device", LIVE_FAULT_DEVICE, device_events },
};
enum { N_ACTIONS = sizeof(actions) / sizeof(actions[0]) };

static enum hd_status parse_number(const char *word, const char *value, uint64_t most,
				   struct diag *d, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(value, &end, 0);
	if (*end != '\0' || end == value || value[0] == '-' || errno || *out > most)
		return diag_fail(d, HD_ERR_INPUT, "'%s': a number from 0 to %" PRIu64 " is needed",
				 word, most);
	return HD_OK;
}

static enum hd_status parse_action(const struct fault_action *a, const char *word,
				   const char *value, struct diag *d, struct live_fault *out)
{
	struct strbuf names = STRBUF_INIT;

	if (out->action)
		return diag_fail(d, HD_ERR_INPUT, "'%s': a fault has one action", word);
	out->action = a->action;
	if (!a->values) {
		hd_time t;
		enum hd_status status = hd_time_parse(value, d, &t);

		out->time = status == HD_OK ? (uint64_t)(t / HD_NS) : 0;
		return status;
	}
	for (const struct fault_value *v = a->values; v->name; v++) {
		if (strcmp(v->name, value) == 0) {
			out->value = v->value;
			return HD_OK;
		}
		strbuf_printf(&names, "%s%s", names.len ? ", " : "", v->name);
	}
	diag_fail(d, HD_ERR_INPUT, "'%s': '%s' is one of %s", word, a->name, names.text);
	strbuf_fini(&names);
	return d->status;
}

static enum hd_status parse_chance(const char *word, const char *value, struct diag *d,
				   struct live_fault *out)
{
	char *end;
	double chance = strtod(value, &end);

	if (*end != '\0' || end == value || !(chance > 0) || chance > 1)
		return diag_fail(d, HD_ERR_INPUT, "'%s': a chance is above 0 and at most 1", word);
	out->chance = (uint32_t)(chance * (double)UINT32_MAX);
	return HD_OK;
}

static enum hd_status parse_word(const char *word, struct diag *d, struct live_fault *out)
{
	const char *equals = strchr(word, '=');
	const char *value = equals ? equals + 1 : "";
	size_t length = equals ? (size_t)(equals - word) : 0;
	uint64_t n = 0;

	for (size_t i = 0; i < N_ACTIONS; i++)
		if (length == strlen(actions[i].name) &&
		    strncmp(word, actions[i].name, length) == 0)
			return parse_action(&actions[i], word, value, d, out);
	if (strncmp(word, "after=", 6) == 0) {
		return parse_number(word, value, UINT64_MAX, d, &out->after);
	} else if (strncmp(word, "times=", 6) == 0) {
		return parse_number(word, value, UINT64_MAX, d, &out->times);
	} else if (strncmp(word, "seed=", 5) == 0) {
		return parse_number(word, value, UINT64_MAX, d, &out->seed);
	} else if (strncmp(word, "chance=", 7) == 0) {
		return parse_chance(word, value, d, out);
	} else if (strncmp(word, "qp=", 3) == 0) {
		enum hd_status status = parse_number(word, value, 0xFFFFFF, d, &n);

		out->qpn = (uint32_t)n;
		return status;
	} else if (strncmp(word, "process=", 8) == 0) {
		enum hd_status status = parse_number(word, value, INT_MAX, d, &n);

		out->process = (int32_t)n;
		return status;
	}
	return diag_fail(
		d, HD_ERR_INPUT,
		"'%s' is not a part of a fault (complete=, post=, delay=, rnr=, qp-error=, device=, after=, times=, chance=, seed=, qp=, process=)",
		word);
}

static enum hd_status parse_fault(const char *const *words, size_t n, struct diag *d,
				  struct live_fault *out)
{
	for (size_t i = 0; i < n; i++)
		if (parse_word(words[i], d, out) != HD_OK)
			return d->status;
	if (!out->action)
		return diag_fail(
			d, HD_ERR_USAGE,
			"a fault needs an action: complete=, post=, delay=, rnr=, qp-error= or device=");
	/* Default: once, or with a chance without limit. */
	if (!out->times && !out->chance)
		out->times = 1;
	return HD_OK;
}

/* ---- the list */

static void print_fault(const struct live *l, const struct kept_fault *k, struct strbuf *out)
{
	strbuf_printf(out, "%" PRIu32 "\t%s\t%s\n", k->fault.id, l->topo->nodes[k->node].name,
		      k->text);
}

static void remove_faults(struct live *l, node_id node, uint32_t id)
{
	for (size_t i = l->n_faults; i-- > 0;) {
		struct kept_fault *k = &l->faults[i];

		if ((node != TOPO_NONE && k->node != node) || (id && k->fault.id != id))
			continue;
		free(k->text);
		memmove(k, k + 1, (l->n_faults - i - 1) * sizeof(*k));
		l->n_faults--;
	}
	adapters_faults_changed(l);
}

static enum hd_status add_fault(struct live *l, node_id node, const char *const *words, size_t n,
				struct diag *d, struct strbuf *out)
{
	struct kept_fault k = { .node = node };
	struct strbuf text = STRBUF_INIT;
	unsigned same = 0;

	if (parse_fault(words, n, d, &k.fault) != HD_OK)
		return d->status;
	for (size_t i = 0; i < l->n_faults; i++)
		same += l->faults[i].node == node;
	if (same == MAX_FAULTS)
		return diag_fail(d, HD_ERR_RANGE, "host '%s' has %u faults, which is the limit",
				 l->topo->nodes[node].name, same);
	for (size_t i = 0; i < n; i++)
		strbuf_printf(&text, "%s%s", i ? " " : "", words[i]);
	k.text = text.text;
	k.fault.id = ++l->last_fault;
	l->faults = hd_grow(l->faults, &l->faults_cap, l->n_faults + 1, sizeof(*l->faults));
	l->faults[l->n_faults++] = k;
	print_fault(l, &k, out);
	adapters_faults_changed(l);
	return HD_OK;
}

enum hd_status daemon_fault_command(struct live *l, const char *const *words, size_t n,
				    struct diag *d, struct strbuf *out)
{
	bool clears = n > 0 && strcmp(words[0], "clear") == 0;
	uint64_t id = 0;

	if (n == 0 || (n == 1 && strcmp(words[0], "list") == 0)) {
		for (size_t i = 0; i < l->n_faults; i++)
			print_fault(l, &l->faults[i], out);
		return HD_OK;
	}
	if (clears && n == 1) {
		remove_faults(l, TOPO_NONE, 0);
		return HD_OK;
	}
	if (clears && n == 2 && words[1][0] >= '0' && words[1][0] <= '9') {
		if (parse_number(words[1], words[1], UINT32_MAX, d, &id) == HD_OK)
			remove_faults(l, TOPO_NONE, (uint32_t)id);
		return d->status;
	}
	const char *host = clears ? words[1] : words[0];
	uint32_t node = n > (clears ? 2U : SIZE_MAX)
				? MAP_NONE
				: text_map_get(&l->node_of_name, host, strlen(host));

	if (node == MAP_NONE || l->topo->nodes[node].kind == NODE_SWITCH)
		return diag_fail(d, HD_ERR_NOT_FOUND, "no host '%s' here", host);
	if (!clears)
		return add_fault(l, node, words + 1, n - 1, d, out);
	remove_faults(l, node, 0);
	return HD_OK;
}

int daemon_faults_asked(struct live *l, node_id v, const void *asked, struct answer *out)
{
	(void)asked;
	for (size_t i = 0; i < l->n_faults; i++)
		if (l->faults[i].node == v)
			strbuf_add(&out->bytes, (const char *)&l->faults[i].fault,
				   sizeof(l->faults[i].fault));
	return 0;
}

void daemon_faults_fini(struct live *l)
{
	for (size_t i = 0; i < l->n_faults; i++)
		free(l->faults[i].text);
	free(l->faults);
}
