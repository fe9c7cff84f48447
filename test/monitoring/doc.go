// Package monitoring tests the alerts and the dashboard of deploy/monitoring: by
// promtool, and by a real Prometheus that scrapes a running server and evaluates
// them.
//
// It must not know how metrics are made, only their names and what they say.
package monitoring
