// Package estimate estimates how fast node types are, from what package evidence keeps of the replicas of
// workloads that ran on nodes of several types at the same time. Everything here is a pure function.
//
// The model is linear in logarithms. A workload's difference between two types is the difference between the
// types, plus how the workload deviates on each type, plus how its replicas and their nodes deviate:
//
//   - The deviations of workloads are random effects. Their size is estimated from how the workloads differ by more than
//     the spread of their replicas explains.
//   - The deviations of replicas last for hours. How much of them is left after a number of hours follows from how much of
//     the spread between replicas shows over time.
//   - All workloads share the nodes, so their deviations do not average out with more workloads. Their size
//     is what two halves of the workloads see of them alike.
//   - On nodes that others keep busy, work takes more CPU where threads share cores. By how much follows from replicas of
//     one type, and differences between types and between nodes are corrected by it. So a ratio that is applied, and packs
//     more replicas on fast nodes, does not change what is estimated. Where it is not known how busy nodes are, they count as if they
//     were as busy as others, and the intervals are wider.
//   - Replicas with unlike sizes may do unlike shares of the work. Hours with unlike sizes count only if sizes do not matter to the
//     workload. Its own hours with like sizes show it, or those of other workloads if sizes matter to few of them. Workloads that
//     look as if they pulled their work teach nothing about it.
//   - Where the work of replicas is known, it does not matter how it is shared: such workloads are not held back for that. Days
//     on different types are as certain as moves between them agree.
//
// All types are solved together: if n4 is compared with n2d and n2d with e2, then n4 is compared with e2. Types that nothing
// connects with the baseline have no ratio, and do not count.
//
// A ratio is shown days before it may be applied. Workloads that were compared for about a day, or whose replicas always had unlike sizes, count for it
// until enough of the others do. How much the slopes of the first days differ by chance follows from how replicas do. As many workloads may follow
// sizes as usually do, which makes the interval wider.
//
// Two questions have different answers. The mean of this cluster's workloads, weighted by the cores that they
// use on a type, is what its ratio for the whole cluster should be; the more workloads are measured, the more certain it is. The next workload differs
// from the others, no matter how many there are.
//
// A ratio of a single workload is what it shows by itself, drawn toward the others. It differs from the cluster's if its interval excludes that.
//
// Anybody who runs pods adds to the evidence. So each workload has a vote, but a namespace has at most twice its share of the cores of a type of
// the votes on it, and no majority unless it uses most of the cores. That limits namespaces, not tenants: who may create
// namespaces has one vote for each at least, and outvotes others with enough of them. Workloads that hardly use CPU do not count. Few pods say little about what all
// share: how busy nodes slow work down, and whether nodes or zones differ.
//
// Usage cannot tell a slow node from one that is given less work. Workloads whose differences are smaller than those of
// others, or change with load, are classified by a mixture model, and count by the probability that they do
// not mislead. The others are held back with a reason. So are ratios of types whose CPU models certainly differ: within a zone, where their
// nodes are compared, or between zones. Chance, or few workloads, do not make that certain. In a zone without the baseline, types are compared with
// each other: of two that differ from other zones there, nothing shows which one does, so that both are held back.
//
// It must not know clocks, pods, where evidence is stored or which ratios are in effect.
package estimate
