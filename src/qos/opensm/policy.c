/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/opensm/policy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"

/* ---- reading ------------------------------------------------------------- */

enum section {
	TOP,
	GROUPS,
	GROUP,
	SETUP,
	LEVELS,
	LEVEL,
	RULES,
	RULE,
	ULPS,
};

/* Lines of one word: the section they are allowed in, and the section they start. */
static const struct {
	const char *word;
	enum section from, to;
} doors[] = {
	{ "port-groups", TOP, GROUPS },    { "end-port-groups", GROUPS, TOP },
	{ "port-group", GROUPS, GROUP },   { "end-port-group", GROUP, GROUPS },
	{ "qos-setup", TOP, SETUP },       { "end-qos-setup", SETUP, TOP },
	{ "qos-levels", TOP, LEVELS },     { "end-qos-levels", LEVELS, TOP },
	{ "qos-level", LEVELS, LEVEL },    { "end-qos-level", LEVEL, LEVELS },
	{ "qos-match-rules", TOP, RULES }, { "end-qos-match-rules", RULES, TOP },
	{ "qos-match-rule", RULES, RULE }, { "end-qos-match-rule", RULE, RULES },
	{ "qos-ulps", TOP, ULPS },         { "end-qos-ulps", ULPS, TOP },
};

struct policy_reader {
	struct policy *p;
	struct diag *d;
	enum section section;
};

static char *trim(char *text)
{
	text += strspn(text, " \t\r");
	size_t n = strlen(text);

	while (n && strchr(" \t\r", text[n - 1]))
		text[--n] = '\0';
	return text;
}

static enum hd_status read_number(const char *text, uint64_t most, struct diag *d, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 0);
	if (end == text || *end || *text == '-' || errno || *out > most)
		return diag_fail(d, HD_ERR_INPUT, "'%.40s' is not a number up to 0x%llx", text,
				 (unsigned long long)most);
	return HD_OK;
}

static void add_span(struct policy_spans *s, uint64_t low, uint64_t high)
{
	s->items = hd_grow(s->items, &s->cap, s->n + 1, sizeof(*s->items));
	s->items[s->n++] = (struct policy_span){ low, high };
}

/* "0x10, 0x20-0x2f" */
static enum hd_status read_spans(char *text, uint64_t most, struct diag *d,
				 struct policy_spans *out)
{
	char *save = NULL;

	for (char *item = strtok_r(text, ",", &save); item; item = strtok_r(NULL, ",", &save)) {
		char *dash = strchr(item, '-');
		uint64_t low, high;

		if (dash)
			*dash = '\0';
		enum hd_status status = read_number(trim(item), most, d, &low);

		high = low;
		if (status == HD_OK && dash)
			status = read_number(trim(dash + 1), most, d, &high);
		if (status != HD_OK)
			return status;
		if (high < low)
			return diag_fail(d, HD_ERR_INPUT, "a range ends before it begins");
		add_span(out, low, high);
	}
	return HD_OK;
}

static enum hd_status read_words(char *text, struct policy_words *out)
{
	char *save = NULL;

	for (char *item = strtok_r(text, ",", &save); item; item = strtok_r(NULL, ",", &save)) {
		out->items = hd_grow(out->items, &out->cap, out->n + 1, sizeof(*out->items));
		out->items[out->n++] = hd_strdup(trim(item));
	}
	return HD_OK;
}

static enum hd_status read_kinds(char *text, struct diag *d, struct policy_group *g)
{
	char *save = NULL;

	for (char *item = strtok_r(text, ",", &save); item; item = strtok_r(NULL, ",", &save)) {
		const char *word = trim(item);

		if (strcasecmp(word, "CA") == 0)
			g->kinds |= 1u << NODE_CA;
		else if (strcasecmp(word, "SWITCH") == 0)
			g->kinds |= 1u << NODE_SWITCH;
		else if (strcasecmp(word, "ROUTER") == 0)
			g->kinds |= 1u << NODE_ROUTER;
		else if (strcasecmp(word, "ALL") == 0)
			g->kinds |= ~0u;
		else if (strcasecmp(word, "SELF") == 0)
			g->self = true;
		else
			return diag_fail(d, HD_ERR_INPUT, "'%.40s' is not a kind of node", word);
	}
	return HD_OK;
}

