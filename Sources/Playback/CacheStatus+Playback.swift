import EventLoop
import Fetching
import HTTPMessage
import HTTPServer
import Library

/// Builds the Cache-Status field of replies (RFC 9211).
extension CacheStatus {
    /// Maps a fetch to the status that a new request for it gets.
    @LoopActor static func of(_ fetch: Fetch) -> CacheStatus {
        switch fetch.approach {
        case .begun: .forwarded(.uriMiss, isStored: fetch.isKept)
        case .resumed: .forwarded(.partial, isStored: fetch.isKept)
        case .joined: .forwarded(.uriMiss, isStored: fetch.isKept, isCollapsed: true)
        case .arrived: .hit
        }
    }

    /// Returns the status of a request that the origin did not answer with the resource.
    func refused(_ error: LibraryError) -> CacheStatus {
        var status = self
        status.isStored = false
        status.forwardStatus = error.originStatus.map { HTTPStatus($0) }
        return status
    }

    /// Status of a playlist reply.
    ///
    /// - Parameters:
    ///   - isKnown: true if a version of the playlist was known before.
    ///   - isStored: true if the known version is sent without asking the origin.
    static func playlist(isKnown: Bool, isStored: Bool) -> CacheStatus {
        isStored ? .hit : .forwarded(isKnown ? .stale : .uriMiss, isStored: true)
    }

    /// A head that holds only this field.
    var head: ResponseHead {
        var head = ResponseHead(.ok)
        head.append(self)
        return head
    }
}

extension Exchange {
    /// Answers with a sentence for a person and a Cache-Status field.
    func refuse(_ status: HTTPStatus, _ sentence: String, _ cacheStatus: CacheStatus) {
        var head = ResponseHead(status)
        head.append(.text)
        head.append(cacheStatus)
        reply(head, .bytes([UInt8]("\(sentence)\n".utf8)))
    }
}
