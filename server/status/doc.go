// Package status tells how this replica does, and which one leads: the GetStatus of the
// ResizeService.
//
// It must not know how the process is probed, nor decide whether it is well.
package status
