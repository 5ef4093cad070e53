internal import HTTPMessage
internal import SafeText

/// The source, the header fields and the way of a pasted curl command, for a request to the daemon.
package struct CurlOrder: Equatable, Sendable {
    package let source: String
    package let headers: [API.Header]
    /// Nil without options for the way.
    package let route: API.Route?

    /// True if the words of a command line begin a curl command.
    package static func isMeant(by words: [String]) -> Bool {
        // A single word may be the name of an asset.
        words.count > 1 && words.first?.split(separator: "/").last == "curl"
    }

    /// Reads a command that a shell has not split. Throws `.badRequest`, without the values, which are secrets.
    package init(text: String) throws(APIError) {
        if text.contains("^\"") || text.contains("^%") {
            throw Self.refusal("it is in the form for Windows", next: "copy it as cURL (bash)")
        }
        guard let words = ShellWord.split(text) else {
            throw Self.refusal("a quotation mark in it is open", next: "copy the whole command")
        }
        try self.init(words)
    }

    package init(_ words: [String]) throws(APIError) {
        let command: CurlCommand
        do throws(CurlCommand.Mistake) {
            command = try CurlCommand(words)
        } catch {
            var next = "copy the request of the playlist (.m3u8) as cURL (bash)"
            if error == .cookieFile {
                next = "give the file as: --cookies FILE"
            }
            throw Self.refusal("\(error)", next: next)
        }
        source = command.url
        headers = command.fields.compactMap { API.Header($0) }
        var route = API.Route()
        route.proxy = command.proxy
        if command.isInsecure {
            route.insecure = true
        }
        self.route = route == API.Route() ? nil : route
    }

    private static func refusal(_ reason: String, next: String) -> APIError {
        APIError(.badRequest, "the pasted command cannot be used: \(reason)", next: next)
    }

    /// The order as a request to open its source.
    package var request: API.PresentationRequest {
        var request = API.PresentationRequest(source: source)
        if !headers.isEmpty {
            request.headers = headers
        }
        request.route = route
        return request
    }

    /// Completes a request. What the user gave by an option stays.
    package func complete(_ request: inout API.PresentationRequest) {
        let given = request.headers ?? []
        let names = Set(given.filter { $0.host == nil }.map { $0.name.lowercased() })
        let all = given + headers.filter { !names.contains($0.name.lowercased()) }
        request.headers = all.isEmpty ? nil : all
        guard let route else { return }
        var own = request.route ?? API.Route()
        own.proxy = own.proxy ?? route.proxy
        own.insecure = own.insecure ?? route.insecure
        request.route = own
    }
}
