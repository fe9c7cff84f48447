// Package status implements the StatusService: it reports the state of this replica, and which
// replica leads.
//
// It must not know how the process is probed, nor decide whether it is healthy.
package status
