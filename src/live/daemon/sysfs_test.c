/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of an adapter: exactly the files that can be listed have content. */
#include <errno.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "live/daemon/daemon_internal.h"
#include "topo/generate.h"

#define LIDS "/sys/class/infiniband/heddle0/ports/1/lid"
#define KEYS "/sys/class/infiniband/heddle0/ports/1/pkeys/"

/* ftw() has no context. */
static const struct live *asked;
static node_id asked_node;
static unsigned n_files, n_said;

static void says(const char *path, const char *text)
{
	char got[64] = "";
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	assert_true(fread(got, 1, sizeof(got) - 1, f) > 0);
	fclose(f);
	assert_string_equal(got, text);
}

static int ask(const char *path, const struct stat *s, int kind)
{
	struct strbuf text = STRBUF_INIT;

	if (kind == FTW_F && strstr(path, "/sys/class/")) {
		assert_int_equal(sysfs_text(asked, asked_node, strstr(path, "/sys/class/"), &text),
				 0);
		assert_true(text.len > 1 && text.text[text.len - 1] == '\n');
		if (s->st_size > 0)
			says(path, text.text);
		n_files++;
		n_said += s->st_size > 0;
	}
	strbuf_fini(&text);
	return 0;
}

static int drop(const char *path, const struct stat *s, int kind, struct FTW *where)
{
	(void)s;
	(void)kind;
	(void)where;
	return remove(path);
}

static int text_of(const struct live *l, node_id v, const char *path, struct strbuf *out)
{
	strbuf_clear(out);
	return sysfs_text(l, v, path, out);
}

static node_id named(const struct topo *t, const char *name)
{
	node_id v = 0;

	while (strcmp(t->nodes[v].name, name) != 0)
		v++;
	return v;
}

/* Sets entries 32 and 33 of a port's P_Keys to 0x8007 and `key`. */
static void set_keys(const struct live *l, port_id port, uint16_t key)
{
	const struct mad_header h = { .mgmt_class = MAD_SMP_DIRECT,
				      .method = MAD_SET,
				      .attribute = ATTR_PKEY_TABLE,
				      .modifier = 1 };
	const struct mad_address to = { .lid = 0xFFFF };
	uint8_t mad[MAD_SIZE];

	mad_write(&h, mad);
	memset(mad + 32, 0xFF, 4); /* permissive LIDs: directed route only */
	mad[64] = 0x80;
	mad[65] = 0x07;
	mad[66] = (uint8_t)(key >> 8);
	mad[67] = (uint8_t)key;
	agents_send(l->agents, port, &to, mad, sizeof(mad), 0);
	assert_int_equal(agents_pkey(l->agents, port, 33), key);
}

static void look_at_all(const char *dir)
{
	n_files = n_said = 0;
	assert_int_equal(ftw(dir, ask, 16), 0);
	/* 6 of adapters and units, 9 of the node, 9 + 1 + 128 of its port */
	assert_int_equal(n_files, 153);
	/* Files with constant content, and the P_Keys. */
	assert_int_equal(n_said, 6 + 9 + 1 + 128);
}

static void what_is_listed_is_what_answers(void **state)
{
	const struct live_options options = { 0 };
	char dir[] = "/tmp/heddle-sysfs.XXXXXX";
	struct diag d = { .status = HD_OK };
	struct topo t;
	struct live l = { 0 };

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(topo_generate_text("star --hosts=2", 1, 0, &d, &t), HD_OK);
	assert_true(daemon_init(&l, &t, dir, &options));
	asked = &l;
	asked_node = named(&t, "h1");
	port_id port = t.nodes[asked_node].first_port + 1;

	set_keys(&l, port, 0x8001); /* before the first request for files */
	assert_int_equal(sysfs_make(&l, asked_node), 0);
	look_at_all(dir);
	set_keys(&l, port, 0x1234);
	look_at_all(dir);
	set_keys(&l, port, 0x1234);
	look_at_all(dir);
	set_keys(&l, port, 0x8007);
	look_at_all(dir);
	daemon_fini(&l);
	topo_fini(&t);
	assert_int_equal(nftw(dir, drop, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static void other_paths_have_no_text(void **state)
{
	static const char *const wrong[] = {
		"",
		"/sys/class/",
		"/sys/class/infiniband",
		"/sys/class/infiniband/heddle1/node_type",
		"/sys/class/infiniband/heddle0/ports/0/lid",
		"/sys/class/infiniband/heddle0/ports/2/lid",
		"/sys/class/infiniband/heddle0/ports/01/lid",
		"/sys/class/infiniband/heddle0/ports/4294967297/lid",
		"/sys/class/infiniband/heddle0/ports//lid",
		"/sys/class/infiniband/heddle0/ports/1/lid/",
		"/sys/class/infiniband/heddle0/ports/1/lids",
		"/sys/class/infiniband/heddle0/ports/1/gids/1",
		"/sys/class/infiniband/heddle0/ports/1/pkeys/128",
		"/sys/class/infiniband/heddle0/ports/1/pkeys/-1",
		"/sys/class/infiniband/heddle0/ports/1/pkeys/007",
		KEYS,
		"/sys/class/infiniband_mad/umad1/port",
		"/sys/class/infiniband_mad/umad/port",
		"/proc/self/maps",
	};
	const struct live_options options = { 0 };
	struct diag d = { .status = HD_OK };
	struct strbuf text = STRBUF_INIT;
	struct topo t;
	struct live l = { 0 };

	(void)state;
	assert_int_equal(topo_generate_text("star --hosts=2", 1, 0, &d, &t), HD_OK);
	assert_true(daemon_init(&l, &t, "/nowhere", &options));
	node_id v = named(&t, "h0");

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(text_of(&l, v, wrong[i], &text), ENOENT);
	assert_int_equal(text_of(&l, v, LIDS, &text), 0);
	assert_string_equal(text.text, "0x0\n");
	assert_int_equal(text_of(&l, v, "/sys/class//infiniband///heddle0/ports//1//lid", &text),
			 0);
	assert_int_equal(text_of(&l, v, KEYS "0", &text), 0);
	assert_string_equal(text.text, "0xffff\n");
	assert_int_equal(text_of(&l, v, KEYS "127", &text), 0);
	assert_string_equal(text.text, "0x0000\n");
	strbuf_fini(&text);
	daemon_fini(&l);
	topo_fini(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_listed_is_what_answers),
		cmocka_unit_test(other_paths_have_no_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
