/// A parsed list of assets is written back unchanged, and with new names has exactly these.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeBufferPointer(start: data, count: count))
    guard let list = try? AssetList(bytes) else { return 0 }
    guard let same = try? list.rendered(naming: { _ in nil }), same == bytes else {
        preconditionFailure("the list differs")
    }
    guard let output = try? list.rendered(naming: { "/a\\/\($0)" }), let reread = try? AssetList(output) else {
        preconditionFailure("the renamed list cannot be parsed")
    }
    precondition(reread.uris == list.uris.indices.map { "/a\\/\($0)" }, "a name differs")
    return 0
}
