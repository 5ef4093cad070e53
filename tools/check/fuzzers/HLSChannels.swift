/// A channel list is told from a playlist, and read once more as a roster is the same roster. A channel list has channels with header fields that can be sent, and is written so that it reads as the same.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeBufferPointer(start: data, count: count))
    _ = (ChannelList.isMeant(by: bytes), ChannelList.isHLS(bytes))
    precondition(!ChannelList.isList(bytes) || !ChannelList.isHLS(bytes), "a list and a playlist")
    _ = ChannelList.replacingURLs(in: bytes) { $0 }
    let list = ChannelList(bytes)
    for channel in list.channels {
        precondition(!channel.url.isEmpty && channel.line > 0)
        for field in channel.fields {
            precondition(field.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }, "a field with line breaks")
            precondition(field.utf8.first != UInt8(ascii: ":") && field.utf8.first != UInt8(ascii: "@"))
        }
    }
    let text = list.text
    let again = ChannelList(Array(text.utf8))
    precondition(again.text == text, "a list that reads as another")
    checkRoster(of: list)
    return 0
}

/// Each channel has a name of its own, the same list changes nothing, and what is stored reads as the same.
private func checkRoster(of list: ChannelList) {
    var roster = ChannelRoster()
    func name(_ channel: ChannelList.Channel, _ taken: Set<String>) -> String { "channel-\(taken.count)" }
    roster.adopt(list, name: name)
    precondition(Set(roster.entries.map(\.name)).count == list.channels.count, "two channels of one name")
    let changes = roster.adopt(list, name: name)
    precondition(changes.added == 0 && changes.gone == 0, "a list that is not the same as itself")
    let text = roster.text(adding: [])
    let again = ChannelRoster(stored: ChannelList(Array(text.utf8)), without: [])
    precondition(again.text(adding: []) == text, "a roster that reads as another")
}
