import Assets
import EventLoop
import Foundation
import HTTPMessage
import Orders
import TestRooms
import TestSupport
import Testing
import WeirAPI

@testable import Control

/// Keys over the API, with a library that has a film of three keys.
@Suite @LoopActor struct KeyRouteTests {
    private let house: TestHouse
    private var origin: TestOrigin { house.origin }
    private var library: Library { house.library }
    private let service: LibraryService
    private let routes: ControlRoutes

    init() async throws {
        house = try await TestHouse(.downloader())
        let service = LibraryService(of: house)
        self.service = service
        var handlers = EndpointHandlers()
        service.register(in: &handlers)
        routes = ControlRoutes(handlers, token: "secret")
        let begun = try await service.download(.init(source: house.origin.master("aes"), Selection(quality: .worst)))
        try await waitUntil("the end") { try await service.download(id: begun.id).state == .complete }
    }

    private func respond(_ method: HTTPMethod, _ path: String, _ body: String = "") async -> ControlResponse {
        await routes.respond(
            to: ControlRequest(
                method, "/api/v1" + path, authorization: "Bearer secret",
                contentType: body.isEmpty ? nil : "application/json", body: Array(body.utf8)))
    }

    private func list(_ response: ControlResponse) throws -> API.KeyList {
        try API.decode(API.KeyList.self, from: response.body)
    }

    @Test func keysAreListedAndNeverShown() async throws {
        let response = await respond(.get, "/assets/aes/keys")
        #expect(response.status == .ok)
        let list = try list(response)
        #expect(list.asset == "aes" && list.keys.map(\.number) == [0, 1, 2])
        #expect(list.keys.allSatisfy { $0.state == .valid && $0.fetched != nil && $0.expiration == nil })
        #expect(list.keys[0].uses == [.init(rendition: "video-90p", start: 0, end: 4, segments: 2)])
        let texts = [response.body, await respond(.get, "/assets/aes").body].map { Data($0) }
        for number in 0..<3 {
            let key = try Data(Repository.fixture("/aes/keys/\(number).key"))
            let hex = key.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
            for secret in [key, Data(hex.utf8), Data(key.base64EncodedString().utf8)] {
                #expect(texts.allSatisfy { $0.range(of: secret) == nil })
            }
        }
    }

