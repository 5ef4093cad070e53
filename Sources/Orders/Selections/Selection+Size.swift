extension Selection {
    /// A minimum video size; as text `1280x720` or `720p`.
    package struct Size: Equatable, Sendable, LosslessStringConvertible {
        /// Width in pixels; nil for any.
        package let width: Int?
        package let height: Int

        package init(width: Int?, height: Int) {
            self.width = width
            self.height = height
        }

        package init?(_ text: String) {
            if text.hasSuffix("p") {
                guard let height = positive(text.dropLast()) else { return nil }
                self.init(width: nil, height: height)
            } else {
                let parts = text.split(separator: "x", omittingEmptySubsequences: false)
                guard parts.count == 2, let width = positive(parts[0]), let height = positive(parts[1]) else {
                    return nil
                }
                self.init(width: width, height: height)
            }
        }

        package var description: String {
            guard let width else { return "\(height)p" }
            return "\(width)x\(height)"
        }
    }
}

extension Selection.Size: Codable {
    package init(from decoder: any Decoder) throws { self = try decoder.parsed(as: "1280x720 or 720p") }
    package func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }
}
