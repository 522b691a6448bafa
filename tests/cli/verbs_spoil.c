/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loaded before a program and its adapter, makes this one a broken one: of all
 * that it copies from the memory of one program to that of another the first
 * byte is wrong.
 */
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static long copy(long call, pid_t pid, void *here, void *there)
{
	const struct iovec mine = { here, 1 }, theirs = { there, 1 };

	return syscall(call, pid, &mine, 1UL, &theirs, 1UL, 0UL);
}

ssize_t process_vm_readv(pid_t pid, const struct iovec *lvec, unsigned long liovcnt,
			 const struct iovec *rvec, unsigned long riovcnt, unsigned long flags)
{
	ssize_t got = syscall(SYS_process_vm_readv, pid, lvec, liovcnt, rvec, riovcnt, flags);

	if (got > 0)
		*(char *)lvec[0].iov_base ^= 1;
	return got;
}

ssize_t process_vm_writev(pid_t pid, const struct iovec *lvec, unsigned long liovcnt,
			  const struct iovec *rvec, unsigned long riovcnt, unsigned long flags)
{
	ssize_t put = syscall(SYS_process_vm_writev, pid, lvec, liovcnt, rvec, riovcnt, flags);
	void *first = rvec[0].iov_base;
	char byte;

	if (put > 0 && copy(SYS_process_vm_readv, pid, &byte, first) == 1) {
		byte ^= 1;
		(void)!copy(SYS_process_vm_writev, pid, &byte, first);
	}
	return put;
}
