import Assets
import EventLoop
import Extras
import HLS
import HTTPMessage
import HTTPServer
import Sessions

/// Serves interstitials (rfc8216bis appendix D), from the store or from their origins.
extension PlayerRoutes {
    /// Answers with the entry playlist of an interstitial asset, or with a list of interstitial assets.
    func serveInterstitial(
        _ exchange: Exchange, assetID: String, session: Session, name: Interstitials.Name
    ) {
        guard let asset = library.presentation(id: assetID) else {
            return exchange.reply(.notFound, "There is no such asset.")
        }
        let request = PlaylistRequest(exchange: exchange, asset: asset, session: session)
        if sendStoredInterstitial(name, to: request) {
            return
        }
        guard session.mode != .offline, !library.isOffline else {
            return exchange.reply(.notFound, "This interstitial is not in the store, and Weir is offline.")
        }
        Task { @LoopActor in
            do throws(LibraryError) {
                switch name.kind {
                case .presentation: try await servePresentation(name, to: request)
                case .list: try await serveList(name, to: request)
                }
            } catch {
                refuse(exchange, error)
            }
        }
    }

    /// Answers from the store. Returns false if the interstitial is not stored with its asset.
    private func sendStoredInterstitial(_ name: Interstitials.Name, to request: PlaylistRequest) -> Bool {
        let view = view(for: request)
        if let text = StoredInterstitials(of: request.asset).list(name, naming: { view.listedURI(of: $0) }) {
            Task { @LoopActor in await sendList(text, to: request) }
            return true
        }
        guard let draft = view.draft(of: name) else { return false }
        sessions.enter(request.session.id, request.exchange)
        Task { @LoopActor in await sendPlaylist(to: request, status: .hit) { draft } }
        return true
    }

    private func sendList(_ list: [UInt8], to request: PlaylistRequest) async {
        let exchange = request.exchange
        guard let text = try? await texts.text(of: .text(list), for: exchange, owner: request.asset) else { return }
        let body = SessionText(text, path: request.session.path(in: request.asset, behind: exchange.mount))
        var representation = Representation(size: Int64(body.count), mediaType: .json)
        representation.fields.append(.cacheControl, literal: "no-store")
        exchange.reply(representation, body.body)
    }

    private func servePresentation(
        _ name: Interstitials.Name, to request: PlaylistRequest
    ) async throws(LibraryError) {
        let query = CMCD.removed(from: request.exchange.head.query)
        let (directives, rest) = try DeliveryDirectives.split(query)
        let presentation = try await library.interstitials.presentation(name, of: request.asset, query: rest)
        let isStored = presentation.content.isEverythingComplete
        await serveEntry(
            request.exchange, of: presentation, mode: request.session.mode, directives: directives, isStored: isStored)
    }

    private func serveList(_ name: Interstitials.Name, to request: PlaylistRequest) async throws(LibraryError) {
        let view = view(for: request)
        let query = CMCD.removed(from: request.exchange.head.query)
        let text = try await library.interstitials.list(name, of: request.asset, query: query) {
            view.listedURI(of: $0)
        }
        await sendList(text, to: request)
    }
}
