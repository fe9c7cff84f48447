// Package clustertest makes clusters for tests, with no API server behind them.
package clustertest
