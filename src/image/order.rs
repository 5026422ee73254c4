//! The order of blurs: each comes after the blurs that write its inputs.

/// How many images a blur reads at most.
pub const INPUTS: usize = 2;

/// Sorts nodes. It keeps its memory.
#[derive(Default)]
pub struct Order {
    /// The sorted nodes.
    pub sorted: Vec<usize>,
    state: Vec<State>,
    /// The nodes to look at next, each with the number of inputs that have been followed, `None` before it is opened.
    waiting: Vec<(usize, Option<usize>)>,
    /// The nodes of the cycles that are not complete yet.
    open: Vec<usize>,
}

/// What is known of a node.
#[derive(Clone, Copy, PartialEq)]
enum State {
    New,
    /// It is in the list of open nodes. The number is the first place there that it leads back to, as far as known.
    Open(usize),
    Sorted,
}

impl Order {
    /// Sorts nodes from 0 to `count`, each after the ones that write its inputs. A cycle begins with its node of the lowest
    /// rank, as if that read nothing in it, and so do the cycles that remain without that node. What is below a cycle comes after it.
    pub fn sort<R: Ord>(
        &mut self,
        count: usize,
        writer: impl Fn(usize, usize) -> Option<usize>,
        rank: impl Fn(usize) -> R,
    ) {
        self.sorted.clear();
        self.state.clear();
        self.state.resize(count, State::New);
        self.waiting.extend((0..count).rev().map(|node| (node, None)));
        // Tarjan's algorithm: cycles are complete after all that they read.
        while let Some((node, followed)) = self.waiting.pop() {
            match (self.state[node], followed) {
                (State::New, None) => {
                    self.state[node] = State::Open(self.open.len());
                    self.open.push(node);
                    self.waiting.push((node, Some(0)));
                }
                (State::Open(_), Some(input)) if input < INPUTS => {
                    self.waiting.push((node, Some(input + 1)));
                    match writer(node, input).map(|next| (next, self.state[next])) {
                        Some((next, State::New)) => self.waiting.push((next, None)),
                        Some((_, State::Open(first))) => self.lead_back(node, first),
                        _ => {}
                    }
                }
                (State::Open(first), Some(_)) if self.open[first] == node => self.complete(first, &rank),
                (State::Open(first), Some(_)) => {
                    if let Some((reader, _)) = self.waiting.last() {
                        self.lead_back(*reader, first);
                    }
                }
                _ => {}
            }
        }
    }

    fn lead_back(&mut self, node: usize, first: usize) {
        if let State::Open(known) = &mut self.state[node] {
            *known = first.min(*known);
        }
    }

    /// Sorts the first node of a cycle, which is the open nodes from this place on. The others are looked at again, without it.
    fn complete<R: Ord>(&mut self, first: usize, rank: impl Fn(usize) -> R) {
        let lowest = self.open[first..].iter().copied().min_by_key(|node| rank(*node));
        self.sorted.extend(lowest);
        for node in self.open.drain(first..) {
            let is_sorted = lowest == Some(node);
            self.state[node] = if is_sorted { State::Sorted } else { State::New };
            self.waiting.extend((!is_sorted).then_some((node, None)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(writers: &[[Option<usize>; INPUTS]]) -> Vec<usize> {
        let mut order = Order::default();
        order.sort(writers.len(), |node, input| writers[node][input], |node| node);
        order.sorted
    }

    #[test]
    fn what_is_below_a_cycle_comes_after_it() {
        // 0 reads 1, 1 reads 2, and 2 and 3 read each other.
        let chain = [[Some(1), None], [Some(2), None], [Some(3), None], [Some(2), None]];
        let order = sorted(&chain);
        assert_eq!(
            order.iter().filter(|node| **node > 1).collect::<Vec<_>>(),
            [&2, &3],
            "a cycle keeps its order"
        );
        assert_eq!(order.iter().filter(|node| **node < 3).collect::<Vec<_>>(), [&2, &1, &0]);
    }

    #[test]
    fn every_node_comes_after_its_writers_unless_they_read_it() {
        let mut state = 1_u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % below
        };
        for _ in 0..2000 {
            let count = 1 + random(8);
            let writers: Vec<[Option<usize>; INPUTS]> = (0..count)
                .map(|_| core::array::from_fn(|_| Some(random(2 * count)).filter(|writer| *writer < count)))
                .collect();
            let sorted = sorted(&writers);
            let mut all = sorted.clone();
            all.sort_unstable();
            assert_eq!(all, (0..count).collect::<Vec<_>>(), "each once");
            let place = |node: usize| sorted.iter().position(|other| *other == node);
            for (node, inputs) in writers.iter().enumerate() {
                for writer in inputs.iter().flatten() {
                    let is_after = place(*writer) < place(node);
                    assert!(is_after || reads(&writers, *writer, node), "{writers:?}: {sorted:?}");
                }
            }
        }
    }

    /// Whether a node depends on another one.
    fn reads(writers: &[[Option<usize>; INPUTS]], node: usize, other: usize) -> bool {
        let mut found = vec![node];
        let mut next = 0;
        while next < found.len() {
            for writer in writers[found[next]].into_iter().flatten() {
                if !found.contains(&writer) {
                    found.push(writer);
                }
            }
            next += 1;
        }
        found.contains(&other)
    }

    #[test]
    fn a_long_chain_takes_no_stack() {
        const LINKS: usize = 100_000;
        let chain: Vec<_> = (0..LINKS)
            .map(|link| [Some(link + 1).filter(|next| *next < LINKS), None])
            .collect();
        assert_eq!(sorted(&chain).first(), Some(&(LINKS - 1)));
    }
}
