internal import FoundationEssentials
internal import HTTPMessage
internal import Origin

/// Reads the output of a handler. Pure.
struct HandlerReply {
    /// The JSON form of an answer: either `url` or `error`; the other members are optional.
    private struct Object: Decodable {
        var url: String?
        var error: String?
        var headers: [String: String]?
        var title: String?
    }

    /// The answer in what a handler wrote: a JSON object with `url` or `error`, or else the resource itself.
    static func answer(_ bytes: [UInt8]) -> HandlerAnswer {
        guard bytes.first(where: { !" \t\r\n".utf8.contains($0) }) == UInt8(ascii: "{"),
            let object = try? JSONDecoder().decode(Object.self, from: Data(bytes))
        else { return bytes.isEmpty ? .failure("it wrote nothing") : .content(bytes) }
        if let error = object.error { return .failure("it says: \(error.prefix(200))") }
        guard let text = object.url else { return .content(bytes) }
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

    private static func terms(of object: Object) throws -> HandlerTerms {
        let lines = (object.headers ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        let title = object.title.map { String($0.prefix(200)) }.flatMap { $0.isEmpty ? nil : $0 }
        return HandlerTerms(fields: try UserFields(lines), title: title)
    }
}
