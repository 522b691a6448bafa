/* SPDX-License-Identifier: BSD-2-Clause */
/* MAP_ANONYMOUS is not POSIX. */
#define _DEFAULT_SOURCE
#include "hca/coroutine.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/memory.h"

#if defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ASAN 1
#endif
#endif

#ifdef HAS_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

struct coroutine {
	void *sp;     /* stack pointer while suspended */
	void *caller; /* stack pointer of the resumer */
	coroutine_fn *fn;
	void *argument;
	char *memory; /* guard page followed by the stack */
	size_t size;
	bool done;
#ifdef HAS_ASAN
	/* State of the sanitizer for both stacks. */
	void *fake, *caller_fake;
	const void *caller_bottom;
	size_t caller_size;
#endif
};

/*
 * Saves the callee-saved registers, stores the stack pointer in *from and resumes at `to`. A new
 * stack is laid out as if saved here: the return address is the entry, and one register is the
 * coroutine.
 */
void hd_coroutine_switch(void **from, void *to);
void hd_coroutine_start(void);
__attribute__((noreturn)) void hd_coroutine_main(struct coroutine *c);

#if defined(__x86_64__)
__asm__(".text\n"
	".globl hd_coroutine_switch\n"
	".type hd_coroutine_switch,@function\n"
	"hd_coroutine_switch:\n"
	"	pushq %rbp\n"
	"	pushq %rbx\n"
	"	pushq %r12\n"
	"	pushq %r13\n"
	"	pushq %r14\n"
	"	pushq %r15\n"
	"	movq %rsp, (%rdi)\n"
	"	movq %rsi, %rsp\n"
	"	popq %r15\n"
	"	popq %r14\n"
	"	popq %r13\n"
	"	popq %r12\n"
	"	popq %rbx\n"
	"	popq %rbp\n"
	"	ret\n"
	".size hd_coroutine_switch,.-hd_coroutine_switch\n"
	".globl hd_coroutine_start\n"
	".type hd_coroutine_start,@function\n"
	"hd_coroutine_start:\n"
	"	movq %r12, %rdi\n"
	"	call hd_coroutine_main\n"
	"	ud2\n"
	".size hd_coroutine_start,.-hd_coroutine_start\n");

/* r15 r14 r13 r12 rbx rbp, return address; rsp is 16-aligned after it. */
static void *lay_out(char *top, struct coroutine *c)
{
	uintptr_t *sp = (uintptr_t *)(void *)(top - 16);

	*--sp = (uintptr_t)hd_coroutine_start;
	*--sp = 0; /* rbp = 0 ends a backtrace */
	*--sp = 0;
	*--sp = (uintptr_t)c; /* r12, read by hd_coroutine_start */
	*--sp = 0;
	*--sp = 0;
	*--sp = 0;
	return sp;
}

#elif defined(__aarch64__)
__asm__(".text\n"
	".globl hd_coroutine_switch\n"
	".type hd_coroutine_switch,%function\n"
	"hd_coroutine_switch:\n"
	"	sub sp, sp, #160\n"
	"	stp x19, x20, [sp, #0]\n"
	"	stp x21, x22, [sp, #16]\n"
	"	stp x23, x24, [sp, #32]\n"
	"	stp x25, x26, [sp, #48]\n"
	"	stp x27, x28, [sp, #64]\n"
	"	stp x29, x30, [sp, #80]\n"
	"	stp d8, d9, [sp, #96]\n"
	"	stp d10, d11, [sp, #112]\n"
	"	stp d12, d13, [sp, #128]\n"
	"	stp d14, d15, [sp, #144]\n"
	"	mov x9, sp\n"
	"	str x9, [x0]\n"
	"	mov sp, x1\n"
	"	ldp x19, x20, [sp, #0]\n"
	"	ldp x21, x22, [sp, #16]\n"
	"	ldp x23, x24, [sp, #32]\n"
	"	ldp x25, x26, [sp, #48]\n"
	"	ldp x27, x28, [sp, #64]\n"
	"	ldp x29, x30, [sp, #80]\n"
	"	ldp d8, d9, [sp, #96]\n"
	"	ldp d10, d11, [sp, #112]\n"
	"	ldp d12, d13, [sp, #128]\n"
	"	ldp d14, d15, [sp, #144]\n"
	"	add sp, sp, #160\n"
	"	ret\n"
	".size hd_coroutine_switch,.-hd_coroutine_switch\n"
	".globl hd_coroutine_start\n"
	".type hd_coroutine_start,%function\n"
	"hd_coroutine_start:\n"
	"	mov x0, x19\n"
	"	bl hd_coroutine_main\n"
	"	brk #1\n"
	".size hd_coroutine_start,.-hd_coroutine_start\n");

/* x19-x30, d8-d15. */
static void *lay_out(char *top, struct coroutine *c)
{
	uintptr_t *sp = (uintptr_t *)(void *)(top - 160);

	for (unsigned i = 0; i < 20; i++)
		sp[i] = 0;
	sp[0] = (uintptr_t)c;                   /* x19, read by hd_coroutine_start */
	sp[11] = (uintptr_t)hd_coroutine_start; /* x30 */
	return sp;
}
#else
#error "coroutines: write the switch for this processor"
#endif

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

struct coroutine *coroutine_new(size_t stack, coroutine_fn *fn, void *argument)
{
	size_t page = page_size();
	struct coroutine *c = hd_alloc(1, sizeof(*c));

	c->size = (stack + page - 1) / page * page + page;
	c->memory = mmap(NULL, c->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (c->memory == MAP_FAILED || mprotect(c->memory, page, PROT_NONE) != 0)
		memory_refused(c->size);
	c->fn = fn;
	c->argument = argument;
	c->sp = lay_out(c->memory + c->size, c);
	return c;
}

void coroutine_free(struct coroutine *c)
{
	if (!c)
		return;
	munmap(c->memory, c->size);
	free(c);
}

/* ---- switching, with calls of the sanitizer ------------------------------ */

static void enter_begin(struct coroutine *c)
{
#ifdef HAS_ASAN
	size_t page = page_size();

	__sanitizer_start_switch_fiber(&c->caller_fake, c->memory + page, c->size - page);
#else
	(void)c;
#endif
}

/* Called inside the coroutine after a switch from the resumer. */
static void entered(struct coroutine *c)
{
#ifdef HAS_ASAN
	__sanitizer_finish_switch_fiber(c->fake, &c->caller_bottom, &c->caller_size);
#else
	(void)c;
#endif
}

static void leave_begin(struct coroutine *c)
{
#ifdef HAS_ASAN
	__sanitizer_start_switch_fiber(c->done ? NULL : &c->fake, c->caller_bottom, c->caller_size);
#else
	(void)c;
#endif
}

static void left(struct coroutine *c)
{
#ifdef HAS_ASAN
	__sanitizer_finish_switch_fiber(c->caller_fake, NULL, NULL);
#else
	(void)c;
#endif
}

void hd_coroutine_main(struct coroutine *c)
{
	entered(c);
	c->fn(c->argument);
	c->done = true;
	leave_begin(c);
	hd_coroutine_switch(&c->sp, c->caller);
	abort(); /* resumed after its return */
}

bool coroutine_resume(struct coroutine *c)
{
	assert(!c->done);
	enter_begin(c);
	hd_coroutine_switch(&c->caller, c->sp);
	left(c);
	return !c->done;
}

void coroutine_yield(struct coroutine *c)
{
	leave_begin(c);
	hd_coroutine_switch(&c->sp, c->caller);
	entered(c);
}
