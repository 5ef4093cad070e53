#pragma once
#include <zlib.h>

struct sockaddr;

// Declared here, with the flags of Linux: Swift takes the types of the system's own headers from its module Glibc alone.
extern int accept4(int descriptor, struct sockaddr *address, unsigned *length, int flags);
extern int pipe2(int ends[2], int flags);

/// Accepts a connection that no child program inherits.
static inline int weir_accept(int listener) {
    const int close_on_exec = 02000000;
    return accept4(listener, 0, 0, close_on_exec);
}

/// Makes a non-blocking pipe that no child program inherits.
static inline int weir_pipe(int ends[2]) {
    const int close_on_exec = 02000000;
    const int non_blocking = 00004000;
    return pipe2(ends, close_on_exec | non_blocking);
}

/// `deflateInit2` is a macro, which Swift cannot call. 16 + 15 window bits choose the gzip format.
static inline int weir_gzip_begin(z_stream *stream) {
    return deflateInit2(stream, Z_BEST_COMPRESSION, Z_DEFLATED, 16 + 15, 8, Z_DEFAULT_STRATEGY);
}
