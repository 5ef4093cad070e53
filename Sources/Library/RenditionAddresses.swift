import HTTPMessage

/// Finds a rendition by URL, also by one without its query: tokens are in queries.
struct RenditionAddresses {
    private var byURL: [WebURL: Rendition] = [:]

    /// URLs that differ only in their queries are not found without the query.
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

    /// The rendition at a URL; nil for an unknown one.
    subscript(url: WebURL) -> Rendition? { byURL[url] ?? byURL[url.replacingQuery(nil)] }
}
