public import EventLoop
public import Fetching
import Glibc
import HLS
public import HTTPMessage
public import Orders
public import Store

/// The keys of an asset: each distinct URL once, with a permanent number that names its file. A key is stored only
/// after its number is in the catalogue: a crash could give the number, and so the file, to another key.
@LoopActor public final class KeyRing {
    /// The folder of the keys.
    public var folder: PieceFolder {
        if let knownFolder {
            return knownFolder
        }
        let made = PieceFolder(id: "keys", in: bundle)
        knownFolder = made
        return made
    }
    /// Nil until it is needed: an asset that nobody uses has none.
    private var knownFolder: PieceFolder?
    private let bundle: Bundle
    private var urls: [Int: WebURL] = [:]
    private var numbers: [WebURL: Int] = [:]
    private var next = 0
    /// The keys whose numbers are not in the catalogue yet.
    private var unsaved: Set<Int> = []
    /// The lifetimes of keys, by number; only of keys with known dates or limits.
    package var lives: [Int: KeyLife] = [:]
    /// Keys whose lifetimes are about to be written to the catalogue.
    var unwritten: Set<Int> = []
    package internal(set) var terms = KeyTerms()
    weak var asset: Asset?
    /// Seconds since 1970, by the library's clock once the asset is registered.
    private var now: Int64 { asset?.library?.date() ?? Int64(time(nil)) }
    /// Caches the unusable keys, and the time until which the result is valid; nil before the first check.
    private var known: (unusable: Set<Int>, until: Int64)?
    /// The keys whose lifetimes have changed since `known` was computed. Each key that arrives has one, and all keys are not
    /// looked at again for it.
    private var changed: Set<Int> = []
    /// Increases when the set of usable keys changes.
    package private(set) var usabilityChanges = 0

    init(in bundle: Bundle) { self.bundle = bundle }

    /// Frees the folder of an asset without stored pieces, which nobody uses.
    func forgetFolder() { knownFolder = nil }

    /// The URI of a key in a recorded playlist.
    package nonisolated static func uri(of number: Int) -> String { "../keys/\(number).key" }

    /// The number of a key in a URI of a recorded playlist; nil if the URI names no key.
    nonisolated static func number(ofURI uri: String) -> Int? {
        guard uri.hasPrefix("../keys/"), case .key(let number)? = PieceName(String(uri.dropFirst(8)))?.role else {
            return nil
        }
        return number
    }

    /// True if no playlist names a key.
    public var isEmpty: Bool { urls.isEmpty }
    /// True if no playlist has ever named a key.
    var isUnused: Bool { isEmpty && next == 0 && lives.isEmpty && unwritten.isEmpty }
    /// The numbers of the keys, ascending: in the order of their first use.
    public var allNumbers: [Int] { urls.keys.sorted() }

    func restore(_ url: WebURL, number: Int, _ life: KeyLife = KeyLife()) {
        numbers[url] = number
        urls[number] = url
        if life != KeyLife() {
            lives[number] = life
        }
        known = nil
        unsaved.remove(number)
        next = max(next, number + 1)
    }

    /// Numbers a key, unless its URL has a number.
    @discardableResult package func add(_ url: WebURL) -> Int {
        if let number = numbers[url] {
            return number
        }
        numbers[url] = next
        urls[next] = url
        unsaved.insert(next)
        next += 1
        return next - 1
    }

    /// Changes the URL from which a key is fetched. The catalogue continues to identify it by its first URL; a key that
    /// is not in the catalogue yet is written with the new one.
    func move(_ number: Int, to url: WebURL) {
        urls[number] = url
        if unsaved.contains(number), numbers[url] == nil {
            numbers[url] = number
        }
    }

    /// Changes the URL that identifies a key, in the catalogue too: see `records`.
    func reidentify(_ number: Int, by url: WebURL) { (urls[number], numbers[url]) = (url, number) }
    /// The key's number; nil if no playlist has named the key.
    public func number(for url: WebURL) -> Int? { numbers[url] }

    /// The key with this number, if there is one.
    public func resource(_ number: Int) -> Resource? {
        urls[number].map { Resource(name: Self.name(number), url: $0, range: nil) }
    }

    /// The file name of the key with this number.
    package nonisolated static func name(_ number: Int) -> PieceName { PieceName(.key(number), fileExtension: "key") }

    // MARK: The catalogue

    func isSaved(_ number: Int) -> Bool { urls[number] != nil && !unsaved.contains(number) }

    func unsaved(of asset: String) -> [KeyRecord] { records(of: asset, unsaved.sorted()) }

    /// Records of these keys in their present state.
    package func records(of asset: String, _ numbers: some Sequence<Int>) -> [KeyRecord] {
        numbers.compactMap { number in
            urls[number].map { KeyRecord(asset: asset, number: number, url: $0.text, life(of: number)) }
        }
    }

