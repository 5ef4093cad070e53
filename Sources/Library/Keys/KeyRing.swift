public import EventLoop
public import Fetching
import Glibc
public import HTTPMessage
public import Store

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

    /// What becomes of the keys in time, by number: of those alone of which there is anything to say.
    package var lives: [Int: KeyLife] = [:]
    /// Those whose lives the catalogue is to have in a moment.
    var unwritten: Set<Int> = []
    /// How long they are used.
    var terms = KeyTerms()
    /// The time of day, in seconds since 1970.
    var date: () -> Int64 = { Int64(time(nil)) }
    /// The asset.
    weak var observer: (any KeyRingObserver)?
    /// Those that may not be used, at the time up to which that holds; nil before it was looked at.
    private var known: (unusable: Set<Int>, until: Int64)?
    /// Grows whenever other keys may be used than before.
    private(set) var turns = 0

    init(in bundle: Bundle) { folder = PieceFolder(id: "keys", in: bundle) }

    /// Whether no playlist names any.
    public var isEmpty: Bool { urls.isEmpty }

    /// Their numbers, in the order in which they were met.
    public var allNumbers: [Int] { urls.keys.sorted() }

    /// Takes back what an earlier process numbered.
    func restore(_ url: WebURL, number: Int, _ life: KeyLife = KeyLife()) {
        (numbers[url], urls[number]) = (number, url)
        if life != KeyLife() { lives[number] = life }
        known = nil
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
    package static func name(_ number: Int) -> PieceName { PieceName(.key(number), fileExtension: "key") }

    // MARK: The catalogue

    /// Whether the number stands in the catalogue.
    func isSaved(_ number: Int) -> Bool { saved.contains(number) }

    /// What the catalogue does not have yet.
    func unsaved(of asset: String) -> [KeyRecord] {
        urls.filter { !saved.contains($0.key) }.sorted { $0.key < $1.key }
            .map { KeyRecord(asset: asset, number: $0.key, url: $0.value.text, life(of: $0.key)) }
    }

    /// These keys as they are now.
    package func records(of asset: String, _ numbers: some Sequence<Int>) -> [KeyRecord] {
        numbers.compactMap { number in
            urls[number].map { KeyRecord(asset: asset, number: number, url: $0.text, life(of: number)) }
        }
    }

    /// What the catalogue does not have yet, and these keys at their new URLs.
    func records(of asset: String, movedTo moved: [Int: WebURL]) -> [KeyRecord] {
        unsaved(of: asset).filter { moved[$0.number] == nil }
            + moved.map { KeyRecord(asset: asset, number: $0.key, url: $0.value.text, life(of: $0.key)) }
    }

    /// These are in the catalogue now.
    func markSaved(_ records: [KeyRecord]) { saved.formUnion(records.map(\.number)) }

    // MARK: Time

    /// What becomes of a key.
    public func life(of number: Int) -> KeyLife { lives[number] ?? KeyLife() }

    /// Whether a key may be used, wherever its file is.
    public func state(of number: Int) -> KeyLife.State { life(of: number).state(by: terms, at: date()) }

    /// Whether a key may be used: neither has its time come, nor was it invalidated.
    public func isUsable(_ number: Int) -> Bool { !unusable.contains(number) }

    /// Whether a key's file is there, and it may be used.
    public func has(_ number: Int) -> Bool {
        isUsable(number) && folder.contains(Self.name(number).description)
    }

    /// Those that may not be used, whether or not their files are there.
    public var unusable: Set<Int> {
        let now = date()
        if let known, now < known.until { return known.unusable }
        let before = known?.unusable
        // What is noted does not come back with a clock that is set back.
        let news = lives.keys.filter { lives[$0]?.expire(by: terms, at: now) ?? false }.sorted()
        var (unusable, until): (Set<Int>, Int64) = ([], .max)
        for (number, life) in lives {
            if life.state(by: terms, at: now) == .valid {
                until = min(until, life.expiration(by: terms) ?? .max)
            } else {
                unusable.insert(number)
            }
        }
        known = (unusable, until)
        if before.map({ $0 != unusable }) ?? !unusable.isEmpty { turns += 1 }
        if !news.isEmpty { observer?.keyRing(self, expired: news) }
        return unusable
    }

    /// Whether all of them may be used, for as long as nobody says otherwise.
    var areLasting: Bool { unusable.isEmpty && known?.until == .max }

    /// Grows with each change of what is there, or may be used.
    var changes: Int {
        _ = unusable
        return folder.changes &+ turns
    }

    /// Changes what becomes of a key.
    package func change(_ number: Int, _ change: (inout KeyLife) -> Void) {
        var life = life(of: number)
        change(&life)
        lives[number] = life == KeyLife() ? nil : life
        (known, turns) = (nil, turns + 1)
    }

    /// What becomes of them is looked at anew.
    package func reconsider() { (known, turns) = (nil, turns + 1) }

    /// Takes other terms for granted: what they change of each key is told by `change`.
    func adopt(_ terms: KeyTerms) {
        guard terms != self.terms else { return }
        (self.terms, known, turns) = (terms, nil, turns + 1)
    }
}

/// Hears of keys that have expired.
@LoopActor protocol KeyRingObserver: AnyObject {
    /// The keys with these numbers have expired. Called once for each key.
    func keyRing(_ keys: KeyRing, expired numbers: [Int])
}
