/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/request.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "serve/server.h"

#define MOST 3

/* Values "link=3", ...; ends with NULL. */
static const char *value(void *context, const char *name)
{
	const char *const *pairs = context;

	for (size_t len = strlen(name); *pairs; pairs++) {
		if (strncmp(*pairs, name, len) == 0 && (*pairs)[len] == '=')
			return *pairs + len + 1;
	}
	return NULL;
}

static enum hd_status parse(const char *method, const char *path, const char *const *values,
			    struct http_request *out)
{
	struct diag d = { .status = HD_OK };

	return request_parse(method, path, value, (void *)values, &d, out);
}

static void requests_are_what_their_words_say(void **state)
{
	struct http_request r;

	(void)state;
	assert_int_equal(parse("GET", "/", (const char *[]){ NULL }, &r), HD_OK);
	assert_int_equal(r.kind, REQUEST_PAGE);
	assert_int_equal(parse("POST", "/step", (const char *[]){ "time=2.5us", NULL }, &r), HD_OK);
	assert_int_equal(r.kind, REQUEST_STEP);
	assert_int_equal(r.time, 2500000);
	assert_int_equal(parse("POST", "/mend", (const char *[]){ "link=41", NULL }, &r), HD_OK);
	assert_int_equal(r.kind, REQUEST_CHANGE);
	assert_int_equal(r.change.kind, CHANGE_MEND);
	assert_int_equal(r.change.link, 41);
	assert_int_equal(parse("POST", "/load", (const char *[]){ "row=1", "value=60%", NULL }, &r),
			 HD_OK);
	assert_int_equal(r.change.row, 1);
	assert_string_equal(r.change.value, "60%");
	assert_int_equal(parse("POST", "/weights", (const char *[]){ "low=0:1,1:2", NULL }, &r),
			 HD_OK);
	assert_string_equal(r.change.low, "0:1,1:2");
	assert_string_equal(r.change.high, "");
}

struct bad {
	const char *method, *path;
	const char *values[MOST];
	enum hd_status status;
};

static void rejects_invalid_input(void **state)
{
	static const struct bad all[] = {
		{ "GET", "/nothing", { NULL }, HD_ERR_NOT_FOUND },
		{ "GET", "/../etc/passwd", { NULL }, HD_ERR_NOT_FOUND },
		{ "GET", "/pause", { NULL }, HD_ERR_USAGE },
		{ "POST", "/state.json", { NULL }, HD_ERR_USAGE },
		{ "DELETE", "/", { NULL }, HD_ERR_USAGE },
		{ "POST", "/cut", { NULL }, HD_ERR_INPUT },
		{ "POST", "/cut", { "link=" }, HD_ERR_INPUT },
		{ "POST", "/cut", { "link=-1" }, HD_ERR_INPUT },
		{ "POST", "/cut", { "link=99999999999999999999" }, HD_ERR_INPUT },
		{ "POST", "/cut", { "link=1 }" }, HD_ERR_INPUT },
		{ "POST", "/step", { "time=soon" }, HD_ERR_INPUT },
		{ "POST", "/speed", { "time=\x01" }, HD_ERR_INPUT },
		{ "POST", "/load", { "row=0" }, HD_ERR_INPUT },
		{ "POST", "/load", { "row=0", "value=" }, HD_ERR_INPUT },
		{ "POST", "/load", { "row=0", "value={x: y}" }, HD_ERR_INPUT },
		{ "POST", "/weights", { NULL }, HD_ERR_INPUT },
		{ "POST", "/weights", { "low=all" }, HD_ERR_INPUT },
		{ "POST", "/weights", { "low=0:1", "high=\"" }, HD_ERR_INPUT },
	};
	char longest[CHANGE_TEXT + 16] = "low=";
	struct http_request r;

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (parse(all[i].method, all[i].path, all[i].values, &r) != all[i].status)
			fail_msg("%s %s %s", all[i].method, all[i].path,
				 all[i].values[0] ? all[i].values[0] : "");
	}
	memset(longest + 4, '1', CHANGE_TEXT);
	assert_int_equal(parse("POST", "/weights", (const char *[]){ longest, NULL }, &r),
			 HD_ERR_INPUT);
}

static void names_of_this_machine_are_known(void **state)
{
	static const char *const ours[] = { "localhost",      "localhost:80", "127.0.0.1:8737",
					    "[::1]:1",        "[::1]",        "127.0.0.2:1",
					    "127.255.255.254" };
	static const char *const others[] = { "",
					      "localhost.evil.org",
					      "127.0.0.1.evil.org",
					      "evil.org",
					      "localhost:80:80",
					      "localhost:8o",
					      "127.0.0.256",
					      "128.0.0.1",
					      "::1",
					      "[::1",
					      "[::2]",
					      "127.1.evil" };

	(void)state;
	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		assert_true(request_is_local(ours[i]));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_false(request_is_local(others[i]));
}

static void only_the_token_is_the_token(void **state)
{
	(void)state;
	assert_true(request_same("0123456789abcdef", "0123456789abcdef"));
	assert_false(request_same("0123456789abcdeF", "0123456789abcdef"));
	assert_false(request_same("0123456789abcde", "0123456789abcdef"));
	assert_false(request_same("0123456789abcdef0", "0123456789abcdef"));
	assert_false(request_same("", "0123456789abcdef"));
}

/* With or without a port; IPv6 addresses in brackets, or bare without a port. */
static void places_are_an_address_and_a_port(void **state)
{
	static const struct {
		const char *text, *address; /* NULL: invalid */
		unsigned port;              /* 0: the default port */
	} places[] = {
		{ "127.0.0.1", "127.0.0.1", 0 },
		{ "127.0.0.1:80", "127.0.0.1", 80 },
		{ "127.0.0.2:65535", "127.0.0.2", 65535 },
		{ "::1", "::1", 0 },
		{ "[::1]", "::1", 0 },
		{ "[fe80::2]:8080", "fe80::2", 8080 },
		{ "127.0.0.1:65536", NULL, 0 },
		{ "127.0.0.1:http", NULL, 0 },
		{ "127.0.0.1:", NULL, 0 },
		{ "localhost", NULL, 0 },
		{ "300.0.0.1", NULL, 0 },
		{ "[::1", NULL, 0 },
		{ "[::1]80", NULL, 0 },
		{ "[::1]:", NULL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct diag d = { .status = HD_OK };
		char *address;
		uint16_t port;

		if (server_place(places[i].text, &d, &address, &port) != HD_OK) {
			assert_null(places[i].address);
			continue;
		}
		assert_non_null(places[i].address);
		assert_string_equal(address, places[i].address);
		assert_int_equal(port, places[i].port ? places[i].port : SERVER_PORT);
		free(address);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_are_what_their_words_say),
		cmocka_unit_test(rejects_invalid_input),
		cmocka_unit_test(names_of_this_machine_are_known),
		cmocka_unit_test(only_the_token_is_the_token),
		cmocka_unit_test(places_are_an_address_and_a_port),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
