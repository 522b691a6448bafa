/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/superlu.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#define TEXT_OF(number) #number
#define NAME_OF(major)  "libsuperlu.so." TEXT_OF(major)
/* Version of the header at compile time. */
#define LIBRARY         NAME_OF(SUPERLU_MAJOR_VERSION)

#define ROW(name)                                     \
	{                                             \
#name, offsetof(struct superlu, name) \
	}

static const struct {
	const char *name;
	size_t offset;
} symbols[] = {
	ROW(set_default_options),
	ROW(dCreate_CompCol_Matrix),
	ROW(dCreate_Dense_Matrix),
	ROW(StatInit),
	ROW(StatFree),
	ROW(dgssv),
	ROW(Destroy_SuperNode_Matrix),
	ROW(Destroy_CompCol_Matrix),
	ROW(Destroy_SuperMatrix_Store),
};

enum hd_status superlu_load(struct superlu *lib, struct diag *d)
{
	void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		return diag_fail(d, HD_ERR_ENV, "chains need " LIBRARY ": %s", dlerror());
	for (size_t i = 0; i < sizeof(symbols) / sizeof(*symbols); i++) {
		void *found = dlsym(handle, symbols[i].name);

		if (!found)
			return diag_fail(d, HD_ERR_ENV, LIBRARY " has no %s", symbols[i].name);
		/* C has no conversion between these pointers; POSIX says that
		 * they are the same. */
		memcpy((char *)lib + symbols[i].offset, &found, sizeof(found));
	}
	return HD_OK;
}
