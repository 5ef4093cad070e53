extension Selection {
    /// The choice of renditions in a group; as text `default`, `auto`, `all`, `none`, or languages such as `en,ja`.
    package enum Choice: Equatable, Sendable, LosslessStringConvertible {
        /// The rendition that players choose automatically: one in a preferred language, otherwise an AUTOSELECT one in
        /// the user's own language, otherwise DEFAULT, otherwise AUTOSELECT, otherwise the first.
        case `default`
        /// Of subtitles, those that players show unasked: DEFAULT=YES, and FORCED in the user's language.
        case auto
        case all
        /// No rendition; `none` as text.
        case nothing
        /// The renditions in these languages, in this order: RFC 5646 tags in lower case, of which `en` also matches `en-GB`.
        case languages([String])

        package init?(_ text: String) {
            switch text {
            case "default": self = .default
            case "auto": self = .auto
            case "all": self = .all
            case "none": self = .nothing
            default:
                let tags = text.lowercased().split(separator: ",", omittingEmptySubsequences: false).map(String.init)
                guard tags.allSatisfy(Self.isTag) else { return nil }
                self = .languages(tags)
            }
        }

        private static func isTag(_ text: String) -> Bool {
            (2...35).contains(text.utf8.count)
                && text.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || $0 == 45 }
        }

        package var description: String {
            switch self {
            case .default: "default"
            case .auto: "auto"
            case .all: "all"
            case .nothing: "none"
            case .languages(let tags): tags.joined(separator: ",")
            }
        }
    }
}

extension Selection.Choice: Codable {
    package init(from decoder: any Decoder) throws { self = try decoder.parsed(as: "default, all, none or en,ja") }
    package func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }
}
