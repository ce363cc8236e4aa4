//! The handle of a move that is begun and not ended.

use freehold::kva::PendingMove;

/// A move that is begun. fh_space_commit_move and fh_space_cancel_move, or those of the shared space, end and free it.
pub struct fh_move(pub(super) PendingMove);
