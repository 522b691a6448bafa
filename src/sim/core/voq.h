/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_CORE_VOQ_H
#define HD_SIM_CORE_VOQ_H

/*
 * Virtual output queues: for each output, VL and input, the ready packets in FIFO order
 * (T7). A VL's `inputs` has a bit for each input whose first packet is ready, so that round
 * robin is a bit scan.
 *
 * Inputs are numbered like ports, and bits are input numbers modulo 64: input 64 uses bit 0, which
 * is unused in a node of 64 ports because its port 0 has no cable. This keeps the
 * round-robin order of inputs. Only if a node has more inputs (sim.wide), VLs have four words
 * of bits in sim.words, and `inputs` is the set of words that are not 0.
 *
 * The first packets of a VL's inputs are in a row of sim.heads. A VL has a row only while several
 * inputs compete for it, which is rare compared with the number of VLs.
 *
 * With `fifo`, each queue holds at most the first packet of its input buffer. Only where VLs
 * merge (sim.merges) can a queue hold more, and its first packet may not be ready yet: it is in
 * the list but has no bit.
 *
 * `simple` is constant (hop.h): no node is wide, and no VLs merge.
 */

#include "sim/core/sim_internal.h"

static inline uint64_t *vl_words(struct sim *s, const struct port_vl *port_vl)
{
	return &s->words[4 * (size_t)(port_vl - s->outlet_vls)];
}

static inline void inputs_add(struct sim *s, struct port_vl *port_vl, unsigned in,
			      const bool simple)
{
	if (!simple && unlikely(s->mode.wide)) {
		vl_words(s, port_vl)[in / 64] |= (uint64_t)1 << (in % 64);
		in /= 64;
	}
	port_vl->inputs |= (uint64_t)1 << (in & 63);
}

static inline void inputs_remove(struct sim *s, struct port_vl *port_vl, unsigned in,
				 const bool simple)
{
	if (!simple && unlikely(s->mode.wide)) {
		uint64_t *word = &vl_words(s, port_vl)[in / 64];

		*word &= ~((uint64_t)1 << (in % 64));
		if (*word)
			return;
		in /= 64;
	}
	port_vl->inputs &= ~((uint64_t)1 << (in & 63));
}

static inline bool inputs_has(struct sim *s, const struct port_vl *port_vl, unsigned in,
			      const bool simple)
{
	if (!simple && unlikely(s->mode.wide))
		return vl_words(s, port_vl)[in / 64] >> (in % 64) & 1;
	return port_vl->inputs >> (in & 63) & 1;
}

/* The first bit after `in`, cyclically. `bits` is not 0. */
static inline unsigned bits_after(uint64_t bits, unsigned in)
{
	uint64_t after = bits >> in >> 1;

	return after ? in + 1 + (unsigned)__builtin_ctzll(after) : (unsigned)__builtin_ctzll(bits);
}

/* The first member after `in`, cyclically; the set is not empty. */
static inline unsigned inputs_after(struct sim *s, const struct port_vl *port_vl, unsigned in)
{
	if (likely(!s->mode.wide))
		return bits_after(port_vl->inputs, in & 63);
	const uint64_t *words = vl_words(s, port_vl);
	unsigned word = in / 64;
	uint64_t after = words[word] >> (in % 64) >> 1;

	if (after)
		return in + 1 + (unsigned)__builtin_ctzll(after);
	word = bits_after(port_vl->inputs, word);
	return 64 * word + (unsigned)__builtin_ctzll(words[word]);
}

/* Whether packets can enter the node whose port 0 is `first` by input 0. */
static inline bool has_input_0(const struct sim *s, uint32_t first)
{
	return s->rules.injects_at_switches || s->setup->ports[first].peer != SIM_NONE;
}

