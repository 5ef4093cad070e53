package import HTTPMessage

/// Names for the resources of live playlists that are no segments, and for recently removed segments. They have no
/// permanent index in a sliding window, so each URL gets a number when it is first seen. A hint and its later part have
/// the same URL and number.
package struct LiveNames {
    private struct Identity: Hashable {
        let url: WebURL
        let range: Range<Int64>?
    }

    private var numbers: [Identity: Int] = [:]
    private var next = 0
    /// Named by the present playlist, besides the segments.
    private var current: Set<PieceName> = []
    private var resources: [PieceName: Resource] = [:]
    /// No longer named, oldest first; the names stay valid for a while.
    private var retired: [PieceName] = []
    /// Limit of retired names: a multiple of the number of present names, and a constant.
    private static let memory = (times: 3, more: 8)

    /// Makes names for a playlist that was not shown yet.
    package init() {}

    /// The number of a resource; a new one for a new URL. `range` is in bytes, and ends at `Int64.max` if the end is unknown.
    package mutating func number(_ url: WebURL, _ range: Range<Int64>?) -> Int {
        let identity = Identity(url: url, range: range)
        if let number = numbers[identity] {
            return number
        }
        // A hint of unknown length at the same offset became this part.
        if let range, let hinted = numbers.removeValue(forKey: Identity(url: url, range: range.lowerBound..<Int64.max))
        {
            numbers[identity] = hinted
            return hinted
        }
        numbers[identity] = next
        next += 1
        return next - 1
    }

    /// The resource with a name that is valid; nil for any other.
    package func resource(_ name: PieceName) -> Resource? { resources[name] }

    /// Gives new numbers to all URLs from now on, since they may have other content. The names so far stay valid.
    package mutating func restart() { numbers = [:] }

    /// Adopts the resources that a new playlist names besides its segments, and the segments that it has dropped;
    /// `named` counts all resources that the playlist names.
    package mutating func replace(with new: [Resource], gone: [Resource], named: Int) {
        let names = Set(new.map(\.name))
        for resource in new + gone {
            resources[resource.name] = resource
        }
        let left = current.subtracting(names).sorted { $0.role.number < $1.role.number }
        retired.removeAll { names.contains($0) }
        retired += left + gone.map(\.name)
        current = names
        forget(retired.count - Self.memory.times * named - Self.memory.more)
    }

    private mutating func forget(_ count: Int) {
        guard count > 0 else { return }
        for name in retired.prefix(count) {
            guard let resource = resources.removeValue(forKey: name), case .passing = name.role else { continue }
            numbers[Identity(url: resource.url, range: resource.range)] = nil
        }
        retired.removeFirst(count)
    }
}
