extension API {
    /// The times of recordings that are planned, in words as the command line has them. The body of `PUT /api/v1/recordings/<name>`.
    package struct RecordingTimes: Codable, Equatable, Sendable {
        /// The beginning, as clocks show it: `20:15`, or `2026-12-24 20:15`.
        package var at: String
        /// Days of the week on which it is repeated, such as `mon`; absent for once.
        package var every: [String]?
        /// Seconds after which each recording ends; absent with `until`, and for the end of the stream.
        package var seconds: Int64?
        /// The end, as clocks show it: `21:00`.
        package var until: String?
        /// Seconds by which each recording begins earlier, and ends later.
        package var early: Int64?
        package var late: Int64?
        /// The recordings that are kept: the latest `5`, or those of `30d`; absent for all.
        package var keep: String?
        package init(at: String) { self.at = at }
    }

    /// The body of `POST /api/v1/recordings`.
    package struct RecordingRequest: Codable, Equatable, Sendable {
        /// The channel and the selection. `record`, and a name, have no effect.
        package var download: DownloadRequest
        package var times: RecordingTimes
        package init(_ download: DownloadRequest, _ times: RecordingTimes) {
            self.download = download
            self.times = times
        }
    }

    /// A planned recording, or a series of them.
    package struct ScheduledRecording: Codable, Equatable, Sendable {
        /// The name for commands. No asset has it.
        package var name: String
        /// The name of the channel.
        package var channel: String
        package var title: String?
        package var times: RecordingTimes
        /// The next beginning and its end, in seconds since 1970; absent for none, and for the end of the stream.
        package var begin: Int?
        package var end: Int?
        /// A sentence about the latest recording that was missed, began late or could not begin; absent if all went well.
        package var problem: String?
        /// The names of the recordings that it has made and that are kept, the oldest first.
        package var recordings: [String]?
        package init(name: String, channel: String, times: RecordingTimes) {
            self.name = name
            self.channel = channel
            self.times = times
        }
    }

    /// The reply of `GET /api/v1/recordings`.
    package struct RecordingList: Codable, Equatable, Sendable {
        package var recordings: [ScheduledRecording]
        package init(recordings: [ScheduledRecording]) { self.recordings = recordings }
    }
}
