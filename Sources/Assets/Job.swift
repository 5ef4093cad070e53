public import EventLoop
public import Orders
public import Store

/// The reason why a job failed or waits.
public struct JobFailure: Equatable, Sendable {
    /// The kind of failure.
    public enum Code: Equatable, Sendable {
        case library(LibraryError.Code)
        case store(StoreError.Code)
        /// A rule for when downloads may run.
        case rule
        /// This version cannot read the stored task.
        case unreadable
    }

    /// The kind of failure.
    public let code: Code
    /// A sentence for a user.
    public let message: String

    /// Makes a failure.
    public init(code: Code, message: String) {
        self.code = code
        self.message = message
    }

    /// Uses the store's own code if the error comes from the store.
    public init(_ error: LibraryError) {
        if error.code == .store, let cause = error.underlying as? StoreError {
            self.init(code: .store(cause.code), message: error.message)
        } else {
            self.init(code: .library(error.code), message: error.message)
        }
    }
}

extension JobFailure.Code {
    /// Stands in front of a code of the store that the library has as well.
    private static let storePrefix = "store."
    private static let storedRule = "rule"
    private static let storedUnreadable = "unreadable"

    /// The code in the catalogue.
    package var stored: String {
        switch self {
        case .library(let code): return code.rawValue
        case .store(let code):
            let isOfLibraryToo = LibraryError.Code(rawValue: code.rawValue) != nil
            return isOfLibraryToo ? Self.storePrefix + code.rawValue : code.rawValue
        case .rule: return Self.storedRule
        case .unreadable: return Self.storedUnreadable
        }
    }

    /// Reads a code of the catalogue. One that only another version knows counts as an error of the disk.
    package init(stored text: String) {
        if text == Self.storedRule {
            self = .rule
        } else if text == Self.storedUnreadable {
            self = .unreadable
        } else if text.hasPrefix(Self.storePrefix) {
            self = .store(StoreError.Code(rawValue: String(text.dropFirst(Self.storePrefix.count))) ?? .io)
        } else if let code = LibraryError.Code(rawValue: text) {
            self = .library(code)
        } else {
            self = .store(StoreError.Code(rawValue: text) ?? .io)
        }
    }
}

/// Longer work on an asset: a download, a verification, a publication or a move.
@LoopActor public protocol AssetJob: AnyObject {
    /// The asset.
    var asset: Asset { get }
    /// The state.
    var state: JobState { get }
}

/// The latest job of one kind of each asset in this process.
@LoopActor public final class JobRegister<Job: AssetJob> {
    /// Sends a job at its begin, its progress and its end, as far as its owner reports them.
    public let changes = EventStream<Job>()
    private var byAsset: [String: Job] = [:]

    /// Makes an empty register.
    public init() {}

    /// All jobs.
    public var all: some Collection<Job> { byAsset.values }

    /// The latest job of an asset, running or ended; nil if there is none. A new asset with its id does not inherit it.
    public subscript(asset: Asset) -> Job? {
        guard let job = byAsset[asset.id], job.asset === asset else { return nil }
        return job
    }

    /// Replaces the asset's job.
    public func insert(_ job: Job) { byAsset[job.asset.id] = job }
    /// Removes the asset's job.
    public func remove(_ asset: Asset) { byAsset[asset.id] = nil }
}
