/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WIRE_MAD_TABLES_H
#define HD_WIRE_MAD_TABLES_H

/*
 * Tables of MAD attributes, one file per class; private to wire/. Each ends with a row without a
 * record.
 *
 * Offsets are in bits from the start of the attribute, most significant bit first, as in the
 * standard's tables. Names are those of libibmad, which smpquery and perfquery print, where
 * libibmad has the field.
 */

#include "wire/mad.h"

extern const struct mad_attribute mad_smp_attributes[];
extern const struct mad_attribute mad_sa_attributes[];
extern const struct mad_attribute mad_perf_attributes[];
extern const struct mad_attribute mad_cc_attributes[];
extern const struct mad_attribute mad_cm_attributes[];

/* Shared between classes. */
extern const struct record mad_node_info;
extern const struct record mad_node_description;
extern const struct record mad_port_info;
extern const struct record mad_class_port_info;
extern const struct record mad_notice;
const struct record *mad_notice_choose(const uint8_t *data);

/*
 * Finds the complete records in `n` bytes of a table that follow `offset` bytes of it. A record
 * has `size` bytes; records start at multiples of `stride`.
 */
struct mad_table mad_table_find(uint64_t offset, const uint8_t *bytes, size_t n, size_t size,
				size_t stride);
/* Distance between records by the MAD's header; 0 if the MAD is malformed. */
size_t mad_table_stride(const struct mad *m);

#endif
