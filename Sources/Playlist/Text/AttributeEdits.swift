/// Changes that a view makes to one attribute list.
struct AttributeEdits {
    enum Change {
        /// A new quoted-string; checked when written.
        case quoted(String)
        /// A new value without quotes; not checked.
        case enumerated(String)
        /// Removes the attribute and the comma that joins it to the list.
        case removed
    }

    private var changes: [(name: String, change: Change)] = []

    var isEmpty: Bool { changes.isEmpty }

    /// Adds a change. An attribute that the list lacks is appended; removing an absent one does nothing.
    mutating func set(_ name: String, _ change: Change) { changes.append((name, change)) }

    /// Adds a new quoted-string; does nothing for nil.
    mutating func set(_ name: String, quoted value: String?) {
        if let value { set(name, .quoted(value)) }
    }

    /// Writes the list with the changes applied.
    func apply(to list: AttributeList, _ writer: inout TextWriter) throws(PlaylistError) {
        var keptEnd: Int?
        for (place, attribute) in list.attributes.enumerated() {
            switch change(list, attribute) {
            case .removed?:
                let next = place + 1 < list.attributes.count ? list.attributes[place + 1].name.lowerBound : nil
                // At the list's beginning the comma after the attribute is removed, elsewhere the one before it.
                let start = keptEnd ?? attribute.name.lowerBound
                let end = keptEnd == nil ? next ?? attribute.value.upperBound : attribute.value.upperBound
                writer.replace(start..<end, with: "")
                if keptEnd != nil { keptEnd = end }
                continue
            case .some(let change): writer.replace(attribute.value, with: try Self.text(change))
            case nil: break
            }
            keptEnd = attribute.value.upperBound
        }
        try append(to: list, after: keptEnd, &writer)
    }

    private func append(
        to list: AttributeList, after end: Int?, _ writer: inout TextWriter
    ) throws(PlaylistError) {
        guard let end = end ?? list.attributes.last?.value.upperBound else { return }
        for (name, change) in changes where list.find(name) == nil {
            if case .removed = change { continue }
            writer.replace(end..<end, with: ",\(name)=\(try Self.text(change))")
        }
    }

    private func change(_ list: AttributeList, _ attribute: AttributeList.Attribute) -> Change? {
        changes.first { list.bytes.matches(attribute.name, $0.name) }?.change
    }

    private static func text(_ change: Change) throws(PlaylistError) -> String {
        switch change {
        case .quoted(let value): "\"\(try TextWriter.checked(value))\""
        case .enumerated(let value): value
        case .removed: ""
        }
    }
}
