public import EventLoop
public import Library

/// The services of this room over one library.
@LoopActor public struct ExchangeServices {
    /// Moves bundles between volumes.
    public let mover: Mover
    /// Writes assets to folders and files.
    public let exporter: Exporter
    /// Makes assets of folders.
    public let importer: Importer
    /// Publishes assets to web servers and object stores.
    public let publications: Publications
    /// Adopts bundles that the catalogue does not know.
    public let orphans: OrphanBundles

    /// Makes the services with the register with which `library` was made.
    public init(_ library: Library, moves: MoveRegister) {
        mover = Mover(library, moves)
        exporter = Exporter(library, mover)
        importer = Importer(library)
        publications = Publications(library)
        orphans = OrphanBundles(library, importer)
    }
}
