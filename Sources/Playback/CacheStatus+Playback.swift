import EventLoop
import Fetching
import HTTPMessage
import HTTPServer
import Library

/// How a reply came about, as Cache-Status says it (RFC 9211).
extension CacheStatus {
    /// What a fetch is to who asks for it now.
    @LoopActor static func of(_ fetch: Fetch) -> CacheStatus {
        switch fetch.approach {
        case .begun: .forwarded(.uriMiss, isStored: fetch.isKept)
        case .resumed: .forwarded(.partial, isStored: fetch.isKept)
        case .joined: .forwarded(.uriMiss, isStored: fetch.isKept, isCollapsed: true)
        case .passed: .hit
        }
    }

    /// The same where the origin did not give what was asked for.
    func refused(_ error: LibraryError) -> CacheStatus {
        var status = self
        status.isStored = false
        status.forwardStatus = error.originStatus.map { HTTPStatus($0) }
        return status
    }

    /// A playlist's: from what is known, or asked for anew.
    ///
    /// - Parameters:
    ///   - isKnown: whether one was known before.
    ///   - isStored: whether it is the one that is known, which the origin is not asked about.
    static func playlist(isKnown: Bool, isStored: Bool) -> CacheStatus {
        isStored ? .hit : .forwarded(isKnown ? .stale : .uriMiss, isStored: true)
    }

    /// The field by itself.
    var head: ResponseHead {
        var head = ResponseHead(.ok)
        head.append(self)
        return head
    }
}

extension Exchange {
    /// Answers with a sentence for a person, and how it came about.
    func refuse(_ status: HTTPStatus, _ sentence: String, _ cacheStatus: CacheStatus) {
        var head = ResponseHead(status)
        head.append(.text)
        head.append(cacheStatus)
        reply(head, .bytes([UInt8]("\(sentence)\n".utf8)))
    }
}
