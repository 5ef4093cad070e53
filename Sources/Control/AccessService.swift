package import EventLoop
import HTTPMessage
package import WeirAPI

/// Decides who has access: the page's link, the phones of the network, and the stream of events, which ends with the access.
@LoopActor package final class AccessService {
    /// The daemon's URL for the network; nil if it is not reachable from the network.
    package var lan: API.LAN?
    /// The phones that may use the page over the network; nil without a state directory.
    package var phones: Phones?
    let pageKey = PageKey()
    private let events: EventFeed?

    init(events: EventFeed?) { self.events = events }

    func register(in handlers: inout EndpointHandlers) {
        handlers.on(Endpoints.page) { _ in self.page }
        handlers.on(Endpoints.renewPage) { _ throws(APIError) in
            let ended = try self.pageKey.replace()
            self.events?.end(.pageKey(ended))
            return self.page
        }
        handlers.on(Endpoints.lan) { _ throws(APIError) in try self.reachable() }
        handlers.on(Endpoints.phones) { _ throws(APIError) in API.PhoneList(phones: try self.known().all) }
        handlers.on(Endpoints.addPhone) { _, order throws(APIError) in try self.admit(order.name) }
        handlers.on(Endpoints.revokePhones) { _ throws(APIError) in API.PhoneList(phones: try self.revoke(nil)) }
        handlers.on(Endpoints.revokePhone) { call throws(APIError) in try self.revoke(call.item)[0] }
        if let events {
            handlers.onBytes(Endpoints.events) { call in
                await events.prepare()
                let reader = events.reader(after: call.lastEventID, of: call.credential)
                return ControlResponse(status: .ok, body: [], events: reader)
            }
        }
    }

    private var page: API.PageLink { API.PageLink(path: "\(PageRoutes.entrance)\(pageKey.text)/") }

    private func reachable() throws(APIError) -> API.LAN {
        guard let lan else { throw APIError(.noLAN, "this daemon listens on loopback addresses only") }
        return lan
    }

    private func known() throws(APIError) -> Phones {
        guard let phones else { throw APIError(.noSuchRoute, "this daemon has no state directory for phones") }
        return phones
    }

    private func admit(_ name: String) throws(APIError) -> API.PhoneLink {
        let phones = try known()
        let lan = try reachable()
        let token = try phones.admit(name)
        return API.PhoneLink(name: name, url: "\(lan.base)/t/\(token)/")
    }

    /// Ends the access of a phone, or of all phones if `name` is nil.
    private func revoke(_ name: String?) throws(APIError) -> [API.Phone] {
        try known().revoke(name).map { record in
            events?.end(.phone(record.digest))
            return record.phone
        }
    }
}
