/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_LIVE_VERBS_VERBS_INTERNAL_H
#define HD_LIVE_VERBS_VERBS_INTERNAL_H

/*
 * State of the simulated adapter in a program, and functions shared by the files of
 * libheddle-verbs.so; private to live/verbs. Functions that programs call are in files named after
 * their objects; the execution of work requests is behind backend.h.
 *
 * Lock order in a program: `send` of a queue pair, then the locks of shared memory, then
 * `verbs_adapter.peers_lock`. peers_lock is never held while waiting for the daemon or a peer.
 * "With `send`", in all headers of live/verbs: the caller holds the queue pair's `send`.
 */

#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/iba.h"
#include "live/verbs/shared.h"

#define container(pointer, type, member) ((type *)((char *)(pointer)-offsetof(type, member)))

enum { MAX_CHANNELS = 64 };

/* ---- memory.c: memory of this program, and its allocator */

/* Maps the memory of a program and returns its size; MAP_FAILED with errno. */
void *verbs_memory_map(int file, size_t *size);
/* Creates and maps the memory of this program and starts its allocator; returns an errno. */
int verbs_memory_create(struct program_memory **out, int *file);
/* Offset of `size` zeroed bytes; 0 if the memory is exhausted. */
uint64_t verbs_memory_alloc(size_t size);
void verbs_memory_free(uint64_t offset, size_t size);

/*
 * Allocator of numbers below `most`. The number unused for the longest time is next, so that stale
 * numbers stay invalid for as long as possible.
 */
struct id_pool {
	uint32_t most;
	uint32_t next, used;
	uint8_t *taken;
};

int32_t verbs_id_alloc(struct id_pool *n);
void verbs_id_free(struct id_pool *n, int32_t number);

/* ---- peer.c: memories of programs, including this one */

/* A completion channel of a peer, opened in this process. */
struct channel_to {
	int32_t remote; /* descriptor in the peer */
	uint32_t id;
	int fd; /* descriptor in this process; -1: the entry is free */
};

struct peer_program {
	uint32_t number;
	uint32_t users;
	pid_t pid;
	struct program_memory *memory;
	size_t size;
	struct channel_to channels[MAX_CHANNELS];
	unsigned n_channels;
};

/* References the program of that number until verbs_peer_put; NULL if it has ended. */
struct peer_program *verbs_peer_get(uint32_t number);
void verbs_peer_put(struct peer_program *p);
static inline bool verbs_peer_is_gone(const struct peer_program *p)
{
	return atomic_load_explicit(&p->memory->head.gone, memory_order_relaxed) != 0;
}
/* Writes to a descriptor of the peer; false if nothing was written. */
bool verbs_peer_write(struct peer_program *p, int32_t fd, uint32_t id, const void *bytes,
		      size_t size);
void verbs_peer_notify(struct peer_program *p, const struct notification *n);
/* Ranges of memory. */
struct iovec_list {
	const struct iovec *list;
	unsigned n;
};

/*
 * Copies `size` bytes between local and peer memory; `towards`: to the peer. False if not all of
 * it is mapped.
 */
bool verbs_peer_copy(const struct peer_program *p, const struct iovec_list *here,
		     const struct iovec_list *there, size_t size, bool towards);

/* ---- fabric.c: questions to the daemon */

/*
 * A path: the port of a LID, and the port at which answers from it arrive, as of a generation of
 * the tables. Values are port_ids or LIVE_NO_PORT.
 */
struct verbs_path {
	uint32_t generation;
	int32_t there, back;
};

/* Reply of the daemon: buffer of `size` bytes (then the bytes received), and a file or -1. */
struct daemon_reply {
	void *text;
	size_t size;
	int file;
};

/* Sends a question; returns an errno. The caller owns the file of the reply. */
int verbs_daemon_call(uint32_t question, const void *asked, size_t size, struct daemon_reply *out);
int verbs_query_node(struct live_node *out);
int verbs_query_live_port(uint32_t number, struct live_port *out);
/* Queries the path again if the fabric has changed since its generation. */
void verbs_query_path(struct verbs_path *p, uint32_t port, uint16_t slid, uint16_t dlid,
		      unsigned sl);
uint32_t verbs_generation(void);
/* Counts packets sent from a port to a LID. */
void verbs_count_packets(uint32_t from, uint16_t dlid, unsigned sl, uint64_t packets,
			 uint64_t octets);

