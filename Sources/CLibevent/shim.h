#ifndef WEIR_CLIBEVENT_SHIM_H
#define WEIR_CLIBEVENT_SHIM_H

// Debian's event-config.h defines _GNU_SOURCE, which changes the declarations of <sys/select.h>. If libevent included
// that header first, fd_set would clash with Swift's Glibc module. The same holds for <sys/eventfd.h>.
#include <sys/select.h>
#include <sys/eventfd.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <event2/thread.h>

// EV_* and BEV_* are macros and enumerators of mixed width in C. Swift needs the width of the parameter that takes
// them.
static const short weir_ev_timeout = EV_TIMEOUT;
static const short weir_ev_read = EV_READ;
static const short weir_ev_write = EV_WRITE;
static const short weir_ev_signal = EV_SIGNAL;
static const short weir_ev_persist = EV_PERSIST;

#endif
