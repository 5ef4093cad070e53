import CLinux
import Glibc

/// A folder's ledger as it was last read, which is read again only when it is another one.
struct LedgerReader {
    private let folder: PieceDirectory
    private var ledger = Ledger([])
    private var stamp: (inode: UInt, size: Int64)?

    init(_ folder: PieceDirectory) throws(StoreError) {
        self.folder = folder
        try refresh()
    }

    /// How many lines of pieces there are.
    var lineCount: Int { ledger.lineCount }

    /// What the ledger says of a piece; nil where it says nothing.
    func entry(of file: String) -> Ledger.Entry? { ledger.entries[file] }

    /// The same, where need be by what was written since.
    mutating func latestEntry(of file: String) throws(StoreError) -> Ledger.Entry? {
        try refresh()
        return ledger.entries[file]
    }

    private mutating func refresh() throws(StoreError) {
        let now = folder.directory.stamp(of: Ledger.fileName)
        guard now?.inode != stamp?.inode || now?.size != stamp?.size else { return }
        // Before it is read: lines that come meanwhile are read another time.
        stamp = now
        ledger = try folder.ledger() ?? Ledger([])
    }
}

extension Directory {
    /// What tells one state of a file that is only appended to, or replaced, from another; nil if it is not there.
    fileprivate func stamp(of name: String) -> (inode: UInt, size: Int64)? {
        var status = stat()
        guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
        return (UInt(status.st_ino), Int64(status.st_size))
    }
}
