import Assets
import EventLoop
import Orders
import Store

/// Announces a day and an hour before keys expire, and renews them by itself while Weir is online.
@LoopActor final class KeyWatch {
    private unowned let library: Library
    private var notices = KeyNotices()
    private var timer: LoopTimer?
    private var subscription: Subscription?
    private var renewals: Set<String> = []
    private static let pause = Duration.seconds(60)
    /// The pause while no key expires within `horizon` seconds: an idle process sleeps.
    private static let longPause = Duration.seconds(600)
    private static let horizon: Int64 = 2 * 86_400
    /// Changes of the same moment are looked at together.
    private static let shortPause = Duration.milliseconds(500)

    init(of library: Library) {
        self.library = library
        timer = LoopTimer { [weak self] in self?.turn() }
        subscription = library.events.subscribe { [weak self] event in
            switch event {
            case .keysChanged(_, .expiryChanged, _), .keysChanged(_, .renewed, _), .assetChanged, .modeChanged:
                self?.timer?.schedule(after: Self.shortPause)
            default: break
            }
        }
        timer?.schedule(after: Self.shortPause)
    }

    private func turn() {
        check()
        if library.assets.contains(where: hasNearExpiration) {
            timer?.schedule(after: Self.pause)
        } else {
            timer?.schedule(after: Self.longPause)
        }
    }

    /// True if a key of the asset expires within `horizon` seconds.
    private func hasNearExpiration(_ asset: Asset) -> Bool {
        guard !asset.isRemoved else { return false }
        let now = library.date()
        let terms = asset.keys.terms
        return asset.keys.lives.values.contains { life in
            guard let expiration = life.expiration(by: terms) else { return false }
            return now < expiration && expiration - now < Self.horizon
        }
    }

    func check() {
        let assets = library.assets.filter { !$0.keys.lives.isEmpty && !$0.isRemoved }
        notices.keep(Set(assets.map(\.id)))
        for asset in assets {
            check(asset)
        }
    }

    private func check(_ asset: Asset) {
        let now = library.date()
        let terms = asset.keys.terms
        var announced: [Int] = []
        var due: [Int] = []
        for (number, life) in asset.keys.lives {
            guard let expiration = life.expiration(by: terms), life.state(by: terms, at: now) == .valid else {
                continue
            }
            let key = KeyNotices.Key(asset: asset.id, number: number)
            if notices.notice(of: key, expiring: expiration, at: now) != nil {
                announced.append(number)
            }
            guard mayRenew(asset), asset.keys.hasFile(number) else { continue }
            if notices.isRenewalDue(of: key, life, by: terms, at: now) {
                due.append(number)
            }
        }
        if !announced.isEmpty {
            library.events.send(.keysChanged(asset, .expiring, numbers: announced.sorted()))
        }
        if !due.isEmpty {
            renew(due.sorted(), of: asset)
        }
    }

    private func mayRenew(_ asset: Asset) -> Bool {
        !library.isOffline && library.readOnlyReason == nil && !asset.isImported && !asset.isRecorded
            && !renewals.contains(asset.id)
    }

    private func renew(_ numbers: [Int], of asset: Asset) {
        renewals.insert(asset.id)
        Task { @LoopActor [library] in
            do {
                try await library.keys.renew(numbers, of: asset)
            } catch {
                library.report("\(asset.name): its keys expire soon, and could not be renewed: \(error)")
            }
            renewals.remove(asset.id)
        }
    }
}