static void set_text(char **field, const char *text)
{
	free(*field);
	*field = hd_strdup(text);
}

static enum hd_status group_field(struct policy_reader *r, const char *key, char *value)
{
	struct policy_group *g = &r->p->groups[r->p->n_groups - 1];

	if (strcmp(key, "name") == 0)
		set_text(&g->name, value);
	else if (strcmp(key, "port-guid") == 0)
		return read_spans(value, UINT64_MAX, r->d, &g->guids);
	else if (strcmp(key, "port-name") == 0)
		return read_words(value, &g->ports);
	else if (strcmp(key, "pkey") == 0)
		return read_spans(value, UINT16_MAX, r->d, &g->pkeys);
	else if (strcmp(key, "node-type") == 0)
		return read_kinds(value, r->d, g);
	else if (strcmp(key, "partition") == 0)
		return read_words(value, &g->partitions);
	else if (strcmp(key, "use") != 0)
		return diag_fail(r->d, HD_ERR_INPUT, "a port group has no '%.40s'", key);
	return HD_OK;
}

static enum hd_status level_field(struct policy_reader *r, const char *key, char *value)
{
	static const char *const limits[] = { "use", "mtu-limit", "rate-limit", "packet-life",
					      "pkey" };
	struct policy_level *l = &r->p->levels[r->p->n_levels - 1];
	uint64_t sl;

	if (strcmp(key, "name") == 0) {
		set_text(&l->name, value);
		return HD_OK;
	}
	if (strcmp(key, "sl") == 0) {
		enum hd_status status = read_number(value, 15, r->d, &sl);

		l->sl = status == HD_OK ? (uint8_t)sl : POLICY_NO_SL;
		return status;
	}
	for (unsigned i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		if (strcmp(key, limits[i]) == 0)
			return HD_OK;
	}
	return diag_fail(r->d, HD_ERR_INPUT, "a level has no '%.40s'", key);
}

static enum hd_status rule_field(struct policy_reader *r, const char *key, char *value)
{
	struct policy_rule *m = &r->p->rules[r->p->n_rules - 1];

	if (!*value && strcmp(key, "use") != 0)
		return diag_fail(r->d, HD_ERR_INPUT,
				 "'%.40s' says nothing: OpenSM discards the whole file", key);
	if (strcmp(key, "source") == 0)
		return read_words(value, &m->sources);
	if (strcmp(key, "destination") == 0)
		return read_words(value, &m->destinations);
	if (strcmp(key, "service-id") == 0)
		return read_spans(value, UINT64_MAX, r->d, &m->service_ids);
	if (strcmp(key, "pkey") == 0)
		return read_spans(value, UINT16_MAX, r->d, &m->pkeys);
	if (strcmp(key, "qos-class") == 0)
		return read_spans(value, 4095, r->d, &m->classes);
	if (strcmp(key, "qos-level-name") == 0) {
		set_text(&m->level, value);
		return HD_OK;
	}
	if (strcmp(key, "use") == 0)
		return HD_OK;
	return diag_fail(r->d, HD_ERR_INPUT, "a match rule has no '%.40s'", key);
}

/* Adds the base of a service (SDP, RDS, iSER) to port numbers. */
static void shift_ports(struct policy_spans *ids, uint64_t base)
{
	for (size_t i = 0; i < ids->n; i++) {
		ids->items[i].low += base;
		ids->items[i].high += base;
	}
}

