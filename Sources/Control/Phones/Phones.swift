package import EventLoop
import Glibc
import Store
package import WeirAPI

/// The phones of the network that may use the page, each with a token of its own in its link. Only digests of the tokens are kept.
///
/// | a phone | by |
/// |---|---|
/// | looks, plays, starts, pauses and cancels downloads | `PhoneRights` |
/// | learns no path, origin, credential or client | `API.Asset.forPhone` and its like |
@LoopActor package final class Phones {
    private let folder: StateDirectory
    private var records: [PhoneRecord]
    /// Time of the last write, in seconds since 1970.
    private var written = 0
    private let now: () -> Int

    /// Reads the phones of earlier daemons. A file that is not in order admits nobody; `report` receives the reason.
    package init(
        in folder: StateDirectory, now: @escaping () -> Int = { time(nil) }, report: (String) -> Void = { _ in }
    ) {
        self.folder = folder
        self.now = now
        do throws(APIError) { records = try folder.phones() } catch {
            records = []
            report("\(error)")
        }
    }

    package var all: [API.Phone] { records.map(\.phone) }

    /// The identity of the phone with a token; nil if there is none. Notes the time.
    package func phone(with token: some Collection<UInt8>) -> String? {
        guard !records.isEmpty, token.count == Self.tokenLength else { return nil }
        let digest = Self.digest(of: token)
        guard let index = records.firstIndex(where: { $0.digest == digest }) else { return nil }
        records[index].seen = now()
        // A file that cannot be written loses a time only.
        if now() - written >= Self.seenInterval {
            try? write()
        }
        return digest
    }

    /// Admits a phone, and returns its token. Throws `.nameTaken`, `.tooManyPhones`.
    func admit(_ name: String) throws(APIError) -> String {
        if let fault = PhoneRecord.fault(ofName: name) {
            throw APIError(.badRequest, fault)
        }
        guard !records.contains(where: { $0.name == name }) else {
            throw APIError(
                .nameTaken, "there is a phone named \(name)", next: "weir page --revoke NAME, or give another name")
        }
        guard records.count < PhoneRecord.most else {
            throw APIError(.tooManyPhones, "\(PhoneRecord.most) phones have access, which is the most")
        }
        let token = StateDirectory.randomToken()
        records.append(PhoneRecord(name: name, digest: Self.digest(of: token.utf8), created: now()))
        do throws(APIError) { try write() } catch {
            records.removeLast()
            throw error
        }
        return token
    }

    /// Ends the access of one phone, or of all. Throws `.noSuchPhone`.
    func revoke(_ name: String?) throws(APIError) -> [PhoneRecord] {
        let ended = records.filter { name == nil || $0.name == name }
        if let name, ended.isEmpty {
            throw APIError(.noSuchPhone, "there is no phone named \(name)")
        }
        records.removeAll { record in ended.contains { $0.digest == record.digest } }
        do throws(APIError) { try write() } catch {
            // Better that all phones need a new link after a restart than that this one has access again.
            try folder.removePhones()
        }
        return ended
    }

    /// Keeps the times of the latest requests. Call it at the end.
    package func close() {
        guard records.contains(where: { ($0.seen ?? 0) > written }) else { return }
        try? write()
    }

    private func write() throws(APIError) {
        try folder.writePhones(records)
        written = now()
    }

    private static func digest(of token: some Collection<UInt8>) -> String {
        Array(token).withUnsafeBytes { Digest(of: $0).description }
    }

    /// Seconds between two writes for the times of requests alone.
    private static let seenInterval = 60
    package nonisolated static let tokenLength = 43
}