    @Test func anActionIsExecutedAndPublished() async throws {
        var told: [String] = []
        let subscription = library.events.subscribe {
            if case .keysChanged(_, let change, let numbers) = $0 {
                told.append("\(change.rawValue) \(numbers)")
            }
        }
        defer { subscription.cancel() }
        var list = try list(await respond(.post, "/assets/aes/keys", #"{"action":"revoke","keys":[1]}"#))
        #expect(list.keys.map(\.state) == [.valid, .revoked, .valid] && list.keys[1].remaining == 0)
        var asset = try await service.asset(named: "aes")
        #expect(asset.keys == API.KeySummary(count: 3, revoked: 1) && asset.local == .partial)
        #expect(asset.playable?.answer == .no && asset.stored == .partlySaved)
        list = try self.list(await respond(.post, "/assets/aes/keys", #"{"action":"setExpiry","expires":1}"#))
        #expect(list.keys.map(\.state) == [.expired, .revoked, .expired] && list.keys[0].expires == 1)
        asset = try await service.asset(named: "aes")
        #expect(asset.keys == API.KeySummary(count: 3, expired: 2, revoked: 1))
        list = try self.list(await respond(.post, "/assets/aes/keys", #"{"action":"setExpiry"}"#))
        list = try self.list(await respond(.post, "/assets/aes/keys", #"{"action":"renew"}"#))
        #expect(list.keys.map(\.state) == [.valid, .valid, .valid])
        asset = try await service.asset(named: "aes")
        #expect(asset.playable?.answer == .yes && asset.local == .yes)
        // The `expired` event comes whenever the expiry is noticed, so it is not compared.
        #expect(
            told.filter { !$0.hasPrefix("expired") } == [
                "revoked [1]", "expiryChanged [0, 1, 2]", "expiryChanged [0, 1, 2]", "renewed [0, 1, 2]",
            ])
        let all = try API.decode(
            API.KeyLists.self, from: await respond(.post, "/keys", #"{"action":"revoke"}"#).body)
        #expect(all.assets.map(\.asset) == ["aes"] && all.assets[0].keys.allSatisfy { $0.state == .revoked })
        #expect(house.folder.files().filter { $0.hasSuffix(".key") }.isEmpty)
    }

    @Test func aPolicyHasKeyTermsAndInvalidOnesAreRefused() async throws {
        let policy = StoragePolicy(keys: KeyTerms(lifetime: 2_592_000, afterFirstPlay: 172_800))
        #expect(try await service.setPolicy(policy, ofAsset: "aes").storage?.policy == policy)
        let list = try list(await respond(.get, "/assets/aes/keys"))
        #expect(list.keysExpire == 2_592_000 && list.keys[0].playbackRemaining == 172_800)
        #expect(list.keys[0].remaining.map { (2_591_000...2_592_000).contains($0) } == true)
        for terms in [KeyTerms(lifetime: 0), KeyTerms(afterFirstPlay: -1), KeyTerms(lifetime: .max)] {
            let wrong = StoragePolicy(keys: terms)
            await #expect(throws: APIError.self) { _ = try await service.setPolicy(wrong, ofAsset: "aes") }
        }
    }

    @Test(arguments: [
        ("/assets/none/keys", #"{"action":"renew"}"#, HTTPStatus.notFound, "no-such-asset"),
        ("/assets/aes/keys", #"{"action":"renew","keys":[3]}"#, .notFound, "no-such-key"),
        ("/assets/aes/keys", #"{"action":"melt"}"#, .badRequest, "bad-request"),
        ("/assets/aes/keys", #"{"action":"renew","keys":[]}"#, .badRequest, "bad-request"),
        ("/assets/aes/keys", #"{"action":"renew","expires":5}"#, .badRequest, "bad-request"),
        ("/assets/aes/keys", #"{"action":"setExpiry","expires":-5}"#, .badRequest, "bad-request"),
        ("/keys", #"{"action":"renew"}"#, .badRequest, "bad-request"),
    ])
    func whatCannotBeDoneIsRefused(path: String, body: String, status: HTTPStatus, code: String) async throws {
        let response = await respond(.post, path, body)
        #expect(response.status == status)
        #expect(String(decoding: response.body, as: UTF8.self).contains("\"code\":\"\(code)\""))
        #expect(try list(await respond(.get, "/assets/aes/keys")).keys.allSatisfy { $0.state == .valid })
        #expect(await respond(.put, "/keys").allow == "GET, HEAD, POST")
        #expect(await respond(.put, "/assets/aes/keys").allow == "GET, HEAD, POST")
    }

    @Test func anOriginThatRefusesARenewalIsNamed() async throws {
        try await origin.add(OriginRule("*/0.key") { $0.status = 403 })
        let refused = await respond(.post, "/assets/aes/keys", #"{"action":"renew","keys":[0]}"#)
        let problem = try API.decode(API.Problem.self, from: refused.body)
        #expect(problem.code == .originRefused && problem.code.exitCode == 77)
        #expect(problem.detail.contains("key 0 of aes is not renewed") && problem.detail.contains("403"))
        let changed = KeyRouteTests.words("sixteen bytes it")
        try await origin.replaceRules(with: changed)
        let other = try API.decode(
            API.Problem.self,
            from: await respond(.post, "/assets/aes/keys", #"{"action":"renew","keys":[0]}"#).body)
        #expect(other.code == .otherContent && other.next == "save the new content beside it: weir get aes")
    }

    private static func words(_ body: String) -> OriginRule {
        OriginRule("*/0.key") { ($0.status, $0.body) = (200, body) }
    }

    @Test func anEventAsJSON() throws {
        let event = API.Event.keys(.init(asset: "aes", id: "aes-1", change: .expired, keys: [0, 2]))
        #expect(event.name == "keys")
        #expect(
            String(decoding: try event.data, as: UTF8.self)
                == #"{"asset":"aes","change":"expired","id":"aes-1","keys":[0,2]}"#)
        #expect(try API.Event(name: event.name, data: event.data) == event)
    }
}
