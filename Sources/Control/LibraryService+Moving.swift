public import API
import Downloader
import EventLoop
import Library
import Store

extension LibraryService {
    /// The moving of assets to other disks; begins with `.busy` and `.cannotWrite`.
    public var moves: any JobService<API.Move> { AssetJobs(self, start: move, look: move, stop: cancelMove) }

    private func move(_ asset: Asset, _ request: API.MoveRequest) throws(APIError) {
        do throws(LibraryError) {
            if let job = downloader.verifier.job(of: asset), !job.state.isFinal {
                guard downloader.verifier.giveWay(job) else {
                    throw LibraryError(.busy, "\(asset.name) stays where it is for now: it is being verified")
                }
            }
            _ = try library.move(asset, to: request.path)
        } catch {
            throw APIError(error, asset: asset.name)
        }
    }

    private func move(of asset: Asset) -> API.Move {
        library.move(of: asset).map(API.Move.init) ?? API.Move(asset: asset.name, state: .none)
    }

    private func cancelMove(of asset: Asset) { library.move(of: asset).map(library.cancel) }
}

extension API.Move {
    @LoopActor init(_ move: Move) {
        self.init(asset: move.asset.name, state: .init(move.state))
        (path, bytes, totalBytes) = (move.path, Int(move.pace.bytes), Int(move.totalBytes))
        leftOut = move.leftOut > 0 ? move.leftOut : nil
        error = move.failure.map {
            let error = APIError($0, asset: move.asset.name)
            return .init(code: error.code, message: error.message)
        }
    }
}
