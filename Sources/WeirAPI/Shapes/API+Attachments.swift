package import Orders
package import SafeText

extension API {
    /// The body of `POST /api/v1/assets/<name>/tracks`: a file that becomes a track of the asset.
    package struct AttachRequest: Codable, Equatable, Sendable {
        /// The absolute path of the file on the daemon's machine.
        package var path: String
        /// Absent for the kind that the file's name and content show.
        package var kind: AttachmentKind?
        /// An RFC 5646 tag; subtitles need one.
        package var language: String?
        /// For display; absent for the language's name.
        package var title: String?
        /// True for subtitles that translate only what the sound does not say.
        package var isForced: Bool?
        /// True for subtitles that players show unasked.
        package var isDefault: Bool?
        /// Columns and rows of a picture with many images: `10x10`.
        package var tiles: String?
        /// The time of one image of such a picture, in seconds; absent to spread the images over the film.
        package var interval: Seconds?

        package init(path: String) { self.path = path }
    }

    /// A track that was attached to an asset.
    package struct Attachment: Codable, Equatable, Sendable {
        /// The asset's name.
        package var asset: String
        /// The name of its folder in the bundle, by which it is detached.
        package var id: String
        /// The kind of track: subtitles, chapters, artwork and others.
        package var kind: AttachmentKind
        /// For display.
        package var name: String
        /// An RFC 5646 tag.
        package var language: String?
        /// The number of cues, chapters or images.
        package var count: Int
        /// The encoding of the file, if it was not UTF-8 and had no mark of its encoding; absent otherwise.
        package var assumedEncoding: String?

        package init(asset: String, id: String, kind: AttachmentKind, name: String, count: Int) {
            self.asset = asset
            self.id = id
            self.kind = kind
            self.name = name
            self.count = count
        }
    }

    /// The response of `DELETE /api/v1/assets/<name>/tracks/<id>`.
    package struct Detachment: Codable, Equatable, Sendable {
        /// The asset's name.
        package var asset: String
        /// The name of the folder that it had in the bundle.
        package var id: String
        /// The bytes that it occupied.
        package var bytes: Int

        package init(asset: String, id: String, bytes: Int) {
            self.asset = asset
            self.id = id
            self.bytes = bytes
        }
    }
}
