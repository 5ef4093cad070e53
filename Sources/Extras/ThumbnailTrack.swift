import HLS
package import HTTPMessage
package import SegmentFormat

/// Thumbnails for a seek bar: pictures, each with one image or a grid of them, and the time of each image. Pure.
package struct ThumbnailTrack: Equatable, Sendable {
    /// A rectangle in pixels.
    struct Area: Equatable, Sendable {
        let x, y, width, height: Int

        /// Parses a media fragment (W3C Media Fragments URI 1.0 §4.2.2): `xywh=0,0,160,90`, in pixels.
        init?(_ fragment: Substring) {
            guard fragment.hasPrefix("xywh=") else { return nil }
            var value = fragment.dropFirst("xywh=".count)
            if value.hasPrefix("pixel:") {
                value = value.dropFirst("pixel:".count)
            }
            let numbers = value.split(separator: ",").compactMap { Int($0) }
            guard numbers.count == 4, numbers.allSatisfy({ (0...65_535).contains($0) }), numbers[2] > 0, numbers[3] > 0
            else { return nil }
            x = numbers[0]
            y = numbers[1]
            width = numbers[2]
            height = numbers[3]
        }

        init(x: Int, y: Int, width: Int, height: Int) {
            self.x = x
            self.y = y
            self.width = width
            self.height = height
        }
    }

    /// One image.
    struct Image: Equatable, Sendable {
        /// In milliseconds.
        let start, end: Int
        /// Index of its picture.
        let picture: Int
        /// Its part of the picture; nil for all of it.
        let area: Area?
    }

    /// The pictures by the names that the file gives them, in the order of their first use.
    package let names: [String]
    let images: [Image]
    /// The number of images.
    package var count: Int { images.count }

    /// Reads a WebVTT file whose cues name pictures: `sheet.jpg#xywh=0,0,160,90`. The names are relative to the file.
    package init(_ file: CueFile) throws(SubtitleError) {
        var names: [String] = []
        var images: [Image] = []
        var pictures: [Substring: Int] = [:]
        for (index, cue) in file.cues.enumerated() {
            let parts = (cue.lines.first ?? "").split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = parts.first, Self.isName(name) else {
                throw SubtitleError(
                    "cue \(index + 1) names no picture beside the file: \"\(cue.lines.first?.prefix(60) ?? "")\"")
            }
            var area: Area?
            if parts.count > 1 {
                area = Area(parts[1])
                guard area != nil else {
                    throw SubtitleError(
                        "cue \(index + 1) has \"#\(parts[1].prefix(60))\", which is not like #xywh=0,0,160,90")
                }
            }
            let picture = pictures[name] ?? names.count
            if picture == names.count {
                names.append(String(name))
                pictures[name] = picture
            }
            images.append(Image(start: cue.start, end: cue.end, picture: picture, area: area))
        }
        self.names = names
        self.images = images
    }

    /// The shortest time of an image, in seconds.
    package static let leastInterval = 0.001

    /// Makes a track of one picture with a grid of images, from left to right and from top to bottom.
    /// - Parameters:
    ///   - size: of the picture, in pixels.
    ///   - interval: the time of one image, in seconds: at least `leastInterval`.
    ///   - length: of the film, in seconds; later images are not used.
    package init(
        sheet name: String, size: (width: Int, height: Int), grid: (columns: Int, rows: Int), interval: Double,
        length: Double
    ) {
        names = [name]
        let width = size.width / grid.columns
        let height = size.height / grid.rows
        // Numbers with which nothing below can trap.
        let interval = max(MediaDuration(seconds: interval).seconds, Self.leastInterval)
        let length = MediaDuration(seconds: length).seconds
        let count = max(1, min(grid.columns * grid.rows, Int((length / interval).rounded(.up))))
        images = (0..<count).map { number in
            var end = Double(number + 1) * interval
            if number + 1 == count {
                // The last image is shown until the film ends.
                end = max(length, Double(number) * interval)
            }
            return Image(
                start: Int(Double(number) * interval * 1000), end: Int(end * 1000), picture: 0,
                area: Area(
                    x: number % grid.columns * width, y: number / grid.columns * height, width: width, height: height))
        }
    }

    /// True if the text of a cue looks like the name of a picture.
    package static func isPicture(_ text: String) -> Bool {
        let path = text.prefix { $0 != "#" && $0 != "?" }.lowercased()
        return [".jpg", ".jpeg", ".png", ".webp"].contains { path.hasSuffix($0) } && !path.contains(" ")
    }

    /// Files of other folders are not read.
    private static func isName(_ text: Substring) -> Bool {
        !text.isEmpty && !text.hasPrefix(".") && !text.utf8.contains { $0 < 0x20 || $0 == 0x2F || $0 == 0x5C }
            && isPicture(String(text))
    }

    /// The WebVTT file with other names for the pictures.
    package func webVTT(naming: (Int) -> String) -> [UInt8] {
        var lines = ["WEBVTT"]
        for image in images {
            var picture = naming(image.picture)
            if let area = image.area {
                picture += "#xywh=\(area.x),\(area.y),\(area.width),\(area.height)"
            }
            lines += ["", "\(CueTimes.text(image.start)) --> \(CueTimes.text(image.end))", picture]
        }
        return Array((lines.joined(separator: "\n") + "\n").utf8)
    }

    /// A regular grid: every image has one size and one duration, and they follow each other without a gap.
    package struct Grid: Equatable, Sendable {
        package let width, height, columns, rows: Int
        /// In milliseconds.
        package let duration: Int
    }

    /// The grid of the pictures; nil if they have none, so that EXT-X-TILES cannot describe them.
    package var grid: Grid? {
        guard let first = images.first, let area = first.area else { return nil }
        let duration = first.end - first.start
        guard duration > 0 else { return nil }
        let (columns, rows) = (
            (images.compactMap(\.area).map(\.x).max() ?? 0) / area.width + 1,
            (images.compactMap(\.area).map(\.y).max() ?? 0) / area.height + 1
        )
        let perPicture = columns * rows
        for (index, image) in images.enumerated() {
            let number = index % perPicture
            let wanted = Area(
                x: number % columns * area.width, y: number / columns * area.height, width: area.width,
                height: area.height)
            guard image.area == wanted, image.picture == index / perPicture, abs(image.start - index * duration) <= 1,
                index + 1 == images.count || abs(image.end - image.start - duration) <= 1
            else { return nil }
        }
        return Grid(width: area.width, height: area.height, columns: columns, rows: rows, duration: duration)
    }

    /// The media playlist of the pictures, with EXT-X-TILES if they have a grid.
    package func playlist(naming: (Int) -> String) -> [UInt8] {
        var spans = [Int](repeating: 0, count: names.count)
        for image in images {
            spans[image.picture] += max(0, image.end - image.start)
        }
        let longest = ((spans.max() ?? 0) + 999) / 1000
        var lines = [
            "#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-TARGETDURATION:\(max(1, longest))", "#EXT-X-MEDIA-SEQUENCE:0",
            "#EXT-X-PLAYLIST-TYPE:VOD", "#EXT-X-IMAGES-ONLY",
        ]
        let grid = grid
        for (index, span) in spans.enumerated() {
            if let grid {
                lines.append(
                    "#EXT-X-TILES:RESOLUTION=\(grid.width)x\(grid.height),LAYOUT=\(grid.columns)x\(grid.rows),"
                        + "DURATION=\(Double(grid.duration) / 1000)")
            }
            lines += ["#EXTINF:\(Double(span) / 1000),", naming(index)]
        }
        return Array((lines + ["#EXT-X-ENDLIST", ""]).joined(separator: "\n").utf8)
    }
}

