/* SPDX-License-Identifier: BSD-2-Clause */
/* Path records of saquery and OpenSM's plugin, read into a small fabric. */
#include "subnet_setup.h"

#include "subnet/routing/deadlock.h"
#include "subnet/tables/path_sls.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void build(struct fuzz_subnet *f)
{
	struct topo *t = &f->topo;
	node_id sw[3];

	topo_init(t);
	for (unsigned i = 0; i < 3; i++) {
		sw[i] = add_switch(t, 5);
		add_host(t, sw[i], 1);
		add_host(t, sw[i], 4);
	}
	for (unsigned i = 0; i < 3; i++)
		join(t, sw[i], 2, sw[(i + 1) % 3], 3);
	fuzz_subnet_program(f, "minhop");
}

static void check(const struct subnet *s)
{
	struct deadlock_check c;

	for (port_id p = 0; p < s->topo->n_ports; p++) {
		for (uint32_t lid = 0; lid <= s->top_lid[0]; lid++) {
			if (path_sl(s, p, (lid_t)lid, 0) >= N_SLS)
				abort();
		}
	}
	route_check_deadlock(s, DEADLOCK_WITH_SWITCHES, &c);
	route_deadlock_fini(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	FILE *in = fmemopen(text, size + 1, "r");
	struct diag d = { .status = HD_OK };
	struct path_sls_found found;
	struct fuzz_subnet f;

	if (!in)
		abort();
	build(&f);
	if (path_sls_read(&f.subnet, in, &d, &found) == HD_OK)
		check(&f.subnet);
	else if (!d.message[0] || f.subnet.sl_of_path)
		abort();
	fclose(in);
	fuzz_subnet_fini(&f);
	free(text);
	return 0;
}