/* The first GID of a port, in network byte order. */
static inline void verbs_port_gid(const struct live_port *p, uint8_t out[16])
{
	const uint64_t ids[2] = { p->prefix, p->guid };

	for (unsigned i = 0; i < 16; i++)
		out[i] = (uint8_t)(ids[i / 8] >> (56 - 8 * (i % 8)));
}

/* ---- the program's adapter */

struct soft_qp;

struct adapter {
	bool is_on;             /* attached to a fabric */
	bool is_lost;           /* the fabric has ended */
	atomic_bool has_failed; /* by an injected fault; queue pairs cannot be modified any more */
	uint32_t number;        /* of this program */
	struct program_memory *memory;
	struct peer_program *self;
	struct live_node node;
	const struct live_page *page;
	int events, calls; /* connections to the daemon */
	int bell[2];
	pthread_mutex_t call_lock;
	pthread_mutex_t lock; /* lists and numbers below */
	uint32_t forks; /* number of forks between the process that attached and this process */
	uint32_t first_key_use; /* random, so that keys cannot be guessed */
	struct id_pool qp_numbers, cq_numbers, srq_numbers, region_numbers;
	struct soft_qp *qps[LIVE_QPS];
	struct cq *cqs[MAX_CQS];
	struct srq *srqs[MAX_SRQS];
	uint32_t next_pd;
	struct context *contexts;
	struct pd *pds;
	struct xrcd *xrcds;
	uint32_t last_xrcd;
	pthread_mutex_t flow_lock;    /* guards the allocation of entries in the memory's flows */
	pthread_mutex_t path_lock;    /* guards the paths of datagrams */
	pthread_mutex_t request_lock; /* guards the requests to the engine */
	pthread_mutex_t notes_lock;   /* guards the notes of the engine */
	pthread_mutex_t peers_lock;
	struct peer_program *peers[LIVE_PROGRAMS];
	/* Queue pairs whose sends wait for a receive or an answer. */
	pthread_mutex_t waiting_lock;
	struct soft_qp *waiting;
	_Atomic uint32_t n_waiting;
};

extern struct adapter verbs_adapter;

/* Attaches to the fabric named by the environment; returns an errno. */
int verbs_attach(void);

/* ---- device.c */

struct context {
	struct verbs_context verbs;
	struct context *next;
	int async[2];
	uint32_t forks; /* verbs_adapter.forks when it was opened */
};

static inline struct context *context_of(struct ibv_context *c)
{
	return container(c, struct context, verbs.context);
}

/* True if the context, and all objects created from it, belong to a parent process. */
static inline bool context_is_inherited(struct ibv_context *c)
{
	return context_of(c)->forks != verbs_adapter.forks;
}

void verbs_context_fill(struct verbs_context *v);

/* ---- domain.c */

struct pd {
	struct ibv_pd ibv;
	uint32_t id;
	_Atomic uint32_t users;
	struct pd *base;   /* for a parent domain: its protection domain */
	struct ibv_td *td; /* for a parent domain; or NULL */
	struct pd *next;   /* in verbs_adapter.pds */
};

static inline bool verbs_pd_is_same(struct ibv_pd *a, struct ibv_pd *b)
{
	return container(a, struct pd, ibv)->id == container(b, struct pd, ibv)->id;
}

struct ibv_pd *verbs_alloc_parent_domain(struct ibv_context *context,
					 struct ibv_parent_domain_init_attr *attr);
struct ibv_td *verbs_alloc_td(struct ibv_context *context, struct ibv_td_init_attr *attr);
int verbs_dealloc_td(struct ibv_td *td);

/* ---- xrc.c: XRC domains */

struct xrcd {
	struct ibv_xrcd ibv;
	uint32_t id;
	bool has_file;
	dev_t device;
	ino_t inode;
	_Atomic uint32_t users;
	struct xrcd *next; /* in verbs_adapter.xrcds */
};

struct ibv_xrcd *verbs_open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *attr);
int verbs_close_xrcd(struct ibv_xrcd *xrcd);

/* True if queue pairs of the type have acknowledgements. */
static inline bool verbs_is_reliable(uint32_t type)
{
	return type == IBV_QPT_RC || type == IBV_QPT_XRC_SEND || type == IBV_QPT_XRC_RECV;
}

/* ---- region.c: memory regions, address handles */

struct ah {
	struct ibv_ah ibv;
	uint16_t dlid;
	uint8_t sl, path_bits, port;
	bool global;
	uint8_t sgid_index, hop_limit, traffic_class;
	uint32_t flow_label;
	union ibv_gid dgid;
};

