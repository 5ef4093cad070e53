public import GRDB

/// Where the bundle of an asset lies, as the catalogue knows it: only of those that were moved.
///
/// A move is noted before it begins, and once more in one step when the bundle is whole at its new place: so whatever
/// ends the process, exactly one place is the one in use, and the other is known, where a copy may lie.
public struct PlaceRecord: Codable, Equatable, Sendable, FetchableRecord, PersistableRecord {
    /// The table's name.
    public static let databaseTableName = "place"
    /// The asset's id.
    public var asset: String
    /// The path of the annex in use; nil for the store's own folder.
    public var path: String?
    /// What that annex is known by.
    public var mark: String?
    /// Whether something of the bundle may lie at another place: one where it was, or one that it did not get to.
    public var hasOther: Bool
    /// The path of the other place, if that is an annex.
    public var otherPath: String?
    /// What that annex is known by.
    public var otherMark: String?

    /// The record of a bundle.
    public init(asset: String, in place: BundlePlace, other: BundlePlace? = nil) {
        self.asset = asset
        (path, mark) = place.isHome ? (nil, nil) : (place.path, place.mark)
        hasOther = other != nil
        (otherPath, otherMark) = other?.isHome ?? true ? (nil, nil) : (other?.path, other?.mark)
    }

    /// Adds every column: see `AssetRecord.add`.
    func add(to sum: inout RowSum) {
        sum.begin(Self.databaseTableName)
        sum.add("asset", asset)
        sum.add("path", path)
        sum.add("mark", mark)
        sum.add("hasOther", hasOther ? 1 : 0)
        sum.add("otherPath", otherPath)
        sum.add("otherMark", otherMark)
    }
}
