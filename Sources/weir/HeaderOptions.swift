import API
import ArgumentParser

/// The option for header fields of the user's own. They are secrets, and no message repeats them.
struct HeaderOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            What the origin is sent with each request, such as 'Referer: https://example.com/'; no other host gets it. May be \
            repeated.
            """, valueName: "name: value"))
    var header: [String] = []

    func validate() throws { _ = try fields }

    /// The fields; nil where there are none, which leaves those that an asset has.
    var fields: [API.Header]? {
        get throws {
            guard !header.isEmpty else { return nil }
            return try header.map { line in
                guard let field = API.Header(line) else {
                    throw ValidationError("--header takes 'Name: value' on one line, without control characters")
                }
                return field
            }
        }
    }
}
