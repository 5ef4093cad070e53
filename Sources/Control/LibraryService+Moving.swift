import Downloader
import EventLoop
import Exchange
import Library
import Store

extension LibraryService {
    /// The moving of assets to other disks; begins with `.busy` and `.cannotWrite`.
    public var moves: any JobService<API.Move> { AssetJobs(self, start: move, look: move, stop: cancelMove) }

    private func move(_ asset: Asset, _ request: API.MoveRequest) throws(ControlError) {
        do throws(ExchangeError) {
            if let job = downloader.verifier.job(of: asset), !job.state.isFinal {
                guard downloader.verifier.giveWay(job) else {
                    throw ExchangeError(.busy, "\(asset.name) stays where it is for now: it is being verified")
                }
            }
            _ = try exchange.mover.move(asset, to: request.path)
        } catch {
            throw ControlError(error, asset: asset.name)
        }
    }

    private func move(of asset: Asset) -> API.Move {
        exchange.mover.move(of: asset).map(API.Move.init) ?? API.Move(asset: asset.name, state: .none)
    }

    private func cancelMove(of asset: Asset) { exchange.mover.move(of: asset)?.cancel() }
}

extension API.Move {
    @LoopActor init(_ move: Move) {
        self.init(asset: move.asset.name, state: .init(move.state))
        (path, bytes, totalBytes) = (move.path, Int(move.pace.bytes), Int(move.totalBytes))
        leftOut = move.leftOut > 0 ? move.leftOut : nil
        error = move.failure.map {
            let error = ControlError($0, asset: move.asset.name)
            return .init(code: error.code, message: error.message)
        }
    }
}
