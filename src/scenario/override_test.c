/* SPDX-License-Identifier: BSD-2-Clause */
#include <iconv.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "base/seeds_for_tests.h"
#include "scenario/scenario.h"

#define HEAD "fabric:\n  topology: {kind: mesh, columns: 2, rows: 2}\n"
#define BODY                                            \
	"traffic:\n- {name: a, kind: cbr, load: 10%}\n" \
	"- {name: video, kind: cbr, rate: 1Gb/s}\n"

#define MOST 8

/* The scenario with these words after --set, printed or refused. */
static enum hd_status apply(const char *text, const char *const *sets, struct strbuf *out)
{
	struct overrides o = { 0 };
	struct diag d = { .status = HD_OK };
	struct scenario s = { 0 };
	enum hd_status status = HD_OK;

	for (size_t i = 0; i < MOST && sets[i] && status == HD_OK; i++)
		status = overrides_add(&o, sets[i], &d);
	if (status == HD_OK)
		status = scenario_parse(text, strlen(text), "x.yaml", &o, &d, &s);
	if (status == HD_OK)
		scenario_explain(&s, out);
	else
		diag_print(&d, out);
	scenario_fini(&s);
	overrides_fini(&o);
	return status;
}

static const struct {
	const char *text;
	const char *sets[MOST];
	const char *written; /* the file with the same values */
} same[] = {
	{ HEAD BODY, { "run.seed=7" }, HEAD BODY "run: {seed: 7}\n" },
	/* By number, by name, in the spelling of results. */
	{ HEAD BODY,
	  { "traffic.0.load=50%", "traffic.video.rate=2Gb/s", "traffic[1].payload=256" },
	  HEAD "traffic:\n- {name: a, kind: cbr, load: 50%}\n"
	       "- {name: video, kind: cbr, rate: 2Gb/s, payload: 256}\n" },
	/* A new item, which has its name from then on. */
	{ HEAD BODY,
	  { "traffic.+.name=x", "traffic.x.kind=poisson", "traffic.-.load=1%" },
	  HEAD BODY "- {name: x, kind: poisson, load: 1%}\n" },
	{ HEAD BODY,
	  { "traffic.+={name: x, kind: poisson, load: 1%}" },
	  HEAD BODY "- {name: x, kind: poisson, load: 1%}\n" },
	/* Whole mappings and lists, and items that go. */
	{ HEAD BODY,
	  { "fabric.topology={kind: ring, switches: 5}", "traffic.0=" },
	  "fabric: {topology: {kind: ring, switches: 5}}\n"
	  "traffic: [{name: video, kind: cbr, rate: 1Gb/s}]\n" },
	{ HEAD,
	  { "traffic=[{name: a, kind: saturating}]" },
	  HEAD "traffic: [{name: a, kind: saturating}]\n" },
	/* Parameters of the generator; a default again. */
	{ HEAD BODY,
	  { "fabric.topology.rows=3", "fabric.topology.columns=" },
	  "fabric: {topology: {kind: mesh, rows: 3}}\n" BODY },
	{ HEAD BODY,
	  { "traffic.video.rate=", "traffic.video.load=20%" },
	  HEAD "traffic:\n- {name: a, kind: cbr, load: 10%}\n"
	       "- {name: video, kind: cbr, load: 20%}\n" },
	/* A plain value in place of a mapping. */
	{ "fabric: {topology: x.net, link: 8Gb/s, routing: updn}\n" BODY,
	  { "fabric.routing.lmc=2", "fabric.link.propagation=9ns" },
	  "fabric: {topology: x.net, link: {rate: 8Gb/s, propagation: 9ns}, routing: {engine: updn, lmc: 2}}\n" BODY },
	/* Lists given as one text, and texts with any characters. */
	{ HEAD BODY,
	  { "traffic.0.source=[h0, h1]", "title={a: [b, c" },
	  HEAD "traffic:\n- {name: a, kind: cbr, load: 10%, source: 'h0,h1'}\n"
	       "- {name: video, kind: cbr, rate: 1Gb/s}\n"
	       "title: '{a: [b, c'\n" },
	/* The last one counts. */
	{ HEAD BODY, { "run.seed=7", "run.seed=8" }, HEAD BODY "run: {seed: 8}\n" },
};

