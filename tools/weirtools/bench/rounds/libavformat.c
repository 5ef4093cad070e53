// One round of tools/bench playlist: has libavformat's HLS demuxer parse a playlist again and again, and open nothing else.
//
//     libavformat FILE COUNT    prints microseconds: the median of parsing

#include <libavformat/avformat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *text;
static size_t size, position;
static double first_open;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e6 + time.tv_nsec / 1e3;
}

static int read_text(void *opaque, uint8_t *buffer, int wanted) {
    size_t count = size - position < (size_t)wanted ? size - position : (size_t)wanted;
    if (count == 0) return AVERROR_EOF;
    memcpy(buffer, text + position, count);
    position += count;
    return count;
}

// The playlist has been parsed once the demuxer opens the first URL that it names. Nothing is opened.
static int open_nothing(AVFormatContext *context, AVIOContext **io, const char *url, int flags, AVDictionary **options) {
    if (first_open == 0) first_open = now();
    return AVERROR(ENOENT);
}

// Without this it would try all segments, one after the other.
static int is_over(void *opaque) { return first_open > 0; }

static double parse(const AVInputFormat *format) {
    position = 0;
    first_open = 0;
    AVFormatContext *context = avformat_alloc_context();
    AVIOContext *io = avio_alloc_context(av_malloc(65536), 65536, 0, NULL, read_text, NULL, NULL);
    context->pb = io;
    context->io_open = open_nothing;
    context->interrupt_callback = (AVIOInterruptCB){is_over, NULL};
    double start = now();
    avformat_open_input(&context, "http://localhost/playlist.m3u8", format, NULL);
    if (position != size || first_open == 0) {
        fprintf(stderr, "libavformat read %zu of %zu bytes\n", position, size);
        exit(70);
    }
    avformat_close_input(&context);
    av_freep(&io->buffer);
    avio_context_free(&io);
    return first_open - start;
}

static int compare(const void *first, const void *second) {
    double difference = *(const double *)first - *(const double *)second;
    return (difference > 0) - (difference < 0);
}

int main(int argc, char **argv) {
    FILE *file = argc == 3 ? fopen(argv[1], "r") : NULL;
    int count = file ? atoi(argv[2]) : 0;
    if (count < 1) return 64;
    fseek(file, 0, SEEK_END);
    size = ftell(file);
    rewind(file);
    char *bytes = malloc(size);
    if (fread(bytes, 1, size, file) != size) return 66;
    text = bytes;
    av_log_set_level(AV_LOG_QUIET);
    const AVInputFormat *format = av_find_input_format("hls");
    if (format == NULL) return 69;
    double *times = calloc(count, sizeof *times);
    parse(format);
    for (int number = 0; number < count; number++) times[number] = parse(format);
    qsort(times, count, sizeof *times, compare);
    printf("%f\n", times[count / 2]);
    return 0;
}
