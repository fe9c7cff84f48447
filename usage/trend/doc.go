// Package trend has what pods requested, used, and would have requested as their authors wrote them, over the last 90 days: per hour in
// the cluster and in each namespace, and per day of each workload.
//
// Only changes are kept. What requested the same as in the hour or the day before takes no room.
//
// It is pure: it must not know pods, ratios, prices or clocks, nor where it is stored.
package trend
