// Package reconciler owns pods: it decides what a pod should have on its node
// and writes it.
//
// The Planner turns a snapshot of a pod, its node and the ratios into a Plan;
// nothing else computes a size. The loop (Reconciler) asks it for every change
// in the cluster and hands the plan to the actuator, the only code that writes
// pods. Previews ask the same planner and write nothing.
//
// It must not know how it is asked: no gRPC, no protobuf, no flags.
package reconciler
