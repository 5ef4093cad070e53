public import Playlist

/// What a check of a presentation found, playlist by playlist.
public struct CheckReport: Sendable {
    /// One playlist that was read, or that could not be.
    public struct Checked: Sendable {
        /// Its URL without secrets, or its path as the entry's path leads to it.
        public let name: String
        /// What there is to say: of the whole first, then in the order of its lines.
        public let diagnostics: [PlaylistDiagnostic]

        /// A playlist by its name; findings in any order.
        public init(name: String, diagnostics: [PlaylistDiagnostic]) {
            self.name = name
            let placed = diagnostics.enumerated().sorted { first, second in
                (first.element.line ?? 0, first.offset) < (second.element.line ?? 0, second.offset)
            }
            self.diagnostics = placed.map(\.element)
        }
    }

    /// The entry, and what it names in the order of its lines.
    public let playlists: [Checked]
    /// Why there is nothing to check; nil where the entry could be read, whatever was found in it.
    public let failure: LibraryError?

    /// A report on what was read.
    public init(playlists: [Checked], failure: LibraryError? = nil) {
        self.playlists = playlists
        self.failure = failure
    }

    /// How many findings matter so much.
    public func count(of severity: PlaylistDiagnostic.Severity) -> Int {
        playlists.reduce(0) { $0 + $1.diagnostics.count { $0.severity == severity } }
    }
}
