/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SCENARIO_WORDS_H
#define HD_SCENARIO_WORDS_H

/*
 * Words of scenario choices that are not defined elsewhere, in the order of
 * their enums, terminated by NULL. Options that abbreviate a field share them.
 */

extern const char *const scn_queueing_words[];
extern const char *const scn_order_words[];
extern const char *const scn_arbitration_words[];
extern const char *const scn_lid_words[];
extern const char *const scn_adaptive_words[]; /* from SCN_AR_OFF */
extern const char *const scn_adaptive_unit_words[];
extern const char *const scn_vl_words[];        /* numbers of data VLs */
extern const char *const scn_control_words[];   /* of a row */
extern const char *const scn_algorithm_words[]; /* of a run */
extern const char *const scn_grh_words[];
extern const char *const scn_credit_words[];
extern const char *const scn_arbiter_words[];
extern const char *const scn_mtu_words[]; /* bytes */
extern const char *const scn_mechanism_words[];
extern const char *const scn_share_ports_words[];
extern const char *const scn_priority_words[];
extern const char *const scn_class_words[]; /* enum traffic_class, or none */
extern const char *const scn_law_words[];   /* how times are drawn */
extern const char *const scn_traffic_words[];
extern const char *const scn_pattern_words[];
extern const char *const scn_transport_words[];
extern const char *const scn_echo_words[];
extern const char *const scn_share_words[]; /* owner of a throttle */
extern const char *const scn_gap_words[];
extern const char *const scn_event_words[];
extern const char *const scn_place_words[]; /* enum placement */
extern const char *const scn_rails_words[]; /* enum scn_rails */
extern const char *const scn_job_transport_words[];
extern const char *const scn_layout_words[]; /* of groups */
extern const char *const scn_packet_words[]; /* units of amounts */
extern const char *const scn_packet_each_words[];

#endif
