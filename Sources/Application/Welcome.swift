import EventLoop
import HTTPMessage
import HTTPServer

/// What a browser sees at `/`, and everybody where there is nothing.
@LoopActor enum Welcome {
    static func answer(_ exchange: Exchange) {
        guard exchange.head.method == .get || exchange.head.method == .head else {
            return exchange.reply(.methodNotAllowed, "Only GET and HEAD are of use here.")
        }
        guard exchange.head.path == "/" else {
            return exchange.reply(.notFound, "There is nothing here. \"weir list\" shows what there is to play.")
        }
        exchange.reply(
            .ok, "Weir is running. Put any HLS URL behind this address: mpv \(address(exchange))/https://host/path.m3u8"
        )
    }

    private static func address(_ exchange: Exchange) -> String {
        "http://" + String(decoding: exchange.head.hostBytes, as: UTF8.self)
    }
}
