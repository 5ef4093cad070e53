import Assets
import EventLoop
import Orders
import Retention
import Store
package import WeirAPI

/// The keys of assets.
extension LibraryService {
    package func keys(ofAsset name: String) async throws(APIError) -> API.KeyList { keyList(of: try find(name)) }

    package func order(_ order: API.KeyOrder, ofAsset name: String) async throws(APIError) -> API.KeyList {
        if let contradiction = order.contradiction {
            throw APIError(.badRequest, contradiction)
        }
        let asset = try find(name)
        let known = asset.keys.allNumbers
        if let stranger = order.keys?.first(where: { !known.contains($0) }) {
            throw APIError(.noSuchKey, "\(asset.name) has no key \(stranger)", next: "weir keys \(asset.name)")
        }
        guard !known.isEmpty else { throw APIError(.noSuchKey, "\(asset.name) has no keys, as far as is known") }
        do throws(LibraryError) {
            switch order.action {
            case .renew: try await library.keys.renew(order.keys, of: asset)
            case .revoke: try await library.keys.revoke(order.keys, of: asset)
            case .setExpiry:
                let expires = order.expires.map(Int64.init)
                try await library.keys.setExpiry(expires, ofKeys: order.keys, of: asset)
            }
        } catch {
            let mapped = APIError(error, asset: asset.name)
            guard error.code == .otherContent else { throw mapped }
            let next = "save the new content beside it: weir get \(asset.name)"
            throw APIError(mapped.code, mapped.message, next: next, underlying: mapped.underlying)
        }
        return keyList(of: asset)
    }

    /// The only order for all assets is to revoke.
    func orderAllKeys(_ order: API.KeyOrder) async throws(APIError) -> API.KeyLists {
        guard order == API.KeyOrder(.revoke) else {
            throw APIError(.badRequest, "for the keys of all assets, only {\"action\": \"revoke\"} is possible")
        }
        return try await revokeAllKeys()
    }

    package func revokeAllKeys() async throws(APIError) -> API.KeyLists {
        let all = library.assets.flatMap { [$0, $0.revision].compactMap(\.self) }
        let assets = all.filter(\.hasKeys)
        var failure: APIError?
        for asset in assets {
            do throws(LibraryError) {
                try await library.keys.revoke(of: asset)
            } catch {
                // Continues with the other assets.
                failure = failure ?? APIError(error, asset: asset.name)
            }
        }
        if let failure {
            throw failure
        }
        return API.KeyLists(assets: assets.filter { !$0.isRevision }.map(keyList))
    }

    package func allKeys() async throws(APIError) -> API.KeyLists {
        let assets = library.assets.filter(\.hasKeys).sorted { $0.name < $1.name }
        return API.KeyLists(assets: assets.map(keyList))
    }

    private func keyList(of asset: Asset) -> API.KeyList {
        var list = API.KeyList(asset: asset.name, keys: library.keys.reports(of: asset).map { API.Key($0) })
        list.keysExpire = asset.life.policy.keys.lifetime
        list.keysAfterFirstPlay = asset.life.policy.keys.afterFirstPlay
        return list
    }

    /// Counts an asset's keys; nil if it has none.
    func keySummary(of asset: Asset) -> API.KeySummary? {
        guard !asset.keys.isEmpty else { return nil }
        let states = asset.keys.unusable.map { asset.keys.state(of: $0) }
        let expired = states.count { $0 == .expired }
        return API.KeySummary(count: asset.keys.allNumbers.count, expired: expired, revoked: states.count - expired)
    }
}

extension API.Key {
    fileprivate init(_ report: KeyReport) {
        var state = report.state
        if state == .valid, !report.isStored {
            state = .missing
        }
        self.init(
            number: report.number, state: state,
            uses: report.uses.map {
                .init(
                    rendition: $0.rendition, start: $0.time.lowerBound, end: $0.time.upperBound, segments: $0.segments)
            })
        fetched = report.life.came.map(Int.init)
        firstPlayed = report.life.firstPlayed.map(Int.init)
        expiration = report.expiration.map(Int.init)
        expires = report.life.expires.map(Int.init)
        revoked = report.life.revoked.map(Int.init)
        remaining = report.remaining.storage.map(Int.init)
        playbackRemaining = report.remaining.playback.map(Int.init)
    }
}
