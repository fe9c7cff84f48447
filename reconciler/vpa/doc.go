// Package vpa reads VerticalPodAutoscalers: what their updater sizes, and what those that name workload-resizer as
// their recommender say about the sizes of their target.
//
// The package is pure: it must not depend on clients or clocks, or on how usage is measured.
package vpa