/* Access flags that regions and queue pairs grant, and all flags that they accept. */
enum {
	REMOTE_ACCESS = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
	GRANTED_ACCESS = IBV_ACCESS_LOCAL_WRITE | REMOTE_ACCESS,
	KNOWN_ACCESS = GRANTED_ACCESS | IBV_ACCESS_MW_BIND | IBV_ACCESS_ZERO_BASED |
		       IBV_ACCESS_ON_DEMAND | IBV_ACCESS_HUGETLB | IBV_ACCESS_OPTIONAL_RANGE,
};

/* Allocates a key with a new index; returns the index, or NO_INDEX. */
int32_t verbs_key_alloc(uint32_t *key);
/* Frees the index; its key must not be in use. */
void verbs_key_free(int32_t index);

/* A range of bytes that a request accesses under a key. */
struct key_range {
	uint32_t key;
	uint64_t addr, length;
	uint32_t qpn; /* QPN of the responder, for access through windows; 0: local access */
};

/* Resolves the range to an address; false if the domain has no such access to it. */
bool verbs_region_find(const struct program_memory *m, uint32_t pd, const struct key_range *s,
		       unsigned access, uint64_t *where);

bool verbs_region_is_on_demand(const struct program_memory *m, uint32_t key);
int verbs_advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
		    struct ibv_sge *list, uint32_t n);

/* ---- window.c: memory windows */

/*
 * True if memory windows, invalidation, XRC and atomic writes are available: with the free clock
 * only, because neither the simulated transport nor RoCE's has them.
 */
bool verbs_has_extensions(void);
struct ibv_mw *verbs_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int verbs_dealloc_mw(struct ibv_mw *mw);
int verbs_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind_info);
bool verbs_region_has_windows(int32_t index);
/* After fork(): the windows belong to the parent. */
void verbs_windows_forget(void);

/* A work request that binds a window. */
struct window_bind {
	uint32_t window; /* the window's current key */
	uint32_t key;    /* its new key */
	uint32_t lkey;   /* key of the region */
	uint32_t access;
	uint64_t addr, length;
};

struct soft_qp;

/* Executes the bind; returns the status of the work request. */
enum ibv_wc_status verbs_window_bind(const struct soft_qp *q, const struct window_bind *b);
/* Ends the binding of a window of type 2; false if the queue pair has no window with that key. */
bool verbs_window_invalidate(struct program_memory *m, uint32_t key, uint32_t pd, uint32_t qpn);

/* ---- completion.c */

struct cq {
	union {
		struct ibv_cq ibv;
		struct ibv_cq_ex ex;
	};
	int32_t index;
	struct shared_cq *shared;
	_Atomic uint64_t hidden_until; /* by an injected fault; in ns */
	struct pd *parent;             /* the parent domain that it was created with, or NULL */
	pthread_mutex_t take;          /* held while polling */
	uint32_t users;
	uint32_t got, got_async; /* numbers of events that must be acknowledged */
	uint64_t wc_flags;
	/* ibv_cq_ex: valid between start_poll and end_poll */
	struct ibv_wc current;
	uint64_t stamp;
};

/* True if the queue has completions. */
static inline bool verbs_cq_has_any(const struct cq *cq)
{
	return atomic_load_explicit(&cq->shared->head, memory_order_relaxed) !=
	       atomic_load_explicit(&cq->shared->tail, memory_order_acquire);
}

struct comp_channel {
	struct ibv_comp_channel ibv;
	int write;
	uint32_t id;
};

/* A completion to add, and the message bytes that it carries. */
struct new_completion {
	struct shared_cqe cqe;
	const void *carried;
	bool solicited;
};

/*
 * Adds a completion to a queue of `owner`; false if the queue overran. `ring`: the ring of the
 * receive that it completes, which is removed in the same step; or NULL.
 */
bool verbs_cq_add(struct peer_program *owner, int32_t index, struct new_completion *c,
		  struct shared_ring *ring);
/* After a program died: repairs the queue's event state. */
void verbs_cq_recover(struct cq *cq);
/* Removes the entries of a queue pair. */
void verbs_cq_clean(struct cq *cq, uint32_t qpn);
int verbs_poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc);
int verbs_req_notify_cq(struct ibv_cq *cq, int solicited_only);
struct ibv_cq_ex *verbs_create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr);
struct cq *verbs_cq_create(struct ibv_context *context, int depth, void *cq_context,
			   struct ibv_comp_channel *channel);
