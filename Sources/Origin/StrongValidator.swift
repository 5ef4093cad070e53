public import HTTPMessage

/// What an If-Range may carry: proof that bytes fetched later continue the bytes fetched before (RFC 9110 §13.1.5).
public enum StrongValidator: Hashable, Sendable {
    /// A strong entity tag.
    case entityTag(EntityTag)
    /// A modification date old enough, by the origin's own clock, that no second change can hide behind it.
    case lastModified(HTTPDate)

    /// How much older than the reply a date must be. RFC 9110 §8.8.2.2 asks for a second, and for reason to believe in
    /// the clocks; a minute is RFC 7232's answer to that.
    static let minimumAge: Int64 = 60

    /// The strongest of what a reply carries; nil when nothing there is strong.
    init?(of fields: FieldSection) {
        self.init(
            entityTag: fields.firstValue(of: .entityTag).flatMap { EntityTag(fieldValue: $0) },
            lastModified: fields.firstValue(of: .lastModified).flatMap { HTTPDate($0) },
            date: fields.firstValue(of: .date).flatMap { HTTPDate($0) })
    }

    /// The stronger of two kinds: dates are looked at where there is no entity tag.
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

    /// Reads what `description` wrote.
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
    /// The value of an If-Range field; can be stored and read back.
    public var description: String {
        switch self {
        case .entityTag(let tag): tag.description
        case .lastModified(let date): date.description
        }
    }
}
