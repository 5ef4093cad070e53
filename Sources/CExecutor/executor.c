#include "CExecutor.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#define SWIFT __attribute__((swiftcall))

// Of Swift's runtime (swift/Runtime/Concurrency.h), which has no header for C. A job is a part of a task, to its next suspension.
struct serial_executor {
    void *identity;
    uintptr_t implementation;
};
extern SWIFT void swift_job_run(void *job, struct serial_executor executor);
extern SWIFT size_t swift_concurrency_jobPriority(void *job);

typedef SWIFT void (*enqueue)(void *job);
extern SWIFT void (*swift_task_enqueueGlobal_hook)(void *job, enqueue original);

// Of libdispatch, whose header is not in the search path of C targets.
typedef struct dispatch_queue_s *dispatch_queue_t;
extern dispatch_queue_t dispatch_get_global_queue(intptr_t quality, uintptr_t flags);
extern void dispatch_async_f(dispatch_queue_t queue, void *context, void (*work)(void *));
enum { OVERCOMMIT = 2 };

struct waiting {
    struct waiting *next;
    void *job;
};

/// The jobs of one priority, oldest first. A queue with OVERCOMMIT is not monitored, and starts a thread for each function that it is
/// given: here each function runs many jobs.
struct lane {
    pthread_mutex_t lock;
    struct waiting *first, **end;
    int threads;
    dispatch_queue_t queue;
};

/// As libdispatch's qualities of service, which are Swift's priorities.
static const size_t priorities[] = {0x15, 0x21, 0x19, 0x11, 0x09};
enum { LANES = sizeof priorities / sizeof *priorities };
static struct lane lanes[LANES];
/// The most threads of a lane: the number of processors, as for Swift's own queues, and at least two.
static int most;

static struct lane *lane_of(void *job) {
    size_t priority = swift_concurrency_jobPriority(job) & 0xff;
    for (int index = 0; index < LANES; index++)
        if (priorities[index] == priority) return &lanes[index];
    return &lanes[0];
}

static void run_all(void *context) {
    struct lane *lane = context;
    pthread_mutex_lock(&lane->lock);
    for (struct waiting *next; (next = lane->first);) {
        lane->first = next->next;
        if (!lane->first) lane->end = &lane->first;
        pthread_mutex_unlock(&lane->lock);
        void *job = next->job;
        free(next);
        swift_job_run(job, (struct serial_executor){NULL, 0});
        pthread_mutex_lock(&lane->lock);
    }
    lane->threads--;
    pthread_mutex_unlock(&lane->lock);
}

static SWIFT void add(void *job, enqueue original) {
    struct lane *lane = lane_of(job);
    struct waiting *last = malloc(sizeof *last);
    if (!last) abort();
    *last = (struct waiting){NULL, job};
    pthread_mutex_lock(&lane->lock);
    *lane->end = last;
    lane->end = &last->next;
    bool has_room = lane->threads < most;
    if (has_room) lane->threads++;
    pthread_mutex_unlock(&lane->lock);
    if (has_room) dispatch_async_f(lane->queue, lane, run_all);
}

void weir_use_own_executor(void) {
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    most = processors < 2 ? 2 : (int)processors;
    for (int index = 0; index < LANES; index++) {
        struct lane *lane = &lanes[index];
        pthread_mutex_init(&lane->lock, NULL);
        lane->end = &lane->first;
        lane->queue = dispatch_get_global_queue((intptr_t)priorities[index], OVERCOMMIT);
    }
    swift_task_enqueueGlobal_hook = add;
}
