import HLS
import SafeText

/// Reads a presentation's playlists, the entry and every playlist it names, and collects the findings.
struct PresentationReader<Source: CheckSource>: Sendable {
    let source: Source
    /// Stops reading after this many bytes of media playlists: all of them are kept in memory, to be compared.
    var byteLimit = 64 << 20
    /// Stops reading after this time: a playlist can name a thousand hosts that do not answer.
    var timeLimit = Duration.seconds(120)

    private static var parallelReads: Int { 6 }

    private struct Text: Sendable {
        let reading: CheckReading<Source.Location>
        let playlist: Playlist?
        let diagnostics: [PlaylistDiagnostic]
    }

    private struct Rendition: Sendable {
        let location: Source.Location
        /// Indices into `MultivariantPlaylist.renditionURIs`; several if different URIs resolve to one location.
        var indices: [Int]
        var text: Text?
    }

    func run() async -> CheckReport {
        let entry = await read(source.entry, imports: nil)
        var found = entry.diagnostics
        guard case .multivariant(let multivariant)? = entry.playlist else {
            var refusal: PlaylistCheckError?
            if entry.playlist == nil {
                refusal = Self.notPlaylist
            }
            return CheckReport(
                playlists: [checked(source.entry, found)], failure: entry.reading.failure, refusal: refusal)
        }
        let base = entry.reading.base
        var renditions = playlists(of: multivariant, base: base, &found)
        await read(&renditions, imports: multivariant.variables)
        found += compare(renditions, with: multivariant, base: base)
        let others = renditions.map { rendition in
            guard let text = rendition.text else { return checked(rendition.location, [skipped]) }
            return checked(rendition.location, findings(in: text, of: rendition, named: multivariant))
        }
        return CheckReport(
            playlists: [checked(source.entry, found)] + others, refusal: refusal(of: renditions, multivariant))
    }

    private static var notPlaylist: PlaylistCheckError { PlaylistCheckError(.notPlaylist, "it is no HLS playlist") }

    /// The reason of the first variant's playlist if none of the variants' can be had.
    private func refusal(of renditions: [Rendition], _ multivariant: MultivariantPlaylist) -> PlaylistCheckError? {
        let variants = Set(multivariant.variants.map(\.renditionIndex))
        let texts = renditions.filter { !variants.isDisjoint(with: $0.indices) }.compactMap(\.text)
        guard let first = texts.first, texts.allSatisfy({ $0.playlist == nil }) else { return nil }
        return first.reading.failure ?? Self.notPlaylist
    }

    private func checked(_ location: Source.Location, _ diagnostics: [PlaylistDiagnostic]) -> CheckReport.Checked {
        CheckReport.Checked(name: source.name(location), diagnostics: diagnostics)
    }

    // MARK: One playlist

    private func read(_ location: Source.Location, imports: [String: String]?) async -> Text {
        let reading = await source.read(location)
        guard let bytes = reading.bytes else {
            return Text(reading: reading, playlist: nil, diagnostics: reading.findings)
        }
        var variables = VariableSources()
        variables.imports = imports
        variables.query = source.query(reading.base)
        variables.hasURL = source.hasURLs
        var found = reading.findings + PlaylistRules.diagnostics(of: bytes, variables: variables)
        let playlist = try? Playlist.parse(bytes, variables: variables)
        if let playlist {
            found += PlaylistRules.references(of: playlist, url: source.url(reading.base)) {
                source.url(of: $0, from: reading.base)
            }
        }
        return Text(reading: reading, playlist: playlist, diagnostics: found)
    }

    // MARK: The whole presentation

    /// The playlists to read, in line order. Adds a finding for each one that is not read.
    private func playlists(
        of multivariant: MultivariantPlaylist, base: Source.Location, _ found: inout [PlaylistDiagnostic]
    ) -> [Rendition] {
        var renditions: [Rendition] = []
        var known: [Source.Location: Int] = [:]
        for (index, uri) in multivariant.renditionURIs.enumerated() {
            switch source.target(of: uri, from: base) {
            case .location(let location) where location == source.entry || location == base: break
            case .location(let location):
                if let first = known[location] {
                    renditions[first].indices.append(index)
                } else {
                    known[location] = renditions.count
                    renditions.append(Rendition(location: location, indices: [index]))
                }
            case .elsewhere(let reason):
                found.append(Self.notRead(reason, line: multivariant.line(ofRendition: index)))
            case .invalid: break
            }
        }
        return renditions
    }

    private func read(_ renditions: inout [Rendition], imports: [String: String]) async {
        let locations = renditions.map(\.location)
        let end = ContinuousClock.now + timeLimit
        let texts = await withTaskGroup(of: (Int, Text).self) { group in
            var texts: [Int: Text] = [:]
            var next = 0
            var bytes = 0
            func begin() {
                guard next < locations.count, bytes <= byteLimit, .now < end else { return }
                let number = next
                group.addTask { (number, await read(locations[number], imports: imports)) }
                next += 1
            }
            for _ in 0..<Self.parallelReads {
                begin()
            }
            while let (number, text) = await group.next() {
                texts[number] = text
                bytes += text.reading.bytes?.count ?? 0
                begin()
            }
            return texts
        }
        for number in renditions.indices {
            renditions[number].text = texts[number]
        }
    }

    private func compare(
        _ renditions: [Rendition], with multivariant: MultivariantPlaylist, base: Source.Location
    ) -> [PlaylistDiagnostic] {
        var media: [Int: MediaPlaylist] = [:]
        var multivariants: Set<Int> = []
        for rendition in renditions {
            switch rendition.text?.playlist {
            case .media(let playlist)?:
                for index in rendition.indices {
                    media[index] = playlist
                }
            case .multivariant?: multivariants.formUnion(rendition.indices)
            case nil: break
            }
        }
        return PlaylistRules.diagnostics(
            of: multivariant, media: media, multivariants: multivariants, url: source.url(base)
        ) { source.url(of: $0, from: base) }
    }

    /// The findings of a rendition. If it could not be read, they name the line that refers to it. A missing I-frame
    /// playlist is a warning only: players play without it.
    private func findings(
        in text: Text, of rendition: Rendition, named multivariant: MultivariantPlaylist
    ) -> [PlaylistDiagnostic] {
        guard text.reading.bytes == nil, let line = rendition.indices.first.flatMap(multivariant.line(ofRendition:))
        else { return text.diagnostics }
        let isForSeeking = multivariant.iFrameVariants.contains { $0.line == line }
        return text.diagnostics.map { finding in
            var severity = finding.severity
            if isForSeeking {
                severity = min(severity, .warning)
            }
            return PlaylistDiagnostic(
                severity: severity, code: finding.code, line: finding.line, clause: finding.clause,
                message: "\(finding.message); line \(line) of the multivariant playlist names it")
        }
    }

    private static func notRead(_ reason: String, line: Int?) -> PlaylistDiagnostic {
        PlaylistDiagnostic(
            severity: .note, code: "notRead", line: line, clause: "RFC 8216 §4.1", message: "not read: \(reason)")
    }

    private var skipped: PlaylistDiagnostic {
        let most = Quantity.bytes(Int(byteLimit))
        return PlaylistDiagnostic(
            severity: .warning, code: "notRead", clause: "RFC 8216 §10",
            message: "not read: the playlists before it exceed \(most) together, or took too long")
    }
}
