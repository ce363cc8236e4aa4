//! What the cases of the bench do on an engine.

use super::Bench;
use crate::workload::percpu::{Deletion, FIRST, Order, Size, StaleHint, Work, frees};
use freehold_trace::percpu::Op;

impl Bench {
    /// What comes before the rounds of a case.
    pub(super) fn prepare(&mut self, work: &Work) -> Result<(), String> {
        let objects = self.objects;
        match work {
            Work::Fill(size) => {
                self.fill_second_halves(size)?;
                self.run(None, &size.allocs(0..objects))?;
                self.look("full")?;
                self.run(None, &Order::Random.arrange(&frees(0..objects)))?;
                self.look("empty")
            }
            Work::Churn(churn) => self.run(None, &churn.first),
            Work::StaleHint(hint) => {
                let size = Size::new(4, 1);
                self.run(None, &size.allocs(0..hint.objects))?;
                let goes =
                    |&object: &u32| self.offset_bytes(object).is_some_and(|at| !StaleHint::keeps(object, at));
                let freed: Vec<u32> = (0..hint.objects).filter(goes).collect();
                self.run(None, &freed.iter().map(|&object| Op::Free { object }).collect::<Vec<_>>())?;
                self.look("free")?;
                let again = freed.iter().take(hint.refilled as usize).map(|&object| size.alloc(object));
                self.run(None, &again.collect::<Vec<_>>())?;
                self.look("alloc")
            }
            Work::MassFree(_) => Ok(()),
            Work::Deletion(deletion, balanced) => {
                let sized =
                    (0..deletion.groups * Deletion::IN_GROUP).zip(Deletion::GROUP_BYTES.iter().cycle());
                let made: Vec<Op> = sized.map(|(object, &bytes)| Size::new(bytes, 1).alloc(object)).collect();
                self.run(None, &made)?;
                if !balanced {
                    self.look("alloc")?;
                }
                let goes = (0..deletion.groups).filter(|group| !group.is_multiple_of(deletion.one_in));
                let groups = goes.map(|group| group * Deletion::IN_GROUP);
                let groups = groups.map(|first| frees(first..first + Deletion::IN_GROUP));
                if !balanced {
                    self.run(None, &groups.flatten().collect::<Vec<_>>())?;
                    return self.look("free");
                }
                for group in groups {
                    self.run(None, &group)?;
                    self.session.balance();
                }
                self.look("balance")
            }
        }
    }

    /// A round of a case.
    pub(super) fn round(&mut self, work: &Work, round: usize) -> Result<(), String> {
        let objects = self.objects;
        match work {
            Work::Fill(size) => {
                let (allocs, frees) = (size.allocs(0..objects), frees(0..objects));
                for order in Order::ALL {
                    self.run(Some(("alloc", None)), &allocs)?;
                    self.run(Some(("free", Some(order.name()))), &order.arrange(&frees))?;
                }
                Ok(())
            }
            Work::Churn(churn) => {
                let pairs = churn.pairs.chunks(2 * work.piece()).nth(round).unwrap_or_default();
                self.run(Some(("pair", None)), pairs)
            }
            Work::MassFree(size) => {
                self.run(None, &size.allocs(0..objects))?;
                let mixed = Order::Random.arrange(&frees(0..objects));
                let (freed, _) = mixed.split_at(mixed.len() / 2);
                self.run(Some(("free", None)), freed)?;
                // As many again, by the names that are free now.
                let again: Vec<Op> = freed.iter().map(|op| size.alloc(op.object())).collect();
                let (early, late) = again.split_at(FIRST.min(again.len()));
                self.each(early)?;
                self.run(Some(("all, each", None)), late)?;
                self.look("refilled")
            }
            Work::StaleHint(_) | Work::Deletion(..) => Ok(()),
        }
    }

    /// Fills units, and frees what is in their first halves.
    fn fill_second_halves(&mut self, size: &Size) -> Result<(), String> {
        let unit_bytes = self.config.unit_bytes;
        let fillers = self.objects..self.objects + size.fillers(self.objects, unit_bytes);
        self.run(None, &size.allocs(fillers.clone()))?;
        let mut freed = frees(fillers);
        freed.retain(|op| self.offset_bytes(op.object()) < Some(u64::from(unit_bytes / 2)));
        self.run(None, &freed)
    }
}
