package import Assets
import Fetching
import Origin
package import Store

/// Why an import, an export, a publication or a move failed.
package struct ExchangeError: Error, CustomStringConvertible, Sendable {
    /// The kind of failure, as far as the answer to a user depends on it.
    package enum Code: String, Sendable {
        /// The folder is not a presentation, or not a complete one.
        case badImport
        case urlTaken
        /// Nothing of the asset is stored that plays by itself.
        case incomplete
        case exists
        /// Nothing can be written to the target.
        case badTarget
        case noProgram
        case offline
        /// The server at the target requires credentials, or refuses them.
        case refused
        case unreachable
        /// The server at the target answers with an error, or breaks its protocol.
        case badAnswer
        case busy
        case cancelled
        /// The store failed: `underlying` is a `StoreError`.
        case store
        /// The library or the origin failed: `underlying` is a `LibraryError`.
        case library
    }

    package let code: Code
    /// A sentence for a user: the operation and the cause, without secrets.
    package let message: String
    package let underlying: (any Error)?

    package init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }

    package init(_ error: LibraryError) { self.init(.library, error.message, underlying: error) }

    /// Wraps an error of the store; `what` begins the message.
    package init(_ error: StoreError, about what: String) { self.init(.store, "\(what): \(error)", underlying: error) }

    init(_ error: OriginError) { self.init(LibraryError(error)) }

    /// Wraps a failure to write to a target. The code names the target, if that is the cause, or the store.
    init(leaving error: StoreError, _ what: String) {
        let code: Code? =
            switch error.code {
            case .exists, .busy: .exists
            case .notWritable, .badName: .badTarget
            // The piece is missing, or the folder around the target.
            case .missing: error.detail == nil ? .badTarget : .incomplete
            case .wrongLength: .incomplete
            default: nil
            }
        self.init(code ?? .store, "\(what): \(error)", underlying: error)
    }

    /// Wraps a failure to read an imported folder.
    init(import error: StoreError, of name: String) {
        let code: Code =
            switch error.code {
            case .missing, .wrongLength, .contentChanged, .badName: .badImport
            default: .store
            }
        self.init(code, "\(name) is not imported: \(error)", underlying: error)
    }

    init(move error: StoreError, of name: String) {
        let code: Code =
            switch error.code {
            case .exists, .notWritable, .badName, .newer, .missing, .away: .badTarget
            case .busy: .busy
            default: .store
            }
        self.init(code, "\(name) is not moved: \(error)", underlying: error)
    }

    package var description: String { message }
}
