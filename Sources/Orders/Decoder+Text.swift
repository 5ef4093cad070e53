/// Parses decimal digits of a number above 0.
func positive(_ digits: Substring) -> Int? {
    guard digits.utf8.allSatisfy({ (48...57).contains($0) }), let value = Int(digits), value > 0 else { return nil }
    return value
}

extension Decoder {
    /// Decodes a string with few forms; `wanted` names the forms for the error.
    func parsed<Value: LosslessStringConvertible>(as wanted: String) throws -> Value {
        let text = try singleValueContainer().decode(String.self)
        guard let value = Value(text) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: codingPath, debugDescription: "\"\(text)\" is not \(wanted)"))
        }
        return value
    }
}
