/* SPDX-License-Identifier: BSD-2-Clause */
/* SL2VL tables of OpenSM: what is accepted is written and reads back alike. */
#include "subnet_setup.h"

#include "subnet/routing/deadlock.h"
#include "subnet/routing/vls.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void build(struct fuzz_subnet *f)
{
	struct topo *t = &f->topo;
	node_id sw[3];

	topo_init(t);
	for (unsigned i = 0; i < 3; i++) {
		sw[i] = add_switch(t, 4);
		add_host(t, sw[i], 1);
	}
	for (unsigned i = 0; i < 3; i++)
		join(t, sw[i], 2, sw[(i + 1) % 3], 3);
	fuzz_subnet_program(f, "minhop");
}

static void read_back(const struct subnet *s)
{
	struct strbuf out = STRBUF_INIT, again = STRBUF_INIT;
	struct fuzz_subnet copy;
	struct diag d = { .status = HD_OK };

	sl2vl_write(s, &out);
	build(&copy);
	if (sl2vl_read(&copy.subnet, out.text, out.len, &d) != HD_OK)
		abort();
	sl2vl_write(&copy.subnet, &again);
	if (strcmp(out.text, again.text) != 0)
		abort();
	fuzz_subnet_fini(&copy);
	strbuf_fini(&out);
	strbuf_fini(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct diag d = { .status = HD_OK };
	struct deadlock_check c;
	struct fuzz_subnet f;

	build(&f);
	if (sl2vl_read(&f.subnet, text, size, &d) == HD_OK) {
		route_check_deadlock(&f.subnet, DEADLOCK_PLAIN, &c);
		route_deadlock_fini(&c);
		read_back(&f.subnet);
	} else if (!d.message[0]) {
		abort();
	}
	fuzz_subnet_fini(&f);
	free(text);
	return 0;
}
