import ArgumentParser
import Foundation
package import Orders
import WeirAPI

extension MediaRange: ExpressibleByArgument {}
extension Priority: ExpressibleByArgument {}

/// The options for how a download is done, shared by `get` and `add`.
struct TaskOptions: ParsableArguments {
    // A range may begin with a hyphen.
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Only this range of media time: 10:00-20:00, 10:00-, -20:00; in seconds, m:s or h:m:s.", valueName: "range"),
        transform: Self.range)
    var range: MediaRange?
    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "A further selection for the same download, as options in quotes: --also '-q 360p --audio ja'. May be repeated.",
            valueName: "options"))
    var also: [String] = []
    @Option(help: "The asset's name: /<name>.m3u8. If left out, it is derived from the URL.")
    var name: String?
    @Option(help: "The title for lists.")
    var title: String?
    @Option(help: "A note for \"weir show\".")
    var description: String?
    @Option(help: ArgumentHelp("An image for lists: JPEG, PNG or WebP, at most 4 MB.", valueName: "file|url"))
    var artwork: String?
    @Option(help: "important downloads start before default ones.")
    var priority: Priority?
    @OptionGroup var extras: ExtrasOptions
    @OptionGroup var rules: RuleOptions
    @Flag(help: "Record a live stream until it ends.")
    var record = false
    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("With --record: end the recording after this time, such as 2h or 90m.", valueName: "time"),
        transform: Self.seconds)
    var recordSeconds: Int?
    @Flag(help: "Start even if the disk has too little space, and store what fits.")
    var anyway = false

    /// Throws `ValidationError` for contradictory or invalid options.
    func check(_ selection: SelectionOptions) throws {
        if recordSeconds != nil, !record {
            throw ValidationError("--for needs --record: only a recording ends after a time.")
        }
        if let contradiction = try request(for: API.PresentationRequest(source: ""), selection, environment: [:])
            .order.contradiction
        {
            throw ValidationError(contradiction)
        }
    }

    /// Creates a request for a source.
    ///
    /// - Parameters:
    ///   - order: the source and the way to its origin.
    ///   - environment: the command's environment, for the user's language; the daemon's may differ.
    func request(
        for order: API.PresentationRequest, _ selection: SelectionOptions, environment: [String: String]
    ) throws -> API.DownloadRequest {
        let source = order.source
        if !source.isEmpty {
            try LocalFile.refuse(source)
        }

        let first = extras.added(to: selection.selection(environment: environment))
        var request = API.DownloadRequest(source: source, first)
        let further = try also.map { text in
            let options = try Self.further(text)
            return options.extras.added(to: options.selection.selection(environment: environment))
        }
        if !further.isEmpty {
            request.order.additional = further
        }

        request.order.range = range
        request.name = name
        request.title = title
        request.order.note = description
        // The daemon fetches a URL; the command sends a file afterwards.
        if let artwork, PlayerURL.isURL(artwork) {
            request.artwork = artwork
        }
        request.order.priority = priority
        request.order.rules = rules.change
        if record {
            request.order.record = true
        }
        request.order.recordSeconds = recordSeconds.map(Int64.init)
        if anyway {
            request.order.ignoreSpace = true
        }
        request.headers = order.headers
        request.cookies = order.cookies
        request.route = order.route
        return request
    }

    func artworkFile() throws -> [UInt8]? { try ArtworkFile.bytes(artwork) }

    // MARK: Reading

    private static func seconds(_ text: String) throws -> Int {
        guard let seconds = TimeText.span(text), seconds > 0 else {
            throw ValidationError("--for \"\(text)\" is not a duration such as 2h, 90m or 45s")
        }
        return seconds
    }

    private static func range(_ text: String) throws -> MediaRange {
        guard let range = MediaRange(text) else {
            throw ValidationError(
                "a range is 10:00-20:00, 10:00- or -20:00, in seconds, m:s or h:m:s, with the end after the start")
        }
        return range
    }

    private static func further(_ text: String) throws -> FurtherOptions {
        do {
            return try FurtherOptions.parse(text.split(separator: " ").map(String.init))
        } catch {
            throw ValidationError("--also '\(text)': \(FurtherOptions.message(for: error))")
        }
    }
}

/// The image of an option `--artwork`.
enum ArtworkFile {
    /// Reads the image file; nil without one, and for a URL. An invalid image fails the command before anything has begun.
    static func bytes(_ artwork: String?) throws -> [UInt8]? {
        guard let artwork, !PlayerURL.isURL(artwork) else { return nil }
        let file = FileHandle(forReadingAtPath: artwork)
        guard let data = try? file?.readToEnd(limit: API.Artwork.limit) else {
            throw CommandFailure(
                "\(artwork) cannot be read", next: "give an existing image", exitCode: 66, code: "no-artwork")
        }
        guard let image = API.Artwork(file: [UInt8](data)) else {
            throw CommandFailure(
                "\(artwork) is not \(API.Artwork.accepted)", next: "give another image", exitCode: 65,
                code: APIError.Code.notArtwork.rawValue)
        }
        return image.bytes
    }
}

/// The option for header fields. Their values are secrets, and no message repeats them.
struct HeaderOptions {
    let header: [String]
    let headerFor: [String]

    func validate() throws { _ = try fields }

    /// True if an option was given.
    var areGiven: Bool { !header.isEmpty || !headerFor.isEmpty }

    /// The fields; nil without the options, so that an asset keeps its fields.
    var fields: [API.Header]? {
        get throws {
            guard areGiven else { return nil }
            var lines: [String] = []
            for value in header where !value.isEmpty {
                if value == "-" {
                    lines += SecretLines.standardInput
                } else {
                    lines += try SecretLines.of(value, "--header")
                }
            }
            return try lines.map { try Self.field($0, of: "--header") } + headerFor.map(Self.scopedField)
        }
    }

    private static func field(_ line: String, of option: String, host: String? = nil) throws -> API.Header {
        guard let field = API.Header(line, host: host) else {
            throw ValidationError("\(option) must be 'Name: value' on one line, without control characters")
        }
        return field
    }

    private static func scopedField(_ text: String) throws -> API.Header {
        guard let blank = text.firstIndex(of: " "), case let host = String(text[..<blank]), !host.hasSuffix(":") else {
            throw ValidationError("--header-for needs a host and 'Name: value', as two arguments")
        }
        let line = String(text[text.index(after: blank)...])
        return try field(line, of: "the second argument of --header-for", host: host)
    }

    /// Joins the two arguments of each `--header-for` with a blank, since the parser has options of one argument only.
    static func joined(_ arguments: [String]) -> [String] {
        var joined: [String] = []
        var rest = arguments[...]
        while let word = rest.popFirst() {
            joined.append(word)
            if word == "--" {
                return joined + rest
            }
            guard word == "--header-for", rest.count > 1, let host = rest.first, !host.contains(" ") else { continue }
            joined.append(rest.prefix(2).joined(separator: " "))
            rest = rest.dropFirst(2)
        }
        return joined
    }
}
