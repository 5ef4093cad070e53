public import EventLoop
public import HTTPMessage
import Store

/// The keys of an asset: each distinct URL once, with a number that names its file for ever.
@LoopActor public final class KeyRing {
    /// Where the keys lie.
    public let folder: PieceFolder
    private var urls: [WebURL] = []
    private var numbers: [WebURL: Int] = [:]

    init(in bundle: Bundle) { folder = PieceFolder(id: "keys", in: bundle) }

    /// Takes back what an earlier process numbered, in order.
    func restore(_ url: WebURL) { _ = number(for: url) }

    /// The key's number; a new one if the URL is new.
    public func number(for url: WebURL) -> Int {
        if let number = numbers[url] { return number }
        numbers[url] = urls.count
        urls.append(url)
        return urls.count - 1
    }

    /// The key with this number, if there is one.
    public func resource(_ number: Int) -> Resource? {
        guard urls.indices.contains(number) else { return nil }
        return Resource(name: Self.name(number), url: urls[number], range: nil)
    }

    /// The file's name of the key with this number.
    static func name(_ number: Int) -> PieceName { PieceName(.key(number), fileExtension: "key") }

    /// All keys, for the catalogue.
    func records(of asset: String) -> [KeyRecord] {
        urls.enumerated().map { KeyRecord(asset: asset, number: $0, url: $1.text) }
    }
}
