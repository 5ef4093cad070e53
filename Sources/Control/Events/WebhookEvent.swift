import Assets
import Downloads
import EventLoop
import Orders
import Store
package import WeirAPI

/// An event that a webhook can be sent. The raw values are part of the configuration and of the messages.
package enum WebhookEvent: String, Sendable, CaseIterable {
    case selectionResolved = "selection-resolved"
    case selectionComplete = "selection-complete"
    case selectionsFurther = "selections-further"
    /// Everything that a download selects is stored.
    case complete
    /// A download stopped, and does not go on by itself.
    case failed
    /// A download waits for something that its user may want to know: space, a key, a disk, or a rule's end.
    case waiting
    /// A key has expired, or an asset has, whose content is then purged.
    case expired
    case purged
    /// The origin has other content than what is stored.
    case contentChanged = "content-changed"
    /// An asset was removed with its download.
    case removed

    /// The events that are sent unless the user chooses others.
    package static let usual: Set<WebhookEvent> = [.complete, .failed, .expired, .contentChanged]
}

/// The body of a webhook's request. It has no URL of an origin and no header field, which may be secret.
package struct WebhookMessage: Codable, Equatable, Sendable {
    /// The version of this shape.
    package var v = 1
    package var event: String
    /// Time of the event, in seconds since 1970.
    package var time: Int
    package var id: String
    package var asset: String
    package var title: String?
    /// A sentence about the event, for a notification.
    package var message: String
    /// The state of the download, for its events.
    package var download: API.Download?
    /// The tracks of a selection, or those that further selections can add.
    package var selection: API.Tracks?

    @LoopActor init(_ event: WebhookEvent, of asset: Asset, at time: Int, _ message: String) {
        self.event = event.rawValue
        self.time = time
        self.message = message
        id = asset.id
        self.asset = asset.name
        title = asset.title
    }
}

extension WebhookMessage {
    /// The messages about an event of a download.
    @LoopActor static func message(_ event: DownloadEvent, of download: Download, at time: Int) -> Self? {
        let asset = download.asset
        func made(_ kind: WebhookEvent, _ words: String) -> Self {
            var message = Self(kind, of: asset, at: time, words)
            message.download = API.Download(download)
            return message
        }
        func made(_ kind: WebhookEvent, _ words: String, tracks: API.Tracks) -> Self {
            var message = Self(kind, of: asset, at: time, words)
            message.selection = tracks
            return message
        }
        var reason = ""
        if let failure = download.failure {
            reason = ": \(failure.message)"
        }
        switch event {
        case .state where download.state == .complete: return made(.complete, "\(asset.name) is saved")
        case .state where download.state == .failed:
            return made(.failed, "the download of \(asset.name) failed\(reason)")
        case .state where download.state == .waiting && download.need != .network:
            return made(.waiting, "the download of \(asset.name) waits\(reason)")
        case .selectionResolved(let selected):
            let tracks = AssetShapes(asset).tracks(of: selected.renditions)
            return made(.selectionResolved, "the tracks of a selection of \(asset.name) are known", tracks: tracks)
        case .selectionComplete(let selected):
            let tracks = AssetShapes(asset).tracks(of: selected.renditions)
            return made(.selectionComplete, "a selection of \(asset.name) is complete", tracks: tracks)
        case .selectionsFurther:
            let tracks = AssetShapes(asset).tracks(besides: download.ids)
            return made(.selectionsFurther, "\(asset.name) has further tracks", tracks: tracks)
        case .removed: return Self(.removed, of: asset, at: time, "\(asset.name) was removed")
        case .state, .progress, .renditionComplete: return nil
        }
    }

    /// The message about an event of the library; nil for events without one.
    @LoopActor static func message(_ event: LibraryEvent, at time: Int) -> Self? {
        switch event {
        case .contentChanged(let asset):
            return Self(
                .contentChanged, of: asset, at: time,
                "the origin of \(asset.name) has other content now; take it over with: weir update \(asset.name)")
        case .purged(let asset, let purge):
            if purge.cause == .expired {
                return Self(.expired, of: asset, at: time, "\(asset.name) has expired, and was purged")
            }
            return Self(.purged, of: asset, at: time, "\(asset.name) was purged for space")
        case .keysChanged(let asset, .expired, let numbers):
            let keys = numbers.count == 1 ? "a key" : "\(numbers.count) keys"
            return Self(.expired, of: asset, at: time, "\(keys) of \(asset.name) expired")
        default: return nil
        }
    }
}
