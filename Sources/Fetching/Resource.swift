public import HTTPMessage

/// One thing to fetch: a segment, an initialization section or a key, which are stored; or a part, which is not.
public struct Resource: Hashable, Sendable {
    /// Its name in its folder, and its role.
    public let name: PieceName
    /// The origin's URL: a way to fetch the resource, not its identity.
    public let url: WebURL
    /// The byte range in the file at `url`; nil for the whole file. An end of `Int64.max` means that the origin knows the end.
    public let range: Range<Int64>?

    /// Creates a resource.
    public init(name: PieceName, url: WebURL, range: Range<Int64>?) {
        self.name = name
        self.url = url
        self.range = range
    }

    /// Maximum size in bytes.
    public var limit: Int64 {
        switch name.role {
        // The disk limits them.
        case .segment, .passing: .max
        case .initialization: Limits.initializationSection
        case .key: Limits.key
        case .data: Limits.sessionData
        }
    }

    /// The exact length in bytes, if it is known before the response.
    public var exactLength: Int64? {
        if let range {
            return range.upperBound == .max ? nil : range.upperBound - range.lowerBound
        }
        return nil
    }

    /// The expected kind of bytes, in a word; nil for a key, and for session data that need not be JSON.
    var expectedContent: String? {
        switch name.role {
        case .segment, .initialization, .passing: "media"
        case .data: name.fileExtension == "json" ? "JSON" : nil
        case .key: nil
        }
    }

    /// Maximum sizes that are accepted from an origin, in bytes.
    public enum Limits {
        /// One response for several adjacent byte ranges.
        static let mergedFetch: Int64 = 512 << 20
        /// A media initialization section.
        public static let initializationSection: Int64 = 16 << 20
        /// A key, with what some origins send behind it; see `KeyBody`.
        public static let key: Int64 = 1024
        /// The resource of an EXT-X-SESSION-DATA.
        public static let sessionData: Int64 = 1 << 20
    }

    /// Divides resources into runs of adjacent byte ranges of one file, by index, within the limit for one response.
    static func runs(of resources: [Resource]) -> [Range<Int>] {
        var runs: [Range<Int>] = []
        for (index, resource) in resources.enumerated() {
            if let run = runs.last, resource.continues(resources[run.lowerBound...resources.index(before: index)]) {
                runs[runs.count - 1] = run.lowerBound..<(index + 1)
            } else {
                runs.append(index..<(index + 1))
            }
        }
        return runs
    }

    private func continues(_ run: ArraySlice<Resource>) -> Bool {
        guard let first = run.first, let last = run.last, last.url == url, let range, let before = last.range,
            let start = first.range?.lowerBound
        else { return false }
        return before.upperBound == range.lowerBound && !before.isEmpty && !range.isEmpty
            && range.upperBound - start <= Limits.mergedFetch
    }
}
