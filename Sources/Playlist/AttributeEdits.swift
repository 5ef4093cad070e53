/// What a view changes in one attribute list.
struct AttributeEdits {
    /// One attribute's change.
    enum Change {
        /// A quoted-string; checked when it is written.
        case quoted(String)
        /// An enumerated-string of ours.
        case enumerated(String)
        /// The attribute goes, with the comma that joined it to the list.
        case removed
    }

    private var changes: [(name: String, change: Change)] = []

    /// Whether nothing changes.
    var isEmpty: Bool { changes.isEmpty }

    /// Plans a change; an attribute that is not there is added at the end, or stays away if it was to be removed.
    mutating func set(_ name: String, _ change: Change) { changes.append((name, change)) }

    /// Plans a quoted-string, or nothing for nil.
    mutating func set(_ name: String, quoted value: String?) {
        if let value { set(name, .quoted(value)) }
    }

    /// Writes the list with its changes.
    func apply(to list: AttributeList, _ writer: inout TextWriter) throws(PlaylistError) {
        var keptEnd: Int?
        for (place, attribute) in list.attributes.enumerated() {
            switch change(list, attribute) {
            case .removed?:
                let next = place + 1 < list.attributes.count ? list.attributes[place + 1].name.lowerBound : nil
                // In front of the list the comma after the attribute goes, anywhere else the one before it.
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
