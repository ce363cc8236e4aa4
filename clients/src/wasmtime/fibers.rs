//! Calls on stacks of their own: all that there shall be at once wait in the host, then go on.

use super::engines::Side;
use clients::Answer;
use clients::wasm::worked;
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

/// A call of the host that is not ready when it is asked first.
pub async fn wait() {
    let mut asked = false;
    std::future::poll_fn(
        |_| if std::mem::replace(&mut asked, true) { Poll::Ready(()) } else { Poll::Pending },
    )
    .await;
}

async fn call(side: &Side, seed: i64) -> Answer<i64> {
    let mut store = side.store();
    let instance = side.waiting.instantiate_async(&mut store).await?;
    let work = instance.get_typed_func::<i64, i64>(&mut store, "work")?;
    Ok(work.call_async(&mut store, seed).await?)
}

/// Makes `count` instances at once, each of which waits on its stack before it works.
pub fn at_once(side: &Side, count: usize) -> Answer<()> {
    let mut context = Context::from_waker(Waker::noop());
    let mut calls: Vec<Pin<Box<dyn Future<Output = Answer<i64>> + '_>>> = Vec::new();
    for seed in 0..count {
        let mut call: Pin<Box<dyn Future<Output = _>>> = Box::pin(call(side, seed as i64));
        if call.as_mut().poll(&mut context).is_ready() {
            return Err("a call did not wait".into());
        }
        calls.push(call);
    }
    for (seed, call) in calls.into_iter().enumerate() {
        match pin!(call).poll(&mut context) {
            Poll::Ready(sum) if sum.as_ref().is_ok_and(|&sum| sum == worked(seed as i64)) => {}
            other => return Err(format!("call {seed}: {other:?}").into()),
        }
    }
    Ok(())
}
