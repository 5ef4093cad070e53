public import GRDB

/// The volume of an asset's bundle. Only assets that were moved have a row.
///
/// A move is written before it begins, and again in one step when the bundle is complete on its new volume. So whenever the
/// process ends, exactly one volume is in use, and the other one, which may hold a copy, is known.
public struct VolumeRecord: Codable, Equatable, Sendable, PersistableRecord, CatalogueRow {
    /// The table's name.
    public static let databaseTableName = "volume"
    /// The asset's id.
    public var asset: String
    /// The path of the volume in use; nil for the store's own folder.
    public var path: String?
    /// The mark of the volume in use.
    public var mark: String?
    /// True if parts of the bundle may be on another volume, from which or to which it was being moved.
    public var hasOther: Bool
    /// The path of the other volume; nil for the store's own folder.
    public var otherPath: String?
    /// The mark of the other volume.
    public var otherMark: String?

    /// Makes the record of a bundle.
    public init(asset: String, in place: Volume, other: Volume? = nil) {
        self.asset = asset
        (path, mark) = place.isHome ? (nil, nil) : (place.path, place.mark)
        hasOther = other != nil
        (otherPath, otherMark) = other?.isHome ?? true ? (nil, nil) : (other?.path, other?.mark)
    }

    private init() { (asset, hasOther) = ("", false) }

    static let columns: [RowColumn<Self>] = [
        .init("asset", \.asset), .init("path", \.path), .init("mark", \.mark), .init("hasOther", \.hasOther),
        .init("otherPath", \.otherPath), .init("otherMark", \.otherMark),
    ]

    static let blank = VolumeRecord()
}
