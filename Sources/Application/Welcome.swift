import EventLoop
import HTTPMessage
import HTTPServer

/// The response at an unknown path.
@LoopActor enum Welcome {
    static func answer(_ exchange: Exchange) {
        guard exchange.head.method == .get || exchange.head.method == .head else {
            return exchange.reply(.methodNotAllowed, "Only GET and HEAD are of use here.")
        }
        exchange.reply(.notFound, "There is nothing here. \"weir list\" shows what there is to play.")
    }
}
