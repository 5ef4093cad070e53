// The room Recordings.
//
// Duty: the user's channel lists; recordings of channels, each an asset of its own: their names, their times, and which are kept.
// Entrance: `ChannelRecorder` for one that begins now, `RecordingSchedules` for those at their time; `Schedule` is pure.
//     `ChannelLists` for lists.
// Does not enter: how segments of a live stream are kept, which is in `Downloads`, and what a player gets.

package import Assets
package import Downloads
package import EventLoop
package import FoundationEssentials
package import Orders

/// Begins recordings of channels, each as an asset of its own beside the channel, which stays live.
@LoopActor package final class ChannelRecorder {
    private let library: Library
    private let downloader: Downloader
    /// The zone of the times in names; it may change while the process runs.
    private let zone: () -> TimeZone

    package init(_ library: Library, _ downloader: Downloader, zone: @escaping () -> TimeZone = { .current }) {
        self.library = library
        self.downloader = downloader
        self.zone = zone
    }

    /// Begins a new recording of a channel.
    /// - Parameters:
    ///   - name: nil for the channel's name with the time. One that another recording of the channel has gets a number.
    ///   - title: nil for the channel's title with the time.
    /// - Throws: what `Downloader.start` throws; no recording is left then.
    package func record(
        _ channel: Asset, _ order: DownloadOrder, name: String? = nil, title: String? = nil
    ) async throws(Downloader.Refusal) -> Download {
        let dated = RecordingName(begin: library.date(), in: zone())
        var ownName = dated.name(ofChannel: channel.name, isTaken: library.isTaken)
        if let name {
            ownName = number(name, of: channel)
        }
        let titleOfChannel = channel.title ?? channel.name
        let ownTitle = title ?? dated.title(ofChannel: titleOfChannel)
        let recording: Asset
        do throws(LibraryError) {
            recording = try await library.makeRecording(of: channel, name: ownName, title: ownTitle)
        } catch {
            throw .library(error)
        }
        var order = order
        order.record = true
        // A channel may list hours that nobody has asked for.
        order.recordFrom = order.recordFrom ?? .now
        do throws(Downloader.Refusal) {
            return try await downloader.start(recording, order)
        } catch {
            downloader.forget(recording)
            // If that fails, a recording without pieces stays.
            _ = try? await library.remove(recording)
            throw error
        }
    }

    /// A command that is repeated each day, with one name, makes one recording each time.
    private func number(_ name: String, of channel: Asset) -> String {
        guard let known = library.asset(named: name), known.isChannelRecording, library.channel(of: known) === channel
        else { return name }
        return AssetNaming.unique(name, isTaken: library.isTaken)
    }
}
