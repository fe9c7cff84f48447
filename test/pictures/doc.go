// Package pictures draws the pictures of the documentation from a server that runs: a terminal with
// commands and their output, and the Grafana dashboard with the figures of a Prometheus. "make
// pictures" runs it.
//
// It must not know what the metrics mean: it draws the panels of the dashboard's file.
package pictures
