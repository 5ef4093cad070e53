public import EventLoop
public import HTTPMessage
import Store

/// The keys of an asset: each distinct URL once, with a number that names its file for ever.
///
/// A key is kept only once its number stands in the catalogue: after a crash the number would go to another key, and
/// the file would be that one's.
@LoopActor public final class KeyRing {
    /// Where the keys lie.
    public let folder: PieceFolder
    private var urls: [Int: WebURL] = [:]
    private var numbers: [WebURL: Int] = [:]
    private var next = 0
    private var saved: Set<Int> = []

    init(in bundle: Bundle) { folder = PieceFolder(id: "keys", in: bundle) }

    /// Takes back what an earlier process numbered.
    func restore(_ url: WebURL, number: Int) {
        (numbers[url], urls[number]) = (number, url)
        saved.insert(number)
        next = max(next, number + 1)
    }

    /// Numbers a key, if it is new.
    @discardableResult func add(_ url: WebURL) -> Int {
        if let number = numbers[url] { return number }
        (numbers[url], urls[next]) = (next, url)
        next += 1
        return next - 1
    }

    /// Asks for a key elsewhere from now on. The catalogue goes on to know it by its first URL; a key that it does not
    /// have yet goes there with the new one.
    func move(_ number: Int, to url: WebURL) {
        urls[number] = url
        if !saved.contains(number), numbers[url] == nil { numbers[url] = number }
    }

    /// Knows a key by another URL from now on, in the catalogue too: see `records`.
    func settle(_ number: Int, at url: WebURL) { (urls[number], numbers[url]) = (url, number) }

    /// The key's number; nil for one that no playlist has named.
    public func number(for url: WebURL) -> Int? { numbers[url] }

    /// The key with this number, if there is one.
    public func resource(_ number: Int) -> Resource? {
        urls[number].map { Resource(name: Self.name(number), url: $0, range: nil) }
    }

    /// The file's name of the key with this number.
    static func name(_ number: Int) -> PieceName { PieceName(.key(number), fileExtension: "key") }

    // MARK: The catalogue

    /// Whether the number stands in the catalogue.
    func isSaved(_ number: Int) -> Bool { saved.contains(number) }

    /// What the catalogue does not have yet.
    func unsaved(of asset: String) -> [KeyRecord] {
        urls.filter { !saved.contains($0.key) }.sorted { $0.key < $1.key }
            .map { KeyRecord(asset: asset, number: $0.key, url: $0.value.text) }
    }

    /// What the catalogue does not have yet, and these keys at their new URLs.
    func records(of asset: String, movedTo moved: [Int: WebURL]) -> [KeyRecord] {
        unsaved(of: asset).filter { moved[$0.number] == nil }
            + moved.map { KeyRecord(asset: asset, number: $0.key, url: $0.value.text) }
    }

    /// These are in the catalogue now.
    func markSaved(_ records: [KeyRecord]) { saved.formUnion(records.map(\.number)) }
}
