import Playback
import Synchronization
package import WeirAPI

/// The key in the link of `weir page`, which replaces the token in a browser.
///
/// It outlives the daemon where it is kept in a file. A browser gives a kept key to any program that takes the daemon's port in
/// the meantime, so it counts only for requests of the owner's processes. A script that such a program has left in the
/// owner's browser still acts as the owner. Where the system does not report whose a connection is, the key ends with the
/// daemon, and counts for all.
package final class PageKey: ChangingToken {
    private struct State {
        var text = StateDirectory.randomToken()
        /// Distinguishes the key from those before it.
        var number = 0
        var isKept = false
        var folder: StateDirectory?
    }

    private let state = Mutex(State())

    package var text: String { state.withLock { $0.text } }
    /// True if the key outlives the daemon.
    var isKept: Bool { state.withLock { $0.isKept } }

    /// The number of the key if it is the one in an Authorization field; nil otherwise.
    func number(in authorization: String?) -> Int? {
        let (text, number) = state.withLock { ($0.text, $0.number) }
        guard Bearer.holds(Array(text.utf8), authorization) else { return nil }
        return number
    }

    /// Takes the key of an earlier daemon, or writes this one, and keeps it from now on.
    package func keep(in claim: StateClaim) throws(APIError) {
        let text = try claim.pageKey()
        state.withLock { state in
            state.text = text
            state.isKept = true
            state.folder = claim.directory
        }
    }

    /// Replaces the key at once. A new key that cannot be written ends with the daemon.
    ///
    /// - Returns: the number of the key that has ended.
    func replace() throws(APIError) -> Int {
        let folder = state.withLock { $0.folder }
        try folder?.removePageKey()
        let text = StateDirectory.randomToken()
        let ended = state.withLock { $0.number }
        state.withLock { ($0.text, $0.number) = (text, ended + 1) }
        try? folder?.writeFile(StateDirectory.pageKeyFile, text)
        return ended
    }
}

/// The Authorization field of bearer tokens (RFC 6750 §2.1).
enum Bearer {
    /// Compares in constant time, so that the duration reveals nothing about the token.
    static func holds(_ token: [UInt8], _ authorization: String?) -> Bool {
        let given = Array((authorization ?? "").utf8)
        let wanted = Array("Bearer ".utf8) + token
        var difference = given.count ^ wanted.count
        for index in wanted.indices {
            let byte = index < given.count ? given[index] : 0
            difference |= Int(byte ^ wanted[index])
        }
        return difference == 0 && !token.isEmpty
    }
}
