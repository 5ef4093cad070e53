#pragma once

/// Makes Swift run its tasks on threads that libdispatch does not monitor. From the first task on Swift's own queues to the end of
/// the process, libdispatch checks each second whether their threads are blocked (src/event/workqueue.c), and so wakes an idle
/// program.
///
/// Call it once, before anything runs on the global executor. `Task.sleep` does not use these threads.
void weir_use_own_executor(void);
