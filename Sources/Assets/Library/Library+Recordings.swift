import EventLoop
import Fetching
import HLS
public import HTTPMessage
public import Origin
import Store

/// Recordings: assets of their own, which share the URL, the way to the origin and each request with their channel.
extension Library {
    /// The channel of a recording; nil if it was removed, and for an asset that is no recording.
    public func channel(of recording: Asset) -> Asset? {
        guard let id = recording.recordingOf else { return nil }
        // One that was removed may have come back under its URL.
        return asset(id: id) ?? asset(at: recording.origin)
    }

    /// The recordings of a channel, the oldest first.
    public func recordings(of channel: Asset) -> [Asset] {
        let all = assets.filter { $0.isChannelRecording && self.channel(of: $0) === channel }
        return all.sorted { ($0.created, $0.name) < ($1.created, $1.name) }
    }

    /// Returns the asset of a channel whose origin need not answer now; makes it if it is new.
    /// - Parameter isUsers: as for `open`.
    public func expect(
        _ url: WebURL, fields: UserFields = UserFields(), cookies: [StoredCookie] = [],
        route: OriginRoute = OriginRoute(), isUsers: Bool = true
    ) -> Asset {
        if let known = asset(at: url) {
            return known
        }
        let stream = stream(at: url)
        let name = freeName(of: stream) ?? AssetNaming.unique(AssetNaming.name(for: url), isTaken: isTaken)
        let own = fields.applied(to: stream?.fields ?? UserFields())
        let access = OriginAccess(
            to: url, with: own, namesPeer: isUsers || stream?.namesHost ?? false, route: self.route(route, to: stream))
        access.cookies.offer(cookies)
        let channel = Asset(
            id: AssetNaming.id(forName: name, isTaken: isTakenID), name: name, title: stream?.title, origin: url,
            access: access, created: date(), store: store)
        register(channel)
        return channel
    }

    /// Makes a recording of a channel, in which nothing is recorded yet. Asks the origin for nothing if its entry is known.
    /// - Throws: `nameTaken` if the name is invalid or taken, `store`, and the error of fetching the entry.
    public func makeRecording(
        of channel: Asset, name: String, title: String?
    ) async throws(LibraryError) -> Asset {
        try checkWritable("\(channel.name) cannot be recorded")
        try checkFree(name)
        reserved.insert(name)
        defer { reserved.remove(name) }
        await wake(channel)
        // The catalogue has no playlist of a channel that is one, and none of one that has never answered.
        if channel.content.entry == nil {
            try await playlists.loadMissingEntry(of: channel)
        }
        let recording = Asset(
            id: AssetNaming.id(forName: name, isTaken: isTakenID), name: name, title: title, origin: channel.origin,
            access: OriginAccess(withRightsOf: channel.access), created: date(), store: store)
        recording.recordingOf = channel.id
        if case .multivariant(let playlist, let base) = channel.content.entry {
            recording.adopt(playlist, base: base)
        } else {
            recording.content.adoptLone()
        }
        // The recordings name it.
        if !channel.isPersistent {
            await records.saveNew(channel)
        }
        try channel.checkNotRemoved()
        register(recording)
        sleeping.recordUse(of: recording)
        return recording
    }

    /// Connects the recordings of an earlier process with their channels. Those of an earlier Weir free their URLs, before another
    /// asset can have them.
    func separateRecordings(_ assets: [Asset], from records: [AssetRecord]) {
        let recordings = assets.filter(\.isChannelRecording)
        guard !recordings.isEmpty else { return }
        for recording in recordings {
            if let channel = channel(of: recording) {
                recording.access = OriginAccess(withRightsOf: channel.access)
            }
        }
        let separate = Set(records.filter { $0.recordingOf != nil }.map(\.id))
        let former = recordings.filter { !separate.contains($0.id) }
        guard !former.isEmpty, readOnlyReason == nil else { return }
        Task { @LoopActor in
            for recording in former where !recording.isRemoved {
                await self.records.save(recording)
            }
        }
    }

    // MARK: Sharing

    /// Returns a search for bytes of a resource that its asset lists under another name, or that the channel's players or other
    /// recordings have asked for; nil if nobody else can have them.
    func sharing(_ resource: Resource, in folder: PieceFolder, of asset: Asset) -> (() -> SharedBytes?)? {
        if asset.isChannelRecording {
            guard asset.isRecording else { return nil }
        } else {
            let isListedWhole = asset.rendition(folder.id)?.locations != nil
            let hasCopies = asset.loadedContent?.hasCopies(in: folder, asset.keys.folder) ?? false
            guard isListedWhole || hasCopies else { return nil }
        }
        return { [weak self, weak asset] in
            guard let self, let asset else { return nil }
            return self.repeated(resource, in: folder, of: asset) ?? self.shared(resource, in: folder, of: asset)
        }
    }

