import EventLoop
import Library
import Store

/// Fetches a download's holes, several at a time, until none is left or one cannot be filled.
@LoopActor final class DownloadEngine {
    /// How it ended.
    enum Outcome {
        case complete
        case failed(LibraryError)
        case storeFailed(StoreError)
    }

    private let download: Download
    private let library: Library
    private let parallel: Int
    private let ended: (Outcome) -> Void
    private var queue: ArraySlice<Plan.Hole> = []
    private var flying: [ObjectIdentifier: Flight] = [:]
    private var obstacle: Outcome?
    /// The holes at the beginning of this round, to see that rounds come to an end.
    private var holes = Int.max
    private var isOver = false

    init(_ download: Download, library: Library, parallel: Int, ended: @escaping (Outcome) -> Void) {
        self.download = download
        self.library = library
        self.parallel = parallel
        self.ended = ended
    }

    /// Makes a plan of what is on disk, which others may have changed, and begins.
    func start() {
        download.asset.keys.folder.reread()
        for rendition in download.renditions { rendition.folder.reread() }
        replan()
        fill()
    }

    private func replan() {
        queue = Plan(for: download.renditions).holes[...]
        holes = queue.count
    }

    /// Wants nothing any more. What is under way and nearly done still comes.
    func cancel() {
        isOver = true
        let flights = flying.values
        flying = [:]
        for flight in flights { flight.release() }
    }

    private func fill() {
        while !isOver, obstacle == nil, flying.count < parallel, let hole = queue.popFirst() {
            guard !hole.folder.contains(hole.resource.name.description) else { continue }
            fetch(hole)
        }
        guard flying.isEmpty, !isOver else { return }
        finish()
    }

    private func finish() {
        if let obstacle { return end(obstacle) }
        guard download.isWhole else {
            // Something was lost while the rest came; the disk says what.
            let before = holes
            replan()
            if queue.isEmpty {
                return end(.failed(LibraryError(.notPlaylist, "it has segments without a usable URL")))
            }
            guard queue.count < before else {
                return end(.failed(LibraryError(.store, "pieces are lost as soon as they come")))
            }
            return fill()
        }
        end(.complete)
    }

    private func end(_ outcome: Outcome) {
        guard !isOver else { return }
        isOver = true
        ended(outcome)
    }

    private func fetch(_ hole: Plan.Hole) {
        do {
            let flight = try library.flight(
                hole.resource, in: hole.folder, of: download.asset, urgency: .background)
            let began = flight.written
            flying[ObjectIdentifier(flight)] = flight
            flight.whenEnded { [weak self] result in self?.landed(flight, result, began: began) }
        } catch {
            obstacle = .failed(error)
        }
    }

    private func landed(_ flight: Flight, _ result: Result<Void, LibraryError>, began: Int64) {
        guard flying.removeValue(forKey: ObjectIdentifier(flight)) != nil else { return }
        flight.release()
        download.rate.add(flight.written - began, at: .now)
        switch result {
        case .success:
            if let failure = flight.keepFailure {
                obstacle = obstacle ?? .storeFailed(failure)
            }
        case .failure(let error): obstacle = obstacle ?? .failed(error)
        }
        fill()
    }
}