static void overrides_are_as_if_they_were_written(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		static const char *const none[] = { NULL };
		struct strbuf ours = STRBUF_INIT, theirs = STRBUF_INIT;

		if (apply(same[i].text, same[i].sets, &ours) != HD_OK)
			fail_msg("%s: %s", same[i].sets[0], ours.text);
		if (apply(same[i].written, none, &theirs) != HD_OK)
			fail_msg("%s: %s", same[i].written, theirs.text);
		assert_string_equal(ours.text, theirs.text);
		strbuf_fini(&ours);
		strbuf_fini(&theirs);
	}
}

static const struct {
	const char *set;
	enum hd_status status;
	const char *message;
} refusals[] = {
	/* Paths that lead nowhere. */
	{ "run.seed", HD_ERR_USAGE, "--set takes PATH=VALUE, not 'run.seed'" },
	{ "=3", HD_ERR_USAGE, "--set takes PATH=VALUE, not '=3'" },
	{ "run.sed=3", HD_ERR_USAGE,
	  "--set run.sed: unknown field 'sed' in run (did you mean 'seed'?)" },
	{ "trafic.0.load=3%", HD_ERR_USAGE,
	  "--set trafic.0.load: unknown field 'trafic' in the scenario (did you mean 'traffic'?)" },
	{ "traffic.0.lod=3%", HD_ERR_USAGE,
	  "--set traffic.0.lod: unknown field 'lod' in traffic[] (did you mean 'load'?)" },
	{ "fabric.topology.colums=3", HD_ERR_USAGE,
	  "--set fabric.topology.colums: unknown field 'colums' in fabric.topology (did you mean 'columns'?)" },
	{ "traffic.vidio.load=3%", HD_ERR_USAGE,
	  "--set traffic.vidio.load: no item 'vidio' in traffic (did you mean 'video'?)" },
	{ "traffic.2.load=3%", HD_ERR_USAGE,
	  "--set traffic.2.load: no item '2' in traffic, which has 2 (numbered from 0; '+' adds one, '-' is the last)" },
	{ "goals.-.mean=3us", HD_ERR_USAGE,
	  "--set goals.-.mean: no item '-' in goals, which has 0" },
	{ "run.seed.x=3", HD_ERR_USAGE, "--set run.seed.x: run.seed is a value and has no fields" },
	{ "run..seed=3", HD_ERR_USAGE, "--set run..seed: a path has a name between dots" },
	{ "run\n.seed=3", HD_ERR_USAGE, "--set run\\n.seed: unknown field" },
	/* Values that a file could not have either. */
	{ "run.seed=x", HD_ERR_USAGE, "--set run.seed: 'x' is not a" },
	{ "run={seed: x}", HD_ERR_USAGE, "--set run: run.seed: 'x' is not a" },
	{ "traffic.0.load=50", HD_ERR_USAGE, "--set traffic.0.load: '50' is out of range" },
	{ "traffic.0.rate=1Gb/s", HD_ERR_INPUT,
	  "x.yaml:4:30: traffic 'a' has both a rate and a load" },
	{ "traffic.0.scv=2", HD_ERR_INPUT,
	  "--set traffic.0.scv: 'scv' has no meaning when traffic[].kind is cbr" },
	{ "traffic.+.kind=cbr", HD_ERR_INPUT,
	  "--set traffic.+.kind: missing field 'traffic[].name'" },
	{ "traffic.+={nam: x}", HD_ERR_USAGE,
	  "--set traffic.+: unknown field 'nam' in traffic[] (did you mean 'name'?)" },
	{ "traffic.+={name: x", HD_ERR_USAGE, "--set traffic.+: not YAML: " },
	{ "traffic=7", HD_ERR_USAGE, "--set traffic: traffic: expected a list, not a value" },
	{ "traffic.0=&x {name: *x}", HD_ERR_USAGE,
	  "--set traffic.0: traffic[]: expected a mapping, not a value" },
	{ "traffic.0={name: &x a}", HD_ERR_USAGE,
	  "--set traffic.0: anchors ('&') are not used in scenarios" },
	/* Remaining errors still have their position in the file. */
	{ "qos.vls=1", HD_ERR_INPUT, "x.yaml:6:38: VL 3 is not in " },
};

static void refusals_name_the_override_in_one_line(void **state)
{
	static const char text[] = HEAD BODY "qos: {classes: [{name: c, sl: 3, vl: 3}]}\n";

	(void)state;
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		const char *const sets[] = { refusals[i].set, NULL };
		struct strbuf line = STRBUF_INIT;

		if (apply(text, sets, &line) != refusals[i].status)
			fail_msg("%s gives %s", refusals[i].set, line.text);
		if (strncmp(line.text, refusals[i].message, strlen(refusals[i].message)) != 0)
			fail_msg("%s gives %s", refusals[i].set, line.text);
		assert_null(strchr(line.text, '\n'));
		strbuf_fini(&line);
	}
}

