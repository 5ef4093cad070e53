internal import FoundationEssentials
internal import HTTPMessage
internal import Origin
internal import SafeText

/// Reads the output of a handler. Pure.
struct HandlerReply {
    /// The JSON form of an answer: one of `url`, `content` (in base64) and `error`; the other members are optional.
    private struct Object: Decodable {
        var url: String?
        var content: String?
        var error: String?
        var headers: [String: String]?
        var title: String?
        var expires: Expiry?
    }

    /// A date: seconds since 1970, or a text as in RFC 3339.
    private struct Expiry: Decodable {
        /// Nil if it cannot be read.
        var moment: Moment?

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            moment = try? value.decode(Moment.self)
            if let text = try? value.decode(String.self), let date = try? Date(text, strategy: .iso8601),
                let found = Moment(date.timeIntervalSince1970)
            {
                moment = found
            }
        }
    }

    /// The answer in what a handler wrote: a JSON object with `url`, `content` or `error`, or else the resource itself.
    static func answer(_ bytes: [UInt8]) -> HandlerAnswer {
        guard bytes.first(where: { !" \t\r\n".utf8.contains($0) }) == UInt8(ascii: "{"),
            let object = try? JSONDecoder().decode(Object.self, from: Data(bytes))
        else {
            guard !bytes.isEmpty else { return .failure("it wrote nothing") }
            return .content(bytes, HandlerTerms())
        }
        if let error = object.error {
            return .failure("it says: \(error.prefix(200))")
        }
        if let expires = object.expires, expires.moment == nil {
            return .failure("its expires is neither seconds since 1970 nor a date such as 2026-11-25T20:00:00Z")
        }
        guard let text = object.url else { return content(object) ?? .content(bytes, HandlerTerms()) }
        do {
            let url = try WebURL(text)
            guard !url.needsHandler else { return .failure("its URL is neither http nor https") }
            return .location(url, try terms(of: object))
        } catch let error as WebURLError {
            return .failure("its URL cannot be used: \(error)")
        } catch {
            return .failure("its header fields cannot be sent: \(error)")
        }
    }

    private static func content(_ object: Object) -> HandlerAnswer? {
        guard let text = object.content else { return nil }
        guard let bytes = Data(base64Encoded: text), !bytes.isEmpty else { return .failure("its content is no base64") }
        do {
            return .content(Array(bytes), try terms(of: object))
        } catch {
            return .failure("its header fields cannot be sent: \(error)")
        }
    }

    private static func terms(of object: Object) throws -> HandlerTerms {
        try terms(headers: object.headers ?? [:], title: object.title, expires: object.expires?.moment?.value)
    }

    /// - Parameter expires: in seconds since 1970.
    static func terms(headers: [String: String], title wish: String?, expires: Double?) throws -> HandlerTerms {
        let lines = headers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        var title: String?
        if let given = wish, !given.isEmpty {
            title = String(given.prefix(200))
        }
        return HandlerTerms(fields: try UserFields(lines), title: title, expires: expires)
    }
}
