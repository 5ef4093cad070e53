import EventLoop
import HTTPMessage
import HTTPServer
import Library
import Playlist

/// Serves interstitials (rfc8216bis appendix D), from the store or from their origins.
extension Playback {
    /// Answers with the entry playlist of an interstitial asset, or with a list of interstitial assets.
    func interstitial(_ exchange: Exchange, _ id: String, _ session: Session, _ name: Interstitials.Name) {
        guard let asset = library.presentation(id: id) else {
            return exchange.reply(.notFound, "There is no such asset.")
        }
        if storedInterstitial(exchange, asset, session, name) { return }
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
        if let text = asset.interstitialList(name, naming: { view.interstitial($0) }) {
            reply(exchange, session, list: text)
            return true
        }
        guard let text = asset.interstitialPlaylist(name, naming: { view.playlist(named: $0) }) else { return false }
        sessions.enter(session, exchange)
        send(exchange, session, .hit) { text }
        return true
    }

    private func reply(_ exchange: Exchange, _ session: Session, list text: [UInt8]) {
        var representation = Representation(size: Int64(text.count), mediaType: .json)
        representation.fields.append(.cacheControl, literal: "no-store")
        exchange.reply(representation, texts.text(text, for: session).body(for: session))
    }

    private func presentation(
        _ exchange: Exchange, _ asset: Asset, _ session: Session, _ name: Interstitials.Name
    ) async throws(LibraryError) {
        let query = CMCD.removed(from: exchange.head.query)
        let (directives, rest) = try DeliveryDirectives.split(query)
        let presentation = try await library.interstitials.presentation(name, of: asset, query: rest)
        await entry(exchange, of: presentation, session.mode, directives, isStored: presentation.isEverythingComplete)
    }

    private func list(
        _ exchange: Exchange, _ asset: Asset, _ session: Session, _ name: Interstitials.Name
    ) async throws(LibraryError) {
        let view = PlayerView(
            library: library, asset: asset, session: session, mount: exchange.mount, base: Self.base(for: exchange))
        let text = try await library.interstitials.list(name, of: asset, query: CMCD.removed(from: exchange.head.query))
        {
            view.interstitial($0)
        }
        reply(exchange, session, list: text)
    }
}
