import Assets
package import Orders
import Retention
import Store

/// The content that a download must store. Pure. An asset has one task; a further order for the asset adds to it.
package struct DownloadTask: Equatable, Sendable {
    /// One selection and the renditions that it chose.
    struct Item: Equatable, Sendable {
        /// Distinguishes the items of a task.
        struct Identity: Hashable {
            let renditions: [String]
            let range: MediaRange?
        }

        var selection: Selection
        /// The requested media time; nil for all of it.
        var range: MediaRange?
        /// Ids of the chosen renditions, the variant's own first.
        var renditions: [String]
        /// The part of the selection that cannot be had; nil if all of it is downloaded.
        var shortfall: Shortfall?

        var identity: Identity { Identity(renditions: renditions, range: range) }
        var wanted: WantedTime {
            guard let range else { return .all }
            return .parts([range.seconds])
        }

        init(_ selection: Selection, range: MediaRange? = nil, renditions: [String], shortfall: Shortfall? = nil) {
            self.selection = selection
            self.range = range
            self.renditions = renditions
            self.shortfall = shortfall
        }

        /// The item with a shortfall, unless another one is known.
        func with(_ shortfall: Shortfall) -> Self {
            var item = self
            if item.shortfall.map({ $0.reason == shortfall.reason }) ?? true {
                item.shortfall = shortfall
            }
            return item
        }

        func without(_ reason: Shortfall.Reason) -> Self {
            var item = self
            if item.shortfall?.reason == reason {
                item.shortfall = nil
            }
            return item
        }
    }

    /// The items, the latest first; no two are equal in renditions and range.
    private(set) var items: [Item] = []
    package var note: String?
    package var priority = Priority.default
    /// True to record a live presentation until it ends.
    package var recordsLive = false
    /// Time at which a recording ends, in seconds since 1970; nil for the end of the stream.
    package var recordEnd: Int64?
    /// The beginning of a recording in what the channel has; nil for all that the origin lists.
    package var recordFrom: RecordingStart?
    /// Differences from the configured rules.
    package var rules = DownloadRules.Change()
    /// The user's reason for a pause, until the download is resumed.
    package var pauseReason: String?
    /// The segments that the last attempt did not get, and that the download is complete without; nil if it got everything.
    var givenUp: GivenUp?

    /// Segments of subtitles that the origin did not have.
    struct GivenUp: Codable, Equatable, Sendable {
        /// The segments' numbers, sorted, by rendition.
        private(set) var segments: [String: [Int]]
        /// A sentence without a full stop.
        let message: String

        init(_ segments: [String: Set<Int>], message: String) {
            self.segments = segments.mapValues { $0.sorted() }
            self.message = message
        }
    }

    init() {}

    /// Ids of all renditions, without duplicates: the variant of the latest item first.
    var renditions: [String] {
        var ids: [String] = []
        var seen: Set<String> = []
        for id in items.flatMap(\.renditions) where seen.insert(id).inserted {
            ids.append(id)
        }
        return ids
    }

    /// The selection of the latest order, with what the configuration added to it then.
    package var latestSelection: Selection? { items.first?.selection }

    /// True if the interstitials are requested as well.
    var keepsInterstitials: Bool { items.contains { $0.selection.wishes.keepsInterstitials == true } }

    /// Adds an item in front. It replaces an item with the same renditions and range.
    mutating func add(_ item: Item) {
        var item = item
        // The holes of a recording stay, for later orders too.
        if recordsLive, item.shortfall == nil {
            item.shortfall = items.first { $0.identity == item.identity }?.shortfall
        }
        items.removeAll { $0.identity == item.identity }
        items.insert(item, at: 0)
    }

    func with(_ items: [Item]) -> DownloadTask {
        var task = self
        task.items = []
        for item in items.reversed() {
            task.add(item)
        }
        return task
    }

    /// The task with more items, behind its own; what it covers is not added.
    func adding(_ more: [Item]) -> DownloadTask {
        with(items + more.filter { !covers($0) })
    }

    /// The part of an item that is not stored at the end; nil if all of it is.
    func shortfall(of item: Item) -> Shortfall? {
        if let shortfall = item.shortfall {
            return shortfall
        }
        guard let givenUp, item.renditions.contains(where: { givenUp.segments[$0] != nil }) else { return nil }
        return Shortfall(.holes, givenUp.message)
    }

    func covers(_ item: Item) -> Bool {
        item.renditions.allSatisfy { span(of: $0)?.contains(item.range?.seconds) ?? false }
    }

    /// The media time of each rendition that any item requests, for those who need it of many.
    var spans: [String: WantedTime] {
        var ranges: [String: [Range<Double>]] = [:]
        var unlimited: Set<String> = []
        for item in items {
            for id in item.renditions {
                if let range = item.range?.seconds {
                    ranges[id, default: []].append(range)
                } else {
                    unlimited.insert(id)
                }
            }
        }
        var spans = ranges.mapValues { WantedTime.parts($0) }
        for id in unlimited {
            spans[id] = .all
        }
        return spans
    }

    func span(of rendition: String) -> WantedTime? {
        let wanting = items.filter { $0.renditions.contains(rendition) }
        guard !wanting.isEmpty else { return nil }
        let ranges = wanting.compactMap(\.range?.seconds)
        return ranges.count < wanting.count ? .all : .parts(ranges)
    }
}