    private func shared(_ resource: Resource, in folder: PieceFolder, of asset: Asset) -> SharedBytes? {
        var channel: Asset? = asset
        if asset.isChannelRecording {
            channel = self.channel(of: asset)
        }
        guard let channel, channel.isLoaded else { return nil }
        if case .key = resource.name.role {
            return sharedKey(resource, in: folder, of: channel)
        }
        guard let own = asset.rendition(folder.id), let live = channel.content.rendition(folder.id) else { return nil }
        var number: Int? = resource.name.role.number
        if own !== live {
            number = own.recording?.channelNumber(of: resource.name)
        }
        if own !== live, let name = live.name(ofShared: resource, number: number),
            let bytes = bytes(named: name, of: resource, in: live)
        {
            return bytes
        }
        for (rendition, recording) in live.live?.copies ?? [] where rendition !== own {
            if let name = recording.name(ofShared: resource, channelNumber: number),
                let bytes = loader.bytes(of: resource.named(name), in: rendition.folder)
            {
                return bytes
            }
        }
        return nil
    }

    /// The bytes of a channel's piece, kept for its time shift or fetched by a player.
    private func bytes(named name: PieceName, of resource: Resource, in live: Rendition) -> SharedBytes? {
        if let kept = live.live?.timeShift?.bytes(named: name) {
            return kept
        }
        return loader.bytes(of: resource.named(name), in: live.folder)
    }

    private func sharedKey(_ resource: Resource, in folder: PieceFolder, of channel: Asset) -> SharedBytes? {
        for rendition in channel.content.renditions where channel.keys.folder !== folder {
            guard let number = channel.keys.number(for: resource.url), channel.keys.isUsable(number) else { break }
            if let bytes = rendition.live?.timeShift?.bytes(named: KeyRing.name(number)) {
                return bytes
            }
        }
        let copies = channel.content.renditions.compactMap(\.live).flatMap(\.copies)
        for keys in [channel.keys] + copies.map(\.rendition.keys) where keys.folder !== folder {
            guard let number = keys.number(for: resource.url), keys.isUsable(number) else { continue }
            if let bytes = loader.bytes(of: resource.named(KeyRing.name(number)), in: keys.folder) {
                return bytes
            }
        }
        return nil
    }
}

extension AssetContent {
    /// True if a recording may have resources of a folder.
    fileprivate func hasCopies(in folder: PieceFolder, _ keys: PieceFolder) -> Bool {
        guard folder === keys else { return rendition(folder.id)?.live?.hasCopies ?? false }
        for rendition in renditions where rendition.live?.hasCopies ?? false {
            return true
        }
        return false
    }
}

extension RenditionRecording {
    /// The number that a recorded segment of the present window has in the channel.
    fileprivate func channelNumber(of name: PieceName) -> Int? {
        guard case .segment(let number) = name.role, sharedNumbers.contains(number), let channelOffset else {
            return nil
        }
        return number - channelOffset
    }

    /// The name of a resource in the recording.
    /// - Parameter channelNumber: the number of the segment in the channel; nil for no segment of the present window.
    fileprivate func name(ofShared resource: Resource, channelNumber: Int?) -> PieceName? {
        switch resource.name.role {
        case .segment:
            guard let channelNumber, let channelOffset, sharedNumbers.contains(channelNumber + channelOffset) else {
                return nil
            }
            return PieceName(.segment(channelNumber + channelOffset), fileExtension: resource.name.fileExtension)
        case .initialization, .passing: return name(ofMapAt: resource.url, resource.range)
        case .key, .data: return nil
        }
    }
}

extension Rendition {
    /// The name of a resource in this rendition of the channel.
    fileprivate func name(ofShared resource: Resource, number: Int?) -> PieceName? {
        switch resource.name.role {
        case .segment: return number.map { PieceName(.segment($0), fileExtension: resource.name.fileExtension) }
        case .initialization:
            return live.map {
                PieceName(.passing($0.names.number(resource.url, resource.range)), fileExtension: "mp4")
            }
        case .key, .passing, .data: return nil
        }
    }
}

extension Resource {
    fileprivate func named(_ name: PieceName) -> Resource { Resource(name: name, url: url, range: range) }
}
