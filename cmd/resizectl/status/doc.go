// Package status has the command that shows the state of the server.
//
// It must not know the parts of the server: it shows what the server reports.
package status
