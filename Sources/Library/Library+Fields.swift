import EventLoop
import Fetching
public import Origin
import Store

/// The user's header fields for an asset's origin.
extension Library {
    /// Replaces the header fields of an asset; an empty set removes them.
    ///
    /// The fields go with every request for the asset to the scheme, host and port of its URL, including requests that
    /// players cause. They are stored only in the catalogue.
    ///
    /// - Throws: `store` if they cannot be stored; nothing has changed then. In a read-only store they apply until the
    ///   process ends.
    public func setFields(_ fields: UserFields, of asset: Asset) async throws(LibraryError) {
        guard fields != asset.access.fields else { return }
        if asset.isPersistent, readOnlyReason == nil {
            var records = [asset, asset.revision].compactMap { $0?.record }
            for index in records.indices { records[index].fields = fields.record }
            do {
                try await store.catalogue.save(.init(assets: records))
            } catch {
                throw LibraryError(error, about: "the header fields of \(asset.name) are not kept")
            }
        }
        asset.access.change(to: asset.origin, with: fields)
        // The origin may now allow what it refused before.
        asset.checked = nil
        allowRenewal(of: asset)
    }
}

/// Records who named the URL of an asset.
extension Library {
    /// Records that the user named the URL of an asset: it may lead to a private address from now on, and after a
    /// restart. If this cannot be stored, it applies until the process ends.
    func confirm(_ asset: Asset) async {
        guard asset.access.confirm() else { return }
        for asset in [asset, asset.revision].compactMap(\.self) where asset.isPersistent { await saveRecord(of: asset) }
        // Requests that were refused before may be allowed now.
        asset.checked = nil
        allowRenewal(of: asset)
    }
}

extension UserFields {
    /// The text in the catalogue.
    var record: String? { isEmpty ? nil : texts.joined(separator: "\n") }

    /// Parses the text in the catalogue; no fields if this version does not accept them.
    init(record: String?) {
        self = (record?.split(separator: "\n").map(String.init)).flatMap { try? UserFields($0) } ?? UserFields()
    }
}
