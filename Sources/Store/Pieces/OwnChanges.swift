import Synchronization

/// The changes of pieces' statuses that are Weir's own: links for programs that read pieces, permissions, times of use, and copies
/// to another disk. They change no byte, so a piece that was verified before needs no other verification.
///
/// Only a process that has verified a piece asks for them, so nothing is on disk. From any thread.
package final class OwnChanges: Sendable {
    private struct Change {
        /// Earlier identities, latest last.
        var former: [FileIdentity]
        let present: FileIdentity
    }

    private typealias Changes = [FileIdentity.File: Change]

    private let known = Mutex<Changes>([:])
    /// Above this count all are forgotten: the pieces are then verified again.
    private static let limit = 1 << 16
    /// A link is made and removed, permissions and times change: more happens only to pieces that nobody plays.
    private static let longestChain = 16

    /// Makes a store's list, which is empty.
    package init() {}

    /// Performs a change of the status of the file `name`, and records it. Whoever sees the change meanwhile waits for the record.
    package func perform<Value: Sendable>(on name: String, in folder: Directory, _ change: () -> Value) -> Value {
        known.withLock { known in
            let before = folder.identity(of: name)
            let value = change()
            if let before, let after = folder.identity(of: name), after.differsOnlyInStatus(from: before) {
                Self.record(from: before, to: after, in: &known)
            }
            return value
        }
    }

    /// Records that a file is a copy of another one, whose bytes were compared with a ledger.
    func record(from before: FileIdentity, to after: FileIdentity) {
        known.withLock { Self.record(from: before, to: after, in: &$0) }
    }

    private static func record(from before: FileIdentity, to after: FileIdentity, in known: inout Changes) {
        guard before != after else { return }
        var former: [FileIdentity] = []
        if let earlier = known[before.file], earlier.present == before {
            former = earlier.former.suffix(longestChain - 1)
        }
        if known.count >= limit, known[after.file] == nil {
            known = [:]
        }
        known[after.file] = Change(former: former + [before], present: after)
    }

    /// True if only changes of Weir's own are between the two identities.
    package func explain(_ before: FileIdentity, _ after: FileIdentity) -> Bool {
        known.withLock { known in
            guard let change = known[after.file], change.present == after else { return false }
            return change.former.contains(before)
        }
    }
}