/// The size of a picture in pixels, read from its head.
package enum PictureSize {
    /// Returns width and height; nil for a picture whose head has another form.
    package static func of(_ picture: Artwork) -> (width: Int, height: Int)? {
        let bytes = picture.bytes
        func number(_ offset: Int, _ count: Int) -> Int? {
            guard offset + count <= bytes.count else { return nil }
            return bytes[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) }
        }
        switch picture.kind {
        case .png:
            guard let width = number(16, 4), let height = number(20, 4) else { return nil }
            return (width, height)
        case .jpeg:
            var offset = 2
            while let marker = number(offset, 2), marker >= 0xFF01, let length = number(offset + 2, 2), length >= 2 {
                // A start of frame (ITU-T T.81 table B.1), but not a table of codes or of arithmetic.
                if (0xFFC0...0xFFCF).contains(marker), ![0xFFC4, 0xFFC8, 0xFFCC].contains(marker) {
                    guard let height = number(offset + 5, 2), let width = number(offset + 7, 2) else { return nil }
                    return (width, height)
                }
                offset += 2 + length
            }
            return nil
        case .webp:
            guard bytes.count > 30, bytes[12..<15].elementsEqual("VP8".utf8) else { return nil }
            func little(_ offset: Int, _ count: Int) -> Int {
                (0..<count).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) }
            }
            switch bytes[15] {
            case UInt8(ascii: "X"): return (little(24, 3) + 1, little(27, 3) + 1)
            case UInt8(ascii: "L"): return (little(21, 4) & 0x3FFF + 1, little(21, 4) >> 14 & 0x3FFF + 1)
            default: return (little(26, 2) & 0x3FFF, little(28, 2) & 0x3FFF)
            }
        }
    }
}
