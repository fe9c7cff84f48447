// Package evidence folds what the pods of workloads use, hour by hour, into sums of bounded size, from
// which package estimate tells how fast node types are.
//
// Replicas of one workload in one zone share the same traffic. If they run on nodes of different types, the
// difference between the means of the logarithms of their CPU usage in the same hour is the logarithm of the
// ratio of the types. Only such differences are kept: usage itself is never compared across hours, zones or
// workloads. An hour counts for a pair of types if each has two replicas that ran through it. A replica is a pod: its
// containers share its node and its work.
//
// If the work of replicas is known, CPU per unit of work is compared. Nothing has to share work evenly then, so that days on which a
// workload ran on one type are compared with days on another, too.
//
// This package leaves out what would mislead if the hour shows it: throttled replicas, two revisions, replicas
// that started, ended or were resized in the hour. A replica that does more than the others, such as a leader, hardly
// counts, and what it says about its node and zone is limited. Other signs need many hours. They are kept next to the difference for the estimate: the slope against load, the
// spread between the replicas of each type, how busy their nodes were, and how often replicas were throttled. The
// difference while replicas have unlike sizes is kept apart, with how it changed when sizes became unlike. The difference counts in
// hours whose load is in the upper half, because CPU that spins is the smaller part of it there.
//
// How much a workload counts on a type follows from what its replicas use there in zones where they are compared, in all hours: others, of which it
// may have any number elsewhere, say nothing about the type.
//
// Evidence ages. It counts half after 30 days. Pairs of types, nodes, workloads and names that were not seen for 60 days end. A type whose
// nodes have other CPU models than before loses most of its past, within days. If models are not known, it is followed by
// aging alone.
//
// The state is bounded, whatever workloads, nodes, types and zones are called and however many there are: less than
// 200 bytes per workload in the form of package stored, less than 2 MB for 10,000 workloads.
//
// It must not know clocks, pods, ratios or where evidence is stored, and never learns about memory: how much
// memory a workload needs does not depend on the speed of its node.
package evidence
