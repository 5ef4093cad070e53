/// A difference between what was ordered and what is there at the end. A command that ends with one has the exit code 3.
package struct Shortfall: Codable, Equatable, Sendable {
    /// The raw values are in the catalogue, in the API and in the output of commands, and never change.
    package enum Reason: String, Codable, CaseIterable, Sendable {
        /// Another quality than the selected one.
        case quality
        /// A selected track is missing.
        case missing
        /// Pieces of a track are missing.
        case holes
        /// The chosen file format cannot hold a track.
        case container
    }

    package var reason: Reason
    /// A sentence without a capital or a full stop.
    package var message: String

    package init(_ reason: Reason, _ message: String) {
        self.reason = reason
        self.message = message
    }
}
