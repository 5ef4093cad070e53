package import Orders

/// The recording that begins next.
package struct NextRecording: Equatable, Sendable {
    /// In seconds since 1970; nil if none is planned.
    package let begin: Int64?
}

/// A recording of a channel that is planned, once or again and again. A file has its JSON: the names of properties never change.
package struct PlannedRecording: Codable, Equatable, Sendable {
    /// The name for commands; no other plan has it.
    package let name: String
    /// The id of the channel's asset.
    package let channel: String
    package var title: String?
    package var schedule: Schedule
    /// The tracks and rules of each recording.
    package var order: DownloadOrder
    /// The recordings that are kept; nil for all.
    package var keep: RecordingRetention?
    /// The last day of which a recording has begun or was missed.
    package internal(set) var handled: LocalDate?
    /// A sentence about the latest recording that was missed, began late or could not begin.
    package internal(set) var problem: String?
    /// The ids of the recordings that it has made, the oldest first.
    package internal(set) var recordings: [String] = []

    package init(
        name: String, channel: String, title: String? = nil, schedule: Schedule, order: DownloadOrder,
        keep: RecordingRetention? = nil
    ) {
        self.name = name
        self.channel = channel
        self.title = title
        self.schedule = schedule
        self.order = order
        self.keep = keep
    }

    /// Takes over the recordings of the plan that this one replaces.
    package mutating func adoptRecordings(of former: Self) { recordings = former.recordings }
}
