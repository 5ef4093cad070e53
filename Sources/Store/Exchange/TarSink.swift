import Glibc

/// Writes an export into an archive of the ustar format (IEEE Std 1003.1, pax, "ustar Interchange Format").
struct TarSink: ExportSink {
    private let file: Int32
    private let path, root: String
    private let time: Int64
    private var folders: Set<String> = []

    init(into file: Int32, path: String, root: String, time: Int64) throws(StoreError) {
        self.file = file
        self.path = path
        self.root = root
        self.time = time
        try write(TarHeader(folder: root, time: time))
    }

    mutating func add(_ bytes: [UInt8], as name: String, in folder: String?) throws(StoreError) {
        try begin(folder)
        try write(
            TarHeader(
                file: memberPath(name, folder), size: Int64(bytes.count), time: time, isPrivate: isPrivate(folder)))
        try write(bytes + TarHeader.padding(behind: Int64(bytes.count)))
    }

    mutating func add(_ piece: ExportPiece, in folder: String) throws(StoreError) {
        try begin(folder)
        try write(
            TarHeader(file: memberPath(piece.name, folder), size: piece.size, time: time, isPrivate: isPrivate(folder)))
        try FileCopy.copy(piece.descriptor, count: piece.size, to: file, path: path)
        try write(TarHeader.padding(behind: piece.size))
    }

    func finish() throws(StoreError) { try write([UInt8](repeating: 0, count: 2 * TarHeader.block)) }

    private mutating func begin(_ folder: String?) throws(StoreError) {
        guard let folder, folders.insert(folder).inserted else { return }
        try write(TarHeader(folder: root + "/" + folder, time: time, isPrivate: isPrivate(folder)))
    }

    private func memberPath(_ name: String, _ folder: String?) -> String {
        guard let folder else { return "\(root)/\(name)" }
        return "\(root)/\(folder)/\(name)"
    }

    private func write(_ header: TarHeader?) throws(StoreError) {
        guard let header else { throw StoreError(.badName, path: path, detail: "a name is too long for an archive") }
        try write(header.bytes)
    }

    private func write(_ bytes: [UInt8]) throws(StoreError) {
        guard Directory.write(bytes, to: file) else { throw StoreError(path: path) }
    }
}
