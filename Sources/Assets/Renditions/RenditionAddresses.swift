import HTTPMessage

/// Finds the rendition that a URL leads to. URLs that differ only in their queries are not found without the query.
struct RenditionAddresses {
    private var byURL: [WebURL: Rendition] = [:]

    init(_ renditions: [(rendition: Rendition, urls: [WebURL])]) {
        var ambiguous: Set<WebURL> = []
        for (rendition, urls) in renditions {
            for url in urls {
                byURL[url] = rendition
                let bare = url.replacingQuery(nil)
                guard bare != url, let other = byURL.updateValue(rendition, forKey: bare) else { continue }
                if other !== rendition {
                    ambiguous.insert(bare)
                }
            }
        }
        for url in ambiguous {
            byURL[url] = nil
        }
    }

    subscript(url: WebURL) -> Rendition? { byURL[url] ?? byURL[url.replacingQuery(nil)] }
}