bool verbs_cq_take(struct cq *cq, struct ibv_wc *wc);

/* ---- receive.c: rings of receives */

int verbs_ring_create(struct shared_ring *r, uint32_t depth, uint32_t max_sge);
void verbs_ring_free(struct shared_ring *r);
/* Returns an errno. */
int verbs_ring_post(struct program_memory *m, struct shared_ring *r, const struct ibv_recv_wr *wr);
/* The first receive, or NULL; the caller holds the ring's lock. */
const struct shared_receive *verbs_ring_first(struct program_memory *m,
					      const struct shared_ring *r);
/* After a program died: decides whether the receive in `taking` has been consumed. */
void verbs_ring_recover(struct program_memory *m, struct shared_ring *r);

struct srq {
	struct ibv_srq ibv;
	int32_t index;
	struct shared_srq *shared;
	pthread_mutex_t post;
	uint32_t users;
	uint32_t got_async;
	struct xrcd *xrcd; /* for an XRC queue, else NULL */
	struct cq *cq;     /* for an XRC queue: the completion queue of its receives */
};

int verbs_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
struct ibv_srq *verbs_create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr);
int verbs_get_srq_num(struct ibv_srq *srq, uint32_t *number);

/* ---- queue_pair.c */

/* A posted send; its inline bytes follow the list of pieces. */
struct send_wqe {
	uint64_t wr_id;
	uint32_t opcode; /* enum ibv_wr_opcode */
	uint32_t flags;
	uint32_t imm; /* or the R_Key to invalidate */
	uint32_t rkey;
	uint64_t remote_addr, compare, swap;
	uint64_t length;
	struct window_bind bind;
	uint32_t status;  /* enum ibv_wc_status, valid after arrival */
	uint32_t is_over; /* timed UC, UD: arrived or lost */
	uint32_t n_sge;
	uint32_t srqn;           /* XRC */
	uint32_t dest_qpn, qkey; /* UD, as the fields of the address handle below */
	uint16_t dlid;
	uint8_t sl, path_bits, hop_limit, traffic_class, global;
	uint32_t flow_label;
	union ibv_gid dgid;
	struct live_piece sge[];
};

/* A send of UC or UD that has completed but not arrived; simulated clock only. */
struct send_in_flight {
	uint64_t number;
	struct send_in_flight *next;
	struct send_wqe *send; /* a copy, including its inline data */
};

enum waiting { WAIT_NOT, WAIT_RECEIVE, WAIT_ANSWER };

/* Members of the group that the last send addressed, as of a generation. */
struct group_members {
	uint32_t *qpns;
	uint32_t generation, n;
	uint16_t mlid;
	uint8_t sl, mgid[16];
};

struct soft_qp {
	union {
		struct ibv_qp ibv;
		struct ibv_qp_ex ex;
	};
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;
	struct shared_qp *shared;
	struct live_port port;
	struct xrcd *xrcd;    /* for IBV_QPT_XRC_RECV */
	pthread_mutex_t post; /* guards the posting of receives */
	pthread_mutex_t send; /* guards all members below */
	char *ring;           /* ring of sends, `stride` bytes each */
	uint64_t head, tail;
	/* Positions between head and tail; used if sends are not executed by post_run: */
	uint64_t given;   /* sends before it have been given to the engine or the transport */
	uint64_t arrived; /* sends before it have arrived; simulated clock */
	struct send_in_flight *flights, **last_flight; /* simulated clock */
	_Atomic uint32_t n_flights;
	uint64_t drain; /* SQD: value of head at which SQ_DRAINED is raised; or 0 */
	struct peer_program *peer;
	uint64_t since, until;    /* start and end of the wait, in ns; until 0: no end */
	uint64_t not_ready_until; /* in ns; until then a fault keeps receivers not ready */
	uint64_t next_try;        /* time of the next try by the background thread, in ns */
	struct soft_qp *next_waiting;
	uint64_t building; /* ibv_wr_*: value of tail after wr_complete */
	uint64_t ops;      /* ibv_wr_*: enum ibv_qp_create_send_ops_flags */
	struct group_members group;
	struct verbs_path path;
	int32_t index;
	uint32_t stride;
	uint32_t psn;
	uint32_t got_async;
	int build_error;
	enum waiting waits;
	bool is_waiting; /* in verbs_adapter.waiting */
	bool wants_drained;
	bool is_extended;
};

