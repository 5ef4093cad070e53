import Control
import EventLoop
import HTTPServer
import Orders
import TestSupport
import Testing
import WeirAPI

@testable import weir

/// Commands that follow a job of a scripted daemon.
@Suite struct JobFollowerTests {
    private let folder: TemporaryFolder
    private var state: String { folder.path("state") }

    init() throws { folder = try TemporaryFolder() }

    private var follower: JobFollower<MoveText> {
        JobFollower(client: APIClient(state: StateDirectory(state)), style: .plain, state: nil)
    }

    private func move(_ state: JobState?) -> API.Move { API.Move(asset: "film", state: state) }

    @Test func aJobIsPolledUntilItsEnd() async throws {
        let daemon = try await MovingDaemon(state, states: [.running, .running, .running, .complete])
        #expect(await follower.run("film", API.MoveRequest(path: "/volume")) == .success(move(.complete)))
        #expect(await daemon.calls == ["begin /volume", "look", "look", "look"])
        await daemon.stop()
    }

    @Test func aRefusedJobIsNotFollowed() async throws {
        let daemon = try await MovingDaemon(state, states: [])
        let result = await follower.run("film", API.MoveRequest())
        guard case .failure(let failure) = result else { return #expect(Bool(false), "\(result)") }
        #expect(failure.exitCode == 75 && failure.message == "film stays where it is")
        #expect(await daemon.calls == ["begin home"])
        await daemon.stop()
        let none = await JobFollower<MoveText>(
            client: APIClient(state: StateDirectory(folder.path("none"))), style: .plain, state: nil
        ).run("film", API.MoveRequest())
        guard case .failure(let failure) = none else { return #expect(Bool(false), "\(none)") }
        #expect(failure.exitCode == 69)
    }

    @Test(arguments: [JobState.cancelled, nil, .complete, .failed])
    func anInterruptionCancelsTheJobAndShowsItsResult(end: JobState?) async throws {
        let daemon = try await MovingDaemon(state, states: [.running], afterCancel: [.running, .running, end])
        let task = Task { [follower] in await follower.run("film", API.MoveRequest(path: "/volume")) }
        try await waitUntil("a question") { await daemon.calls.contains("look") }
        task.cancel()
        let result = await task.value
        switch end {
        case .complete, .failed: #expect(result == .success(move(end)))
        default:
            let message = "interrupted: film was not moved"
            let next = "repeat the command"
            #expect(result == .failure(CommandFailure(message, next: next, exitCode: 130, code: "interrupted")))
        }
        // The command waits for the end of the job.
        let calls = await daemon.calls
        #expect(calls.count { $0 == "cancel" } == 1 && calls.suffix(3) == ["cancel", "look", "look"], "\(calls)")
        await daemon.stop()
    }

    @Test func aJobUnknownAfterARestartHasFailed() {
        let failures = [
            VerificationText.failure(API.Verification(asset: "film", state: nil)), MoveText.failure(move(nil)),
            PublicationText.failure(API.Publication(asset: "film", state: nil)),
        ]
        for failure in failures {
            #expect(failure?.exitCode == 1 && failure?.code == "cancelled")
        }
    }

    @Test func progressAndResultAsJSON() {
        var move = move(.running)
        move.bytes = 1
        move.totalBytes = 4
        #expect(MoveText.progress(move) == #"{"v":1,"t":"progress","id":"film","bytes":1,"totalBytes":4}"#)
        var verification = API.Verification(asset: "film", state: .running)
        verification.isRepairing = true
        verification.bytes = 4
        verification.totalBytes = 4
        #expect(
            VerificationText.progress(verification)
                == #"{"v":1,"t":"progress","id":"film","state":"running","isRepairing":true,"bytes":4,"totalBytes":4}"#)
        var publication = API.Publication(asset: "film", state: .running)
        publication.files = 2
        publication.totalFiles = 3
        publication.bytes = 5
        publication.totalBytes = 9
        #expect(
            PublicationText.progress(publication)
                == #"{"v":1,"t":"progress","id":"film","files":2,"totalFiles":3,"bytes":5,"totalBytes":9}"#)
        let end = #""move":{"asset":"film","bytes":1,"state":"running","totalBytes":4}"#
        #expect(MoveText.result(move, nil) == #"{"v":1,"t":"result","id":"film",\#(end),"exit":0}"#)
        let failure = CommandFailure("no", exitCode: 75, code: "busy")
        #expect(
            MoveText.result(nil, failure)
                == #"{"v":1,"t":"result","error":{"code":"busy","message":"no"},"exit":75}"#)
    }

    @Test func aPublicationWithoutAFileCountShowsNoBar() {
        var publication = API.Publication(asset: "film", state: .running)
        #expect(
            PublicationText.drawn(publication, columns: 80, hasColor: false) == "film  listing the target")
        publication.bytes = 1
        publication.totalBytes = 2
        #expect(PublicationText.drawn(publication, columns: 80, hasColor: false).hasPrefix("film   50%"))
    }
}

/// A daemon with one asset, whose move goes through given states. Without states it refuses the move.
@LoopActor private final class MovingDaemon {
    private(set) var calls: [String] = []
    private var states: [JobState?]
    private let afterCancel: [JobState?]
    private var server: WebServer?
    private let claim: StateClaim

    /// - Parameters:
    ///   - states: one for each request; the last one repeats.
    ///   - afterCancel: the states after a cancellation.
    init(_ state: String, states: [JobState?], afterCancel: [JobState?] = []) throws {
        self.states = states
        self.afterCancel = afterCancel
        claim = try StateDirectory(state).claim()
        let routes = ControlRoutes(handlers, token: claim.token)
        let server = WebServer { _ = routes.handle($0) }
        let port = try server.listen(host: "127.0.0.1", port: 0)
        try claim.publish(url: "http://127.0.0.1:\(port)")
        self.server = server
    }

    func stop() async {
        await server?.stop(within: .seconds(2))
        server = nil
    }

    private var handlers: EndpointHandlers {
        var handlers = EndpointHandlers()
        handlers.on(Endpoints.move.begin) { call, request throws(APIError) in
            self.calls.append("begin \(request.path ?? "home")")
            guard !self.states.isEmpty else { throw APIError(.busy, "\(call.item) stays where it is") }
            return self.next(call.item)
        }
        handlers.on(Endpoints.move.look) { call in
            self.calls.append("look")
            return self.next(call.item)
        }
        handlers.on(Endpoints.move.cancel) { call in
            self.calls.append("cancel")
            self.states = self.afterCancel
            return self.next(call.item)
        }
        return handlers
    }

    private func next(_ name: String) -> API.Move {
        API.Move(asset: name, state: states.count > 1 ? states.removeFirst() : states[0])
    }
}