/* Any words give a result or an error of one line. */
static void random_words_are_answered(void **state)
{
	static const char *const parts[] = {
		"traffic", "0", "+",    "-",     "fabric", "topology", "kind",
		"routing", ".", "[",    "]",     "",       "name",     "run",
		"seed",    "a", "load", "goals", "{",      "%",        "qos",
	};
	struct rng rng;

	(void)state;
	rng_init(&rng, 1, 0);
	for (unsigned i = 0; i < 20000; i++) {
		struct strbuf word = STRBUF_INIT, line = STRBUF_INIT;

		for (uint64_t n = rng_below(&rng, 7); n-- > 0;)
			strbuf_printf(&word, "%s%s", parts[rng_below(&rng, 21)],
				      rng_below(&rng, 4) ? "." : "");
		strbuf_printf(&word, "=%s%s", parts[rng_below(&rng, 21)],
			      rng_below(&rng, 3) ? "" : ": x}");
		const char *const sets[] = { word.text, NULL };

		if (apply(HEAD BODY, sets, &line) != HD_OK)
			assert_null(strchr(line.text, '\n'));
		strbuf_fini(&word);
		strbuf_fini(&line);
	}
}

/* Up to `most` bytes: characters of all lengths, halves of UTF-16, any byte. */
static void draw_bytes(struct rng *rng, size_t most, struct strbuf *out)
{
	static const char *const characters[] = {
		"a",
		"\"",
		"\\",
		"\n",
		"\t",
		"\x1b",
		" ",
		": ",
		"\xc3\xb6",
		"\xc2\x9b",
		"\xe2\x82\xac",
		"\xe2\x80\xa8",
		"#",
		"'",
		"\xef\xbb\xbf",
		"\xf0\x9f\x98\x80",
	};

	while (out->len < most && rng_below(rng, 12)) {
		uint64_t kind = rng_below(rng, 40);

		if (kind == 0)
			strbuf_putc(out, (char)(1 + rng_below(rng, 255)));
		else if (kind == 1)
			strbuf_printf(out, "\xed%c%c", (int)(0x80 + rng_below(rng, 0x40)),
				      (int)(0x80 + rng_below(rng, 0x40)));
		else
			strbuf_puts(out, characters[rng_below(rng, 16)]);
	}
}

/* Validity according to the C library's converter. */
static bool is_utf8(const char *text)
{
	char out[4096], *to = out, *from = (char *)text;
	size_t left = strlen(text), room = sizeof(out);
	iconv_t c = iconv_open("UTF-32LE", "UTF-8");

	assert_true((intptr_t)c != -1 && left * 4 <= room);
	bool converts = iconv(c, &from, &left, &to, &room) != (size_t)-1;

	iconv_close(c);
	return converts;
}

/* The output of --explain is a scenario with the same explanation. */
static void check_explained(const char *explained, const char *title)
{
	static const char *const none[] = { NULL };
	struct strbuf again = STRBUF_INIT;
	struct diag d = { .status = HD_OK };
	struct scenario s = { 0 };

	if (scenario_parse(explained, strlen(explained), "x.yaml", NULL, &d, &s) != HD_OK)
		fail_msg("%s: %s", d.message, explained);
	if (title)
		assert_string_equal(s.title, title);
	scenario_fini(&s);
	assert_int_equal(apply(explained, none, &again), HD_OK);
	assert_string_equal(explained, again.text);
	strbuf_fini(&again);
}

