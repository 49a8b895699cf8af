//! Where tiles are kept.

use raddle::actor::{Actor, Context, ReplyTo};

/// What the catalog hears: what is on a tile?
#[derive(Debug)]
pub struct Load {
    /// Map, row, and place in the row.
    pub tile: (u32, u32, u32),
    /// Who wants to know.
    pub reply: ReplyTo<u64>,
}

/// Has a number for each tile.
#[derive(Debug)]
pub struct Catalog;

impl Actor for Catalog {
    type Msg = Load;

    fn handle(&mut self, Load { tile: (map, row, tile), reply }: Load, _: &mut Context<'_, Load>) {
        reply.reply(u64::from(map * 10_000 + row * 100 + tile));
    }

    fn label(_: &Load) -> &'static str {
        "Load"
    }
}
