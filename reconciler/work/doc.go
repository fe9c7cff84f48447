// Package work asks Prometheus how much work each pod did in an hour, by the queries that rules have for that, so that pods are compared by the
// CPU that a unit of work costs.
//
// Only the leader asks: once per hour and query, after the hour, for 12 times in it. Nothing waits for the answers. Work without an answer in time is
// unknown. An answer counts for a pod only by the query of the pod's own rule.
//
// It must not know what follows from work, nor the API of Prometheus.
package work
