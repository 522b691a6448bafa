/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BASE_CREW_H
#define HD_BASE_CREW_H

/*
 * Threads that work in turns: in each, all of them call one function, and the
 * turn is over when all have returned. Turns may be as short as microseconds,
 * so whoever waits looks again and again for a moment before it sleeps; where
 * others hold the processors, that moment is all it takes from them.
 *
 * What one member wrote in a turn all of them see in the next one, and the
 * caller between the two.
 */

/* `member` is below crew_size; 0 is the thread that calls crew_turn. */
typedef void crew_fn(void *context, unsigned member);

struct crew;

/* As many members as asked for, or as the system has threads for. */
struct crew *crew_new(unsigned n, crew_fn *work, void *context);
/* Between two turns. */
void crew_free(struct crew *c);
unsigned crew_size(const struct crew *c);
void crew_turn(struct crew *c);

#endif
