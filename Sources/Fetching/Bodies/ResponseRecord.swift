import HTTPMessage
import Origin

/// The facts about a resource's bytes that the origin's latest response states. Pure.
struct ResponseRecord {
    /// The complete length of the resource; nil until it is known.
    private(set) var length: Int64?
    /// Allows the next request to continue behind the bytes that are there.
    private(set) var validator: StrongValidator?
    /// The URL that gave the validator, after redirects.
    private(set) var validatorURL: WebURL?
    /// The origin's times; nil without a time at which it was sent.
    private(set) var times: Fetch.OriginTimes?
    /// The length of the file of which the resource is a range; nil if it is not stated.
    private(set) var fileLength: Int64?
    /// The address that answered.
    private(set) var address: String?
    /// How the end of the body shows.
    private(set) var end = BodyEnd.mark
    /// The length that the response stated.
    private(set) var statedLength: Int64?
    /// True if the body was sent in chunks.
    private(set) var isChunked = false
    /// True if the response states that it is whole and has no bytes.
    private(set) var isStatedEmpty = false
    /// True if the length that an earlier response stated turned out to be wrong.
    private(set) var isRestated = false

    /// A response has begun.
    mutating func receive(_ head: OriginHead, for resource: Resource) {
        isRestated = head.length == nil && length != nil
        length = resource.exactLength ?? head.length
        validator = head.validator
        validatorURL = head.url
        times = Fetch.OriginTimes(head)
        fileLength = nil
        if resource.range != nil {
            fileLength = head.completeLength
        }
        address = head.address
        end = head.end
        statedLength = head.statedLength
        isChunked = head[.transferEncoding] != nil
        isStatedEmpty = head.status == 200 && head.length == 0
    }

    /// Takes over another fetch's response, which has the same bytes.
    mutating func adopt(_ other: ResponseRecord, for resource: Resource) {
        self = other
        length = resource.exactLength ?? other.length
    }

    /// The bytes are there, or in a URL, and need no response.
    mutating func receiveKnown(length: Int64) {
        self.length = length
        end = .mark
    }

    /// The body has ended by its length, and not by the mark of its framing.
    mutating func recordUnmarkedEnd() {
        if end == .mark {
            end = .length
        }
    }

    /// All bytes have arrived.
    mutating func complete(length: Int64) { self.length = length }

    /// The bytes are requested again, because they seem to end too early.
    /// - Parameter isContinued: true if the request is for what follows them.
    mutating func beginRepetition(isContinued: Bool) {
        if !isContinued {
            validator = nil
        }
        length = nil
    }

    /// The next request is for another URL. Two origins, and two files of one, may have one validator for different bytes, so these
    /// are compared instead.
    mutating func move(from url: WebURL, to next: WebURL) {
        if next.origin != url.origin || next.path != url.path {
            validator = nil
        }
    }
}
