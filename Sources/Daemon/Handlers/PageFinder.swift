internal import FoundationEssentials
internal import HTTPMessage
internal import Origin

/// Asks yt-dlp for the HLS stream of a web page, for the key `pages`.
struct PageFinder {
    /// The program, found in PATH.
    static let program = "yt-dlp"
    /// Seconds: it asks several servers, one after the other.
    private static let timeLimit = 50
    /// The description of one film, with all its formats, is 0.1 to 2 MB.
    private static let outputLimit = 16 << 20
    private static let format = "best[protocol^=m3u8]/bestvideo[protocol^=m3u8]"

    /// The words of the command line. There is no shell, and a URL behind `--` is no option.
    static func words(for url: String) -> [String] {
        [
            program, "--quiet", "--no-warnings", "--no-playlist", "--no-exec", "--skip-download", "--dump-json",
            "--format", format,
            "--", url,
        ]
    }

    /// The stream of a page, which passes all guards like any URL of a handler.
    /// - Parameter variables: the whole environment of the program, as `NAME=VALUE`.
    func answer(about url: WebURL, variables: [String]) async -> HandlerAnswer {
        let run = HandlerProgram(timeLimit: Self.timeLimit, limit: Self.outputLimit)
        switch await run.run(Self.words(for: url.text), variables: variables) {
        case .output(let bytes): return Self.answer(bytes)
        case .failure(let reason): return .failure(Self.sentence(reason))
        }
    }

    private static func sentence(_ reason: String) -> String {
        if reason.contains("Requested format is not available") {
            return "the page has no film as HLS, says yt-dlp"
        }
        return "yt-dlp says: \(reason)"
    }

    /// The part of yt-dlp's description that counts.
    private struct Film: Decodable {
        private enum CodingKeys: String, CodingKey {
            case url
            case manifest = "manifest_url"
            case title
            case headers = "http_headers"
            case cookies
        }

        var url: String?
        /// The multivariant playlist, which has all qualities.
        var manifest: String?
        var title: String?
        var headers: [String: String]?
        var cookies: String?
    }

    /// Reads what yt-dlp has written: one JSON object on a line.
    static func answer(_ output: [UInt8]) -> HandlerAnswer {
        let line = output.prefix { $0 != UInt8(ascii: "\n") }
        guard let film = try? JSONDecoder().decode(Film.self, from: Data(line)) else {
            return .failure("yt-dlp gave no description of a film")
        }
        guard let text = film.manifest ?? film.url, let url = try? WebURL(text), !url.needsHandler else {
            return .failure("yt-dlp found no http or https URL")
        }
        do {
            return .location(url, try HandlerReply.terms(headers: headers(of: film), title: film.title, expires: nil))
        } catch {
            return .failure("the header fields that yt-dlp found cannot be sent: \(error)")
        }
    }

    /// The header fields for the stream, without those that Weir sets itself.
    private static func headers(of film: Film) -> [String: String] {
        var headers = film.headers ?? [:]
        for name in headers.keys {
            let own = name.lowercased()
            if own.hasPrefix("accept") || own.hasPrefix("sec-fetch") {
                headers[name] = nil
            }
        }
        let own = ["domain=", "path=", "expires=", "secure"]
        let cookies = film.cookies ?? ""
        let parts = cookies.split(separator: ";").map { $0.drop { $0 == " " } }
        let pairs = parts.filter { pair in
            pair.contains("=") && !own.contains { pair.lowercased().hasPrefix($0) }
        }
        if !pairs.isEmpty {
            headers["Cookie"] = pairs.joined(separator: "; ")
        }
        return headers
    }
}
