import SafeText

/// Reads what libFuzzer made up and traps where a promise of `CMCD` does not hold.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzCMCD(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    let data = CMCD(bytes)
    precondition(data.bufferLength.map { (0...86_400).contains($0) } ?? true)
    precondition(data.playbackRate.map { (0...16).contains($0) } ?? true)
    precondition(
        data.sessionID.map { $0.utf8.count <= 64 && $0.utf8.allSatisfy { (0x20..<0x7F).contains($0) } } ?? true)

    let query = String(decoding: bytes, as: UTF8.self)
    let rest = CMCD.removed(from: query)
    precondition(CMCD.removed(from: rest) == rest)
    precondition(rest.map { $0.utf8.count <= query.utf8.count } ?? true)
    return 0
}
