/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/device_lib.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#define LIBRARY "libibverbs.so.1"

#define ROW(name)                                               \
	{                                                       \
		"ibv_" #name, offsetof(struct device_lib, name) \
	}

static const struct {
	const char *symbol;
	size_t offset;
} symbols[] = {
	ROW(get_device_list), ROW(free_device_list),    ROW(get_device_name),
	ROW(open_device),     ROW(close_device),        ROW(query_device),
	ROW(query_port),      ROW(query_gid),           ROW(query_pkey),
	ROW(alloc_pd),        ROW(dealloc_pd),          ROW(reg_mr),
	ROW(dereg_mr),        ROW(create_comp_channel), ROW(destroy_comp_channel),
	ROW(create_cq),       ROW(destroy_cq),          ROW(get_cq_event),
	ROW(ack_cq_events),   ROW(create_qp),           ROW(destroy_qp),
	ROW(modify_qp),       ROW(create_ah),           ROW(destroy_ah),
};

enum hd_status bench_device_lib_open(struct device_lib *lib, struct diag *d)
{
	*lib = (struct device_lib){ 0 };
	lib->handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!lib->handle)
		return diag_fail(d, HD_ERR_ENV,
				 "real devices need " LIBRARY " (Debian: ibverbs-providers): %s",
				 dlerror());
	for (size_t i = 0; i < sizeof(symbols) / sizeof(*symbols); i++) {
		void *found = dlsym(lib->handle, symbols[i].symbol);

		if (!found) {
			bench_device_lib_close(lib);
			return diag_fail(d, HD_ERR_ENV, LIBRARY " has no %s", symbols[i].symbol);
		}
		/* C has no conversion between these pointers; POSIX says that
		 * they are the same. */
		memcpy((char *)lib + symbols[i].offset, &found, sizeof(found));
	}
	return HD_OK;
}

void bench_device_lib_close(struct device_lib *lib)
{
	if (lib->handle)
		dlclose(lib->handle);
}
