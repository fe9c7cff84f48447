// Package workload says what the pods of a workload may do together. It is the one place that counts pods.
//
//   - Workload names an object that creates pods, and Group the pods that count together: those of a workload or of a
//     PodDisruptionBudget.
//   - Trial says which pods of a workload try a smaller size before the others, and Crowd how many pods of a budget may
//     get one at the same time. A Turn asks both, and claims a place in each group. Places has the claims of resizes under way.
//   - Budget is a PodDisruptionBudget, and Members are the pods that budgets select.
//   - Outcomes says when so many resizes of pods were reverted that sizing must stop.
//
// Package guard judges the resize of a single pod.
//
// The package must not know clients, caches or clocks, nor what else a plan consists of.
package workload
