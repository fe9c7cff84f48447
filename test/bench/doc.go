// Command bench measures the speed and the cost of the server on a real API server. As a
// reference, it measures a bare client that sends the same writes in the same run. It
// prints a table and writes JSON.
//
// The server and the bare client run as processes of their own, as in production, so that
// each competes with the API server for the machine. Variants are measured in turns and
// compared by their medians, because the speed of a machine varies over time.
//
// It must not know how the server works. It knows only the server's flags, metrics and
// profiles, the log line that reports that all pods are read, and what the kernel reports
// about the process. The bare client is set up like the server, with the reconciler's
// configuration for writing clients and the names of its contract.
package main
