/// One attribute list against the definition of its tag.
struct AttributeCheck {
    let tag: Tag
    let attributes: AttributeList

    /// Looks at every attribute.
    func run(_ findings: inout Findings) {
        let line = attributes.line + 1
        if hasBlanks {
            findings.add(.attributeBlank, line: line, "blanks or empty elements in an attribute list")
        }
        for name in tag.requiredAttributes where attributes[name]?.isEmpty ?? true {
            findings.add(.attributeMissing, line: line, clause: tag.clause, "the attribute \(name) is missing")
        }
        guard let types = tag.attributeTypes else { return }
        for attribute in attributes.attributes {
            check(attribute, types[attributes.bytes.text(attribute.name)], line, &findings)
        }
    }

    private func check(
        _ attribute: AttributeList.Attribute, _ type: AttributeType?, _ line: Int, _ findings: inout Findings
    ) {
        let name = attributes.bytes.text(attribute.name)
        guard let type else {
            if name.hasPrefix("X-") { return }
            findings.add(
                .attributeUnknown, line: line, clause: tag.clause, "no text defines the attribute \(name) here")
            return
        }
        guard type.fits(attributes, attribute, name) else {
            findings.add(.attributeType, line: line, clause: tag.clause, "\(name) is not \(type.description)")
            return
        }
        if type == .hexadecimal, attributes.bytes[attribute.value].dropFirst(2).contains(where: { $0 >= 0x61 }) {
            findings.add(.hexadecimalCase, line: line, "\(name) has small letters in a hexadecimal-sequence")
        }
    }

    /// Whether anything but one comma stands between two attributes, or around a name or a value.
    private var hasBlanks: Bool {
        let list = attributes.attributes
        for (place, attribute) in list.enumerated() {
            if attribute.value.lowerBound != attribute.name.upperBound + 1 { return true }
            if place > 0, attribute.name.lowerBound != list[place - 1].value.upperBound + 1 { return true }
        }
        return false
    }
}