static const struct {
	const char *name;
	uint64_t base;      /* service id of port 0; 0: none */
	uint64_t low, high; /* range without a port number */
} services[] = {
	{ "sdp", 0x10000, 0x10000, 0x1ffff },
	{ "rds", 0x1060000, 0x10648ca, 0x10648ca },
	{ "iser", 0x1060000, 0x1060cbc, 0x1060cbc },
	{ "srp", 0, 0, 0 },
	{ "ipoib", 0, 0, 0 },
	{ "any", 0, 0, 0 },
};

/* Reads "port-num 10000-20000" and similar keys. */
static enum hd_status ulp_key(struct policy_reader *r, char *text, uint64_t base,
			      struct policy_rule *m)
{
	char *value = text + strcspn(text, " \t");

	if (*value)
		*value++ = '\0';
	value = trim(value);
	if (strcmp(text, "port-num") == 0 && base) {
		enum hd_status status = read_spans(value, UINT16_MAX, r->d, &m->service_ids);

		if (status == HD_OK)
			shift_ports(&m->service_ids, base);
		return status;
	}
	if (strcmp(text, "service-id") == 0)
		return read_spans(value, UINT64_MAX, r->d, &m->service_ids);
	if (strcmp(text, "pkey") == 0)
		return read_spans(value, UINT16_MAX, r->d, &m->pkeys);
	if (strcmp(text, "target-port-guid") == 0)
		return read_spans(value, UINT64_MAX, r->d, &m->target_guids);
	if (strcmp(text, "source-port-guid") == 0)
		return read_spans(value, UINT64_MAX, r->d, &m->source_guids);
	if (strcmp(text, "source-target-port-guid") == 0) {
		m->both = true;
		return read_spans(value, UINT64_MAX, r->d, &m->target_guids);
	}
	return diag_fail(
		r->d, HD_ERR_INPUT,
		"unknown criterion '%.40s' (expected service-id, pkey, port-num of sdp, rds and iser, or a port GUID)",
		text);
}

static bool asks_nothing(const struct policy_rule *m)
{
	return !m->service_ids.n && !m->pkeys.n && !m->target_guids.n && !m->source_guids.n;
}

/* Reads a rule such as "sdp, port-num 1 "; the SL is known. */
static enum hd_status read_ulp(struct policy_reader *r, char *text, struct policy_rule *m)
{
	char *keys = strchr(text, ',');
	unsigned k = 0, n = sizeof(services) / sizeof(services[0]);

	if (keys)
		*keys++ = '\0';
	text = trim(text);
	while (k < n && strcasecmp(services[k].name, text) != 0)
		k++;
	if (k == n)
		return diag_fail(r->d, HD_ERR_INPUT, "no service is called '%.40s'", text);
	if (keys) {
		enum hd_status status = ulp_key(r, trim(keys), services[k].base, m);

		if (status != HD_OK)
			return status;
	}
	if (strcasecmp(text, "ipoib") == 0 && !m->pkeys.n)
		add_span(&m->pkeys, 0x7fff, 0x7fff);
	if (services[k].high && !m->service_ids.n)
		add_span(&m->service_ids, services[k].low, services[k].high);
	if (asks_nothing(m))
		return diag_fail(
			r->d, HD_ERR_INPUT,
			"service '%.40s' has no criterion; add service-id, pkey or a port GUID",
			text);
	return HD_OK;
}

static enum hd_status ulp_line(struct policy_reader *r, char *line)
{
	char *colon = strrchr(line, ':');
	uint64_t sl;

	if (!colon)
		return diag_fail(r->d, HD_ERR_INPUT, "no ': SL' at the end of the line");
	*colon = '\0';
	enum hd_status status = read_number(trim(colon + 1), 15, r->d, &sl);

	if (status != HD_OK)
		return status;
	if (strcasecmp(trim(line), "default") == 0) {
		r->p->default_sl = (uint8_t)sl;
		r->p->default_line = r->d->line;
		return HD_OK;
	}
	struct policy *p = r->p;

