// Package status reports the state of this replica, and which replica leads: the method
// GetStatus of the ResizeService.
//
// It must not know how the process is probed, nor decide whether it is healthy.
package status
