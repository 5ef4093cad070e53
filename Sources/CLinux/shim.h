#ifndef WEIR_CLINUX_SHIM_H
#define WEIR_CLINUX_SHIM_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <malloc.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
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

// Shares the blocks of a whole file with another one: ioctl_ficlone(2), which Swift cannot call because ioctl(2) is variadic. The
// number is FICLONE, whose header does not go together with glibc's.
static inline int weir_share_blocks(int source, int target) { return (int)syscall(SYS_ioctl, target, 0x40049409ul, source); }

// Exchanges two folders, given by their paths. 2 is RENAME_EXCHANGE.
static inline int weir_rename_exchange(const char *one, const char *other) {
    return (int)syscall(SYS_renameat2, AT_FDCWD, one, AT_FDCWD, other, 2u);
}

// pthread_setname_np(3) needs _GNU_SOURCE too, and Swift cannot call prctl(2), which is variadic. The name is cut at 15
// bytes.
static inline void weir_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0ul, 0ul, 0ul); }

// Lowers the calling thread below the threads that serve players: SCHED_BATCH with at least nice 10 (sched(7)), and the last
// level of the best-effort class for its reads and syncs (ioprio_set(2)). glibc has no wrappers. A kernel that refuses either
// leaves the thread as it is.
static inline void weir_lower_thread(void) {
    struct {
        unsigned size, policy;
        unsigned long long flags;
        int nice;
        unsigned priority;
        unsigned long long runtime, deadline, period;
    } attributes = {sizeof attributes, 3, 0, 10, 0, 0, 0, 0};
    // A service may run at a higher nice value, which must not be taken back.
    int nice = getpriority(PRIO_PROCESS, 0);
    if (nice > attributes.nice) attributes.nice = nice;
    syscall(SYS_sched_setattr, 0, &attributes, 0u);
    // 1: a thread. 2: best effort, with levels from 0 to 7.
    syscall(SYS_ioprio_set, 1, 0, 2 << 13 | 7);
}

// Swift's Glibc module has no statfs(2). Returns the number of the file system type, below 2^32, or -1 if the path does
// not exist.
static inline long weir_file_system_kind(const char *path) {
    struct statfs status;
    return statfs(path, &status) == 0 ? (long)status.f_type & 0xFFFFFFFFL : -1;
}

// O_TMPFILE needs _GNU_SOURCE too; __O_TMPFILE is the kernel's value for this machine.
static const int weir_o_tmpfile = __O_TMPFILE | O_DIRECTORY;

// Asks the kernel for the user whose process holds a TCP socket of this machine (sock_diag(7)): the one that is connected from
// `own` to `other`, or without `other` the one that listens at `own`. -1 if there is no such socket, if no process holds it any
// more (inode 0: the kernel then reports any user), or if the kernel does not answer. It answers within send(2), so nothing
// blocks: 7 µs.
static inline long weir_socket_user(const struct sockaddr *own, const struct sockaddr *other) {
    struct {
        struct nlmsghdr head;
        struct inet_diag_req_v2 body;
    } request;
    memset(&request, 0, sizeof request);
    request.head.nlmsg_len = sizeof request;
    request.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
    request.head.nlmsg_flags = NLM_F_REQUEST;
    request.body.sdiag_family = (unsigned char)own->sa_family;
    request.body.sdiag_protocol = IPPROTO_TCP;
    request.body.idiag_states = -1u;
    struct inet_diag_sockid *id = &request.body.id;
    id->idiag_cookie[0] = id->idiag_cookie[1] = INET_DIAG_NOCOOKIE;
    if (other && other->sa_family != own->sa_family) return -1;
    if (own->sa_family == AF_INET) {
        const struct sockaddr_in *from = (const struct sockaddr_in *)own, *to = (const struct sockaddr_in *)other;
        id->idiag_sport = from->sin_port;
        memcpy(id->idiag_src, &from->sin_addr, 4);
        if (to) {
            id->idiag_dport = to->sin_port;
            memcpy(id->idiag_dst, &to->sin_addr, 4);
        }
    } else if (own->sa_family == AF_INET6) {
        const struct sockaddr_in6 *from = (const struct sockaddr_in6 *)own, *to = (const struct sockaddr_in6 *)other;
        id->idiag_sport = from->sin6_port;
        memcpy(id->idiag_src, &from->sin6_addr, 16);
        if (to) {
            id->idiag_dport = to->sin6_port;
            memcpy(id->idiag_dst, &to->sin6_addr, 16);
        }
    } else {
        return -1;
    }
    int netlink = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (netlink < 0) return -1;
    union {
        struct nlmsghdr head;
        char bytes[1024];
    } answer;
    long user = -1;
    if (send(netlink, &request, sizeof request, 0) == (ssize_t)sizeof request) {
        ssize_t count = recv(netlink, &answer, sizeof answer, MSG_DONTWAIT);
        if (count >= (ssize_t)NLMSG_LENGTH(sizeof(struct inet_diag_msg)) && answer.head.nlmsg_type == SOCK_DIAG_BY_FAMILY) {
            const struct inet_diag_msg *found = (const struct inet_diag_msg *)NLMSG_DATA(&answer.head);
            // Without the connection the kernel finds a listener at its port. 10 is TCP_LISTEN.
            int isListening = found->idiag_state == 10;
            if (found->idiag_inode != 0 && isListening == !other && found->id.idiag_sport == id->idiag_sport)
                user = (long)found->idiag_uid;
        }
    }
    close(netlink);
    return user;
}

