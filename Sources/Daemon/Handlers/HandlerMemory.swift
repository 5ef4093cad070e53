internal import HTTPMessage
internal import Origin

/// Remembers the URLs and the expiry dates that handlers answered with, so that a live playlist does not run its handler at each
/// reload. Pure: times are seconds since 1970.
struct HandlerMemory {
    private struct Key: Hashable {
        let url: String
        let isUsers: Bool
    }

    private struct Entry {
        let location: WebURL?
        let terms: HandlerTerms
    }

    private var entries: [Key: Entry] = [:]
    private static let limit = 1024

    /// The answer with a URL that has not expired; nil if the handler has to be asked.
    func answer(for url: WebURL, isUsers: Bool, at now: Double) -> HandlerAnswer? {
        guard let entry = entries[Key(url: url.text, isUsers: isUsers)], let location = entry.location,
            entry.terms.expires.map({ $0 > now }) ?? true
        else { return nil }
        var terms = entry.terms
        terms.isRemembered = true
        return .location(location, terms)
    }

    /// The expiry date of the latest answer.
    func expiry(of url: WebURL) -> Double? {
        [true, false].compactMap { entries[Key(url: url.text, isUsers: $0)]?.terms.expires }.max()
    }

    mutating func record(_ answer: HandlerAnswer, for url: WebURL, isUsers: Bool, at now: Double) {
        let key = Key(url: url.text, isUsers: isUsers)
        switch answer {
        case .location(let location, let terms): insert(Entry(location: location, terms: terms), key, at: now)
        case .content(_, let terms) where terms.expires != nil: insert(Entry(location: nil, terms: terms), key, at: now)
        case .content, .failure: entries[key] = nil
        }
    }

    private mutating func insert(_ entry: Entry, _ key: Key, at now: Double) {
        if entries.count >= Self.limit {
            entries = entries.filter { ($0.value.terms.expires ?? .infinity) > now }
        }
        if entries.count >= Self.limit {
            entries = [:]
        }
        entries[key] = entry
    }

    /// Forgets a URL at which the origin did not answer. Its expiry date stays.
    mutating func forget(_ url: WebURL, isUsers: Bool) {
        let key = Key(url: url.text, isUsers: isUsers)
        guard let entry = entries[key] else { return }
        if entry.terms.expires == nil {
            entries[key] = nil
        } else {
            entries[key] = Entry(location: nil, terms: entry.terms)
        }
    }
}
