import Fetching
import HTTPMessage
import Playlist

/// The names of what only live playlists have, and the resources behind names that players read a while ago.
///
/// Parts, hints and initialization sections of a window that slides have no place that stays: each gets a number when
/// it is first seen, which no other ever has. A hint and the part that it becomes have the same one, since they have
/// the same URL.
struct LiveNames {
    private struct Identity: Hashable {
        let url: WebURL
        let range: SubRange?

        init(_ url: WebURL, _ range: SubRange?) {
            self.url = url
            self.range = range
        }

        init(_ resource: Resource) {
            let range = resource.range.flatMap { SubRange(offset: Int($0.lowerBound), length: $0.count) }
            self.init(resource.url, range)
        }
    }

    private var numbers: [Identity: Int] = [:]
    private var next = 0
    /// What is named now, beside the segments.
    private var current: Set<PieceName> = []
    private var resources: [PieceName: Resource] = [:]
    /// What is not named any more, oldest first; its names lead to it for a while.
    private var retired: [PieceName] = []

    /// So many times what is named at one time is remembered, and so many more.
    private static let memory = (times: 3, more: 8)

    /// The number of what is at a URL, new if it is new.
    mutating func number(_ url: WebURL, _ range: SubRange?) -> Int {
        let identity = Identity(url, range)
        if let number = numbers[identity] { return number }
        numbers[identity] = next
        next += 1
        return next - 1
    }

    /// What a name leads to.
    func resource(_ name: PieceName) -> Resource? { resources[name] }

    /// Takes what a new text names beside its segments, and the segments that the text before it had and this one has
    /// not.
    ///
    /// - Parameter named: how many things the text names, segments included.
    mutating func replace(with new: [Resource], gone: [Resource], named: Int) {
        let names = Set(new.map(\.name))
        for resource in new + gone { resources[resource.name] = resource }
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
            numbers[Identity(resource)] = nil
        }
        retired.removeFirst(count)
    }
}
