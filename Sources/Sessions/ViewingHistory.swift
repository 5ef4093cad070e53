internal import AccessLog
package import Assets
package import EventLoop
internal import FoundationEssentials

/// Where each film was left, so that it can be continued. The file is in the state folder, and only its owner reads it.
///
/// Only players that report their positions count: what others request is ahead of what they show.
@LoopActor package final class ViewingHistory {
    /// The seen part of a film.
    package struct Entry: Codable, Equatable, Sendable {
        /// Where it was left, in seconds of media time; 0 if it should begin anew.
        package var position: Double
        /// The length of the film, in seconds.
        package var duration: Double
        /// True if its end was reached once.
        package var isWatched: Bool
        /// In seconds since 1970.
        package var time: Int
    }

    private struct File: Codable {
        var version = 1
        /// By the ids of the assets.
        var films: [String: Entry]
    }

    /// Reads and writes the file.
    package struct Storage {
        package let read: () -> [UInt8]?
        /// Returns the reason of a failure.
        package let write: ([UInt8]) -> String?

        package init(read: @escaping () -> [UInt8]?, write: @escaping ([UInt8]) -> String?) {
            self.read = read
            self.write = write
        }
    }

    /// The most films; the one that was not played for longest is forgotten.
    private static let most = 2_000
    /// Time between two writes.
    private static let pause = Duration.seconds(5)

    private let library: Library
    private let storage: Storage
    private let report: (String) -> Void
    private var films: [String: Entry] = [:]
    private var libraryEvents: Subscription?
    private var timer: LoopTimer?
    private var isChanged = false

    /// - Parameter report: called with a sentence if the file cannot be read or written.
    package init(
        of library: Library, _ storage: Storage, report: @escaping (String) -> Void
    ) {
        self.library = library
        self.storage = storage
        self.report = report
        if let bytes = storage.read() {
            do {
                films = try JSONDecoder().decode(File.self, from: Data(bytes)).films.filter { $0.value.isSound }
            } catch {
                report("it is not known where films were left: the file of the history is damaged")
            }
        }
        timer = LoopTimer { [weak self] in self?.save() }
        libraryEvents = library.events.subscribe { [weak self] event in
            if case .removed(let asset) = event {
                self?.forget(asset)
            }
        }
    }

    /// The seen part of an asset; nil if nothing is known.
    package func entry(of asset: Asset) -> Entry? { films[asset.id] }

    /// Notes that a player shows a film at a position, in seconds.
    /// - Parameter isLast: true if the player has ended, so that lists of films change.
    package func note(_ position: Double, of asset: Asset, isLast: Bool) {
        guard !asset.isLive, !asset.isRemoved, let duration = asset.duration, duration > 0, position >= 0 else {
            return
        }
        let known = films[asset.id]
        guard let entry = Entry(position, of: duration, after: known, at: Int(WallClock.seconds)) else { return }
        films[asset.id] = entry
        if films.count > Self.most, let oldest = films.min(by: { $0.value.time < $1.value.time }) {
            films[oldest.key] = nil
        }
        changed()
        if isLast {
            save()
            library.events.send(.assetChanged(asset))
        }
    }

    private func forget(_ asset: Asset) {
        guard films.removeValue(forKey: asset.id) != nil else { return }
        changed()
        save()
    }

    private func changed() {
        guard !isChanged else { return }
        isChanged = true
        timer?.schedule(after: Self.pause)
    }

    private func save() {
        guard isChanged else { return }
        isChanged = false
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        guard let data = try? encoder.encode(File(films: films)) else { return }
        if let reason = storage.write(Array(data)) {
            report("it is not noted where films were left: \(reason)")
        }
    }

    /// Writes what is not written yet.
    package func close() { save() }
}

extension ViewingHistory.Entry {
    /// The part of a film from which on it is watched: the credits run.
    private static let end = 0.95
    /// A film that was left before this begins anew: in seconds, and as a part of the film.
    private static let beginning = (seconds: 10.0, part: 0.05)

    /// The seen part of a film that is left at a position, in seconds; nil for one that was opened and closed again.
    /// - Parameter known: what was seen of it before.
    init?(_ position: Double, of duration: Double, after known: Self?, at time: Int) {
        let hasEnded = position >= duration * Self.end
        let hasBegun = position >= min(Self.beginning.seconds, duration * Self.beginning.part)
        guard hasBegun || known != nil else { return nil }
        var rest = 0.0
        if hasBegun, !hasEnded {
            rest = position
        }
        let wasWatched = known?.isWatched ?? false
        self.init(position: rest, duration: duration, isWatched: wasWatched || hasEnded, time: time)
    }

    /// True for numbers that a film can have.
    fileprivate var isSound: Bool {
        duration.isFinite && duration > 0 && position.isFinite && (0...duration).contains(position)
    }

    /// Where to go on, in seconds; nil to begin anew.
    package var rest: Double? {
        guard position > 0 else { return nil }
        return position
    }
}
