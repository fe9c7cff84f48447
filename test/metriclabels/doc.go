// Package metriclabels lists the values that labels of the server's metrics may have, for tests
// of the server's metrics, and of the queries in alerts and the dashboard.
//
// It must not know any metric.
package metriclabels