	p->ulps = hd_grow(p->ulps, &p->ulps_cap, p->n_ulps + 1, sizeof(*p->ulps));
	p->ulps[p->n_ulps] = (struct policy_rule){ .sl = (uint8_t)sl, .line = r->d->line };
	return read_ulp(r, line, &p->ulps[p->n_ulps++]);
}

static void open_item(struct policy_reader *r)
{
	struct policy *p = r->p;

	switch (r->section) {
	case GROUP:
		p->groups = hd_grow(p->groups, &p->groups_cap, p->n_groups + 1, sizeof(*p->groups));
		p->groups[p->n_groups++] = (struct policy_group){ .line = r->d->line };
		break;
	case LEVEL:
		p->levels = hd_grow(p->levels, &p->levels_cap, p->n_levels + 1, sizeof(*p->levels));
		p->levels[p->n_levels++] =
			(struct policy_level){ .sl = POLICY_NO_SL, .line = r->d->line };
		break;
	case SETUP:
		p->setup_line = r->d->line;
		break;
	case RULE:
		p->rules = hd_grow(p->rules, &p->rules_cap, p->n_rules + 1, sizeof(*p->rules));
		p->rules[p->n_rules++] = (struct policy_rule){ .line = r->d->line };
		break;
	default:
		break;
	}
}

static enum hd_status read_field(struct policy_reader *r, char *line)
{
	char *colon = strchr(line, ':');

	if (r->section == ULPS)
		return ulp_line(r, line);
	if (r->section == SETUP)
		return HD_OK;
	if (!colon || (r->section != GROUP && r->section != LEVEL && r->section != RULE))
		return diag_fail(r->d, HD_ERR_INPUT, "'%.40s' is not expected here", line);
	*colon = '\0';
	const char *key = trim(line);
	char *value = trim(colon + 1);

	if (r->section == GROUP)
		return group_field(r, key, value);
	if (r->section == LEVEL)
		return level_field(r, key, value);
	return rule_field(r, key, value);
}

static enum hd_status read_line(struct policy_reader *r, char *line)
{
	line[strcspn(line, "#")] = '\0';
	line = trim(line);
	if (!*line)
		return HD_OK;
	for (unsigned i = 0; i < sizeof(doors) / sizeof(doors[0]); i++) {
		if (strcmp(line, doors[i].word) != 0 ||
		    (r->section == SETUP && doors[i].from != SETUP))
			continue;
		if (doors[i].from != r->section)
			return diag_fail(r->d, HD_ERR_INPUT, "'%s' is not expected here", line);
		r->section = doors[i].to;
		if (strncmp(line, "end-", 4) != 0)
			open_item(r);
		return HD_OK;
	}
	return read_field(r, line);
}

const struct policy_level *policy_find_level(const struct policy *p, const char *name)
{
	for (size_t i = 0; i < p->n_levels; i++) {
		if (p->levels[i].name && strcmp(p->levels[i].name, name) == 0)
			return &p->levels[i];
	}
	return NULL;
}

/* The level for paths that match no rule; OpenSM ignores the case of its name. */
const struct policy_level *policy_default_level(const struct policy *p)
{
	for (size_t i = 0; i < p->n_levels; i++) {
		if (p->levels[i].name && strcasecmp(p->levels[i].name, "DEFAULT") == 0)
			return &p->levels[i];
	}
	return NULL;
}

const struct policy_group *policy_find_group(const struct policy *p, const char *name)
{
	for (size_t i = 0; i < p->n_groups; i++) {
		if (p->groups[i].name && strcmp(p->groups[i].name, name) == 0)
			return &p->groups[i];
	}
	return NULL;
}

static enum hd_status check_groups(const struct policy *p, const struct policy_words *names,
				   struct diag *d)
{
	for (size_t i = 0; i < names->n; i++) {
		if (strcasecmp(names->items[i], "ALL") != 0 &&
		    !policy_find_group(p, names->items[i]))
			return diag_fail(d, HD_ERR_INPUT, "no port group is called '%.80s'",
					 names->items[i]);
	}
	return HD_OK;
}

