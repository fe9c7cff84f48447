// Package leader elects the one replica that writes pods, with a Lease.
//
// It must not know what a leader does: it runs a given function, and reports whether this
// replica leads and which replica does.
package leader
