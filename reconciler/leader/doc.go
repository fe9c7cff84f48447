// Package leader elects, by a Lease, the one replica that writes to pods.
//
// It must not know what a leader does: it runs what it is given, and tells
// whether this replica leads and who does.
package leader
