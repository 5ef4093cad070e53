import GRDB

extension StoreError {
    /// Converts SQLite's error, here only. The code is `catalogue` if the file is at fault, not the disk.
    init(_ error: any Error, catalogue path: String) {
        if let error = error as? StoreError {
            self = error
            return
        }
        guard let error = error as? DatabaseError else {
            self.init(.catalogue, path: path, detail: "\(error)")
            return
        }
        let code: Code =
            switch error.resultCode {
            case .SQLITE_FULL: .diskFull
            case .SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_PERM: .notWritable
            case .SQLITE_IOERR, .SQLITE_NOMEM: .io
            case .SQLITE_BUSY, .SQLITE_LOCKED: .busy
            default: .catalogue
            }
        self.init(code, path: path, detail: error.message)
    }
}
