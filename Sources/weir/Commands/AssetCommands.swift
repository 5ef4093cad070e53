import ArgumentParser
import WeirAPI

struct RemoveCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Delete assets from the store, and channel lists.",
        discussion: """
            An asset that is only an entry of the streams file loses that entry; the file's comments stay. A channel of a list is hidden, \
            and stays hidden when the list is read again. A channel list goes with its channels, and the assets of those stay.
            """, aliases: ["rm"])

    @Argument(
        help: ArgumentHelp("The names of assets, channels and channel lists.", valueName: "name"),
        completion: .assetNames)
    var names: [String]
    @Flag(name: .shortAndLong, help: "Do not ask for confirmation.")
    var yes = false
    @Flag(help: "Return only when nothing of them is left in the log files either, which takes a minute otherwise.")
    var wait = false
    @OptionGroup var common: CommonOptions

    func execute() async throws {
        let client = try common.daemon().client
        let query = wait ? "?wait=1" : ""
        for name in names {
            let item = try await RemovableItem(named: name, in: client)
            guard try yes || Self.agrees(item, of: names) else {
                throw CommandFailure("\(name) was not removed", exitCode: 1, code: "declined")
            }
            let removal = try await client.call(Endpoints.removeAsset, name, query: query)
            Output.line(item.words(for: removal))
            if let folder = removal.remainingFolder {
                Output.error("weir: its files are on an absent disk: \(folder) is deleted when the disk is back\n")
            }
        }
    }

    private static func agrees(_ item: RemovableItem, of names: [String]) throws(CommandFailure) -> Bool {
        guard Terminal.canAsk else {
            let all = names.map(CommandFailure.quoted).joined(separator: " ")
            throw CommandFailure(
                "\(item.name) was not removed: nobody can confirm it here", next: "weir remove \(all) --yes",
                exitCode: 64,
                code: "usage")
        }
        if case .asset(let asset) = item, let volume = asset.volume, !volume.isPresent {
            Output.error(
                "\(asset.name) is stored in \(volume.path), which is absent: its files there are deleted when it is back\n"
            )
        }
        Output.error("\(item.question)? [y/N] ")
        let answer = readLine()?.lowercased() ?? ""
        return answer == "y" || answer == "yes"
    }
}

/// Something that `weir remove` removes.
enum RemovableItem {
    case asset(API.Asset)
    /// An entry of the streams file of which nothing is stored.
    case entry(name: String)
    /// A channel of a list of which nothing is stored.
    case channel(name: String, list: String)
    case list(API.ChannelList)

    /// Finds an asset, a channel or a channel list. Throws `.noSuchAsset` if there is none.
    init(named name: String, in client: APIClient) async throws(APIError) {
        let asset: API.Asset
        do throws(APIError) {
            asset = try await client.call(Endpoints.asset, name)
        } catch {
            guard error.code == .noSuchAsset,
                let list = try await client.channelLists().first(where: { $0.name == name })
            else { throw error }
            self = .list(list)
            return
        }
        guard asset.isKnownOnly == true else {
            self = .asset(asset)
            return
        }
        if let list = asset.list {
            self = .channel(name: asset.name, list: list)
        } else {
            self = .entry(name: asset.name)
        }
    }

    var name: String {
        switch self {
        case .asset(let asset): asset.name
        case .entry(let name), .channel(let name, _): name
        case .list(let list): list.name
        }
    }

    /// The question whether to remove it, without its mark.
    var question: String {
        switch self {
        case .asset(let asset): "remove \(asset.name), \(Format.bytes(asset.bytes))"
        case .entry(let name): "remove \(name) from the streams file"
        case .channel(let name, let list): "hide \(name), a channel of the list \(list)"
        case .list(let list): "remove the channel list \(list.name), \(Format.count(list.channels, "channel"))"
        }
    }

    /// The sentence about its removal.
    func words(for removal: API.Removal) -> String {
        switch self {
        case .asset:
            "removed \(removal.name), \(Format.bytes(removal.bytes))" + Self.held(removal) + Self.hidden(removal)
        case .entry: "removed \(removal.name) from the streams file"
        case .channel(_, let list): "\(removal.name) is hidden: the list \(list) shows it no more"
        case .list: "removed the channel list \(removal.name); assets of its channels stay"
        }
    }

    /// The part of the space that is not free yet.
    private static func held(_ removal: API.Removal) -> String {
        guard let bytes = removal.heldBytes else { return "" }
        return "; \(Format.bytes(bytes)) of it stay in use until the players that read them continue or end"
    }

    private static func hidden(_ removal: API.Removal) -> String {
        guard let list = removal.list else { return "" }
        return "; the list \(list) shows it no more"
    }
}

struct SetCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Change the title, description, image, or way to the origin of an asset.",
        discussion: """
            An empty value removes: --title '' --description '' --artwork '' --header ''. Header fields that are given replace all \
            that the asset has.
            """)

    @Argument(help: "The asset's name.", completion: .assetNames)
    var name: String?
    @Option(help: "The title for lists.")
    var title: String?
    @Option(help: "The description for \"weir show\" and the page.")
    var description: String?
    @Option(help: ArgumentHelp("An image for lists: JPEG, PNG or WebP, at most 4 MB.", valueName: "file|url"))
    var artwork: String?
    @OptionGroup(title: OriginOptions.title) var origin: OriginOptions
    @OptionGroup var common: CommonOptions

    private var words: [String] { [name].compactMap(\.self) }

    func validate() throws {
        try origin.check(words)
        if title == nil, description == nil, artwork == nil, !origin.areGiven {
            throw ValidationError(
                "Give a --title, a --description, an --artwork, a --header, or another option for the way to the origin."
            )
        }
    }

    func execute() async throws {
        let client = try common.daemon().client
        // An empty text names no file: it removes the image.
        var image: [UInt8]?
        if artwork != "" {
            image = try ArtworkFile.bytes(artwork)
        }

        var change = API.AssetChange(title: title)
        change.note = description
        if image == nil {
            change.artwork = artwork
        }

        let name = try await origin.change(ofAsset: words, in: client)
        var asset: API.Asset?
        if change != API.AssetChange() {
            asset = try await client.call(Endpoints.changeAsset, name, body: change)
        }
        if let image {
            asset = try await client.call(Endpoints.setArtwork, name, body: image)
        }
        Output.line([asset?.name ?? name, asset?.title, asset?.note].compactMap(\.self).joined(separator: "  "))
    }
}

struct RenameCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "rename", abstract: "Change the name or the title of an asset.",
        discussion: "/<new>.m3u8 plays at once. Running sessions continue; the folder on disk keeps its name.")

    @Argument(help: ArgumentHelp("The asset's name.", valueName: "name"), completion: .assetNames)
    var name: String
    @Argument(help: ArgumentHelp("The new name: lower-case letters, digits and single dashes.", valueName: "new"))
    var new: String?
    @Option(help: "The title for lists; an empty title removes it.")
    var title: String?
    @OptionGroup var common: CommonOptions

    func validate() throws {
        if new == nil, title == nil {
            throw ValidationError("Give a new name or a --title.")
        }
    }

    func execute() async throws {
        let daemon = try common.daemon()
        let asset = try await daemon.client.call(
            Endpoints.changeAsset, name, body: API.AssetChange(name: new, title: title))
        Output.line(
            [asset.name, asset.title, daemon.urls.asset(named: asset.name)].compactMap(\.self).joined(separator: "  "))
    }
}
