//! A store in three layers: clients ask front-ends, which ask the back-ends that have the data; answers go the same way back.

use raddle::actor::{Actor, Address, Context, Stage};

/// The messages to a client.
#[derive(Clone, Debug, Hash)]
pub enum ToClient {
    /// Somebody wants this looked up.
    Look(u32),
    /// Here is what was looked up.
    Answer(u32),
}

/// What a front-end hears.
#[derive(Clone, Debug, Hash)]
pub enum ToFrontEnd {
    /// A client's request.
    Look(u32, Address<ToClient>),
    /// What a back-end has found.
    Found(u32, Address<ToClient>),
}

/// What a back-end hears.
#[derive(Clone, Debug, Hash)]
pub struct Fetch {
    request: u32,
    client: Address<ToClient>,
    front_end: Address<ToFrontEnd>,
}

/// Passes requests on to its front-end.
#[derive(Clone, Debug, Hash)]
pub struct Client {
    front_end: Address<ToFrontEnd>,
    /// Requests that were answered.
    pub answers: Vec<u32>,
}

impl Actor for Client {
    type Msg = ToClient;

    fn handle(&mut self, msg: ToClient, ctx: &mut Context<'_, ToClient>) {
        match msg {
            ToClient::Look(request) => {
                let me = ctx.me();
                ctx.send(&self.front_end, ToFrontEnd::Look(request, me));
            }
            ToClient::Answer(request) => self.answers.push(request),
        }
    }
}

/// Knows which back-end has what.
#[derive(Clone, Debug, Hash)]
pub struct FrontEnd {
    back_ends: Vec<Address<Fetch>>,
    requests: u32,
}

impl Actor for FrontEnd {
    type Msg = ToFrontEnd;

    fn handle(&mut self, msg: ToFrontEnd, ctx: &mut Context<'_, ToFrontEnd>) {
        match msg {
            ToFrontEnd::Look(request, client) => {
                let shard = request as usize * self.back_ends.len() / self.requests as usize;
                let front_end = ctx.me();
                ctx.send(&self.back_ends[shard], Fetch { request, client, front_end });
            }
            ToFrontEnd::Found(request, client) => ctx.send(&client, ToClient::Answer(request)),
        }
    }
}

/// Has the data.
#[derive(Clone, Debug, Default, Hash)]
pub struct BackEnd;

impl Actor for BackEnd {
    type Msg = Fetch;

    fn handle(&mut self, Fetch { request, client, front_end }: Fetch, ctx: &mut Context<'_, Fetch>) {
        ctx.send(&front_end, ToFrontEnd::Found(request, client));
    }
}

/// So many of each; request r is made by client r mod clients and kept by the back-end of its share of the data.
pub fn set_up(stage: &mut impl Stage, front_ends: u32, back_ends: u32, clients: u32, requests: u32) {
    let back_ends: Vec<_> = (0..back_ends).map(|_| stage.spawn(BackEnd)).collect();
    let front_ends: Vec<_> =
        (0..front_ends).map(|_| stage.spawn(FrontEnd { back_ends: back_ends.clone(), requests })).collect();
    let clients: Vec<_> = (0..clients as usize)
        .map(|client| {
            let front_end = front_ends[client % front_ends.len()].clone();
            stage.spawn(Client { front_end, answers: Vec::new() })
        })
        .collect();
    for request in 0..requests {
        stage.send(&clients[request as usize % clients.len()], ToClient::Look(request));
    }
}
