public import HTTPMessage

/// A strong validator for If-Range: proof that later bytes continue the earlier ones (RFC 9110 §13.1.5).
public enum StrongValidator: Hashable, Sendable {
    case entityTag(EntityTag)
    /// A modification date old enough, by the origin's own clock, to exclude a second change within the same second.
    case lastModified(HTTPDate)

    /// The minimum age of the date relative to the reply, in seconds. RFC 9110 §8.8.2.2 requires one second and
    /// trustworthy clocks; RFC 7232 recommended a minute for that.
    static let minimumAge: Int64 = 60

    /// The strongest validator of a reply; nil without a strong one.
    init?(of fields: FieldSection) {
        self.init(
            entityTag: fields.firstValue(of: .entityTag).flatMap { EntityTag(fieldValue: $0) },
            lastModified: fields.firstValue(of: .lastModified).flatMap { HTTPDate($0) },
            date: fields.firstValue(of: .date).flatMap { HTTPDate($0) })
    }

    /// Dates are used only without an entity tag.
    init?(entityTag: EntityTag?, lastModified: @autoclosure () -> HTTPDate?, date: @autoclosure () -> HTTPDate?) {
        if let entityTag, !entityTag.isWeak {
            self = .entityTag(entityTag)
        } else if entityTag == nil, let lastModified = lastModified(), let date = date(),
            date.secondsSinceEpoch - lastModified.secondsSinceEpoch >= Self.minimumAge
        {
            self = .lastModified(lastModified)
        } else {
            return nil
        }
    }

    /// The relation between the content of two replies, as far as their validators show it.
    enum Agreement: Hashable {
        case same
        case different
        /// One reply has no strong validator, or one of another kind.
        case unknown
    }

    /// Compares it with the validator of a later reply, which is nil without a strong one.
    func agreement(with later: StrongValidator?) -> Agreement {
        switch (self, later) {
        case (.entityTag(let tag), .entityTag(let other)?) where tag == other: .same
        case (.lastModified(let date), .lastModified(let other)?) where date == other: .same
        case (.entityTag, .entityTag?), (.lastModified, .lastModified?): .different
        case (_, nil), (.entityTag, .lastModified?), (.lastModified, .entityTag?): .unknown
        }
    }

    /// Parses the text of `description`.
    public init?(_ text: String) {
        if let tag = EntityTag(fieldValue: Array(text.utf8)), !tag.isWeak {
            self = .entityTag(tag)
        } else if let date = HTTPDate(text) {
            self = .lastModified(date)
        } else {
            return nil
        }
    }
}

extension StrongValidator: CustomStringConvertible {
    /// The value of an If-Range field; can be stored and parsed again.
    public var description: String {
        switch self {
        case .entityTag(let tag): tag.description
        case .lastModified(let date): date.description
        }
    }
}
