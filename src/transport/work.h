/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TRANSPORT_WORK_H
#define HD_TRANSPORT_WORK_H

/* Work requests and completions of queue pairs. Values visible to programs are those of verbs. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define WR_MAX_SGE    16
#define WR_MAX_INLINE 256
#define WR_MAX_LENGTH (UINT64_C(1) << 31)

/* A range of registered memory. */
struct sge {
	uint64_t addr;
	uint32_t length;
	uint32_t lkey;
};

enum wr_kind {
	WR_SEND,
	WR_SEND_IMM,
	WR_SEND_INV, /* also invalidates the peer's R_Key */
	WR_WRITE,
	WR_WRITE_IMM,
	WR_READ,
	WR_CMP_SWAP,
	WR_FETCH_ADD,
};

enum {
	WR_SIGNALED = 1 << 0,  /* generates a completion */
	WR_SOLICITED = 1 << 1, /* wakes a peer waiting for solicited completions */
	WR_FENCE = 1 << 2,     /* starts after all earlier reads and atomics */
	WR_INLINE = 1 << 3,    /* data are copied when posted */
};

/* Destination of a datagram. */
struct wr_datagram {
	uint32_t qpn, qkey; /* Q_Key with bit 31 set: use the Q_Key of the queue pair */
	uint16_t dlid;
	uint8_t sl;
	bool global; /* send a GRH */
	uint8_t dgid[16];
	uint8_t tclass, hop_limit;
	uint32_t flow_label;
	uint32_t pd; /* protection domain of the address handle */
};

struct send_wr {
	uint64_t id;
	enum wr_kind kind;
	unsigned flags;
	uint32_t imm; /* immediate data, or the R_Key to invalidate */
	uint64_t remote_addr;
	uint32_t rkey;
	uint64_t swap_add, compare;
	struct wr_datagram to; /* UD */
	uint32_t n_sge;
	struct sge sge[WR_MAX_SGE]; /* must be the last member (send_wr_copy) */
};

/* Number of packets of a message of `length` bytes. */
static inline uint32_t wr_packets(uint64_t length, uint32_t mtu)
{
	return length > mtu ? (uint32_t)((length + mtu - 1) / mtu) : 1;
}

struct recv_wr {
	uint64_t id;
	uint32_t n_sge;
	struct sge sge[WR_MAX_SGE];
};

/* Copies a request with its used segments only. */
static inline void send_wr_copy(struct send_wr *to, const struct send_wr *from)
{
	memcpy(to, from, offsetof(struct send_wr, sge) + from->n_sge * sizeof(*from->sge));
}

static inline void recv_wr_copy(struct recv_wr *to, const struct recv_wr *from)
{
	memcpy(to, from, offsetof(struct recv_wr, sge) + from->n_sge * sizeof(*from->sge));
}

/* Values of enum ibv_wc_status. */
enum wc_status {
	WC_SUCCESS = 0,
	WC_LOC_LEN_ERR = 1,
	WC_LOC_QP_OP_ERR = 2,
	WC_LOC_PROT_ERR = 4,
	WC_WR_FLUSH_ERR = 5,
	WC_MW_BIND_ERR = 6,
	WC_BAD_RESP_ERR = 7,
	WC_LOC_ACCESS_ERR = 8,
	WC_REM_INV_REQ_ERR = 9,
	WC_REM_ACCESS_ERR = 10,
	WC_REM_OP_ERR = 11,
	WC_RETRY_EXC_ERR = 12,
	WC_RNR_RETRY_EXC_ERR = 13,
};

enum wc_kind {
	WC_SEND,
	WC_WRITE,
	WC_READ,
	WC_CMP_SWAP,
	WC_FETCH_ADD,
	WC_RECV,
	WC_RECV_WRITE_IMM,
};

enum { WC_WITH_IMM = 1 << 0, WC_WITH_INV = 1 << 1, WC_GRH = 1 << 2 };

/* With an error status, only id, status and qpn are valid. */
struct completion {
	uint64_t id;
	enum wc_status status;
	enum wc_kind kind;
	unsigned flags;
	bool solicited;
	uint32_t qpn;
	uint32_t byte_len;
	uint32_t imm;    /* immediate data, or the R_Key that was invalidated */
	uint32_t src_qp; /* UD, and the two below */
	uint16_t slid;
	uint8_t sl;
};

#endif
