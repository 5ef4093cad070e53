// Counts the instructions that this thread executes outside the kernel; where the machine does not count them, nanoseconds of
// processor time. For the form of the targets that repeats its input.
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int counter = -2;

static int open_counter(void)
{
    struct perf_event_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.type = PERF_TYPE_HARDWARE;
    attributes.size = sizeof attributes;
    attributes.config = PERF_COUNT_HW_INSTRUCTIONS;
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    return (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0);
}

unsigned long long fuzz_instructions(void)
{
    unsigned long long count = 0;
    struct timespec now;
    if (counter == -2) {
        counter = open_counter();
    }
    if (counter >= 0 && read(counter, &count, sizeof count) == sizeof count) {
        return count;
    }
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (unsigned long long)now.tv_sec * 1000000000ULL + (unsigned long long)now.tv_nsec;
}

int fuzz_counts_instructions(void)
{
    fuzz_instructions();
    return counter >= 0;
}
