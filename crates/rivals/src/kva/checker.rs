//! Holding an engine's answers against what any allocator must do: every placement inside the layout and the
//! window, aligned, and free of other live objects.

use freehold_trace::kva::{Answer, Op};
use freehold_units::Span;
use std::collections::{BTreeMap, HashMap};

/// The live objects as the answers tell them.
#[derive(Clone, Debug)]
pub struct Checker {
    layout: Vec<Span>,
    /// First to last address of what is taken.
    taken: BTreeMap<u64, u64>,
    objects: HashMap<u32, Vec<Span>>,
}

impl Checker {
    /// Of an engine that has these spans. Nothing is live yet.
    pub fn of(layout: &[Span]) -> Self {
        let mut layout = layout.to_vec();
        layout.sort_unstable();
        let mut merged: Vec<Span> = Vec::new();
        for span in layout {
            match merged.last_mut() {
                Some(last) if last.touches(span) => {
                    *last = Span::new(last.first(), span.last()).unwrap_or(*last)
                }
                _ => merged.push(span),
            }
        }
        Self { layout: merged, taken: BTreeMap::new(), objects: HashMap::new() }
    }

    /// Checks one answer and remembers what it means. Returns the spans that were taken.
    ///
    /// # Errors
    /// What is wrong with the answer.
    pub fn check(&mut self, op: &Op, answer: Answer) -> Result<Vec<Span>, String> {
        match (op, answer) {
            (Op::Free { object }, Answer::Freed) => {
                let spans = self.objects.remove(object);
                let spans = spans.ok_or_else(|| format!("object {object} was freed, but was not live"))?;
                for span in &spans {
                    self.taken.remove(&span.first());
                }
                Ok(Vec::new())
            }
            (Op::Free { object }, Answer::NotLive) if !self.objects.contains_key(object) => Ok(Vec::new()),
            (Op::Alloc { .. } | Op::Congruent { .. }, Answer::NoRoom | Answer::Unsupported) => Ok(Vec::new()),
            (Op::Alloc { object, size_bytes, align, window }, Answer::At(start)) => {
                let span = Span::from_size(start, *size_bytes).ok_or("the answer passes the last address")?;
                if !align.divides(start) {
                    return Err(format!("{start:#x} is not a multiple of {align}"));
                }
                self.take(*object, vec![span], *window)
            }
            (Op::Congruent { object, areas, align, window }, Answer::At(base)) => {
                if !align.divides(base) {
                    return Err(format!("base {base:#x} is not a multiple of {align}"));
                }
                let spans: Option<Vec<Span>> = areas.iter().map(|area| area.shifted(base)).collect();
                self.take(*object, spans.ok_or("an area passes the last address")?, *window)
            }
            _ => Err(format!("{answer}, which is no answer to it")),
        }
    }

    fn take(&mut self, object: u32, spans: Vec<Span>, window: Span) -> Result<Vec<Span>, String> {
        for &span in &spans {
            if !window.covers(span) {
                return Err(format!("{span} is not in the window {window}"));
            }
            self.is_free(span)?;
            self.taken.insert(span.first(), span.last());
        }
        match self.objects.insert(object, spans.clone()) {
            None => Ok(spans),
            Some(_) => Err(format!("object {object} was allocated twice")),
        }
    }

    /// Whether a span is of the space and no live object's.
    fn is_free(&self, span: Span) -> Result<(), String> {
        if !self.layout.iter().any(|free| free.covers(span)) {
            return Err(format!("{span} is not in the space"));
        }
        let below = self.taken.range(..=span.last()).next_back();
        if below.is_some_and(|(_, &last)| last >= span.first()) {
            return Err(format!("{span} overlaps a live object"));
        }
        Ok(())
    }

    /// Where a request would have fitted, if anywhere: what its refusal is to be held against. Congruent areas are
    /// not looked for.
    pub fn room_for(&self, op: &Op) -> Option<Span> {
        let Op::Alloc { size_bytes, align, window, .. } = op else { return None };
        let spans = self.layout.iter().filter_map(|span| span.intersection(*window));
        spans.into_iter().find_map(|span| {
            let straddling = self.taken.range(..span.first()).next_back();
            let inside = self.taken.range(span.first()..=span.last());
            let mut from = Some(span.first());
            for (&first, &last) in straddling.into_iter().chain(inside) {
                let gap = from.zip(first.checked_sub(1)).and_then(|(from, end)| Span::new(from, end));
                let fit = gap.and_then(|gap| gap.lowest_fit(*size_bytes, *align, 0));
                if fit.is_some() {
                    return fit;
                }
                from = last.checked_add(1).map(|next| next.max(span.first()));
            }
            Span::new(from?, span.last())?.lowest_fit(*size_bytes, *align, 0)
        })
    }

    /// Holds the free blocks, in address order, against what is taken: none overlaps a live object or leaves the
    /// layout, and, if the engine's sizes are `exact`, the two together are the layout.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn check_free(&self, blocks: &[Span], exact: bool) -> Result<(), String> {
        for (at, &block) in blocks.iter().enumerate() {
            let before = at.checked_sub(1).and_then(|at| blocks.get(at));
            if before.is_some_and(|before| before.last() >= block.first()) {
                return Err(format!("the free block {block} does not follow the one before it"));
            }
            self.is_free(block).map_err(|wrong| format!("the free block {wrong}"))?;
        }
        let bytes = |spans: &[Span]| spans.iter().map(|span| span.size_bytes()).sum::<u128>();
        let (free, whole) = (bytes(blocks), bytes(&self.layout));
        let taken: u128 = self.taken.iter().map(|(&first, &last)| u128::from(last - first) + 1).sum();
        if exact && free + taken != whole {
            return Err(format!("{free} bytes are free and {taken} taken, of {whole}"));
        }
        Ok(())
    }

    /// How many objects there are.
    pub fn live(&self) -> u64 {
        self.objects.len() as u64
    }

    /// Bytes taken below `end`.
    pub fn used_below(&self, end: u64) -> u128 {
        self.taken.range(..end).map(|(&first, &last)| u128::from(last - first) + 1).sum()
    }
}
