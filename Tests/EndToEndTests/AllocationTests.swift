import Foundation
import TestSupport
import Testing

/// The cost of a request for stored media, as a number that no other load of the machine changes.
@Suite("A stored segment")
struct AllocationTests {
    /// Counts the allocations of a process in the file that the variable ALLOCATIONS names.
    private static let counter = """
        #define _GNU_SOURCE
        #include <fcntl.h>
        #include <stdatomic.h>
        #include <stddef.h>
        #include <stdlib.h>
        #include <sys/mman.h>
        #include <unistd.h>
        extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
        extern void *__libc_memalign(size_t, size_t);
        static _Atomic unsigned long spare, *counter = &spare;
        __attribute__((constructor)) static void begin(void) {
            int file = open(getenv("ALLOCATIONS"), O_RDWR | O_CREAT, 0600);
            if (file < 0 || ftruncate(file, sizeof spare)) abort();
            counter = mmap(NULL, sizeof spare, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
            if (counter == MAP_FAILED) abort();
            close(file);
        }
        static void count(void) { atomic_fetch_add_explicit(counter, 1, memory_order_relaxed); }
        void *malloc(size_t size) { count(); return __libc_malloc(size); }
        void *calloc(size_t number, size_t size) { count(); return __libc_calloc(number, size); }
        void *realloc(void *block, size_t size) { count(); return __libc_realloc(block, size); }
        void *aligned_alloc(size_t unit, size_t size) { count(); return __libc_memalign(unit, size); }
        int posix_memalign(void **block, size_t unit, size_t size) {
            count();
            *block = __libc_memalign(unit, size);
            return *block ? 0 : 12;
        }

        """

    /// In a debug build, which allocates for much that a release build keeps in registers. `tools/bench instructions` holds that
    /// one to a figure of its own.
    private static let most = 330.0

    @Test("costs at most so many allocations for each request on a kept connection")
    func costsFewAllocations() async throws {
        try await Scene.with { scene in
            let folder = try TemporaryFolder()
            let source = try folder.write(Data(Self.counter.utf8), to: "counter.c")
            let build = try await ProcessRunner.run(
                "clang", ["-O1", "-shared", "-fPIC", "-o", folder.path("counter.so"), source])
            #expect(build.exit == .code(0), "\(build.errors)")
            #expect(try await scene.get("ts", ["-q", "90p"]).exit == .code(0))
            try await scene.weir.kill()
            try await scene.weir.start(
                wrapper: [
                    "env", "LD_PRELOAD=" + folder.path("counter.so"), "ALLOCATIONS=" + folder.path("count"),
                ], options: ["--offline"])
            let playlists = try await PlaylistWalk.segments(scene.weir.url("/ts.m3u8"))
            let segment = try #require(try await PlaylistWalk.segments(playlists[0]).first)
            let path = String(segment[try #require(segment.range(of: "/a/")).lowerBound...])
            let port = await scene.weir.port
            let request = "GET \(path) HTTP/1.1\r\nHost: localhost:\(port)\r\n\r\n"
            let connection = try RawConnection(port: port)
            try await connection.send(request)
            let head = try await connection.receiveHead().bytes
            #expect(head.starts(with: Data("HTTP/1.1 200 ".utf8)))
            let size = try await HTTPProbe.fetch(segment).body.count
            #expect(try await connection.receive(count: size).end == .satisfied)
            func ask(_ times: Int) async throws {
                for _ in 0..<times {
                    try await connection.send(request)
                    let answer = try await connection.receive(count: head.count + size)
                    try #require(answer.end == .satisfied)
                }
            }
            func count() throws -> Double {
                let bytes = try Data(contentsOf: URL(filePath: folder.path("count")))
                return Double(bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) })
            }
            try await ask(100)
            let before = try count()
            try await ask(400)
            let each = (try count() - before) / 400
            #expect(each > 1 && each < Self.most, "\(each) allocations for each request")
        }
    }
}
