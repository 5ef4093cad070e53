import EventLoop

/// Something that keeps a folder of the store open, and opens it again on the next use.
@LoopActor protocol FolderHolder: AnyObject {
    /// The number of its latest use, set by `OpenFolders`.
    var latestUse: Int { get set }
    var isOpen: Bool { get }
    /// Closes the folder, which is opened again on the next use; present users finish with it first.
    func park()
}

/// Closes the folders that were not used for longest: there are more assets than descriptors.
@LoopActor final class OpenFolders {
    /// The folders of the process, whose descriptors they are.
    static let shared = OpenFolders(limit: 64)

    private struct Known {
        weak var holder: (any FolderHolder)?
    }

    private let limit: Int
    private var known: [Known] = []
    private var uses = 0

    init(limit: Int) { self.limit = limit }

    /// Records a use of an open folder.
    func recordUse(of holder: any FolderHolder) {
        uses += 1
        holder.latestUse = uses
    }

    /// Adds a folder that was just opened. Closes another one if there are too many.
    func add(_ holder: any FolderHolder) {
        recordUse(of: holder)
        known.removeAll { known in
            guard let other = known.holder else { return true }
            return other === holder || !other.isOpen
        }
        while known.count >= limit, let oldest = known.min(by: { Self.use($0) < Self.use($1) }) {
            oldest.holder?.park()
            known.removeAll { $0.holder === oldest.holder }
        }
        known.append(Known(holder: holder))
    }

    private static func use(_ known: Known) -> Int { known.holder?.latestUse ?? 0 }
}