/* Names in rules must exist. */
static enum hd_status check(const struct policy *p, struct diag *d)
{
	for (size_t i = 0; i < p->n_rules; i++) {
		const struct policy_rule *m = &p->rules[i];

		d->line = m->line;
		if (!m->level || !policy_find_level(p, m->level))
			return diag_fail(d, HD_ERR_INPUT, "no level is called '%.80s'",
					 m->level ? m->level : "");
		enum hd_status status = check_groups(p, &m->sources, d);

		if (status == HD_OK)
			status = check_groups(p, &m->destinations, d);
		if (status != HD_OK)
			return status;
	}
	for (size_t i = 0; i < p->n_levels; i++) {
		d->line = p->levels[i].line;
		if (p->levels[i].sl == POLICY_NO_SL)
			return diag_fail(d, HD_ERR_INPUT,
					 "a level without 'sl': OpenSM discards the whole file");
	}
	d->line = 0;
	if (!policy_default_level(p) && p->default_sl == POLICY_NO_SL)
		return diag_fail(
			d, HD_ERR_INPUT,
			"neither a level called DEFAULT nor a default of qos-ulps: OpenSM discards the whole file");
	return HD_OK;
}

enum hd_status policy_read(const char *text, struct diag *d, struct policy *out)
{
	struct policy_reader r = { .p = out, .d = d };
	char *copy = hd_strdup(text), *line = copy;
	enum hd_status status = HD_OK;

	*out = (struct policy){ .default_sl = POLICY_NO_SL };
	for (d->line = 1; line && status == HD_OK; d->line++) {
		char *end = strchr(line, '\n');

		if (end)
			*end++ = '\0';
		status = read_line(&r, line);
		if (status != HD_OK)
			break;
		line = end;
	}
	free(copy);
	if (status == HD_OK && r.section != TOP) {
		d->line--;
		return diag_fail(d, HD_ERR_INPUT, "the file ends inside a section");
	}
	if (status == HD_OK)
		status = check(out, d);
	return status;
}

enum hd_status policy_load(const char *path, struct diag *d, struct policy *out)
{
	struct strbuf text = STRBUF_INIT;
	struct policy read = { 0 };
	enum hd_status status = file_read(path, FILE_WRITTEN_LIMIT, d, &text);

	if (status == HD_OK)
		status = policy_read(text.text, d, &read);
	if (status == HD_OK)
		*out = read;
	else
		policy_fini(&read);
	strbuf_fini(&text);
	return status;
}

static void spans_fini(struct policy_spans *s)
{
	free(s->items);
}

static void tokenizer_fini(struct policy_words *w)
{
	for (size_t i = 0; i < w->n; i++)
		free(w->items[i]);
	free(w->items);
}

static void rules_fini(struct policy_rule *rules, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		tokenizer_fini(&rules[i].sources);
		tokenizer_fini(&rules[i].destinations);
		spans_fini(&rules[i].service_ids);
		spans_fini(&rules[i].pkeys);
		spans_fini(&rules[i].classes);
		spans_fini(&rules[i].source_guids);
		spans_fini(&rules[i].target_guids);
		free(rules[i].level);
	}
	free(rules);
}

void policy_fini(struct policy *p)
{
	for (size_t i = 0; i < p->n_groups; i++) {
		free(p->groups[i].name);
		spans_fini(&p->groups[i].guids);
		spans_fini(&p->groups[i].pkeys);
		tokenizer_fini(&p->groups[i].ports);
		tokenizer_fini(&p->groups[i].partitions);
	}
	for (size_t i = 0; i < p->n_levels; i++)
		free(p->levels[i].name);
	free(p->groups);
	free(p->levels);
	rules_fini(p->rules, p->n_rules);
	rules_fini(p->ulps, p->n_ulps);
	*p = (struct policy){ 0 };
}
