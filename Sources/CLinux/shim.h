#ifndef WEIR_CLINUX_SHIM_H
#define WEIR_CLINUX_SHIM_H

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

// memfd_create(2) needs _GNU_SOURCE, which Swift's Glibc module does not define. 1 is MFD_CLOEXEC.
static inline int weir_memfd_create(const char *name) { return (int)syscall(SYS_memfd_create, name, 1u); }

// syncfs(2) needs _GNU_SOURCE too.
static inline int weir_syncfs(int descriptor) { return (int)syscall(SYS_syncfs, descriptor); }

// copy_file_range(2) and renameat2(2) need _GNU_SOURCE too. 1 is RENAME_NOREPLACE.
static inline ssize_t weir_copy_file_range(int source, off_t *offset, int target, size_t count) {
    return (ssize_t)syscall(SYS_copy_file_range, source, offset, target, (off_t *)0, count, 0u);
}
static inline int weir_rename_new(int folder, const char *from, const char *to) {
    return (int)syscall(SYS_renameat2, folder, from, folder, to, 1u);
}

// Exchanges two folders, given by their paths. 2 is RENAME_EXCHANGE.
static inline int weir_rename_exchange(const char *one, const char *other) {
    return (int)syscall(SYS_renameat2, AT_FDCWD, one, AT_FDCWD, other, 2u);
}

// pthread_setname_np(3) needs _GNU_SOURCE too, and Swift cannot call prctl(2), which is variadic. The name is cut at 15
// bytes.
static inline void weir_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0ul, 0ul, 0ul); }

// Swift's Glibc module has no statfs(2). Returns the number of the file system type, below 2^32, or -1 if the path does
// not exist.
static inline long weir_file_system_kind(const char *path) {
    struct statfs status;
    return statfs(path, &status) == 0 ? (long)status.f_type & 0xFFFFFFFFL : -1;
}

// O_TMPFILE needs _GNU_SOURCE too; __O_TMPFILE is the kernel's value for this machine.
static const int weir_o_tmpfile = __O_TMPFILE | O_DIRECTORY;

// Swift does not import the expression of UTIME_OMIT.
static const long weir_utime_omit = UTIME_OMIT;

#endif
