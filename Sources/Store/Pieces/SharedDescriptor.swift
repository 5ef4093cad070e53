import Glibc
import Synchronization

/// An open file with several owners: the last one that releases it closes it.
///
/// Counted by hand, because the sync thread reports a sync once it has released the files.
final class SharedDescriptor: Sendable {
    let number: Int32
    private let owners: Atomic<Int>

    /// Takes ownership of an open descriptor, for so many owners.
    init(_ number: Int32, owners: Int = 1) {
        self.number = number
        self.owners = Atomic(owners)
    }

    /// Ends one ownership. Call it once for each owner.
    func release() {
        let (_, left) = owners.subtract(1, ordering: .acquiringAndReleasing)
        if left == 0 {
            close(number)
        }
    }
}