/* The number that precedes the lowest input of the port's node in round-robin order. */
static inline uint8_t inputs_before(const struct sim *s, uint32_t port)
{
	return has_input_0(s, s->setup->nodes[s->setup->ports[port].node].first_port) ? UINT8_MAX
										      : 0;
}

static inline unsigned inputs_lowest(struct sim *s, uint32_t port, const struct port_vl *port_vl)
{
	return inputs_after(s, port_vl, inputs_before(s, port));
}

static inline uint32_t *voq_slot(struct sim *s, const struct port_vl *port_vl, unsigned in)
{
	return &s->heads.slots[port_vl->heads + (in & s->heads.mask)];
}

/* Adds rows to the pool. */
void voq_grow(struct heads *h);

static inline void heads_take(struct sim *s, struct port_vl *port_vl)
{
	if (unlikely(s->heads.free == NONE))
		voq_grow(&s->heads);
	port_vl->heads = s->heads.free;
	s->heads.free = s->heads.slots[port_vl->heads];
}

static inline void heads_give(struct sim *s, const struct port_vl *port_vl)
{
	s->heads.slots[port_vl->heads] = s->heads.free;
	s->heads.free = port_vl->heads;
}

/* The first packet of an input that has a bit; where VLs merge, of any input. */
static inline uint32_t voq_first(struct sim *s, const struct port_vl *port_vl, unsigned in)
{
	return port_vl->solo != NONE ? port_vl->solo : *voq_slot(s, port_vl, in);
}

/*
 * Appends a ready packet. While only one input has packets, which is the common case, its first
 * packet is in port_vl->solo and sim.heads is not used.
 */
static inline void voq_push(struct sim *s, struct port_vl *port_vl, struct packet_record *p,
			    const bool simple)
{
	uint32_t id = packet_id(s, p);

	p->next = NONE;
	if (likely(port_vl->inputs == 0)) {
		inputs_add(s, port_vl, p->in, simple);
		port_vl->solo = id;
		p->tail = id;
		return;
	}
	if (inputs_has(s, port_vl, p->in, simple)) {
		struct packet_record *first = packet_at(s, voq_first(s, port_vl, p->in));

		packet_at(s, first->tail)->next = id;
		first->tail = id;
		return;
	}
	if (port_vl->solo != NONE) {
		heads_take(s, port_vl);
		*voq_slot(s, port_vl, packet_at(s, port_vl->solo)->in) = port_vl->solo;
		port_vl->solo = NONE;
	}
	inputs_add(s, port_vl, p->in, simple);
	*voq_slot(s, port_vl, p->in) = id;
	p->tail = id;
}

/* Removes the first packet of an input that has a bit. */
static inline struct packet_record *voq_pop(struct sim *s, struct port_vl *port_vl, unsigned in,
					    const bool simple)
{
	bool is_solo = port_vl->solo != NONE;
	uint32_t *head = is_solo ? &port_vl->solo : voq_slot(s, port_vl, in);
	struct packet_record *p = packet_at(s, *head);

	*head = p->next;
	if (p->next == NONE) {
		inputs_remove(s, port_vl, in, simple);
		if (!is_solo && !port_vl->inputs && (simple || !s->mode.merges))
			heads_give(s, port_vl);
		return p;
	}
	struct packet_record *next = packet_at(s, p->next);

	next->tail = p->tail;
	if (!simple && unlikely(s->mode.merges) && next->ready > s->now)
		inputs_remove(s, port_vl, in, simple);
	return p;
}

/* Removes a packet that is not the first of its queue; only where VLs merge. */
static inline void voq_unlink(struct sim *s, struct port_vl *port_vl, const struct packet_record *p)
{
	struct packet_record *first = packet_at(s, *voq_slot(s, port_vl, p->in));
	struct packet_record *before = first;
	uint32_t id = packet_id(s, p);

	while (before->next != id)
		before = packet_at(s, before->next);
	before->next = p->next;
	if (p->next == NONE)
		first->tail = packet_id(s, before);
}

#endif
