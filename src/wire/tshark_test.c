/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/tshark_mads_for_tests.h"

#include <unistd.h>

/*
 * Comparison with Wireshark: a capture with random fields, with every header but RDETH, every
 * attribute that Wireshark knows, and flow-control packets. Wireshark must report no malformed
 * packet, and every field as it was encoded. (tshark 4.0 decodes the RD service as Mellanox's DC;
 * RD is tested by round trip.)
 */

#define LUA HD_SOURCE_DIR "/share/wireshark/heddle-ecn.lua"
/* Disables heuristics, which find other protocols in random payloads. */
#define TSHARK                                                              \
	"tshark --disable-heuristic rpcrdma_infiniband --disable-protocol " \
	"smb_direct -X lua_script:'" LUA "' "

static void write_capture(struct capture_test *t)
{
	strcpy(t->path, "/tmp/heddle-tshark-XXXXXX");
	int fd = mkstemp(t->path);

	assert_true(fd >= 0);
	t->stream = fdopen(fd, "wb");
	assert_non_null(t->stream);
	rng_init(&t->rng, 41, 1);
	t->frame = 1;
	capture_begin(&t->writer, t->stream, true);
	for (int round = 0; round < 4; round++)
		for (unsigned op = 0; op < 256; op++)
			if (opcode_is_known((uint8_t)op) && (op & SERVICE_MASK) != SERVICE_RD)
				add_opcode(t, (uint8_t)op);
	add_raw(t);
	add_flow(t, FLOW_NORMAL);
	add_flow(t, FLOW_INIT);
	add_mads(t);
	add_pkeys(t);
	add_sl_to_vl(t);
	add_description(t);
	add_directed(t);
	add_rmpp(t);
	assert_int_equal(capture_finish(&t->writer), HD_OK);
	fclose(t->stream);
}

/* Output of a command, which must succeed. */
static char *output_of(const char *command)
{
	struct strbuf out = STRBUF_INIT;
	FILE *pipe = popen(command, "r"); /* NOLINT(cert-env33-c) */
	char buffer[4096];
	size_t n;

	assert_non_null(pipe);
	while ((n = fread(buffer, 1, sizeof(buffer), pipe)) > 0)
		strbuf_add(&out, buffer, n);
	if (pclose(pipe) != 0)
		fail_msg("'%s' failed", command);
	return strbuf_detach(&out);
}

static int setup(void **state)
{
	static struct capture_test test;

	if (system("command -v tshark >/dev/null") != 0) { /* NOLINT */
		print_error(
			"this test needs tshark (Debian package tshark), which ci/deps.sh installs\n");
		return -1;
	}
	write_capture(&test);
	*state = &test;
	return 0;
}

static int teardown(void **state)
{
	struct capture_test *t = *state;

	if (!t)
		return 0;
	while (t->n > 0)
		drop_claim(t);
	free(t->claims);
	return unlink(t->path);
}

static void no_packet_is_malformed_to_wireshark(void **state)
{
	const struct capture_test *t = *state;
	char command[512];

	snprintf(command, sizeof(command),
		 TSHARK "-r %s -Y '_ws.malformed || _ws.expert.severity >= 0x800000' 2>/dev/null",
		 t->path);
	char *text = output_of(command);

	assert_string_equal(text, "");
	free(text);
	snprintf(command, sizeof(command), TSHARK "-r %s 2>/dev/null | wc -l", t->path);
	text = output_of(command);
	assert_int_equal(strtoul(text, NULL, 10), t->frame - 1);
	free(text);
}

/* Immediate data is shown both in the headers and before the payload. */
static bool is_twice(const char *said, const char *expected)
{
	size_t len = strlen(expected);

	return strncmp(said, expected, len) == 0 && said[len] == ',' &&
	       strcmp(said + len + 1, expected) == 0;
}

/* Compares numbers separated by commas; expected ones are decimal, tshark's have any base. */
static bool is_same(const char *said, const char *expected)
{
	char *end;

	if (strcmp(said, expected) == 0 || is_twice(said, expected))
		return true;
	while (*said && *expected) {
		uint64_t a = strtoull(said, &end, 0);

		if (end == said)
			return false;
		said = end + (*end == ',');
		uint64_t b = strtoull(expected, &end, 0);

		if (end == expected || a != b)
			return false;
		expected = end + (*end == ',');
	}
	return *said == *expected;
}

/* Distinct fields of all claims, in the order of their columns. */
struct columns {
	const char **names;
	size_t n, cap;
};

static size_t column_of(struct columns *c, const char *field)
{
	for (size_t i = 0; i < c->n; i++)
		if (strcmp(c->names[i], field) == 0)
			return i;
	c->names = hd_grow(c->names, &c->cap, c->n + 1, sizeof(*c->names));
	c->names[c->n] = field;
	return c->n++;
}

/* tshark's output for all frames: one line per frame, fields separated by tabs. */
static char *ask(const struct capture_test *t, struct columns *c)
{
	struct strbuf command = STRBUF_INIT;

	strbuf_printf(&command, TSHARK "-r %s -T fields", t->path);
	for (size_t i = 0; i < t->n; i++)
		column_of(c, t->claims[i].field);
	for (size_t i = 0; i < c->n; i++)
		strbuf_printf(&command, " -e %s", c->names[i]);
	strbuf_puts(&command, " 2>/dev/null");
	char *text = output_of(command.text);

	strbuf_fini(&command);
	return text;
}

/* Splits the line at `at` into its n fields; returns the next line. */
static char *split(char *at, char **fields, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t len = strcspn(at, "\t\n");

		fields[i] = at;
		at += len;
		assert_int_equal(*at, i + 1 < n ? '\t' : '\n');
		*at++ = 0;
	}
	return at;
}

static void wireshark_reads_every_field_as_it_was_encoded(void **state)
{
	const struct capture_test *t = *state;
	struct columns c = { 0 };
	char *text = ask(t, &c), *at = text;
	char **fields = hd_alloc(c.n, sizeof(*fields));
	size_t wrong = 0;
	unsigned frame = 0;

	for (size_t i = 0; i < t->n; i++) {
		const struct claim *claimed = &t->claims[i];

		for (; frame < claimed->frame; frame++)
			at = split(at, fields, c.n);
		const char *said = fields[column_of(&c, claimed->field)];

		if (is_same(said, claimed->value))
			continue;
		print_error("frame %u %s: tshark says '%s', encoded was '%s'\n", frame,
			    claimed->field, said, claimed->value);
		wrong++;
	}
	assert_int_equal(wrong, 0);
	assert_true(t->n > 3000 && c.n > 150);
	free(fields);
	free(c.names);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_packet_is_malformed_to_wireshark),
		cmocka_unit_test(wireshark_reads_every_field_as_it_was_encoded),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
