import HTTPMessage

/// Why an object store refuses: the status, and the code and sentence of its XML.
struct BucketRefusal {
    private let status: Int
    private let code: String
    private let sentence: String
    private let region: String?

    /// Reads an answer; what is no XML of S3's, as that to HEAD, which has none, says nothing more.
    init(status: Int, _ body: [UInt8]) {
        let error = XMLElement(body).flatMap { $0.name == "Error" ? $0 : nil }
        self.status = status
        code = error?.child("Code")?.text ?? ""
        sentence = error?.child("Message")?.text ?? ""
        region = error?.child("Region")?.text
    }

    /// The error for a user, about `what`; none of `secrets` is in it, whatever the server says.
    func error(_ what: String, hiding secrets: [String]) -> LibraryError {
        var reason = code.isEmpty ? "status \(status)" : "\(code), \(status)"
        if !sentence.isEmpty, sentence.utf8.count <= 300 { reason += ": \(sentence)" }
        if secrets.contains(where: reason.contains) { reason = "status \(status)" }
        let other = region.map { ", which is in the region \($0)" } ?? ""
        return LibraryError(kind, "\(what)\(other) (\(reason))")
    }

    private var kind: LibraryError.Code {
        switch (status, code) {
        case (_, "XAmzContentSHA256Mismatch"), (_, "BadDigest"): .notWhole
        case (401, _), (403, _), (_, "ExpiredToken"), (_, "InvalidToken"): .originRefused
        case (_, "NoSuchBucket"), (_, "AuthorizationHeaderMalformed"), (_, "InvalidBucketName"), (300..<400, _):
            .badTarget
        default: .badOrigin
        }
    }
}
