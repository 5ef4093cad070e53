import Assets
import EventLoop
import HLS
import HTTPMessage
import HTTPServer
import Sessions

/// Serves interstitials (rfc8216bis appendix D), from the store or from their origins.
extension Playback {
    /// Answers with the entry playlist of an interstitial asset, or with a list of interstitial assets.
    func interstitial(_ exchange: Exchange, _ id: String, _ session: Session, _ name: Interstitials.Name) {
        guard let asset = library.presentation(id: id) else {
            return exchange.reply(.notFound, "There is no such asset.")
        }
        if storedInterstitial(exchange, asset, session, name) {
            return
        }
        guard session.mode != .offline, !library.isOffline else {
            return exchange.reply(.notFound, "This interstitial is not in the store, and Weir is offline.")
        }
        Task { @LoopActor in
            do throws(LibraryError) {
                switch name.kind {
                case .presentation: try await presentation(exchange, asset, session, name)
                case .list: try await list(exchange, asset, session, name)
                }
            } catch {
                refuse(exchange, error)
            }
        }
    }

    /// Answers from the store. Returns false if the interstitial is not stored with its asset.
    private func storedInterstitial(
        _ exchange: Exchange, _ asset: Asset, _ session: Session, _ name: Interstitials.Name
    ) -> Bool {
        let view = view(of: asset, session, for: exchange)
        if let text = asset.interstitialList(name, naming: { view.listedURI(of: $0) }) {
            Task { @LoopActor in await answer(exchange, session, of: asset, list: text) }
            return true
        }
        guard let draft = view.draft(of: name) else { return false }
        sessions.enter(session.id, exchange)
        Task { @LoopActor in await answer(exchange, session, of: asset, .hit) { draft } }
        return true
    }

    private func answer(_ exchange: Exchange, _ session: Session, of asset: Asset, list: [UInt8]) async {
        guard let text = try? await texts.text(of: .text(list), for: exchange, owner: asset) else { return }
        let body = SessionText(text, path: session.path(in: asset, behind: exchange.mount))
        var representation = Representation(size: Int64(body.count), mediaType: .json)
        representation.fields.append(.cacheControl, literal: "no-store")
        exchange.reply(representation, body.body)
    }

    private func presentation(
        _ exchange: Exchange, _ asset: Asset, _ session: Session, _ name: Interstitials.Name
    ) async throws(LibraryError) {
        let query = CMCD.removed(from: exchange.head.query)
        let (directives, rest) = try DeliveryDirectives.split(query)
        let presentation = try await library.interstitials.presentation(name, of: asset, query: rest)
        let isStored = presentation.content.isEverythingComplete
        await entry(exchange, of: presentation, session.mode, directives, isStored: isStored)
    }

    private func list(
        _ exchange: Exchange, _ asset: Asset, _ session: Session, _ name: Interstitials.Name
    ) async throws(LibraryError) {
        let view = view(of: asset, session, for: exchange)
        let text = try await library.interstitials.list(name, of: asset, query: CMCD.removed(from: exchange.head.query))
        {
            view.listedURI(of: $0)
        }
        await answer(exchange, session, of: asset, list: text)
    }
}
