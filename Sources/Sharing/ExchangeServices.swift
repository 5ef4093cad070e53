// The room Sharing.
//
// Duty: import, export, publication and moves of assets; adoption of orphan bundles.
// Entrance: `ExchangeServices`, with one service each.
// Does not enter: the command line and the API. A file from outside is read only through `PlaylistFolder` and
//     `ImportSource`.

package import Assets
package import EventLoop

/// The services of this room over one library.
@LoopActor package struct ExchangeServices {
    package let mover: Mover
    package let exporter: Exporter
    package let posters: Posters
    package let importer: Importer
    package let publications: Publications
    package let orphans: OrphanBundles

    /// Makes the services with the register with which `library` was made.
    package init(_ library: Library, moves: MoveRegister) {
        mover = Mover(library, moves)
        exporter = Exporter(library, mover)
        posters = Posters(library)
        importer = Importer(library)
        publications = Publications(library)
        orphans = OrphanBundles(library, importer)
    }
}
