package import Orders

extension API.Download {
    /// A selection of a download. They are fetched one after the other.
    package struct Selected: Codable, Equatable, Sendable {
        /// A rendition of a selection.
        package struct Share: Codable, Equatable, Sendable {
            package var id: String
            /// Share of the selection: 70 for video, 20 for audio and 10 for subtitles, scaled to a sum of 1.
            package var weight: Double
            /// Progress from 0 to 1.
            package var fraction: Double
            package init(id: String, weight: Double, fraction: Double) {
                self.id = id
                self.weight = weight
                self.fraction = fraction
            }
        }

        /// The renditions, the variant's own first.
        package var renditions: [Share]
        /// The requested media time; absent for all of it.
        package var range: MediaRange?
        /// The sum of the renditions' fractions by their weights; 1 only when everything is stored.
        package var fraction: Double
        package var isComplete: Bool
        /// As in `Download`.
        package var shortfall: Shortfall?
        package init(renditions: [Share], range: MediaRange? = nil, fraction: Double, isComplete: Bool) {
            self.renditions = renditions
            self.range = range
            self.fraction = fraction
            self.isComplete = isComplete
        }
    }

    /// The account of a download, from its order to its end. It stays with the asset.
    package struct Summary: Codable, Equatable, Sendable {
        /// An origin and the bytes that it sent, headers not counted.
        package struct Origin: Codable, Equatable, Sendable {
            /// The host, with a port that is not the scheme's default.
            package var host: String
            package var requests: Int
            package var bytes: Int
            package init(host: String, requests: Int, bytes: Int) {
                self.host = host
                self.requests = requests
                self.bytes = bytes
            }
        }

        /// The part of a rendition that is not stored.
        package struct Missing: Codable, Equatable, Sendable {
            package var id: String
            /// The missing media time.
            package var ranges: [TimeRange]
            package init(id: String, ranges: [TimeRange]) {
                self.id = id
                self.ranges = ranges
            }
        }

        /// Time of the first request, in seconds since 1970.
        package var began: Int
        /// Time of the end, in seconds since 1970.
        package var ended: Int
        /// Seconds for which it ran, without pauses.
        package var seconds: Double
        /// Bytes that were fetched and stored.
        package var bytes: Int
        /// Mean rate over `seconds`, in bytes per second.
        package var rate: Int
        /// Requests of the download, without those of players that it shared.
        package var requests: Int
        /// Repeated requests after an error that passed.
        package var retries: Int
        /// Pauses after which the download went on by itself: an absent origin, a full disk.
        package var interruptions: Int
        /// The origins, the one with the most bytes first.
        package var origins: [Origin] = []
        /// Ids of the renditions that were chosen.
        package var chosen: [String] = []
        /// The number of interstitials that are stored; absent if none were requested.
        package var interstitials: Int?
        /// A sentence for each interstitial that could not be stored; absent if there is none.
        package var interstitialFaults: [String]?
        /// The renditions that are not complete.
        package var missing: [Missing] = []
        package init(
            began: Int, ended: Int, seconds: Double, bytes: Int, requests: Int, retries: Int, interruptions: Int
        ) {
            self.began = began
            self.ended = ended
            self.seconds = API.milliseconds(seconds)
            self.bytes = bytes
            self.requests = requests
            self.retries = retries
            self.interruptions = interruptions
            if seconds > 0 {
                rate = Int(min(Double(bytes) / seconds, 1e15))
            } else {
                rate = 0
            }
        }
    }
}

extension API.Event {
    /// The data of `selection-resolved` and `selection-complete`.
    package struct Selection: Codable, Equatable, Sendable {
        package var id: String
        package var asset: String
        /// The requested media time; absent for all of it.
        package var range: MediaRange?
        /// The selected tracks.
        package var selection: API.Tracks
        package init(id: String, asset: String, range: MediaRange? = nil, selection: API.Tracks) {
            self.id = id
            self.asset = asset
            self.range = range
            self.selection = selection
        }
    }

    /// The data of `selections-further`.
    package struct Further: Codable, Equatable, Sendable {
        package var id: String
        package var asset: String
        /// The tracks that a further download can add.
        package var unselected: API.Tracks
        package init(id: String, asset: String, unselected: API.Tracks) {
            self.id = id
            self.asset = asset
            self.unselected = unselected
        }
    }
}
