package import Assets
package import Downloads
package import EventLoop
import Glibc
package import HTTPMessage
package import Origin
import WeirAPI

/// Sends events to a URL of the user, by POST as JSON: one after the other, in their order. A failed request is repeated, each
/// time after a longer pause; then its event is dropped, and so are the oldest events if too many wait.
@LoopActor package final class Webhook {
    /// Limits that tests change.
    package struct Configuration: Sendable {
        /// The pauses before the repetitions of a failed request.
        package var pauses: [Duration] = [1, 2, 4, 8, 16, 30].map { .seconds($0) }
        /// The time limit of one request.
        package var limit = Duration.seconds(10)
        /// The most events that wait.
        package var most = 100

        package init() {}
    }

    private let receiver: WebhookReceiver
    private let events: Set<WebhookEvent>
    private let configuration: Configuration
    private let client: OriginClient
    private let report: @Sendable (String) -> Void
    private var waiting: [[UInt8]] = []
    private var sending: Task<Void, Never>?
    private var dropped = 0
    private var subscriptions: [Subscription] = []

    /// - Parameter report: receives sentences for the log about events that could not be sent.
    package init(
        _ receiver: WebhookReceiver, events: Set<WebhookEvent>, client: OriginClient,
        configuration: Configuration = Configuration(),
        report: @escaping @Sendable (String) -> Void
    ) {
        self.receiver = receiver
        self.events = events
        self.client = client
        self.configuration = configuration
        self.report = report
    }

    /// Sends the events of downloads and of the library from now on.
    package func follow(_ downloader: Downloader, _ library: Library) {
        subscriptions = [
            downloader.changes.subscribe { [weak self] change in
                self?.send(WebhookMessage.message(change.event, of: change.download, at: Self.now))
            },
            library.events.subscribe { [weak self] event in self?.send(WebhookMessage.message(event, at: Self.now)) },
        ]
    }

    /// Ends all work. Events that wait are dropped.
    package func stop() {
        subscriptions = []
        sending?.cancel()
        waiting = []
    }

    private static var now: Int { time(nil) }

    private func send(_ message: @autoclosure () -> WebhookMessage?) {
        guard let message = message(), let event = WebhookEvent(rawValue: message.event), events.contains(event),
            let body = try? API.encode(message)
        else { return }
        if waiting.count == configuration.most {
            waiting.removeFirst()
            dropped += 1
        }
        waiting.append(body)
        if sending == nil {
            sending = Task { @LoopActor [weak self] in await self?.sendAll() }
        }
    }

    private func sendAll() async {
        while !waiting.isEmpty, !Task.isCancelled {
            let body = waiting.removeFirst()
            let failure = await deliver(body)
            if Task.isCancelled {
                break
            }
            if let failure {
                report("the webhook did not get an event: \(failure)")
            }
            if dropped > 0 {
                report("the webhook did not get \(dropped) older events: too many wait")
            }
            dropped = 0
        }
        sending = nil
    }

    /// Returns the reason why the event could not be sent; nil if it was.
    private func deliver(_ body: [UInt8]) async -> String? {
        var failure = ""
        for pause in configuration.pauses + [.zero] {
            switch await Self.post(body, to: receiver, by: client, within: configuration.limit) {
            case .accepted: return nil
            case .refused(let reason): return reason
            case .failed(let reason): failure = reason
            }
            guard pause > .zero, (try? await LoopActor.pause(for: pause)) != nil else { break }
        }
        return failure
    }

    /// The status with which a receiver answers a HEAD, which is no event. Any status shows that it is there.
    package static func answer(
        of receiver: WebhookReceiver, by configuration: OriginClient.Configuration
    ) async -> Swift.Result<Int, OriginError> {
        let client = OriginClient(configuration: configuration)
        defer { client.stop() }
        var request = receiver.request
        request.method = .head
        do throws(OriginError) {
            return .success(try await client.fetch(request).0.status)
        } catch {
            return .failure(error)
        }
    }

    /// The result of one request.
    package enum Result: Sendable {
        case accepted
        /// The receiver does not take the event; a repetition is useless.
        case refused(String)
        case failed(String)
    }

    /// Sends one request. Follows no redirect: the body is for this URL.
    package static func post(
        _ body: [UInt8], to receiver: WebhookReceiver, by client: OriginClient, within limit: Duration
    ) async -> Result {
        var request = receiver.request
        request.method = .post
        request.body = body
        request.fields = ["Content-Type: application/json", "Accept: */*"].compactMap { FieldLine($0.utf8) }
        request.deadline = limit
        do throws(OriginError) {
            let head = try await client.fetch(request).0
            switch head.status {
            case 200..<300: return .accepted
            case 408, 425, 429, 500...: return .failed("\(receiver.url) answered \(head.status)")
            default: return .refused("\(receiver.url) answered \(head.status)")
            }
        } catch {
            return .failed("\(error)")
        }
    }
}

/// The user's program that is sent events.
package struct WebhookReceiver: Equatable, Sendable {
    package let url: WebURL
    /// The credentials in the user's URL, as a field; a secret.
    private let authorization: FieldLine?

    /// Reads a URL such as `http://USER:PASSWORD@HOST/PATH`; nil for another scheme than http and https.
    package init?(_ text: String) {
        let split = UserInformation(splitting: text)
        guard let url = try? WebURL(split.url), !url.needsHandler else { return nil }
        self.url = url
        authorization = split.field
    }

    /// A request without method and body. The host may be private, because the user names it.
    fileprivate var request: OriginRequest {
        var request = OriginRequest(url)
        request.namedPeer = OriginRequest.Peer(of: url)
        if let authorization {
            request.credentials = OriginRequest.Credentials(origin: url.origin, fields: [authorization])
        }
        request.acceptsAnyStatus = true
        request.deadline = .seconds(10)
        request.retries = .never
        request.ignoresAbsence = true
        // The receiver's words are not needed.
        request.limit = 64 << 10
        return request
    }
}
