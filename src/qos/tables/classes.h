/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_TABLES_CLASSES_H
#define HD_QOS_TABLES_CLASSES_H

/*
 * Traffic classes, their SLs, and the VLs of these SLs.
 *
 *	DBTS	dedicated bandwidth, time sensitive
 *	DB	dedicated bandwidth
 *	PBE	preferential best effort
 *	BE	best effort
 *	CH	challenged: must not disturb best effort
 *
 * DBTS and DB are split by mean bandwidth, because connections of very different bandwidth in one
 * VL delay each other:
 *
 *	up to		64 Kb/s	1.55 Mb/s  64 Mb/s  above
 *	DBTS on SL	4	5	   6	    7
 *	DB on SL	0	1	   2	    3
 *
 * BE is SL 8, CH SL 9, PBE SL 10.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "base/units.h"
#include "subnet/subnet.h"

enum traffic_class { TC_DBTS, TC_DB, TC_PBE, TC_BE, TC_CH, TC_COUNT };

#define CLASS_BANDS 4 /* bandwidth bands of DBTS and DB */

const char *class_name(enum traffic_class class);
HD_MUST_CHECK enum hd_status class_parse(const char *text, enum traffic_class *out);

/* 0 (up to 64 Kb/s) to 3 (above 64 Mb/s). */
unsigned class_band(struct hd_rate mean);
/* The SL of a class; the rate counts for DBTS and DB only. */
uint8_t class_sl(enum traffic_class class, struct hd_rate mean);
/* The class that travels on an SL; TC_BE for SLs that no class has. */
enum traffic_class class_of_sl(uint8_t sl);
/* The SLs of a class; of all classes for TC_COUNT. */
uint16_t class_sls_of(enum traffic_class class);
/* The SLs of all classes that may send without a share: PBE needs one. */
uint16_t class_floor_sls(void);
/* The SLs of BE, PBE and CH, which have no reservations. */
uint16_t class_unreserved_sls(void);

/* Plan of these classes for VLs (qos/tables/vls.h). */
struct vl_plan;
const struct vl_plan *class_plan(void);
/*
 * The VL of each SL on a link with `vls` data VLs, and what is lost compared
 * with a VL for each class:
 *
 *	15	VL = SL
 *	8	DBTS 0-3 by band, DB 4 and 5 by pairs of bands, BE with PBE, CH
 *	4	DBTS, DB, BE with PBE, CH
 *	2	DBTS with DB, BE with PBE and CH
 *	1	all together
 */
struct sl2vl class_fold(unsigned vls, struct strbuf *lost);

#endif