// The user at the other end of a TCP connection, as above.
static inline long weir_peer_user(int descriptor) {
    struct sockaddr_storage own, peer;
    socklen_t own_size = sizeof own, peer_size = sizeof peer;
    if (getsockname(descriptor, (struct sockaddr *)&own, &own_size) != 0) return -1;
    if (getpeername(descriptor, (struct sockaddr *)&peer, &peer_size) != 0) return -1;
    return weir_socket_user((struct sockaddr *)&peer, (struct sockaddr *)&own);
}

// The user that connected a Unix socket, or that listened at it (SO_PEERCRED, unix(7)); -1 if it is unknown. Swift has no
// struct ucred. `process` gets the process id; 0 for none.
static inline long weir_unix_peer(int descriptor, int *process) {
    struct {
        int process;
        unsigned user, group;
    } peer;
    socklen_t size = sizeof peer;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || size != sizeof peer) return -1;
    if (process) *process = peer.process;
    return peer.user == -1u ? -1 : (long)peer.user;
}

static inline long weir_unix_peer_user(int descriptor) { return weir_unix_peer(descriptor, 0); }

// The user who listens on a Unix socket, and the process that did so first; -1 if nobody does, if the path is too long, or if the
// queue of connections is full.
static inline long weir_unix_listener(const char *path, int *process) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) return -1;
    strcpy(address.sun_path, path);
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) return -1;
    long user = -1;
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0) user = weir_unix_peer(descriptor, process);
    close(descriptor);
    return user;
}

static inline long weir_unix_listener_user(const char *path) { return weir_unix_listener(path, 0); }

// Creates a Unix socket that listens, for its owner only; -1 with errno.
static inline int weir_unix_listen(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(address.sun_path, path);
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) return -1;
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) != 0 || chmod(path, 0600) != 0
        || listen(descriptor, 128) != 0) {
        int number = errno;
        close(descriptor);
        errno = number;
        return -1;
    }
    return descriptor;
}

// The user who listens on a port of a literal IPv4 or IPv6 address; -1 as weir_socket_user.
static inline long weir_literal_listener_user(const char *host, unsigned short port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    if (inet_pton(AF_INET, host, &address.sin_addr) == 1) return weir_socket_user((struct sockaddr *)&address, 0);
    struct sockaddr_in6 longer = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    if (inet_pton(AF_INET6, host, &longer.sin6_addr) == 1) return weir_socket_user((struct sockaddr *)&longer, 0);
    return -1;
}

// 1 if the kernel reports the users of TCP sockets, found out by a socket of our own; else 0.
static inline int weir_knows_socket_users(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return 0;
    int knows = bind(descriptor, (struct sockaddr *)&address, size) == 0 && listen(descriptor, 1) == 0
        && getsockname(descriptor, (struct sockaddr *)&address, &size) == 0
        && weir_socket_user((struct sockaddr *)&address, 0) >= 0;
    close(descriptor);
    return knows;
}

// Swift does not import the expression of UTIME_OMIT.
static const long weir_utime_omit = UTIME_OMIT;

// mallopt(3) and malloc_trim(3), which Swift's Glibc does not have: the most arenas that the allocator makes.
static inline void weir_limit_arenas(int count) { mallopt(M_ARENA_MAX, count); }

// Blocks smaller than `block` bytes come from the heap, and what is free there stays with the process until it is trimmed.
static inline void weir_keep_freed_memory(int block) {
    mallopt(M_MMAP_THRESHOLD, block);
    mallopt(M_TRIM_THRESHOLD, -1);
}

// Gives the free pages of all heaps back to the system, but `keep` bytes at the end of the first.
static inline void weir_trim_memory(size_t keep) { malloc_trim(keep); }

#endif
