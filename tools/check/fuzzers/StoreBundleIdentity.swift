// sources: Sources/Store/BundleIdentity.swift Sources/Store/Policy/KeyLife.swift Sources/Store/Digest.swift Sources/Store/StoreError.swift
/// The description of a bundle is read or refused; its times are those of which sums cannot overflow, and it reads as it was written.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeBufferPointer(start: data, count: count))
    let opening = Array(#"{"format":1,"id":"a-b2c3","name":"a","created":"#.utf8)
    for text in [bytes, opening + bytes, opening + bytes + Array("}".utf8), opening + Array("1,".utf8) + bytes] {
        guard let identity = try? BundleIdentity(text, at: "") else { continue }
        let lives = (identity.keys ?? []).map(\.life)
        let times = [identity.created, identity.firstPlayed] + lives.flatMap { [$0.came, $0.expires, $0.dated] }
        precondition(times.allSatisfy { (0...1 << 50).contains($0 ?? 0) }, "a time beyond its bound")
        for life in lives {
            _ = life.expiration(by: identity.policy?.keys ?? KeyTerms())
        }
        guard let written = try? identity.text(), let again = try? BundleIdentity(written, at: "") else {
            preconditionFailure("a description that cannot be read")
        }
        precondition((try? again.text()) == written, "a description that reads as another")
    }
    return 0
}
