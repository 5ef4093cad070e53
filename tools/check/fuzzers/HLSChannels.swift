/// A channel list has channels with header fields that can be sent, and is written so that it reads as the same.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeBufferPointer(start: data, count: count))
    _ = (ChannelList.isMeant(by: bytes), ChannelList.isHLS(bytes))
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
    return 0
}
