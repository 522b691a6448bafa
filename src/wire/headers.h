/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WIRE_HEADERS_H
#define HD_WIRE_HEADERS_H

/*
 * All headers of InfiniBand packets (IBA volume 1, chapters 7 to 9): a struct of integers for
 * each, and functions that read and write it.
 *
 * The functions use cursors (cursor.h), so the length is checked once at the end. Reserved bits
 * are written as zeros and ignored when read. Values wider than their field are truncated when
 * written; callers check ranges of user input.
 *
 * header_info() describes each header for printing: name, length, fields. A test compares these
 * tables with the functions.
 */

#include "wire/cursor.h"
#include "wire/field.h"

/* In the order of their appearance in a packet. */
enum header {
	HEADER_LRH,
	HEADER_GRH,
	HEADER_RWH,
	HEADER_BTH,
	HEADER_RDETH,
	HEADER_DETH,
	HEADER_XRCETH,
	HEADER_FETH,
	HEADER_RETH,
	HEADER_ATOMICETH,
	HEADER_AETH,
	HEADER_ATOMICACKETH,
	HEADER_IMMDT,
	HEADER_IETH,
	HEADER_COUNT
};

/* A set of headers. */
typedef uint16_t header_set;
#define HEADER_BIT(h) ((header_set)(1U << (h)))

enum {
	LRH_SIZE = 8,
	GRH_SIZE = 40,
	RWH_SIZE = 4,
	BTH_SIZE = 12,
	RDETH_SIZE = 4,
	DETH_SIZE = 8,
	XRCETH_SIZE = 4,
	FETH_SIZE = 4,
	RETH_SIZE = 16,
	ATOMICETH_SIZE = 28,
	AETH_SIZE = 4,
	ATOMICACKETH_SIZE = 8,
	IMMDT_SIZE = 4,
	IETH_SIZE = 4,
	ICRC_SIZE = 4,
	VCRC_SIZE = 2
};

/* LNH: the header after the LRH. */
enum lnh {
	LNH_RAW = 0,    /* a raw packet with a raw header (RWH) */
	LNH_IPV6 = 1,   /* a raw packet that is an IPv6 datagram */
	LNH_LOCAL = 2,  /* BTH */
	LNH_GLOBAL = 3, /* GRH, then BTH */
};

struct lrh {
	uint8_t vl;       /* 4 bits */
	uint8_t lver;     /* 4 bits, 0 */
	uint8_t sl;       /* 4 bits */
	uint8_t lnh;      /* enum lnh */
	uint16_t pkt_len; /* 11 bits: words of 4 bytes, from LRH through ICRC */
	uint16_t dlid;
	uint16_t slid;
};

#define GRH_IP_VERSION 6
#define GRH_NEXT_IBA   0x1B

struct grh {
	uint8_t ip_ver; /* 4 bits */
	uint8_t tclass;
	uint8_t next_header;
	uint8_t hop_limit;
	uint32_t flow_label; /* 20 bits */
	uint16_t pay_len;    /* bytes from the end of the GRH through ICRC */
	uint8_t sgid[16];
	uint8_t dgid[16];
};

struct rwh {
	uint16_t ether_type;
};

struct bth {
	uint8_t opcode;
	bool se;         /* solicited event */
	bool mig;        /* migration state */
	uint8_t pad;     /* 2 bits: number of pad bytes after the payload */
	uint8_t tver;    /* 4 bits, 0 */
	bool fecn, becn; /* congestion notification: forward, and its echo */
	bool ack_req;
	uint16_t pkey;
	uint32_t dest_qp; /* 24 bits */
	uint32_t psn;     /* 24 bits */
};

struct rdeth {
	uint32_t ee_context; /* 24 bits */
};

struct deth {
	uint32_t qkey;
	uint32_t src_qp; /* 24 bits */
};

struct xrceth {
	uint32_t srqn; /* 24 bits */
};

struct feth {
	uint8_t placement;   /* 4 bits: 1 global visibility, 2 persistence */
	uint8_t selectivity; /* 2 bits: 0 range, 1 whole region */
};

struct reth {
	uint64_t va;
	uint32_t rkey;
	uint32_t dma_len;
};

