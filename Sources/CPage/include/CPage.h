#pragma once
#include <stddef.h>

/// One file of the page, as it lies in `files`.
struct page_file {
    /// Its path in URLs, `/page/…`; of the two documents, which have no URL of their own, their names.
    const char *path;
    /// Its bytes, with no NUL behind them.
    const unsigned char *bytes;
    /// How many they are.
    size_t length;
};

/// How many files there are.
size_t page_file_count(void);

/// The file of a place from 0 on; what lies behind the last has no bytes and no path.
struct page_file page_file_at(size_t place);
