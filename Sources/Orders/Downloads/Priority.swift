/// The importance of a download and of what it stores: important downloads begin first, and are evicted last.
///
/// The raw values are in the catalogue, in `asset.json` and in the API, and never change.
package enum Priority: String, Codable, Sendable, CaseIterable {
    /// In the order of the requests.
    case `default`
    /// Before all of default priority; evicted after them.
    case important
}
