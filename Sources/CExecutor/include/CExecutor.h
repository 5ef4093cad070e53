#pragma once

/// Runs Swift's tasks on threads of libdispatch that it does not look at. Its global queues look once a second at the state of their
/// threads, from the first task to the end of the process, and so wake up a program that has nothing to do.
///
/// Call it once, before the first task.
void weir_use_own_executor(void);
