/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TESTS_ORACLE_PAIR_H
#define HD_TESTS_ORACLE_PAIR_H

/*
 * Between the files of queue pairs: pair.c has adapters and requesters (Q1 to
 * Q4), responder.c responders (Q5, Q6, Q8), pace.c their rates (Q7),
 * connection.c those that jobs have (J14).
 */

#include "state.h"

#define SEND_BYTES 26 /* LRH, BTH, CRCs */

/* pair.c */
bool has_request(const struct oracle *o, uint32_t i);
struct adapter *adapter_of(const struct oracle *o, uint32_t i, bool source);
void queue_pair_add(struct oracle *o, const struct queue_pair *model);
void send_add(struct oracle *o, uint32_t i, uint32_t length, struct job_message *message);
/* As many as may be under way (Q3). */
void messages_post(struct oracle *o, uint32_t i);
/* What is given now enters the sender's queue at `when`. */
void adapter_send(struct oracle *o, struct adapter *a, hd_time when);

bool is_rc(const struct oracle *o, uint32_t i);
/* The SEND that a packet is of; whether it is its last one. */
const struct send *send_of(const struct oracle *o, uint32_t i, uint64_t psn);
bool is_last(const struct oracle *o, uint32_t i, uint64_t psn);
/* An end with something to give, unless its rate holds it back (Q2, Q7). */
void pair_line_up(struct oracle *o, uint32_t i, bool source);

/* responder.c */
void request_receive(struct oracle *o, const struct packet *p);

/* pace.c */
void pace_begin(const struct oracle *o, struct pace *p);
struct pace *pace_of(const struct oracle *o, uint32_t i);
void pace_hear(struct oracle *o, uint32_t i, bool marked);
/* From when on the pair's next request may be taken. */
hd_time pace_from(const struct oracle *o, uint32_t i);
/* Q6: whether marks of its requests are looked at. */
bool is_echoed(const struct oracle *o, uint32_t i);
bool is_held(const struct oracle *o, uint32_t i, bool source);
/* Enters the queue for its rate; leaves it. */
void pace_hold(struct oracle *o, uint32_t i);
void pace_let_go(struct oracle *o, uint32_t i);
void pace_end(struct pace *p);
/* A request is granted, or dropped. */
void pace_leave(struct oracle *o, const struct packet *p);
void pace_strike(struct oracle *o, struct pace *p);

/* connection.c */
size_t connections_count(const struct oracle *o);
void connections_init(struct oracle *o);

#endif
