import Assets
import EventLoop
import Fetching
import HLS
import Orders
import Retention
import Store

/// The room on the disk that recordings in progress will take: one with a known end gets it before downloads do.
extension Downloader {
    /// The pause after which downloads that leave room to recordings look again.
    private static let roomPause = Duration.seconds(30)
    /// The time between two looks at the room while downloads run.
    static let roomInterval = Duration.seconds(2)

    /// The bytes that recordings in progress are expected to store until their ends.
    var reservedBytes: Int64 {
        let now = library.date()
        var sum: Int64 = 0
        for download in byAsset.values {
            let (total, isTooLarge) = sum.addingReportingOverflow(download.expectedBytes(at: now))
            sum = isTooLarge ? .max : total
        }
        return sum
    }

    /// The bytes that a download of an asset may take: what is free after a purge, without what is reserved. Nil if the file system
    /// does not report it.
    func freeRoom(for asset: Asset) -> Int64? {
        guard let room = retention.roomAfterPurge(for: asset) else { return nil }
        // Recordings are in the store's own folder.
        guard asset.isHome else { return room }
        return max(0, room - reservedBytes)
    }

    /// Lets a download wait if it would take room that is reserved. Returns true then.
    func leavesRoom(_ download: Download) -> Bool {
        guard !download.task.recordsLive, download.asset.isHome, reservedBytes > 0, freeRoom(for: download.asset) == 0
        else { return false }
        halt(download)
        let sentence = "\(download.asset.name) waits: what is left of the disk is for recordings in progress"
        wait(download, for: .space, JobFailure(code: .store(.diskFull), message: sentence), pause: Self.roomPause)
        saveSoon(download)
        return true
    }

    /// Lets running downloads wait that would take room that is reserved. Called often; it looks at times only.
    func keepRoomForRecordings(at now: ContinuousClock.Instant) {
        guard now - latestRoomLook >= Self.roomInterval else { return }
        latestRoomLook = now
        guard reservedBytes > 0 else { return }
        for download in downloads where download.state == .running {
            _ = leavesRoom(download)
        }
    }
}

extension Download {
    /// The bytes that a recording with a known end is expected to store yet; 0 for any other download.
    fileprivate func expectedBytes(at now: Int64) -> Int64 {
        guard state.isActive, task.recordsLive, let end = task.recordEnd, end > now, asset.isHome else { return 0 }
        let rates = AnnouncedRates(asset)
        let seconds = Double(end - now)
        let bytes = renditions.reduce(0) { $0 + $1.recordedRate(else: rates.bitRate(of: $1).bits) * seconds }
        return Int64(min(bytes, Double(Int64.max / 2)))
    }
}

extension Rendition {
    /// A shorter recording says little about its rate, in seconds.
    private static let leastRecorded = 10.0

    /// Bytes per second of its recording; by the announced bit rate while little is recorded.
    fileprivate func recordedRate(else announced: BitRate) -> Double {
        guard let recording = recording as? Recording, recording.duration >= Self.leastRecorded else {
            return Double(announced.bytes(in: MediaDuration(seconds: 1)))
        }
        return Double(folder.bytes) / recording.duration
    }
}