/* Any bytes as a text, name or path: only UTF-8 is accepted. */
static void accepted_bytes_can_be_explained_and_read_again(void **state)
{
	static const char *const fields[] = { "title", "traffic.0.name", "qos.classes" };
	unsigned n_valid = 0, n = cases_of_run(600, 20000);
	struct rng rng;

	(void)state;
	rng_init(&rng, seed_of_run(11), 0);
	for (unsigned i = 0; i < n; i++) {
		struct strbuf bytes = STRBUF_INIT, set = STRBUF_INIT;
		struct strbuf out = STRBUF_INIT;
		const char *field = fields[i % 3];

		draw_bytes(&rng, 60, &bytes);
		strbuf_putc(&bytes, 'x'); /* an empty one takes it away */
		if (i % 3 == 2)
			strbuf_printf(&set, "qos.classes=[{name: \"%s\"}]", bytes.text);
		else
			strbuf_printf(&set, "%s=%s", field, bytes.text);
		const char *const sets[] = { set.text, NULL };
		enum hd_status status = apply(HEAD BODY, sets, &out);
		bool valid = is_utf8(bytes.text);

		if (valid ? i % 3 == 0 && status != HD_OK
			  : status != HD_ERR_USAGE || !strstr(out.text, "is not UTF-8 at byte"))
			fail_msg("%s: %s", set.text, out.text);
		if (status == HD_OK)
			check_explained(out.text, i % 3 ? NULL : bytes.text);
		n_valid += valid;
		strbuf_fini(&bytes);
		strbuf_fini(&set);
		strbuf_fini(&out);
	}
	assert_true(n_valid > n / 4 && n_valid < n - n / 10);
}

static void paths_are_utf8(void **state)
{
	static const char *const paths[] = { "\xff=1", "run.\xff=1", "ti\xed\xa0\x80tle=x",
					     "traffic.\x80.load=1%" };

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		const char *const sets[] = { paths[i], NULL };
		struct strbuf line = STRBUF_INIT;

		assert_int_equal(apply(HEAD BODY, sets, &line), HD_ERR_USAGE);
		assert_non_null(strstr(line.text, "the path is not UTF-8"));
		strbuf_fini(&line);
	}
}

/* --set accepts every path that completion offers. */
static void offered_paths_are_known(void **state)
{
	struct strbuf paths = STRBUF_INIT;
	unsigned n = 0;

	(void)state;
	override_paths(scenario_fields, &paths);
	for (char *line = strtok(paths.text, "\n"); line; line = strtok(NULL, "\n"), n++) {
		struct strbuf word = STRBUF_INIT, answer = STRBUF_INIT;

		strbuf_printf(&word, "%.*s=?", (int)strcspn(line, " "), line);
		const char *const sets[] = { word.text, NULL };
		(void)apply(HEAD BODY, sets, &answer);
		/* Lists that the file leaves out have no item 0. */
		if (strstr(answer.text, "unknown field") || strstr(answer.text, "has no fields") ||
		    (strstr(answer.text, "no item") && !strstr(answer.text, "has 0")))
			fail_msg("%s: %s", line, answer.text);
		strbuf_fini(&word);
		strbuf_fini(&answer);
	}
	assert_true(n > 100);
	strbuf_fini(&paths);
}

/* The status does not depend on the way in which an invalid value is set. */
static void values_are_refused_alike_alone_and_in_mappings(void **state)
{
	unsigned n = 0;

	(void)state;
	for (const struct schema_row *f = NULL; (f = schema_after(scenario_fields, f));) {
		struct strbuf alone = STRBUF_INIT, within = STRBUF_INIT;
		struct strbuf one = STRBUF_INIT, two = STRBUF_INIT;
		const char *dot = strchr(f->path, '.');

		if (!dot || strpbrk(dot + 1, ".["))
			continue;
		strbuf_printf(&alone, "%s=?!", f->path);
		strbuf_printf(&within, "%.*s={%s: '?!'}", (int)(dot - f->path), f->path, dot + 1);
		const char *const sets[] = { alone.text, NULL };
		const char *const maps[] = { within.text, NULL };
		enum hd_status a = apply(HEAD BODY, sets, &one);
		enum hd_status b = apply(HEAD BODY, maps, &two);

		if (strstr(one.text, "'?!'") && strstr(two.text, "'?!'")) {
			n++;
			assert_int_equal(a, HD_ERR_USAGE);
			assert_int_equal(b, HD_ERR_USAGE);
		}
		strbuf_fini(&alone);
		strbuf_fini(&within);
		strbuf_fini(&one);
		strbuf_fini(&two);
	}
	assert_true(n > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(overrides_are_as_if_they_were_written),
		cmocka_unit_test(refusals_name_the_override_in_one_line),
		cmocka_unit_test(random_words_are_answered),
		cmocka_unit_test(accepted_bytes_can_be_explained_and_read_again),
		cmocka_unit_test(paths_are_utf8),
		cmocka_unit_test(offered_paths_are_known),
		cmocka_unit_test(values_are_refused_alike_alone_and_in_mappings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