struct atomiceth {
	uint64_t va;
	uint32_t rkey;
	uint64_t swap_add; /* value to swap or to add */
	uint64_t compare;
};

/* Type of an AETH: the upper three bits of its syndrome. */
enum {
	AETH_ACK = 0x00,     /* low 5 bits: credit code; 31: not valid */
	AETH_RNR_NAK = 0x20, /* low 5 bits: timer code */
	AETH_NAK = 0x60,     /* low 5 bits: NAK code */
	AETH_KIND = 0xE0,
	AETH_VALUE = 0x1F
};

enum {
	NAK_PSN_ERROR = 0,
	NAK_INVALID_REQUEST = 1,
	NAK_REMOTE_ACCESS = 2,
	NAK_REMOTE_OPERATION = 3,
	NAK_INVALID_RD_REQUEST = 4
};

struct aeth {
	uint8_t syndrome;
	uint32_t msn; /* 24 bits */
};

struct atomicacketh {
	uint64_t original;
};

struct immdt {
	uint32_t data;
};

struct ieth {
	uint32_t rkey;
};

void lrh_read(struct byte_reader *r, struct lrh *out);
void lrh_write(struct byte_writer *w, const struct lrh *h);
void grh_read(struct byte_reader *r, struct grh *out);
void grh_write(struct byte_writer *w, const struct grh *h);
void rwh_read(struct byte_reader *r, struct rwh *out);
void rwh_write(struct byte_writer *w, const struct rwh *h);
void bth_read(struct byte_reader *r, struct bth *out);
void bth_write(struct byte_writer *w, const struct bth *h);
void rdeth_read(struct byte_reader *r, struct rdeth *out);
void rdeth_write(struct byte_writer *w, const struct rdeth *h);
void deth_read(struct byte_reader *r, struct deth *out);
void deth_write(struct byte_writer *w, const struct deth *h);
void xrceth_read(struct byte_reader *r, struct xrceth *out);
void xrceth_write(struct byte_writer *w, const struct xrceth *h);
void feth_read(struct byte_reader *r, struct feth *out);
void feth_write(struct byte_writer *w, const struct feth *h);
void reth_read(struct byte_reader *r, struct reth *out);
void reth_write(struct byte_writer *w, const struct reth *h);
void atomiceth_read(struct byte_reader *r, struct atomiceth *out);
void atomiceth_write(struct byte_writer *w, const struct atomiceth *h);
void aeth_read(struct byte_reader *r, struct aeth *out);
void aeth_write(struct byte_writer *w, const struct aeth *h);
void atomicacketh_read(struct byte_reader *r, struct atomicacketh *out);
void atomicacketh_write(struct byte_writer *w, const struct atomicacketh *h);
void immdt_read(struct byte_reader *r, struct immdt *out);
void immdt_write(struct byte_writer *w, const struct immdt *h);
void ieth_read(struct byte_reader *r, struct ieth *out);
void ieth_write(struct byte_writer *w, const struct ieth *h);

/* Name, length and fields of a header. */
const struct record *header_info(enum header h);
/* Total size of the headers of `set` in bytes. */
size_t header_set_size(header_set set);

/*
 * Link flow-control packet. FCTBS: number of 64-byte blocks sent on a VL since the link came up;
 * FCCL: number of blocks up to which the sender of this packet can receive. Both are modulo 4096.
 */
enum { FLOW_NORMAL = 0, FLOW_INIT = 1 };
enum { FLOW_SIZE = 6 };

struct flow_packet {
	uint8_t op;     /* 4 bits */
	uint16_t fctbs; /* 12 bits */
	uint8_t vl;     /* 4 bits */
	uint16_t fccl;  /* 12 bits */
	uint16_t lpcrc; /* as received; computed by flow_packet_write */
};

void flow_packet_read(struct byte_reader *r, struct flow_packet *out);
/* Computes the LPCRC; f->lpcrc is ignored. */
void flow_packet_write(struct byte_writer *w, const struct flow_packet *h);
/* True if the LPCRC of the FLOW_SIZE bytes is right. */
bool flow_packet_crc_ok(const uint8_t *bytes);
const struct record *flow_packet_info(void);

#endif
