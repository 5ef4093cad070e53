/// Bytes on their way from libcurl to one owner, gathered so that they travel together.
///
/// libcurl hands over 16 KiB at a time, however much it has read. A file written so takes many calls, and lies in the
/// page cache in many small pieces that sendfile must pick up one by one.
struct Staging: ~Copyable {
    private let buffer: UnsafeMutableRawBufferPointer
    private var count = 0

    /// - Parameter capacity: the most bytes that travel together.
    init(capacity: Int) { buffer = .allocate(byteCount: capacity, alignment: 64) }

    deinit { buffer.deallocate() }

    var isEmpty: Bool { count == 0 }

    /// Whether so many bytes more find room.
    func hasRoom(for more: Int) -> Bool { more <= buffer.count - count }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        UnsafeMutableRawBufferPointer(rebasing: buffer[count..<(count + bytes.count)]).copyMemory(from: bytes)
        count += bytes.count
    }

    /// Hands over what is there, valid for the time of the call, and is empty.
    mutating func take<T>(_ body: (UnsafeRawBufferPointer) -> T) -> T {
        defer { count = 0 }
        return body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }
}
