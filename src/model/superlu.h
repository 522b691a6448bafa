/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MODEL_SUPERLU_H
#define HD_MODEL_SUPERLU_H

/*
 * Loads SuperLU when a chain is solved, and not at program start: it depends on
 * a BLAS, which may start threads and allocate memory at start-up in any
 * program that is linked to it.
 */

#include <superlu/slu_ddefs.h>

#include "base/diag.h"

/* The functions in use; the members have the names of SuperLU's functions. */
struct superlu {
	__typeof__(set_default_options) *set_default_options;
	__typeof__(dCreate_CompCol_Matrix) *dCreate_CompCol_Matrix;
	__typeof__(dCreate_Dense_Matrix) *dCreate_Dense_Matrix;
	__typeof__(StatInit) *StatInit;
	__typeof__(StatFree) *StatFree;
	__typeof__(dgssv) *dgssv;
	__typeof__(Destroy_SuperNode_Matrix) *Destroy_SuperNode_Matrix;
	__typeof__(Destroy_CompCol_Matrix) *Destroy_CompCol_Matrix;
	__typeof__(Destroy_SuperMatrix_Store) *Destroy_SuperMatrix_Store;
};

/* The library is never unloaded, because its threads cannot be ended. */
HD_MUST_CHECK enum hd_status superlu_load(struct superlu *lib, struct diag *d);

#endif
