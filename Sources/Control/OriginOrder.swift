import API
import EventLoop
import HTTPMessage
import Origin

/// The URL and the header fields of a request to the API. A user name and password in the URL become a field.
struct OriginOrder {
    let url: WebURL
    /// Nil if the request has none, so that an asset keeps its fields.
    let fields: UserFields?

    @LoopActor init(_ text: String, _ headers: [API.Header]?) throws(APIError) {
        let split = UserInformation(splitting: text)
        url = try LibraryService.url(split.url)
        var lines = headers?.map(\.line)
        let isGiven = { (header: API.Header) in header.host == nil && header.name.lowercased() == "authorization" }
        if let field = split.field, !(headers ?? []).contains(where: isGiven) {
            lines = (lines ?? []) + ["\(field.name): \(field.value)"]
        }
        do {
            fields = try lines.map { lines throws(UserFields.Refusal) in try UserFields(lines) }
        } catch {
            throw APIError(.badRequest, error.description)
        }
    }
}
