import EventLoop
import Fetching
public import Origin
import Store

/// Header fields of the user's own.
extension Library {
    /// Gives an asset other header fields than before; an empty set takes them away.
    ///
    /// They go with every request that is made for it, those that its players cause included, as far as that goes to
    /// the scheme, host and port of its URL. They are kept in the catalogue, and nowhere else.
    /// - Throws: `store` when they cannot be kept; nothing has changed then. In a store that is only read they hold
    ///   until the process ends.
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
        // What the origin refused before it may give now.
        asset.checked = nil
        allowRenewal(of: asset)
    }
}

/// Whose the URL is.
extension Library {
    /// Notes that the user has given the URL of an asset: it may lead to a private address from now on, and after a
    /// restart. Where that cannot be kept it holds until the process ends.
    func confirm(_ asset: Asset) async {
        guard asset.access.confirm() else { return }
        for asset in [asset, asset.revision].compactMap(\.self) where asset.isPersistent { await saveRecord(of: asset) }
        // What was refused before may be given now.
        asset.checked = nil
        allowRenewal(of: asset)
    }
}

extension UserFields {
    /// As the catalogue keeps them.
    var record: String? { isEmpty ? nil : texts.joined(separator: "\n") }

    /// Fields as the catalogue kept them; none if they are not such as this version sends.
    init(record: String?) {
        self = (record?.split(separator: "\n").map(String.init)).flatMap { try? UserFields($0) } ?? UserFields()
    }
}
