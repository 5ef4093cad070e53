internal import CPage
internal import HTTPMessage
internal import HTTPServer

/// The files of the page, compiled in. The two documents are templates; the files that they load contain no secret.
struct PageFiles {
    struct File {
        let bytes: [UInt8]
        let representation: Representation
    }

    private let files: [String: File]
    let page: PageTemplate
    /// The document for browsers without the key.
    let door: [UInt8]

    init() {
        var files: [String: File] = [:]
        var documents: [String: [UInt8]] = [:]
        for index in 0..<page_file_count() {
            let file = page_file_at(index)
            let path = String(cString: file.path)
            let bytes = Array(UnsafeBufferPointer(start: file.bytes, count: file.length))
            if path.hasPrefix("/") {
                files[path] = File(path, bytes)
            } else {
                documents[path] = bytes
            }
        }
        self.files = files
        page = PageTemplate(documents["page.html"] ?? [])
        door = documents["door.html"] ?? []
    }

    /// The file at a path; nil if there is none.
    subscript(path: String) -> File? { files[path] }
}

extension PageFiles.File {
    fileprivate init(_ path: String, _ bytes: [UInt8]) {
        self.bytes = bytes
        var representation = Representation(size: Int64(bytes.count), mediaType: MediaType(forPath: path))
        representation.entityTag = EntityTag(Self.digest(of: bytes))
        // A newer Weir has newer files under the same paths, so the browser revalidates each time.
        representation.fields.append(.cacheControl, literal: "no-cache")
        representation.fields.append(FieldName("X-Content-Type-Options"), literal: "nosniff")
        representation.fields.append(FieldName("Cross-Origin-Resource-Policy"), literal: "same-origin")
        self.representation = representation
    }

    /// 64-bit FNV-1a: distinguishes versions of one file. A collision gains an attacker nothing.
    private static func digest(of bytes: [UInt8]) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes {
            hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
        }
        return String(hash, radix: 36)
    }
}

/// A document with slots, `<!--weir:NAME-->`, which are filled for each request. Pure.
struct PageTemplate {
    enum Slot: String {
        /// The path below which a client of the network reaches Weir; empty for this machine.
        case mount
        /// The path of hls.js; empty where it is not installed.
        case player
    }

    private enum Part {
        case text([UInt8])
        case slot(Slot)
    }

    private let parts: [Part]

    /// Parses a document. A slot with an unknown name stays a comment.
    init(_ document: [UInt8]) {
        var parts: [Part] = []
        var rest = Substring(String(decoding: document, as: UTF8.self))
        while let begin = rest.firstRange(of: "<!--weir:"), let end = rest[begin.upperBound...].firstRange(of: "-->") {
            if let slot = Slot(rawValue: String(rest[begin.upperBound..<end.lowerBound])) {
                parts.append(.text(Array(rest[..<begin.lowerBound].utf8)))
                parts.append(.slot(slot))
            } else {
                parts.append(.text(Array(rest[..<end.upperBound].utf8)))
            }
            rest = rest[end.upperBound...]
        }
        parts.append(.text(Array(rest.utf8)))
        self.parts = parts
    }

    /// The document with its slots filled with HTML. A slot without a text stays empty.
    func filled(_ texts: [Slot: String]) -> [UInt8] {
        parts.flatMap { part -> [UInt8] in
            switch part {
            case .text(let text): text
            case .slot(let slot): Array((texts[slot] ?? "").utf8)
            }
        }
    }
}
