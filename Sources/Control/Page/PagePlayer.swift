internal import Foundation
internal import HTTPMessage
internal import HTTPServer

/// hls.js, by which the page plays in browsers that do not play HLS themselves. A file of the machine, which is never fetched.
package struct PagePlayer: Sendable {
    /// The path of the file on the page.
    static let route = "/page/hls.js"
    /// In bytes.
    private static let limit = 8 << 20

    private let file: String

    /// - Parameter file: the user's; nil for the first of the usual folders.
    /// - Returns: nil if hls.js is not installed.
    package init?(_ file: String?, environment: [String: String]) {
        var files = Self.usualFiles(environment)
        if let file {
            files = [file]
        }
        guard let found = files.first(where: { FileManager.default.isReadableFile(atPath: $0) }) else { return nil }
        self.file = found
    }

    private static func usualFiles(_ environment: [String: String]) -> [String] {
        let home = environment["HOME"].map { "\($0)/.local/share" }
        let data = [environment["XDG_DATA_HOME"], home].compactMap(\.self)
        let own = (data + ["/usr/local/share", "/usr/share"]).map { "\($0)/weir/hls.mjs" }
        let modules = ["/usr/local/lib/node_modules", "/usr/lib/node_modules", "/usr/share/nodejs"]
        return own + modules.map { "\($0)/hls.js/dist/hls.mjs" } + ["/usr/share/javascript/hls.js/hls.min.js"]
    }

    /// The file as it is now; nil if it cannot be read, or is too long.
    func contents() -> (representation: Representation, bytes: [UInt8])? {
        guard let handle = FileHandle(forReadingAtPath: file), let data = try? handle.read(upToCount: Self.limit + 1),
            data.count <= Self.limit
        else { return nil }
        var representation = Representation(size: Int64(data.count), mediaType: MediaType(forPath: Self.route))
        representation.fields.append(.cacheControl, literal: "no-cache")
        representation.fields.append(FieldName("Cross-Origin-Resource-Policy"), literal: "same-origin")
        return (representation, [UInt8](data))
    }
}