static inline struct soft_qp *qp_of(struct ibv_qp *qp)
{
	return container(qp, struct soft_qp, ibv);
}

static inline struct send_wqe *send_at(const struct soft_qp *q, uint64_t n)
{
	return (struct send_wqe *)(q->ring + (size_t)(n % q->init.cap.max_send_wr) * q->stride);
}

static inline uint8_t *send_inline(const struct soft_qp *q, struct send_wqe *s)
{
	return (uint8_t *)(s->sge + q->init.cap.max_send_sge);
}

struct ibv_qp *verbs_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);
/* Functions of ibv_qp_ex. */
void verbs_qp_fill_ex(struct soft_qp *q, uint64_t ops);
/* Moves the queue pair to ERR, raises the event and flushes all requests; with `send`. */
void verbs_qp_fail(struct soft_qp *q, enum ibv_event_type event);
/*
 * The queue pair of that number with its `send` locked, so that it cannot be destroyed; NULL if it
 * does not exist. The caller unlocks it.
 */
struct soft_qp *verbs_qp_lock(uint32_t qpn);
/* Completes the entries of a ring of receives as flushed; with the queue pair's lock. */
void verbs_qp_flush_receives(struct peer_program *owner, struct shared_qp *s);
void verbs_qp_flush_sends(struct soft_qp *q);
void verbs_qp_notify_drained(struct soft_qp *q);

/* ---- states.c: valid transitions of queue pair states */

bool verbs_qp_transition_is_valid(enum ibv_qp_type type, enum ibv_qp_state from,
				  enum ibv_qp_state to, int mask);

/* ---- post.c */

int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
/* Operations that queue pairs of a type have: enum ibv_qp_create_send_ops_flags. */
uint64_t post_operations(enum ibv_qp_type type);
/* Flag of an operation in that enumeration. */
uint64_t post_operation_flag(uint32_t opcode);
int post_take_bind(struct send_wqe *s, const struct ibv_mw *mw, uint32_t key,
		   const struct ibv_mw_bind_info *info);
/* Flags of sends that this adapter supports; it refuses others. */
enum {
	SEND_FLAGS = IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED | IBV_SEND_INLINE,
};
/* True if the operation returns data to the requester, so that inline data are not allowed. */
bool post_reads(uint32_t opcode);
/* Sets the destination of a datagram. */
void post_address(const struct soft_qp *q, struct send_wqe *s, const struct ah *ah, uint32_t qpn,
		  uint32_t qkey);
/* Processes the sends in the ring; with `send`. */
void post_run(struct soft_qp *q);
/*
 * Notes of the engine; with `send`. post_arrived: all sends up to `number` have arrived and are
 * executed; if the send has failed, all before it. post_done, later: all sends up to `number`
 * complete, with `status` unless they have an error of their own.
 */
void post_arrived(struct soft_qp *q, uint64_t number, bool has_failed);
void post_done(struct soft_qp *q, uint64_t number, enum ibv_wc_status status);
/* Completes the first send in the ring; with `send`. */
void post_finish(struct soft_qp *q, enum ibv_wc_status status);
/* Retries waiting sends: all of them, or those whose time has come. */
void post_retry(bool only_due);
/* Time of the next post_retry in ns, or UINT64_MAX. */
uint64_t post_due(void);
/* Removes a queue pair that is being destroyed from the waiting list. */
void post_forget(const struct soft_qp *q);
uint64_t verbs_now_ns(void);

/* ---- faults.c: injected faults */

void verbs_faults_load(void);
void verbs_faults_forget(void);
/* Called for each posted request: returns an errno, or 0; the queue pair may fail. With `send`. */
int verbs_fault_post(struct soft_qp *q);
/* True if the next request completes with *status and is not executed. */
bool verbs_fault_complete(const struct soft_qp *q, enum ibv_wc_status *status);
/* The peer has no receive for now. */
bool verbs_fault_is_not_ready(struct soft_qp *q);
/* The completions of the queue cannot be polled for now. */
bool verbs_fault_hides(struct cq *cq);

/* ---- events.c */

/* Waits until the program has acknowledged all events that it received. */
void verbs_await_acknowledged(pthread_mutex_t *lock, pthread_cond_t *changed, const uint32_t *got,
			      const uint32_t *acknowledged);
/* Starts the background thread, which processes events of the daemon and of peers. */
int verbs_progress_start(void);

#endif
