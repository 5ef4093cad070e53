import HTTPMessage

/// Which rendition is meant by a URL, also by one without the query that its own has: tokens are in queries.
struct RenditionAddresses {
    private var byURL: [WebURL: Rendition] = [:]

    /// Of several that only their queries tell apart, none is known without its query.
    init(_ places: [(rendition: Rendition, urls: [WebURL])]) {
        var ambiguous: Set<WebURL> = []
        for (rendition, urls) in places {
            for url in urls {
                byURL[url] = rendition
                let bare = url.replacingQuery(nil)
                guard bare != url, let other = byURL.updateValue(rendition, forKey: bare) else { continue }
                if other !== rendition { ambiguous.insert(bare) }
            }
        }
        for url in ambiguous { byURL[url] = nil }
    }

    /// The rendition at a URL; nil for a strange one.
    subscript(url: WebURL) -> Rendition? { byURL[url] ?? byURL[url.replacingQuery(nil)] }
}
