/// A document with slots, `<!--weir:NAME-->`, which are filled for each request. Pure.
struct PageTemplate {
    /// The slots of a template.
    enum Slot: String {
        /// The assets, as list items.
        case assets
        /// The number of assets, and the link to the next page.
        case rest
    }

    private enum Part {
        case text([UInt8])
        case slot(Slot)
    }

    private let parts: [Part]

    /// Parses a document. A slot with an unknown name stays a comment.
    init(_ document: [UInt8]) {
        var parts: [Part] = []
        var rest = Substring(String(decoding: document, as: UTF8.self))
        while let begin = rest.firstRange(of: "<!--weir:"), let end = rest[begin.upperBound...].firstRange(of: "-->") {
            let slot = Slot(rawValue: String(rest[begin.upperBound..<end.lowerBound]))
            parts.append(.text(Array(rest[..<(slot == nil ? end.upperBound : begin.lowerBound)].utf8)))
            if let slot { parts.append(.slot(slot)) }
            rest = rest[end.upperBound...]
        }
        parts.append(.text(Array(rest.utf8)))
        self.parts = parts
    }

    /// The document with its slots filled with HTML. A slot without a text stays empty.
    func filled(_ texts: [Slot: String]) -> [UInt8] {
        parts.flatMap { part -> [UInt8] in
            switch part {
            case .text(let text): text
            case .slot(let slot): Array((texts[slot] ?? "").utf8)
            }
        }
    }
}
