/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MODEL_DES_GE_STUDY_H
#define HD_MODEL_DES_GE_STUDY_H

/*
 * Solves one GE queue exactly, by a maximum-entropy form, without its
 * thresholds, and by simulation. The model commands and the published figures
 * of chapter 5 use it.
 */

#include "model/des/ge_des.h"
#include "model/maxent.h"

struct ge_study {
	struct batch_queue queue;
	enum maxent_reading reading; /* MAXENT_SEPARATE: one class, no fixed rooms */
	bool without;                /* also solve the queue without thresholds */
	struct des_options des;      /* packets = 0: no simulation */
};

struct ge_des_point {
	double *p; /* capacity + 1; NAN where the form does not exist */
	struct ge_result result;

	/* Only for one class without fixed rooms: whether the form exists. */
	bool has_form;
	struct maxent form;
	double form_error; /* largest |difference| from the exact solution */

	/*
	 * For the first rate only: with the capacity of one region's VLs
	 * (capacity divided by the number of regions) and with the whole
	 * capacity.
	 */
	size_t vl_capacity;
	struct ge_result vl;
	struct ge_result whole;

	size_t n_classes; /* results per class, if there are several */
	struct ge_result classes[BATCH_MAX_CLASSES];

	struct ge_des_result des;
	struct ge_des_result class_des[BATCH_MAX_CLASSES];
};

HD_MUST_CHECK enum hd_status ge_des_point_init(struct ge_des_point *point,
					       const struct ge_study *study, struct diag *d);
void ge_des_point_fini(struct ge_des_point *point);

/* The measures one by one, in the order of the struct. */
enum ge_des_measure { GE_L, GE_U, GE_BLOCKING, GE_THROUGHPUT, GE_W, GE_MEASURES };
extern const char *const ge_des_measure_names[GE_MEASURES]; /* "L" */
extern const char *const ge_des_measure_units[GE_MEASURES]; /* "packets" */

double ge_des_measure_of(const struct ge_result *r, enum ge_des_measure m);
const struct interval *ge_des_get(const struct ge_des_result *r, enum ge_des_measure m);

#endif
