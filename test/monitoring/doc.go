// Package monitoring tests the alerts and the dashboard of deploy/monitoring, with promtool and
// with a real Prometheus that scrapes a running server and evaluates them.
//
// It must not know how metrics are computed, only their names and meaning.
package monitoring