    /// Records of the keys that are not in the catalogue yet, and of these keys at their new URLs.
    func records(of asset: String, movedTo moved: [Int: WebURL]) -> [KeyRecord] {
        unsaved(of: asset).filter { moved[$0.number] == nil }
            + moved.map { KeyRecord(asset: asset, number: $0.key, url: $0.value.text, life(of: $0.key)) }
    }

    func markSaved(_ records: [KeyRecord]) { unsaved.subtract(records.map(\.number)) }

    // MARK: Lifetimes

    /// The lifetime of a key.
    public func life(of number: Int) -> KeyLife { lives[number] ?? KeyLife() }
    /// Says if a key is usable, expired or revoked, regardless of its file.
    public func state(of number: Int) -> KeyState { life(of: number).state(by: terms, at: now) }
    /// True if a key is neither expired nor revoked.
    public func isUsable(_ number: Int) -> Bool { !unusable.contains(number) }
    /// True if a key's file is stored, even if the key may not be used.
    package func hasFile(_ number: Int) -> Bool { folder.contains(Self.name(number).description) }
    /// True if a key is stored and usable.
    public func has(_ number: Int) -> Bool { isUsable(number) && hasFile(number) }

    /// The expired and revoked keys, regardless of their files.
    public var unusable: Set<Int> {
        let now = now
        let numbers = numbersToCheck(at: now)
        if let known, numbers.isEmpty {
            return known.unusable
        }
        let before = known?.unusable
        var unusable: Set<Int> = []
        var until = Int64.max
        if let known, now < known.until {
            unusable = known.unusable
            until = known.until
        }
        // A key that has expired stays expired, even if the clock is set back.
        let news = numbers.filter { lives[$0]?.expire(by: terms, at: now) ?? false }
        for number in numbers {
            let life = life(of: number)
            if life.state(by: terms, at: now) == .valid {
                unusable.remove(number)
                until = min(until, life.expiration(by: terms) ?? .max)
            } else {
                unusable.insert(number)
            }
        }
        known = (unusable, until)
        changed = []
        if before.map({ $0 != unusable }) ?? !unusable.isEmpty {
            usabilityChanges += 1
        }
        if let asset, !news.isEmpty {
            asset.library?.keys.handleExpiry(of: news, of: asset)
        }
        return unusable
    }

    /// The keys whose lifetimes are to be looked at, ascending: all of them at first and once one may have expired.
    func numbersToCheck(at now: Int64) -> [Int] {
        guard let known, now < known.until else { return lives.keys.sorted() }
        return changed.sorted()
    }

    /// True if all keys are usable, and have no time limit.
    package var areLasting: Bool { unusable.isEmpty && known?.until == .max }

    /// Increases with each change of the stored or usable keys.
    package var changes: Int {
        _ = unusable
        return folder.changes &+ usabilityChanges
    }

    /// Changes the lifetime of a key.
    package func change(_ number: Int, _ change: (inout KeyLife) -> Void) {
        var life = life(of: number)
        if life.expiration(by: terms) != nil {
            // It may be the first of all keys to expire.
            known = nil
        }
        change(&life)
        if life == KeyLife() {
            lives[number] = nil
        } else {
            lives[number] = life
        }
        changed.insert(number)
        usabilityChanges = usabilityChanges + 1
    }

    /// Makes the next query check all lifetimes again.
    package func reconsider() {
        known = nil
        usabilityChanges = usabilityChanges + 1
    }

    /// Adopts new limits; `change` must then update each affected key.
    func adopt(_ terms: KeyTerms) {
        guard terms != self.terms else { return }
        self.terms = terms
        known = nil
        usabilityChanges = usabilityChanges + 1
    }

    /// True if any of its keys has a date or limit besides its arrival.
    var isLimited: Bool {
        if terms != KeyTerms() {
            return true
        }
        return lives.values.contains { $0.expires != nil || $0.expiredAt != nil || $0.revoked != nil }
    }

    /// The digest of a stored key, and the date of its file, in seconds since 1970.
    func read(_ number: Int) -> (digest: Digest, date: Int64)? {
        let file = Self.name(number).description
        guard let descriptor = folder.open(file) else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, let digest = try? Digest(of: descriptor, path: file) else { return nil }
        return (digest, Int64(status.st_mtim.tv_sec))
    }
}

extension Key {
    /// The URL to fetch the key from; nil if it cannot be fetched. That of a `data:` URI contains the key, so that it becomes a
    /// file as any other: most players read no `data:` URIs.
    func url(base: WebURL) -> WebURL? {
        guard isFetchable else { return nil }
        if let data {
            return .inline(data)
        }
        return try? base.resolving(uri)
    }
}
