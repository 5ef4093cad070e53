#pragma once
#include <stddef.h>

/// One file of the page, from `files`.
struct page_file {
    /// The path in URLs, `/page/…`. The two documents have no URL of their own; for them it is the file name.
    const char *path;
    /// The bytes, without a NUL at the end.
    const unsigned char *bytes;
    /// Number of bytes.
    size_t length;
};

/// Number of files.
size_t page_file_count(void);

/// The file at an index from 0. Beyond the last file, both pointers are NULL.
struct page_file page_file_at(size_t index);
